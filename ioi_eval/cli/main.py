"""`ioi-eval`: all commands. Nothing heavy is imported here, so that `--help` answers at once."""

from __future__ import annotations

import gc
import io
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import typer
from typer.core import TyperGroup

from ioi_eval.cli import apps as apps_commands
from ioi_eval.cli import cluster
from ioi_eval.cli.compare import compare
from ioi_eval.cli.config import config
from ioi_eval.cli.demo import demo
from ioi_eval.cli.doctor import doctor
from ioi_eval.cli.exits import WRONG_CALL, command
from ioi_eval.cli.export import export
from ioi_eval.cli.imports import cms, import_by_extension, italian_yaml, kattis, library_checker, tps
from ioi_eval.cli.merge import merge
from ioi_eval.cli.other_names import refuse_other_names
from ioi_eval.cli.report import report
from ioi_eval.cli.run_tests import run_tests
from ioi_eval.cli.score import score
from ioi_eval.cli.select import select
from ioi_eval.cli.serve import serve
from ioi_eval.cli.settings import default_map
from ioi_eval.cli.show import show
from ioi_eval.cli.validate import validate
from ioi_eval.config_file import read_config_file
from ioi_eval.errors import InputError
from ioi_eval.extensions import Kind, names
from ioi_eval.version import __version__

HELP = {"help_option_names": ["-h", "--help"]}

_COLLECT = (50_000, 50, 100)
"""The garbage collector searches for cycles less often than by default (700, 10, 10). Rows of dumps and results have no
cycles, and the search took a twelfth of the CPU time of a run over 100,000 rows that were judged before."""

# No colours and boxes: rich costs 0.1 s and 30 MB, and logs need plain text.
app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)
clusters = typer.Typer(no_args_is_help=True, rich_markup_mode=None, context_settings=HELP)
imports = typer.Typer(no_args_is_help=True, rich_markup_mode=None, context_settings=HELP)
apps = typer.Typer(no_args_is_help=True, rich_markup_mode=None, context_settings=HELP)

app.command("score", context_settings=HELP)(command(score))
app.command("run-tests", context_settings=HELP)(command(run_tests))
app.command("show", context_settings=HELP)(command(show))
app.command("compare", context_settings=HELP)(command(compare))
app.command("select", context_settings=HELP)(command(select))
app.command("merge", context_settings=HELP)(command(merge))
app.command("report", context_settings=HELP)(command(report))
app.command("export", context_settings=HELP)(command(export))
app.command("validate", context_settings=HELP)(command(validate))
app.add_typer(imports, name="import", help="Turn official packages into problem, test and solution rows.")
imports.command("cms", context_settings=HELP)(command(cms))
imports.command("tps", context_settings=HELP)(command(tps))
imports.command("italian-yaml", context_settings=HELP)(command(italian_yaml))
imports.command("kattis", context_settings=HELP)(command(kattis))
imports.command("library-checker", context_settings=HELP)(command(library_checker))
app.add_typer(clusters, name="cluster", help="Examine the workers of a Piston cluster, and install packages.")
for subcommand in (cluster.status, cluster.probe, cluster.install, cluster.uninstall):
    clusters.command(subcommand.__name__, context_settings=HELP)(command(subcommand))
app.add_typer(apps, name="apps", help="Score Python programs for APPS problems.")
apps.command("score", context_settings=HELP)(command(apps_commands.score))
apps.command("audit", context_settings=HELP)(command(apps_commands.audit))
apps.command("explain", context_settings=HELP)(command(apps_commands.explain))
app.command("config", context_settings=HELP)(command(config))
app.command("doctor", context_settings=HELP)(command(doctor))
app.command("serve", context_settings=HELP)(command(serve))
app.command("demo", context_settings=HELP)(command(demo))


def _version(asked: bool) -> None:
    if asked:
        print(f"ioi-eval {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Score programs for competitive-programming problems.

    Exit codes: 0 everything was judged; 1 something could not be judged; 2 the command or its data is wrong; 130
    interrupted.
    """


def _add_imports() -> None:
    """Add a command for each format that another Python package reads. Our own formats keep their names."""
    ours = {found.name for found in imports.registered_commands}
    for name in names(Kind.IMPORTER):
        if name not in ours:
            imports.command(name, context_settings=HELP)(command(import_by_extension(name)))


def _refuse_empty_words(words: Sequence[str]) -> None:
    """End the program if an argument is empty. As a path, it would mean the working directory, which nobody intends."""
    for before, word in pairwise(("", *words)):
        if not word.strip() or re.fullmatch(r"--[\w-]+=\s*", word):
            where = word.rstrip("= ") or (f"what follows {before}" if before else "the first word")
            print(f"ioi-eval: {where} is empty: is a variable of the shell not set?", file=sys.stderr)
            raise SystemExit(WRONG_CALL)


def main() -> None:
    """Run the installed command. Text that a terminal cannot show (a file name that is not UTF-8) is escaped."""
    gc.set_threshold(*_COLLECT)
    _refuse_empty_words(sys.argv[1:])
    if message := refuse_other_names(sys.argv[1:]):
        print(f"ioi-eval: {message}", file=sys.stderr)
        raise SystemExit(WRONG_CALL)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error is
    if sys.argv[1:2] == ["import"]:
        _add_imports()
    commands = typer.main.get_command(app)  # with the options that install completion
    assert isinstance(commands, TyperGroup)
    try:
        defaults = default_map(commands, read_config_file())
    except InputError as error:
        print(f"ioi-eval: {error}", file=sys.stderr)
        raise SystemExit(WRONG_CALL) from None
    commands(prog_name="ioi-eval", default_map=defaults)
