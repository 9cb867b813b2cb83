"""`ioi-eval`: all commands. A command's module is imported when the command is called, or asked for its help."""

from __future__ import annotations

import gc
import io
import logging
import os
import re
import signal
import sys
import warnings
from collections import UserDict
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ioi_eval.cli.exits import WRONG_CALL, command, output_on_full_disk
from ioi_eval.cli.file_options import default_map
from ioi_eval.cli.grouped import grouped
from ioi_eval.cli.messages import tell
from ioi_eval.cli.other_programs import message_about_other_names
from ioi_eval.cli.parsing import CliCommand, CliGroup
from ioi_eval.config_file import read_config_file
from ioi_eval.errors import DoubtfulDataWarning, InputError
from ioi_eval.version import __version__

HELP = {"help_option_names": ["-h", "--help"]}

_COLLECT = (500_000, 50, 100)
"""The garbage collector searches for cycles less often than by default (700, 10, 10). Rows of dumps and results have no
cycles, and the search took a tenth of the CPU time of a run over 100,000 rows that were judged before."""

_RETRIES = "huggingface_hub.utils._http"
"""The logger that prints two lines for each of six attempts to reach the Hub. Our message follows the last one."""

_COMMANDS = (
    *("score", "run-tests", "show", "compare", "select", "merge", "report", "export", "validate"),
    *("config", "doctor", "serve", "demo"),
)
"""The commands without subcommands. The function of each is in the module of its name."""

_GROUPS = {
    "import": (
        "imports",
        ("cms", "tps", "polygon", "italian-yaml", "kattis", "library-checker"),
        "Turn official packages into problem, test and solution rows.",
    ),
    "cluster": (
        "cluster",
        ("status", "probe", "install", "uninstall"),
        "Examine the workers of a Piston cluster, and install packages.",
    ),
    "apps": ("apps", ("score", "audit", "explain"), "Score Python programs for APPS problems."),
}
"""The commands with subcommands: the module of their functions, their names, and the help."""


class Commands(UserDict[str, Any]):
    """The commands of a group, by name. The function of each is imported when the command is first looked up.

    Args:
        names: of the commands; those of the functions have underscores.
        module: has the functions; by default each is in the module of its name.
    """

    def __init__(self, names: Sequence[str], module: str | None = None) -> None:
        super().__init__(dict.fromkeys(names))
        self._module = module

    def __getitem__(self, name: str) -> TyperCommand | TyperGroup:
        if self.data[name] is None:
            function = name.replace("-", "_")
            module = import_module(f"ioi_eval.cli.{self._module or function}")
            self.data[name] = _as_command(name, getattr(module, function))
        command = self.data[name]
        assert isinstance(command, TyperCommand | TyperGroup)
        return command


def _as_command(name: str, run: Callable[..., int]) -> TyperCommand:
    alone = _typer()
    alone.command(name, cls=CliCommand, context_settings=HELP)(command(grouped(run)))
    typer_command = typer.main.get_command(alone)
    assert isinstance(typer_command, TyperCommand)
    return typer_command


def _typer(*, add_completion: bool = False) -> typer.Typer:
    # No colours and boxes: rich costs 0.1 s and 30 MB, and logs need plain text.
    return typer.Typer(
        add_completion=add_completion,
        cls=CliGroup,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP,
    )


def root() -> TyperGroup:
    """The command `ioi-eval`, with all commands below it, and the options that install completion."""
    app = _typer(add_completion=True)
    app.callback()(about)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    group.commands = Commands(_COMMANDS)
    for name, (module, names, text) in _GROUPS.items():
        group.commands[name] = CliGroup(
            name=name,
            help=text,
            commands=Commands(names, module),  # type: ignore[arg-type]
            no_args_is_help=True,
            rich_markup_mode=None,
            context_settings=HELP,
        )
    return group


def _version(asked: bool) -> None:
    if asked:
        print(f"ioi-eval {__version__}")
        raise typer.Exit


def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Score programs for competitive-programming problems.

    Exit codes: 0 success; 1 something could not be judged or pushed, no worker answers, or results disagree; 2 the
    command or its data is wrong, or nothing can be judged here; 130 interrupted. doctor and cluster: 1 some workers
    fail, 2 all do.
    """


def _add_imports(commands: TyperGroup) -> None:
    """Add a command for each format that another Python package reads. Our own formats keep their names."""
    from ioi_eval.cli.imports import import_by_extension
    from ioi_eval.extensions import Kind, names

    imports = commands.commands["import"]
    assert isinstance(imports, TyperGroup)
    for name in names(Kind.IMPORTER):
        if name not in imports.commands:
            imports.commands[name] = _as_command(name, import_by_extension(name))


def _refuse_empty_words(arguments: Sequence[str]) -> None:
    """End the program if an argument is empty. As a path, it would mean the working directory, which nobody intends."""
    for before, word in pairwise(("", *arguments)):
        if not word.strip() or re.fullmatch(r"--[\w-]+=\s*", word):
            where = word.rstrip("= ") or (f"what follows {before}" if before else "the first word")
            tell(f"{where} is empty: is a shell variable not set?")
            raise SystemExit(WRONG_CALL)


_show_other_warning = warnings.showwarning


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print a warning of ours as a line of ours; others as Python does."""
    if issubclass(category, DoubtfulDataWarning):
        tell(str(message))
    else:
        _show_other_warning(message, category, *where, **more)


def _open_closed_streams() -> None:
    """Open the standard streams that are closed. Otherwise our files get their numbers, and our messages."""
    for fd, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest free number
            setattr(sys, name, open(fd, mode, closefd=False))  # noqa: SIM115 - open as long as the process


def main() -> None:
    """Run the installed command. Text that a terminal cannot show (a file name that is not UTF-8) is escaped."""
    _open_closed_streams()
    os.umask(os.umask(0) & 0o077)  # with one that denies its owner files, we could not use what we make
    gc.set_threshold(*_COLLECT)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a parent that ignores it would cost us all exit codes of children
    logging.getLogger(_RETRIES).setLevel(logging.ERROR)
    warnings.showwarning = _show_warning
    _refuse_empty_words(sys.argv[1:])
    if message := message_about_other_names(sys.argv[1:]):
        tell(message)
        raise SystemExit(WRONG_CALL)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error is
    commands, defaults, wrong_file = root(), {}, None
    try:
        file = read_config_file()
        if sys.argv[1:2] == ["import"] or "import" in file.commands:
            _add_imports(commands)
        defaults = default_map(commands, file)
    except InputError as error:
        wrong_file = error
    with output_on_full_disk():
        commands(prog_name="ioi-eval", default_map=defaults, obj=wrong_file)
