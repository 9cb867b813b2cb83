"""`ioi-eval doctor`: its output and its exit code."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval import doctor
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.cli.doctor import doctor as doctor_command
from ioi_eval.doctor import Severity, examine_cache
from ioi_eval.doctor.embedded import _limits
from ioi_eval.sandbox.findings import Finding, fine, warning
from ioi_eval.sandbox.local.machine_limit import MachineLimit
from tests import unprivileged
from tests.cli.addition import Start


def test_the_doctor_reports_what_was_tried(start: Start) -> None:
    """One line for each test, and whether programs can be judged here."""
    ended = start("doctor")
    assert "compiler" in ended.stdout
    assert "isolation" in ended.stdout
    if ended.returncode == 0:
        assert "Programs can be judged here." in ended.stdout
        assert "BAD" not in ended.stdout
    else:
        assert ended.returncode == 2
        assert "Nothing can be judged here as it is." in ended.stdout
        assert "BAD" in ended.stdout


def test_without_a_compiler_nothing_can_be_judged(start: Start) -> None:
    """It is a line of the report and not a traceback."""
    ended = start("doctor", env={"CXX": "/nonexistent/g++"})
    assert ended.returncode == 2
    assert "/nonexistent/g++" in ended.stdout
    assert "Traceback" not in ended.stderr


def test_a_cache_that_cannot_be_used_is_a_finding(start: Start, tmp_path: Path) -> None:
    """As in `score`, the exit code is 2. The programs in a cache may be readable although its test data is not."""
    cache = tmp_path / "cache"
    (cache / "blobs" / ".secret").mkdir(parents=True)
    ended = start("doctor", env={"IOI_EVAL_CACHE": str(cache)})
    assert ended.returncode == 2
    assert f"    BAD  cache  {cache}/blobs/.secret cannot be read" in ended.stdout
    assert "Nothing can be judged here as it is." in ended.stdout
    compiles_nothing = {"CXX": "/nonexistent/g++"}
    ended = start("doctor", env={"IOI_EVAL_CACHE": str(tmp_path / "new"), **compiles_nothing})
    assert f"  {tmp_path}/new\n" in ended.stdout
    assert not [path for path in (tmp_path / "new/blobs").rglob("*") if path.is_file() and path.name != ".secret"]


def test_tools_that_are_missing_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With their packages, although nothing can be compiled either."""
    monkeypatch.setenv("PATH", "/nonexistent")
    found = asyncio.run(doctor.examine(artifacts=ArtifactStore(tmp_path), compiler="g++"))
    assert [(finding.what, finding.severity, finding.advice) for finding in found[:2]] == [
        ("bwrap", Severity.WARNING, "apt install bubblewrap"),
        ("setpriv", Severity.WARNING, "apt install util-linux"),
    ]
    assert {finding.severity for finding in found[2:]} == {Severity.BAD}


def test_a_limit_is_bad_if_nothing_can_be_judged_with_it() -> None:
    """Others are warnings. Without any there is a finding too, which says so."""
    fatal = MachineLimit(what="stack", measured="8 MiB", needed="64 needed", advice="raise it", is_fatal=True)
    limits = [fatal, replace(fatal, is_fatal=False)]
    found = [(finding.severity, finding.detail) for finding in _limits(limits)]
    assert found == [(Severity.BAD, "8 MiB; 64 needed"), (Severity.WARNING, "8 MiB; 64 needed")]
    assert [finding.severity for finding in _limits(())] == [Severity.OK]


@pytest.mark.root
def test_a_cache_that_can_only_be_read_is_a_warning() -> None:
    """A run that needs nothing else works. Without the secret of the cache's names, nothing in it can be found."""
    with unprivileged.private_directory() as cache:
        unprivileged.call(BlobStore, cache)
        assert unprivileged.call(examine_cache, cache).severity is Severity.OK
        for path in (cache, *cache.rglob("*")):
            path.chmod(0o555)
        finding = unprivileged.call(examine_cache, cache)
        assert (finding.severity, finding.detail.startswith(f"{cache} can only be read")) == (Severity.WARNING, True)
        (cache / "blobs/.secret").chmod(0)
        assert unprivileged.call(examine_cache, cache).severity is Severity.BAD
        for path in (cache, cache / "blobs"):
            path.chmod(0o755)  # so that it can be deleted


@pytest.mark.parametrize("cache", [fine("cache", "/cache"), warning("cache", "/cache can only be read")])
def test_without_temporary_files_nothing_can_be_judged(
    cache: Finding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a container whose directories can only be read, this is a finding, as it is a refusal in `score`."""
    monkeypatch.setenv("IOI_EVAL_CACHE", str(tmp_path))
    monkeypatch.setattr(doctor, "examine_cache", lambda _: cache)
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    assert doctor_command() == 2
    printed = capsys.readouterr().out
    assert "    BAD  temporary files  none can be made" in printed
    assert "Nothing can be judged here as it is." in printed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--calibrate", "--endpoints", "http://worker:2000"], "--calibrate measures this machine"),
        (["--max-requests-per-endpoint", "2"], "and none is named"),
    ],
    ids=["calibrate", "requests"],
)
def test_options_that_do_not_go_together(start: Start, options: list[str], words: str) -> None:
    """They are refused: a user who asks about workers does not want a report on this machine."""
    ended = start("doctor", *options)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr
