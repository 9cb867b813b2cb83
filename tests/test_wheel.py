"""The installed wheel works away from the checkout: what travels in it is what is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel: what an installation puts into site-packages."""
    directory = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = directory.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory / "site")
    return directory / "site"


def run(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command far away from the checkout."""
    code = (
        "import sys, ioi_eval; from ioi_eval.cli.main import main; sys.stderr.write(ioi_eval.__file__ + '\\n'); main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed), "IOI_EVAL_CACHE": str(cwd / "cache")}
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip


def test_what_travels(installed: Path) -> None:
    """The runner, the page, the probes, the sample contest; and no tests."""
    package = installed / "ioi_eval"
    for name in (
        "graders/runner.cpp",
        "graders/runner/kernel.h",
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


def test_main_job_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """A few rows of the sample contest, with a runner that is compiled from what the wheel holds."""
    sample = installed / "ioi_eval" / "sample"
    sources = [str(sample / "dump.jsonl"), "--problems", str(sample / "problems.jsonl")]
    sources += ["--tests", str(sample / "tests.jsonl"), "--out", str(tmp_path / "out")]
    answer = run(installed, tmp_path, "score", *sources, "--limit", "4")
    assert str(installed) in answer.stderr
    assert answer.returncode == 0, answer.stderr
    assert "4 of 4 submissions scored" in answer.stdout
    assert (tmp_path / "out" / "report.md").is_file()
    assert (tmp_path / "out" / "report.html").is_file()
