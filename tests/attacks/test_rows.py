"""Rows of a data set that lie near the files of an interpreter, which boxes show: programs cannot read the rows."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Batch, Isolation, Language, Problem, ProblemKey, Submission, Subtask, TestCase
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from ioi_eval.tools import prefixes_of
from tests.attacks.arena import policy
from tests.attacks.catalogue import LEVELS
from tests.attacks.levels import why_not
from tests.attacks.users import User, users

TOKEN = secrets.token_hex(16)
ROW = f'{{"answer": "{TOKEN}"}}\n'

THIEF = """
import os
def read(path):
    try:
        with open(path) as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
print("GOT" if any("TOKEN" in read(path) for path in PATHS) else "nothing")
"""
IMPORTER = """
import inside, json, decimal, sqlite3, ctypes
try:
    import outside
except (ImportError, OSError):
    print(inside.ANSWER)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project with its own virtual environment, and rows in each directory where a user may have put them.

    Args:
        python: the environment's interpreter.
        rows: paths of the files with rows.
    """

    python: str
    rows: tuple[str, ...]


def _interpreter() -> str | None:
    """An interpreter that boxes can show, and that can make virtual environments."""
    for python in ("/usr/bin/python3", sys.executable):
        if os.path.exists(python) and not os.path.realpath(python).startswith("/root/"):
            done = subprocess.run([python, "-c", "import venv"], capture_output=True, check=False)
            if done.returncode == 0:
                return python
    return None


@pytest.fixture(scope="module", params=["environment in a project", "project that is an environment"])
def project(request: pytest.FixtureRequest) -> Iterator[Project]:
    """The project, in `/var/tmp`: all users can read it, and boxes do not cover this directory."""
    python = _interpreter()
    if python is None:
        pytest.skip("no interpreter here makes environments that other users can read")
    base = Path(tempfile.mkdtemp(prefix="ioi-eval-rows-", dir="/var/tmp"))
    try:
        home = base / "project"
        environment = home / ".venv" if request.param.startswith("environment") else home
        subprocess.run([python, "-m", "venv", "--without-pip", str(environment)], check=True)
        (packages,) = environment.glob("lib/python3*/site-packages")
        (packages / "inside.py").write_text(f"ANSWER = {TOKEN[::-1]!r}\n")
        source = home / "src"
        source.mkdir()
        (source / "outside.py").touch()
        (packages / "project.pth").write_text(f"{source}\n{base / 'neighbour'}\n")
        above = [packages.parent, packages.parent.parent, environment, environment / "bin", source, home, base]
        rows = [directory / "rows.jsonl" for directory in (*above, base / "neighbour", home / "data")]
        for path in rows:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(ROW)
        for directory, _, _ in os.walk(base):
            os.chmod(directory, 0o755)
        yield Project(python=str(environment / "bin" / "python"), rows=tuple(map(str, rows)))
    finally:
        shutil.rmtree(base)


def _apps(project: Project, code: str, answer: str, level: Isolation, cache: Path) -> str:
    values = {"problem_id": 1, "input_output": {"inputs": ["1\n"], "outputs": [f"{answer}\n"]}}
    problem = apps_problem(Row(source="rows", number=1, values=values), 0)

    async def judge() -> str:
        async with LocalSandbox(slots=1, least_isolation=level, strongest=level) as sandbox:
            settings = AppsSettings(python=project.python, time_limit_s=10, memory_limit_bytes=512 << 20)
            result = await AppsExecutor(sandbox, artifacts=ArtifactStore(cache), settings=settings).score(problem, code)
            return f"{result.verdict} {result.tests[0].printed_text.strip()}"

    return asyncio.run(judge())


def _contest(project: Project, code: str, answer: str, level: Isolation, cache: Path) -> str:
    problem = Problem(
        key=ProblemKey(year=2000, id="rows"),
        name="rows",
        method=Batch(),
        time_limit_s=10,
        memory_limit_bytes=512 << 20,
        subtasks=(Subtask(name="all", points=100, tests=("only",)),),
        tests={"only": TestCase(name="only", input=b"", answer=f"{answer}\n".encode())},
        cxx_std="gnu++17",
    )
    submission = Submission(id="rows", problem=problem.key, code=code, language=Language.PYTHON)

    async def judge() -> str:
        async with LocalSandbox(slots=1, least_isolation=level, strongest=level) as sandbox:
            rules = replace(policy(level), python=project.python)
            scorer = Scorer(sandbox, artifacts=ArtifactStore(cache), policy=rules)
            (test,) = (await scorer.score(problem, submission)).subtasks[0].tests
            return f"{test.verdict} {test.message}"

    return asyncio.run(judge())


Way = Callable[[Project, str, str, Isolation, Path], str]


@pytest.mark.parametrize("user", users(), ids=lambda user: user.name)
@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.value)
@pytest.mark.parametrize("way", [_apps, _contest], ids=["apps", "contest"])
def test_rows_beside_an_environment(
    project: Project, way: Way, level: Isolation, user: User, caches: Callable[[User], Path]
) -> None:
    """A program reads no file of the project. It can import packages of the environment, but not directories that a
    `.pth` file names.
    """
    if reason := why_not(level):
        pytest.skip(reason)
    cache = caches(user)
    thief = THIEF.replace("TOKEN", TOKEN).replace("PATHS", repr(project.rows))
    stolen = user.run(lambda: way(project, thief, "GOT", level, cache))
    assert stolen.startswith("WA"), stolen
    imported = user.run(lambda: way(project, IMPORTER, TOKEN[::-1], level, cache))
    assert imported.startswith("AC"), imported


def test_rows_lie_inside_the_directory_of_the_interpreter(project: Project) -> None:
    """At least one file with rows lies in the directory that `prefixes_of` returns, so the test above can fail."""
    (place,) = prefixes_of(project.python)
    assert any(row.startswith(f"{place}/") for row in project.rows)
