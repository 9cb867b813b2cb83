"""Every row of the tables for `run_tests` in `docs/coming-from.md` is tried. The first head cell of a table says how.

| head | a row is right if |
|---|---|
| command | the command to type ends with exit code 0, beside a server if it names port 2000; a server serves |
| command, in `scripts/` | it can be executed (it is not run, because it would install packages) |
| option | the command in the head of its column has the option |
| environment variable | the package or the Hub's library reads it |
| dump column | a dump that has it is scored, and the results have the column |
| result column | the results have it |
| file | a run has written it; `hub:` is the data set that was pushed to, `checkout:` the checkout |
| report line | it is in `summary.json`, of the run or of each problem |
| status | a test of a run has it |
| message | the command in the last column prints it |
| function | it can be imported |
| answer | `run_submission` returns it for a job that is executed |
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import ioi_eval
from ioi_eval import LocalSandbox, run_submission
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.report.result_files import result_rows
from tests.cli.addition import NARROW, PROBLEMS, RIGHT, SLOW, TESTS, problem_row, submission_row
from tests.forked_commands import forked_commands
from tests.full_isolation import require_full_isolation
from tests.hub_stand_in import put_rows, standing_in
from tests.serve_process import served_address

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coming-from.md"
BIN = Path(sys.executable).parent

AS_SCRIPT = """import os, runpy, sys
del sys.argv[0]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
LARGE = "static volatile char large[400 << 20];\nint main() { for (volatile char& each : large) each = 1; }\n"
CHECKER = '#include <cstdio>\nint main() { std::puts("0.5"); std::fputs("Half right\\n", stderr); }\n'
DUMP = (
    submission_row(
        "right", prompt="Add.", generation="See code.", label="right", metadata={"usage": {"completion_tokens": 7}}
    ),
    submission_row("narrow", NARROW),
    submission_row("slow", SLOW),
    submission_row("large", LARGE),
    submission_row("crash", "int main() { return 3; }"),
    submission_row("typo", "int main("),
    submission_row("prose", "", language="unknown", generation="I would add the numbers.", subtask="01-full"),
    {**submission_row("half"), "problem_id": "half"},
)
HALF = problem_row("01-full", 100, "0-01", id="half", grader_files=[["checker/checker.cpp", CHECKER]])


@dataclass(frozen=True)
class Line:
    """A row of a table: its cells, and the heads of their columns."""

    number: int
    section: str
    head: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The kind of the table, from its first head cell."""
        return self.head[0]

    def spans(self, column: int) -> list[str]:
        """The texts in backticks in a cell."""
        return re.findall(r"`([^`]+)`", self.cells[column])


def lines() -> Iterator[Line]:
    """All rows of all tables except those that `tests/compat/test_coming_from_*.py` try."""
    head: tuple[str, ...] = ()
    section = ""
    for number, text in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if text.startswith("## "):
            section = text[3:]
        if not text.startswith("|"):
            head = ()
            continue
        cells = tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", text.strip("|")))
        if not head:
            head = cells
        elif head[0] != "theirs" and set(cells[0]) - set("-: "):
            yield Line(number, section, head, cells)


@dataclass(frozen=True)
class World:
    """The environment in which commands are run.

    Args:
        directory: the working directory.
        hub: the folder of the Hub's stand-in.
        environment: the environment variables of commands.
        cache: the cache with compiled programs.
    """

    directory: Path
    hub: Path
    environment: Mapping[str, str]
    cache: Path

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command, or a Python script, as a fork. Other tests start the scripts as programs."""
        words = shlex.split(command)
        if words[0] == "ioi-eval":
            return forked_commands().run(*words[1:], cwd=self.directory, env=self.environment)
        assert words[0] == "python"
        script = (ROOT if words[1].startswith("scripts/") else self.directory) / words[1]
        return forked_commands().run_code(AS_SCRIPT, script, *words[2:], cwd=self.directory, env=self.environment)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[World]:
    """A directory with a dump, a Hub with the data sets that the commands name, and a finished run that
    pushed there.
    """
    directory, hub = tmp_path_factory.mktemp("typed"), tmp_path_factory.mktemp("stand-in") / "hub"
    (directory / "dump.jsonl").write_text("".join(json.dumps(row) + "\n" for row in DUMP))
    put_rows(hub, "open-r1/ioi", [*PROBLEMS, HALF], "data/train-00000-of-00001.jsonl")
    tests = [*TESTS, {**TESTS[0], "problem_id": "half"}]
    put_rows(hub, "open-r1/ioi-test-cases", tests, "2024/train-00000-of-00001.jsonl")
    card = "---\nconfigs:\n- config_name: '2024'\n  data_files: [{split: train, path: 2024/train-*}]\n---\n"
    (hub / "open-r1" / "ioi-test-cases" / "README.md").write_text(card)
    solution = {"year": 2024, "problem_id": "add", "label": "correct/author.cpp", "code": RIGHT}
    put_rows(hub, "open-r1/ioi-sample-solutions", [{**solution, "all_subtasks_points": 100.0}])
    for name in ("my_org/my-dataset", "org/models-a-fix"):
        put_rows(hub, name, [submission_row("right", generation="none")])
    with standing_in(hub) as found:
        environment = {
            **{name: value for name, value in found.items() if not name.startswith("PISTON")},
            "IOI_EVAL_CACHE": str(cache),
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }
        forked_commands().prepare(environment)
        made = World(directory, hub, environment, cache)
        run = made.type("ioi-eval run-tests dump.jsonl my_org/tried --add_messages_column")
        assert run.returncode == 0, run.stderr
        yield made


@contextmanager
def _served(command: str, world: World) -> Iterator[str]:
    """Start a server in place of the one on port 2000. Gives the command with the new port."""
    require_full_isolation()
    words = ["ioi-eval", "serve", "--port", "0"]
    process = subprocess.Popen(words, env=dict(world.environment), stderr=subprocess.PIPE, text=True)
    try:
        port = str(urlsplit(served_address(process)).port)
        yield command.replace("2000", port)
    finally:
        process.terminate()
        process.communicate()


def _command(line: Line, world: World) -> None:
    typed = [span for span in line.spans(1) if span.startswith(("ioi-eval ", "python ", "scripts/"))]
    assert typed, "the row says nothing to type"
    for command in typed:
        if command.startswith("scripts/"):
            assert os.access(ROOT / command.split()[0], os.X_OK)
            continue
        with _served(command, world) if "2000" in command else nullcontext(command) as ours:
            if not ours.startswith("ioi-eval serve"):
                ended = world.type(ours)
                assert ended.returncode == 0, ended.stderr


_HELP: dict[str, str] = {}


def _option(line: Line, world: World) -> None:
    for column, head in enumerate(line.head):
        for command in re.findall(r"`(ioi-eval [^`]+)`", head):
            if command not in _HELP:
                _HELP[command] = world.type(f"{command} --help").stdout
            shown = _HELP[command]
            for option in line.spans(column):
                assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", shown), f"{command} has no {option}"


def _environment_variable(line: Line, world: World) -> None:
    known = (ROOT / "ioi_eval" / "config.py").read_text(encoding="utf-8")
    for name in line.spans(1):
        if name.startswith("HF_"):
            assert name in world.environment or hasattr(importlib.import_module("huggingface_hub.constants"), name)
        else:
            assert f'"{name}"' in known


def _columns(world: World) -> set[str]:
    return {name for row in result_rows(world.directory / "results" / "dump") for name in row}


def _dump_column(line: Line, world: World) -> None:
    (column,) = line.spans(1)
    assert column in _columns(world)
    assert any(column in row for row in DUMP)


def _result_column(line: Line, world: World) -> None:
    assert set(line.spans(1)) <= _columns(world)


def _file(line: Line, world: World) -> None:
    for name in line.spans(1):
        place, _, path = name.rpartition(":")
        root = {"hub": world.hub / "my_org" / "tried", "checkout": ROOT, "": world.directory}[place]
        pattern = path.replace("<name>", "dump").replace("<year>_<problem>", "2024_add")
        assert (root / pattern).is_file(), pattern


def _report_line(line: Line, world: World) -> None:
    summary = json.loads((world.directory / "results" / "dump" / "summary.json").read_text())
    assert set(line.spans(1)) <= {*summary, *summary["problems"][0]}


def _status(line: Line, world: World) -> None:
    rows = list(result_rows(world.directory / "results" / "dump"))
    subtasks = [subtask for row in rows for subtask in row["all_subtasks_results"]]
    found = {test["status"] for subtask in subtasks for test in subtask["test_results"]}
    found |= {subtask["status"] for subtask in subtasks} | {row["verdict"] for row in rows}
    assert set(line.spans(1)) <= found


def _message(line: Line, world: World) -> None:
    (words,), (command,) = line.spans(1), line.spans(len(line.cells) - 1)
    ended = world.type(command)
    output = ended.stdout + ended.stderr
    assert all(part.strip() in output for part in words.split("…")), output


def _function(line: Line, world: World) -> None:
    for name in line.spans(1):
        module, _, function = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))
    for name in line.spans(0):
        theirs = name.rpartition(".")[2]
        # importing it raises an error that names our function
        if theirs not in ioi_eval.__all__ and "run_tests" in line.section:
            with pytest.raises(ImportError, match="|".join(map(re.escape, line.spans(1)))):
                exec(f"from ioi_eval import {theirs}")


ROW = {"id": "sum", "time_limit": 1.0, "memory_limit": 1 << 28, "grader_files": []}
QUIET = b"exit 0\n"
ANSWERS: Mapping[str, tuple[str, str | None, tuple[bytes, bytes] | None]] = {
    "Compilation error": ("int main(", "3\n", None),
    "Memory limit": (RIGHT, "3\n", (QUIET, b"echo MemoryError >&2; exit 1\n")),
    "stdout and stderr": (RIGHT, "3\n", (QUIET, b"echo 0.5; echo half >&2\n")),
    "Time limit": (RIGHT, "3\n", (QUIET, b"sleep 600\n")),
    "Unknown error": (RIGHT, "3\n", (QUIET, b"exit 1\n")),
    "the program's output": (RIGHT, None, None),
}


def _answer(line: Line, world: World) -> None:
    (case,) = [case for words, case in ANSWERS.items() if words in line.cells[0]]
    program, expected, pair = case

    async def ask() -> tuple[str, str]:
        async with LocalSandbox(slots=1) as sandbox:
            if sandbox.targets()[0].isolation.value != "full":
                pytest.skip(f"scripts need full isolation: {sandbox.why_not_full}")
            store = ArtifactStore(world.cache)
            return await run_submission(sandbox, ROW, "20 22\n", program, expected, pair=pair, artifacts=store)

    score, feedback = asyncio.run(ask())
    shown_score, shown_feedback = ast.literal_eval(line.spans(1)[0])
    beginning, *left_out = shown_feedback.split("…")
    assert score == shown_score
    assert feedback.startswith(beginning) if left_out else feedback == beginning


TRIED: Mapping[str, Callable[[Line, World], None]] = {
    "command": _command,
    "option": _option,
    "environment variable": _environment_variable,
    "dump column": _dump_column,
    "result column": _result_column,
    "file": _file,
    "report line": _report_line,
    "status": _status,
    "message": _message,
    "function": _function,
    "answer": _answer,
}


@pytest.mark.parametrize("line", [*lines()], ids=lambda line: f"{line.section}: line {line.number}")
def test_a_row_is_right(line: Line, world: World) -> None:
    """Try the row by the rule for its table."""
    assert line.kind in TRIED, f"nobody knows how to try a table of {line.kind!r}"
    TRIED[line.kind](line, world)


def test_the_snippets_run(world: World) -> None:
    """They print the comment of their last line. Jobs with their own scripts need full isolation."""
    require_full_isolation()
    for number, snippet in enumerate(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)):
        (world.directory / f"snippet{number}.py").write_text(snippet)
        ended = world.type(f"python snippet{number}.py")
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.strip() == snippet.strip().rpartition("  # ")[2]


def test_the_table_lists_all_options_of_run_tests() -> None:
    """Also the options that our commands refuse by name."""
    from ioi_eval.cli.other_programs import OTHER_NAMES

    listed = {span for line in lines() if line.kind == "option" for span in line.spans(0)}
    assert OTHER_NAMES[("score",)].options.keys() <= listed


def _lacks_tables_of(page: str) -> list[str]:
    return [name for name in ("run_tests (Hugging Face)",) if f"## {name}" not in page]


def test_the_sections_are_there() -> None:
    """The sections exist, and README links to the page."""
    assert not _lacks_tables_of(PAGE.read_text(encoding="utf-8"))
    assert "docs/coming-from.md" in (ROOT / "README.md").read_text(encoding="utf-8")[:4000]
