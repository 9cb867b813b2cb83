"""The command itself: help, version, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.cli.file_options import value_message
from ioi_eval.cli.main import root
from ioi_eval.version import __version__
from tests.cli.addition import COMMAND, Start


def all_commands(command: Any, *names: str) -> Iterator[tuple[str, ...]]:
    """The names of a command and of the commands in it, without `ioi-eval`."""
    if names:
        yield names
    for name, inner in getattr(command, "commands", {}).items():
        yield from all_commands(inner, *names, name)


def test_help_names_all_commands(start: Start) -> None:
    """It also lists the exit codes."""
    text = start("--help").stdout
    for words in ("score", "validate", "import", "doctor", "demo", "Exit codes: 0"):
        assert words in text


@pytest.mark.parametrize("command", list(all_commands(root())), ids=" ".join)
def test_every_command_has_help(start: Start, command: tuple[str, ...]) -> None:
    """`--help` and `-h` are the same."""
    ended = start(*command, "--help")
    assert ended.returncode == 0
    assert ended.stdout == start(*command, "-h").stdout
    assert "Usage: ioi-eval" in ended.stdout


def test_help_shows_arguments_as_users_type_them(start: Start) -> None:
    """Without braces, and without the types of Python."""
    text = start("score", "--help", env={"COLUMNS": "80"}).stdout
    assert "Usage: ioi-eval score [OPTIONS] DUMP...\n" in text
    assert "\n  DUMP  The generations: files" in text


def test_version(start: Start) -> None:
    """One line."""
    assert start("--version").stdout == f"ioi-eval {__version__}\n"
    as_module = [sys.executable, "-m", "ioi_eval", "--version"]
    assert subprocess.run(as_module, capture_output=True, text=True, check=True).stdout == f"ioi-eval {__version__}\n"


def test_an_unknown_command_is_a_wrong_call(start: Start) -> None:
    """So is a call without a command."""
    assert start("scroe").returncode == 2
    assert start().returncode == 2


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("scroe dump.jsonl", "no such command 'scroe'. Did you mean 'score'?"),
        ("explain dump.jsonl", "no such command 'explain'. Did you mean 'apps explain'?"),
        ("apps show", "no such command 'apps show'. Did you mean 'show'?"),
        ("cluster stat", "no such command 'cluster stat'. Did you mean 'cluster status'?"),
        ("xyz", "no such command 'xyz'; `ioi-eval --help` lists them\n"),
        ("cluster xyz", "no such command 'cluster xyz'; `ioi-eval cluster --help` lists them\n"),
        ("--verson", "no such option '--verson'. Did you mean '--version'?"),
        ("select out --limt=3", "no such option '--limt'. Did you mean '--limit'?"),
        ("select out --time_scale 2", "no such option '--time_scale'"),
        ("select out --time-scale 2", "no such option '--time-scale'; score, validate have it"),
        ("score d.jsonl --to junit", "no such option '--to'; export has it"),
        ("apps score d.jsonl --problems p", "no such option '--problems'. Did you mean '--dataset'?"),
        ("score d.jsonl --dataset p", "no such option '--dataset'. Did you mean '--problems'?"),
        ("apps score d.jsonl --problem add", "no such option '--problem'; score, show, validate, cluster install, "),
        (
            "score d --problem p --tests t --out o",
            "Missing option '--problems'. '--problem', which is given, is another",
        ),
        (
            "score d --problem=p --tests t --out o",
            "Missing option '--problems'. '--problem', which is given, is another",
        ),
        ("score d --tests t --out o", "Missing option '--problems'.\n"),
        (
            "score d.jsonl --resume",
            "no such option '--resume': that is the default; leave it out ('--no-resume' is the",
        ),
        ("show out --no-progres", "no such option '--no-progres'"),
        ("show out --isolation ful", "Invalid value for '--isolation': no such value 'ful'. Did you mean 'full'?"),
        (
            "select out --selection orcale",
            "Invalid value for '--selection': no such value 'orcale'. Did you mean 'oracle'?",
        ),
        ("show out --limit x", "Invalid value for '--limit': "),
        ("apps score d --dataset p --out o --timeout inf", "Invalid value for '--timeout': inf is not a finite number"),
        ("cluster install --max-gb inf", "Invalid value for '--max-gb': "),
        ("cluster install --max-gb -1", "Invalid value for '--max-gb': "),
    ],
)
def test_what_may_be_meant(start: Start, typed: str, message: str) -> None:
    """The message about an unknown command or option names a similar one, or the commands that have that option.

    If nothing is similar, it names the help instead of all two dozen commands.
    """
    ended = start(*typed.split())
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"\nError: {message}" in ended.stderr


@pytest.mark.parametrize(
    ("message", "here"),
    [
        ("Input should be greater than or equal to 1", "it must be greater than or equal to 1"),
        ("Input should be a valid integer, unable to parse string as an integer", "it must be a valid integer"),
        ("'x' is not a valid integer.", "'x' is not a valid integer."),
    ],
)
def test_messages_of_the_parser_about_values(message: str, here: str) -> None:
    """Newer versions of typer call a value `Input`."""
    assert value_message(message) == here


@pytest.mark.parametrize(("typed", "completed"), [("ioi-eval sc", "score"), ("ioi-eval score --time", "--time-scale")])
def test_the_shell_completes_commands_and_options(typed: str, completed: str) -> None:
    """Asked in the way of the script that `--show-completion` prints."""
    asks = {"_IOI_EVAL_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    ended = subprocess.run(COMMAND, env={**os.environ, **asks}, capture_output=True, text=True, check=False)
    assert ended.stdout.split() == [completed]


def test_attempts_to_reach_the_hub_are_not_printed() -> None:
    """Without a network, the Hub's library printed eleven lines before the message of the command."""
    code = (
        "import sys\nsys.argv = ['ioi-eval', '--version']\nfrom ioi_eval.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "from huggingface_hub.utils import _http\n_http.logger.warning('Retrying')\n_http.logger.error('failed')\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == "failed\n"


def test_help_imports_nothing_heavy() -> None:
    """So `--help` answers in under 0.3 s."""
    code = (
        "import sys\nsys.argv = ['ioi-eval', 'score', '--help']\nfrom ioi_eval.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'asyncio', 'orjson', 'pyarrow', 'pandas', 'datasets', 'tqdm', 'rich', 'aiohttp', 'httpx', 'numpy'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == "[]\n"


def test_a_closed_pipe_is_no_error(start: Start) -> None:
    """`ioi-eval … | head` ends without a traceback."""
    pipeline = f"{sys.executable} -c '{COMMAND[2]}' --help | true"
    ended = subprocess.run(["bash", "-c", pipeline], capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_behind_stdout_gives_one_line() -> None:
    """Also if Python has nothing left to flush at exit."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run(
            [*COMMAND, "config", "score"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=300
        )
    assert ended.returncode == 1
    assert ended.stderr == "ioi-eval: the output cannot be written: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    ("words", "stream", "code"), [("--help", "stdout", 1), ("scor", "stderr", 2), ("", "stderr", 2)]
)
def test_a_full_disk_behind_the_help_or_a_wrong_call(words: str, stream: str, code: int) -> None:
    """One line instead of a traceback, and the exit code that a wrong call has."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full}
        ended = subprocess.run([*COMMAND, *words.split()], text=True, check=False, timeout=300, **streams)
    message = "ioi-eval: the output cannot be written: No space left on device\n"
    assert (ended.returncode, ended.stderr or "") == (code, message if stream == "stdout" else "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_behind_stderr_changes_no_exit_code(tmp_path: Path) -> None:
    """A run of days may write its messages to a log on a full disk; each would end it."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run([*COMMAND, "show", str(tmp_path)], stdout=full, stderr=full, check=False)
    assert ended.returncode == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "", "--out", "out"), "what follows score is empty"),
        (("score", "dump.jsonl", "--out", ""), "what follows --out is empty"),
        (("doctor", "--endpoints="), "--endpoints is empty"),
    ],
)
def test_an_empty_option_is_a_wrong_call(start: Start, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    """`--out "$OUT"` with an unset variable would otherwise write into the working directory."""
    ended = start(*words)
    assert ended.returncode == 2
    assert ended.stderr == f"ioi-eval: {message}: is a shell variable not set?\n"
    assert list(tmp_path.iterdir()) == []
