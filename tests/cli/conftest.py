"""The command as users start it, and a task that is judged quickly."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.report.result_files import result_rows
from tests.cli.addition import PROBLEMS, TESTS, Pushed, Start, Write
from tests.forked_commands import Ended, ForkedCommands
from tests.hub_stand_in import Hub, standing_in


@pytest.fixture
def without_servers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A directory without `.env`, and an environment without servers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PISTON_ENDPOINTS", raising=False)
    monkeypatch.delenv("PISTON_MAX_REQUESTS_PER_ENDPOINT", raising=False)


@pytest.fixture(scope="session")
def started_hub(
    environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory, commands: ForkedCommands
) -> Iterator[Hub]:
    """One stand-in of the Hub for all tests, so that commands that use it can be forked."""
    root = tmp_path_factory.mktemp("stand-in") / "hub"
    with standing_in(root) as found:
        asks_it = {name: value for name, value in found.items() if os.environ.get(name) != value}
        hub = Hub(root, {**environment, **asks_it})
        commands.prepare(hub.environment)
        yield hub


@pytest.fixture
def hub(started_hub: Hub) -> Hub:
    """The stand-in without data sets, and clients with an empty cache."""
    for directory in (started_hub.root, Path(started_hub.environment["HF_HOME"])):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
    return started_hub


@pytest.fixture
def start(environment: Mapping[str, str], tmp_path: Path, commands: ForkedCommands) -> Start:
    """Run `ioi-eval` with these arguments in the directory of the test."""

    def run(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Ended:
        return commands.run(*arguments, cwd=tmp_path, env={**environment, **(env or {})})

    return run


@pytest.fixture
def pushed(hub: Hub, tmp_path: Path, commands: ForkedCommands) -> Pushed:
    """The rows that `datasets` reads from a configuration of the data set `me/results`."""
    code = (
        "import sys, json, datasets\n"
        "rows = datasets.load_dataset('me/results', sys.argv[1], split='train', download_mode='force_redownload')\n"
        "print(json.dumps(rows.to_list()))"
    )

    def rows_of(configuration: str) -> list[dict[str, Any]]:
        ended = commands.run_code(code, configuration, cwd=tmp_path, env=hub.environment)
        assert ended.returncode == 0, ended.stderr
        rows: list[dict[str, Any]] = json.loads(ended.stdout)
        return rows

    return rows_of


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write rows to a file with this name."""

    def written(name: str, *rows: Mapping[str, Any]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return written


@pytest.fixture
def score(start: Start, write: Write) -> Start:
    """Run `ioi-eval score` on a dump with the task's problems and tests, into `out`."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)

    def run(dump: str | Path, *arguments: str | Path, **other: Any) -> Ended:
        sources = ("--problems", "problems.jsonl", "--tests", "tests.jsonl", "--out", "out")
        return start("score", dump, *sources, *arguments, **other)

    return run


@pytest.fixture
def results(tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
    """The results that `score` wrote."""
    return lambda: list(result_rows(tmp_path / "out"))
