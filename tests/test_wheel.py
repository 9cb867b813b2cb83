"""The installed wheel works without the checkout: it contains all files that it needs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.keeping_compiler import keeping_compiler
from tests.refusing_compiler import refusing_compiler

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel: what an installation puts into site-packages."""
    directory = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    environment = {**os.environ, "CXX": str(keeping_compiler(directory))}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    (wheel,) = directory.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory / "site")
    return directory / "site"


def run(installed: Path, cwd: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command outside of the checkout."""
    code = (
        "import sys, ioi_eval; from ioi_eval.cli.main import main; sys.stderr.write(ioi_eval.__file__ + '\\n'); main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed), "IOI_EVAL_CACHE": str(cwd / "cache"), **variables}
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip


def test_files_in_the_wheel(installed: Path) -> None:
    """It has the runner, the report page, the probes and the sample contest, but no tests."""
    package = installed / "ioi_eval"
    for name in (
        "graders/runner.cpp",
        "graders/runner/system.h",
        "graders/PROTOCOL.md",
        "graders/probe.cpp",
        "sample/dump.jsonl",
        "report/page/page.html",
        "report/page/page.css",
        "report/page/main.js",
        "sample/apps_problems.jsonl",
        "sample/apps/crews/checker.cpp",
        "py.typed",
    ):
        assert (package / name).is_file(), name
    assert not list(installed.rglob("test_*.py"))
    metadata = next(installed.glob("*.dist-info/METADATA")).read_text()
    assert "Requires-Python: >=3.11" in metadata


def test_the_graders_are_those_of_the_checkout(installed: Path) -> None:
    """Every file of graders/ is equal. So if these files compile from the checkout, they compile from the wheel."""
    theirs, ours = (files_below(root / "graders") for root in (installed / "ioi_eval", ROOT))
    assert len(ours) > 60
    assert theirs == ours


def files_below(directory: Path) -> dict[str, bytes]:
    """The contents of files by path, without bytecode."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def score(installed: Path, tmp_path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Score two rows of the sample contest."""
    sample = installed / "ioi_eval" / "sample"
    sources = [str(sample / "dump.jsonl"), "--problems", str(sample / "problems.jsonl")]
    sources += ["--tests", str(sample / "tests.jsonl"), "--out", str(tmp_path / "out")]
    return run(installed, tmp_path, "score", *sources, "--limit", "2", "--std", "gnu++17", **variables)


@pytest.fixture
def narrow_compiler() -> Iterator[str]:
    """A compiler that refuses the runner and the stage runner."""
    with refusing_compiler("*runner.cpp*|*stages.cpp*", "not by me: $*") as path:
        yield str(path)


def test_score_with_the_wheel_s_runner(installed: Path, tmp_path: Path) -> None:
    """Two rows of the sample contest are scored with the runner in the wheel. The output does not
    mention the runner.
    """
    answer = score(installed, tmp_path)
    assert str(installed) in answer.stderr
    assert answer.returncode == 0, answer.stderr
    assert "runner" not in answer.stderr.replace(str(installed), "")
    assert "2 of 2 submissions scored" in answer.stdout
    assert (tmp_path / "out" / "report.md").is_file()
    assert (tmp_path / "out" / "report.html").is_file()


def damage(built: Path) -> None:
    """Change one byte of the runner."""
    content = bytearray((built / "runner").read_bytes())
    content[1000] ^= 1
    (built / "runner").write_bytes(content)


def replace_by_a_foreign_one(built: Path) -> None:
    """Replace the runner by a file for another processor, with a record that matches it."""
    content = (built / "runner").read_bytes()[:18] + b"\xb7\x00" + b"\0" * 100  # ELF's e_machine: AArch64
    (built / "runner").write_bytes(content)
    record = json.loads((built / "record.json").read_text())
    record["runner"]["sha256"] = hashlib.sha256(content).hexdigest()
    (built / "record.json").write_text(json.dumps(record))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (damage, "the program runner of this package does not match its hash"),
        (shutil.rmtree, "first, the judge's own program (the runner) is compiled"),
        (replace_by_a_foreign_one, "not by me: "),
    ],
    ids=["damaged", "absent", "for another processor"],
)
def test_a_runner_that_cannot_be_used_is_compiled(
    installed: Path, tmp_path: Path, narrow_compiler: str, change: Callable[[Path], object], words: str
) -> None:
    """The compiler cannot compile it here, so the command fails. No other runner is used."""
    site = tmp_path / "site"
    shutil.copytree(installed, site)
    change(site / "ioi_eval" / "built")
    answer = score(site, tmp_path, CXX=narrow_compiler)
    assert answer.returncode == 2, answer.stderr
    assert words in answer.stderr
    assert "the runner does not compile on this target: not by me: " in answer.stderr


def test_the_wheel_s_programs_are_not_compiled(installed: Path, tmp_path: Path, narrow_compiler: str) -> None:
    """This holds for the runner, and for the stage runner of the boxes in which scripts from requests run."""
    code = """
import asyncio, sys
from ioi_eval import ArtifactStore, LocalSandbox, Policy
from ioi_eval.model import Isolation, Job, JobFile, JobKind, StageLimits
from ioi_eval.programs import Builder

async def main():
    async with LocalSandbox(compiler=sys.argv[1]) as sandbox:
        (target,) = sandbox.targets()
        print((await Builder(sandbox, ArtifactStore(sys.argv[2]), Policy()).runner(target)).size > 1_000_000)
        if target.isolation is not Isolation.FULL:
            return print("no boxes for scripts here")
        limits = StageLimits(wall_ms=60_000, cpu_ms=60_000, output_bytes=1000)
        files = (JobFile(name="run", content=b"echo kept"),)
        job = Job(kind=JobKind.SCRIPTS, files=files, run_limits=limits)
        print((await sandbox.execute(job, target)).run.stdout.strip())

asyncio.run(main())
"""
    command = [sys.executable, "-P", "-c", code, narrow_compiler, str(tmp_path / "cache")]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    answer = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() in (["True", "kept"], ["True", "no boxes for scripts here"])


def test_a_wheel_can_be_built_without_a_compiler(tmp_path: Path) -> None:
    """From the source distribution. The wheel is then for all machines and has no compiled programs."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run([*command, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (sources,) = tmp_path.glob("*.tar.gz")
    subprocess.run(["tar", "-C", tmp_path, "-xf", sources], check=True)
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for name in ("mkdocs.yml", "CONTRIBUTING.md", "scripts/check"):  # with these, the checks run there too
        assert (unpacked / name).is_file()
    environment = {**os.environ, "CXX": "/nonexistent/g++"}
    done = subprocess.run(
        [*command, "-t", "wheel"], cwd=unpacked, env=environment, check=True, capture_output=True, text=True
    )
    assert "without our own programs" in done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if "/built/" in name]
        assert "ioi_eval/graders/runner.cpp" in archive.namelist()
