"""Importers, sandboxes and sources of rows from another Python package, which is installed in a directory."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ioi_eval import extensions
from ioi_eval.cli.main import _GROUPS
from ioi_eval.errors import RowError
from ioi_eval.rows import open_source
from tests.cli.addition import NARROW, PROBLEMS, TESTS, submission_row
from tests.forked_commands import Ended, ForkedCommands

MODULE = """
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import ProblemKey
from ioi_eval.problems.row import Row
from ioi_eval.rows import Source
from ioi_eval.rows.jsonl import JsonLines
from ioi_eval.sandbox.local.sandbox import LocalSandbox


def import_package(path, *, year, day=None):
    parts = {name: json.loads(Path(path, f"{name}.json").read_text()) for name in ("problems", "tests", "solutions")}
    return ImportedTask(
        key=ProblemKey(year=year, id="add"),
        problem_rows=tuple({**row, "day": day} for row in parts["problems"]),
        solution_rows=tuple(parts["solutions"]),
        notes=("read by another package",),
        tests=lambda: iter(parts["tests"]),
    )


class Elsewhere:
    def __init__(self, inner):
        self.inner = inner

    def targets(self):
        return [replace(target, name="elsewhere") for target in self.inner.targets()]

    async def execute(self, job, target):
        return await self.inner.execute(job, self.inner.targets()[0])


@asynccontextmanager
async def open_elsewhere():
    async with LocalSandbox(slots=1) as inner:
        yield Elsewhere(inner)


class Misspelt(Elsewhere):
    def targets(self):
        return [replace(target, profile="Bundled") for target in super().targets()]


@asynccontextmanager
async def open_misspelt():
    async with LocalSandbox(slots=1) as inner:
        yield Misspelt(inner)


def source(name):
    return JsonLines(Path(f"{name}.jsonl"))


class Arrays(Source):
    def describe(self):
        return "arrays"

    def rows(self, columns):
        import numpy as np

        values = {"n": np.int64(5), "yes": np.bool_(True), "list": np.array([[1, 2]]), "in": {"x": [np.float32(0.5)]}}
        yield Row(source="arrays", number=1, values=values)
        deep = []
        for _ in range(100_000):
            deep = [deep]
        yield Row(source="arrays", number=2, values={"deep": deep})


def arrays(name):
    return Arrays()


def no_source(name):
    return [name]


def no_package(path, *, year, day=None):
    return None
"""
ENTRY_POINTS = """
[ioi_eval.importers]
plain = brought:import_package
cms = brought:import_package
nothing = brought:no_package

[ioi_eval.sandboxes]
elsewhere = brought:open_elsewhere
broken = brought:absent
misspelt = brought:open_misspelt
mistyped = mistyped:open

[ioi_eval.sources]
here = brought:source
arrays = brought:arrays
wrong = brought:no_source
"""

Typed = Callable[..., Ended]


def install(site: Path, name: str, entry_points: str = ENTRY_POINTS) -> None:
    """Write the files that an installation puts into site-packages."""
    information = site / f"{name}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(entry_points)
    (site / "brought.py").write_text(MODULE)
    (site / "mistyped.py").write_text("def open(:\n")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which the package is installed."""
    directory = tmp_path_factory.mktemp("site")
    install(directory, "brought")
    return directory


@pytest.fixture
def typed(site: Path, tmp_path: Path, cache: Path, commands: ForkedCommands) -> Typed:
    """Run `ioi-eval` where the package is installed, in a directory with a problem package of its format and a dump."""
    task = tmp_path / "task"
    task.mkdir()
    for name, rows in (("problems", PROBLEMS), ("tests", TESTS), ("solutions", [])):
        (task / f"{name}.json").write_text(json.dumps(rows))
    dump = (submission_row("right"), submission_row("narrow", NARROW))
    (tmp_path / "dump.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dump))
    own = {name: value for name, value in os.environ.items() if name != "PISTON_ENDPOINTS"}
    environment = {**own, "PYTHONPATH": str(site), "IOI_EVAL_CACHE": str(cache)}
    commands.prepare(environment)

    def run(*words: str, **other: str) -> Ended:
        return commands.run(*words, cwd=tmp_path, env={**environment, **other})

    return run


def test_importer_source_and_sandbox_of_a_package(typed: Typed, tmp_path: Path) -> None:
    """The package's importer imports the rows, its source reads the dump, and its sandbox judges the programs."""
    assert "plain" in typed("import", "--help").stdout
    ended = typed("import", "plain", "task", "--year", "2024", "--day", "2", "--out", "rows")
    assert ended.returncode == 0, ended.stderr
    assert "read by another package" in ended.stdout
    assert json.loads((tmp_path / "rows" / "problems.jsonl").open().readline())["day"] == "2"
    rows = ("--problems", "rows/problems.jsonl", "--tests", "rows/tests.jsonl")
    ended = typed("score", "here://dump", *rows, "--out", "out", "--sandbox", "elsewhere")
    assert ended.returncode == 0, ended.stderr
    assert "the sandbox 'elsewhere' of another package" in ended.stderr
    results = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").open()]
    assert [(row["uuid"], row["verdict"]) for row in results] == [("right", "AC"), ("narrow", "WA")]
    assert all(row["target"].startswith("elsewhere") for row in results)


def test_a_misspelt_profile_is_an_error_before_anything_is_judged(typed: Typed, tmp_path: Path) -> None:
    """The message names the target. No row gets a result."""
    ended = typed("import", "plain", "task", "--year", "2024", "--out", "rows")
    assert ended.returncode == 0, ended.stderr
    rows = ("--problems", "rows/problems.jsonl", "--tests", "rows/tests.jsonl")
    ended = typed("score", "dump.jsonl", *rows, "--out", "out", "--sandbox", "misspelt")
    assert ended.returncode == 2
    assert "target 'elsewhere': profile 'Bundled' is neither 'bundled' nor 'classic'" in ended.stderr
    assert not (tmp_path / "out" / "results.jsonl").exists()


def test_numbers_and_arrays_of_numpy_become_numbers_and_lists(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing behind the source knows numpy: results, names of groups and the numbers of tokens do not need to."""
    pytest.importorskip("numpy")
    monkeypatch.syspath_prepend(site)
    row, deep = open_source("arrays://").rows(None)
    assert row.values == {"n": 5, "yes": True, "list": [[1, 2]], "in": {"x": [0.5]}}
    assert {type(value) for value in (*row.values.values(), *row.values["in"]["x"])} == {int, bool, list, dict, float}
    with pytest.raises(RowError, match=r"^arrays, row 2: cannot be read: it is nested too deeply$"):
        deep.text("deep")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "dump.jsonl", "--sandbox", "none"), "no such sandbox 'none'; ours are auto, embedded, piston; "),
        (
            ("score", "dump.jsonl", "--sandbox", "none"),
            "installed packages have broken, elsewhere, misspelt, mistyped (entry points in the group ioi_eval.sandbox",
        ),
        (("score", "dump.jsonl", "--sandbox", "broken"), "(brought:absent) of the package brought cannot be loaded"),
        (("score", "dump.jsonl", "--sandbox", "mistyped"), "of the package brought cannot be loaded: SyntaxError"),
        (("score", "dump.jsonl", "--sandbox", "elsewhere", "--endpoints", "http://w1:2000"), "leave out one of them"),
        (("score", "dump.jsonl", "--sandbox", "elsewhere", "--profile", "classic"), "--profile is for our sandboxes"),
        (
            ("score", "s3://dump"),
            "s3://dump is a URL, which is not read; download it",
        ),
        (("score", "s3://dump"), "Sources of installed packages are arrays://, here://, wrong://"),
        (("score", "her://dump"), "no such source of rows 'her'. Did you mean 'here'?"),
        (("score", "https://there/dump.jsonl"), "https://there/dump.jsonl is a URL, which is not read; download it"),
        (("score", "dump.jsonl", "--sandbox", "embeded"), "no such sandbox 'embeded'. Did you mean 'embedded'?"),
        (("score", "wrong://dump"), "its package gives a list, not an ioi_eval.rows.Source"),
    ],
)
def test_wrong_names(typed: Typed, words: tuple[str, ...], message: str) -> None:
    """One message without a traceback, which names the entry points that exist."""
    ended = typed(*words, "--problems", "here://p", "--tests", "here://t", "--out", "out")
    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_importer_that_returns_none(typed: Typed) -> None:
    """The message names the importer by its format, and what it returned."""
    ended = typed("import", "nothing", "task", "--year", "2024", "--out", "rows")
    assert ended.returncode == 2
    assert "the importer 'nothing' gives a NoneType, not an ImportedTask, for task" in ended.stderr


def test_own_formats_come_first(typed: Typed) -> None:
    """A package cannot replace a format that this project documents."""
    ended = typed("import", "cms", "task", "--year", "2024", "--out", "rows")
    assert ended.returncode == 2
    assert "problem.json" in ended.stderr


def test_the_file_may_set_options_of_an_importer(typed: Typed, tmp_path: Path) -> None:
    """Other commands, which check the whole file, know the importer too."""
    (tmp_path / "ioi-eval.toml").write_text("[import.plain]\nyear = 2024\n")
    ended = typed("config")
    assert ended.returncode == 0, ended.stderr
    assert "import plain:\n  year" in ended.stdout
    ended = typed("import", "plain", "task", "--out", "rows")
    assert ended.returncode == 0, ended.stderr


def test_two_packages_with_one_name(typed: Typed, tmp_path: Path) -> None:
    """The command is refused, because it is ambiguous which package is meant."""
    install(tmp_path / "site", "brought")
    install(tmp_path / "site", "other", "[ioi_eval.importers]\nplain = other:import_package\n")
    words = ("import", "plain", "task", "--year", "2024", "--out", "rows")
    ended = typed(*words, PYTHONPATH=str(tmp_path / "site"))
    assert ended.returncode == 2
    assert (
        "several packages have an entry point 'plain' in the group ioi_eval.importers: brought, other" in ended.stderr
    )


def test_the_documented_importer_is_not_one_of_ours() -> None:
    """The example in the docstring is a name that another package can bring: our own formats keep their names."""
    example = re.findall(r'^    ([\w-]+) = "my_package', extensions.__doc__ or "", re.MULTILINE)
    _, ours, _ = _GROUPS["import"]
    assert len(example) == 1
    assert not {*example} & {*ours}
