"""A program cannot fill a disk to get a JE in place of its verdict."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import MIB
from ioi_eval.model import Isolation, SourceFile, Submission, SubmissionResult, Verdict
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.attacks.arena import COMPILING, policy, problem
from tests.graders.runner_box import small_disk
from tests.shared_work import copy_cache

_OBJECT = b'asm(".data\\n.fill 10000000,1,65\\n.text");\n'
_ERROR = b'int main() {}\nasm(".error \\"No space left on device\\"");\n'


@pytest.mark.root
def test_many_objects(cache_with_runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The objects of a program with many sources fill the disk, and then the compiler prints that it is full."""
    copy_cache(cache_with_runner, tmp_path)
    task = problem("sum", ["a"], tmp_path)
    sources = [SourceFile(path=f"{number}.cpp", content=_OBJECT) for number in range(9)]
    sources.append(SourceFile(path="last.cpp", content=_ERROR))
    program = Submission(id="a", problem=task.key, code="…", sources=tuple(sources))

    async def score() -> SubmissionResult:
        async with LocalSandbox(slots=1, strongest=Isolation.REDUCED) as sandbox:
            limits = policy(Isolation.REDUCED, compiling=replace(COMPILING, cpu_s=60, file_bytes=20 * MIB))
            return await Scorer(sandbox, artifacts=ArtifactStore(tmp_path), policy=limits).score(task, program)

    with tempfile.TemporaryDirectory() as directory, small_disk(Path(directory) / "disk", 100) as disk:
        Path(directory).chmod(0o755)  # the box's user must be able to enter it
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        result = asyncio.run(score())
    assert (result.verdict, result.score) == (Verdict.CE, 0.0), result.compile.message
    assert "its files are too large, or too many" in result.compile.message
