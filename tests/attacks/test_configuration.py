"""A bad configuration never weakens the isolation: it is an error that says what to do."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.errors import IsolationError, SetupError
from ioi_eval.model import Isolation, Submission, SubmissionResult, Verdict
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.attacks.arena import policy, problem
from tests.shared_work import copy_cache

ENTER = """
import asyncio
from ioi_eval.errors import SetupError
from ioi_eval.model import Isolation
from ioi_eval.sandbox.local.sandbox import LocalSandbox

async def enter(level):
    try:
        async with LocalSandbox(slots=1, strongest=level) as sandbox:
            print("entered", sandbox.targets()[0].isolation)
    except SetupError as error:
        print("refused:", error)

for level in (Isolation.FULL, Isolation.REDUCED):
    asyncio.run(enter(level))
"""


def enter_under(*command: str) -> list[str]:
    """The lines that `ENTER` prints in a process started by a command."""
    done = subprocess.run(
        [*command, sys.executable, "-c", ENTER], capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    if done.returncode != 0 and not done.stdout:
        pytest.skip(f"cannot be tested here: {done.stderr.strip()[-200:]}")
    return done.stdout.splitlines()


@pytest.mark.root
def test_root_that_cannot_become_another_user() -> None:
    """Root without the right to change its user id, as in some containers: no sandbox starts."""
    if shutil.which("setpriv") is None:
        pytest.skip("no setpriv")
    lines = enter_under("setpriv", "--inh-caps=-setuid,-setgid", "--bounding-set=-setuid,-setgid", "--")
    assert len(lines) == 2
    assert all(line.startswith("refused: root cannot become another user here") for line in lines), lines


@pytest.mark.root
def test_root_that_cannot_kill_other_users_programs() -> None:
    """Root with some capabilities only, as in some containers: no sandbox starts. Without CAP_KILL, a run whose program
    had to be killed would wait for its end."""
    if shutil.which("setpriv") is None:
        pytest.skip("no setpriv")
    lines = enter_under("setpriv", "--inh-caps=-kill,-chown", "--bounding-set=-kill,-chown", "--")
    assert len(lines) == 2
    assert all(line.startswith("refused: root has no CAP_CHOWN, CAP_KILL here") for line in lines), lines


def test_root_of_a_user_namespace_with_one_user() -> None:
    """Root of a user namespace that has no other user: no sandbox starts."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    lines = enter_under("unshare", "--user", "--map-root-user", "--")
    assert len(lines) == 2
    assert all(line.startswith("refused: root cannot become another user here") for line in lines), lines


@pytest.mark.root
def test_root_without_setpriv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`setpriv`, which gives up root, is missing: the error names it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="needs setpriv"):
        asyncio.run(_enter(LocalSandbox()))


def test_less_isolation_than_asked_for_is_refused() -> None:
    """If full isolation is required and not available, the sandbox does not start, and the error gives the reason."""
    with pytest.raises(IsolationError, match="isolation 'full' is not available on this machine: limited"):
        asyncio.run(_enter(LocalSandbox(least_isolation=Isolation.FULL, strongest=Isolation.REDUCED)))


def test_a_target_with_less_isolation_is_a_judge_error(tmp_path: Path) -> None:
    """A target offers less isolation than the policy requires: JE, no score, and the reason in the message."""
    task = problem("sum", ["a"], tmp_path)
    program = Submission(id="a", problem=task.key, code="int main() {}")

    async def score() -> SubmissionResult:
        async with LocalSandbox(slots=1, strongest=Isolation.REDUCED) as sandbox:
            scorer = Scorer(sandbox, artifacts=ArtifactStore(tmp_path), policy=policy(Isolation.FULL))
            return await scorer.score(task, program)

    result = asyncio.run(score())
    assert (result.verdict, result.score) == (Verdict.JE, None)
    assert "offers isolation 'reduced', and 'full' is asked for" in result.compile.message


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o1777])
def test_cache_that_others_may_write(tmp_path: Path, mode: int) -> None:
    """A cache directory that other users can write is refused: they could replace a checker or an answer."""
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(mode)
    for store in (ArtifactStore, BlobStore):
        with pytest.raises(SetupError, match=r"others may write .*chmod go-w"):
            store(cache)


@pytest.mark.root
def test_cache_of_another_user(tmp_path: Path) -> None:
    """A cache directory of another user is refused: its owner could replace files."""
    cache = tmp_path / "cache"
    cache.mkdir()
    os.chown(cache, 65534, 65534)
    for store in (ArtifactStore, BlobStore):
        with pytest.raises(SetupError, match="belongs to another user"):
            store(cache)


def test_replaced_checker_in_the_cache(cache_with_runner: Path, tmp_path: Path) -> None:
    """A compiled checker whose content does not match its hash is never run."""
    copy_cache(cache_with_runner, tmp_path)
    task = problem("secret", ["a"], tmp_path)
    program = Submission(id="a", problem=task.key, code="int main() {}")

    async def score() -> None:
        async with LocalSandbox(slots=1) as sandbox:
            await Scorer(sandbox, artifacts=ArtifactStore(tmp_path), policy=policy(Isolation.REDUCED)).score(
                task, program
            )

    asyncio.run(score())
    (checker,) = (tmp_path / "artifacts").glob("*/*-checker.*")
    checker.write_bytes(b"#!/bin/sh\necho 1.0\n")
    with pytest.raises(SetupError, match="does not match its hash"):
        asyncio.run(score())


async def _enter(sandbox: LocalSandbox) -> None:
    async with sandbox:
        pass
