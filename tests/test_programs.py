"""What is compiled before a submission: what one bad answer of a worker may say, and what not."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, SetupError, TransientError, TransportError, UnavailableError
from ioi_eval.model import Execution, Isolation, Job, Stage
from ioi_eval.programs import ATTEMPTS, Builder
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain

TARGET = Target(
    name="here",
    profile="bundled",
    toolchain=Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True),
    slots=1,
    isolation=Isolation.FULL,
)
LOST = TransportError("cut cable")
REFUSED = Stage(stdout="", stderr="runner.cpp:1:1: error: no", code=1)
Answer = Stage | Exception | Callable[[Job], Stage]


class Scripted:
    """A sandbox whose answers are written down; the last one is repeated."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.asked = answers, 0

    def targets(self) -> Sequence[Target]:
        """Just one."""
        return (TARGET,)

    async def execute(self, job: Job, _: Target) -> Execution:
        """The next answer, in the order of asking, though it comes later."""
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return Execution(run=answer if isinstance(answer, Stage) else answer(job))


def built(job: Job) -> Stage:
    """The answer to a runner's job that went well."""
    script = next(file.content for file in job.files if file.name == "run")
    assert isinstance(script, bytes)
    nonce = script.decode().split()[-1]
    return Stage(stdout=f"{nonce}\n{base64.b64encode(b'runner').decode()}\n{nonce}\n", stderr="", code=0)


def runner(directory: Path, sandbox: Scripted) -> bytes:
    """The runner that a builder gives."""
    return asyncio.run(Builder(sandbox, ArtifactStore(directory), Policy()).runner(TARGET)).path.read_bytes()


def failed(words: str) -> Stage:
    """A compilation of the runner that ended with these words."""
    return Stage(stdout="", stderr=words, code=1)


@pytest.mark.parametrize(
    "bad",
    [
        LOST,
        REFUSED,
        Stage(stdout="", stderr="", code=None, signal="SIGKILL"),
        failed("g++: fatal error: Killed signal terminated program cc1plus"),
        failed("fatal error: error writing to /tmp/x.s: No space left on device"),
    ],
)
def test_one_bad_answer_for_the_runner_is_asked_for_again(tmp_path: Path, bad: Answer) -> None:
    """Lost or refused once: the next answer counts."""
    sandbox = Scripted(bad, built)
    assert runner(tmp_path, sandbox) == b"runner"
    assert sandbox.asked == 2


@pytest.mark.parametrize("answers", [(REFUSED,), (REFUSED, LOST, REFUSED), (LOST, REFUSED, REFUSED)])
def test_a_runner_refused_twice_is_the_setups_fault(tmp_path: Path, answers: tuple[Answer, ...]) -> None:
    """With the compiler's words."""
    with pytest.raises(SetupError, match=r"runner.cpp:1:1: error: no"):
        runner(tmp_path, Scripted(*answers))


@pytest.mark.parametrize(
    "answers",
    [
        (LOST,),
        (LOST, LOST, REFUSED),
        (REFUSED, LOST),
        (failed("g++: fatal error: Killed signal terminated program cc1plus"),),
        (failed("ld: final link failed: No space left on device"),),
    ],
)
def test_a_machine_without_memory_or_disk_does_not_end_the_run(tmp_path: Path, answers: tuple[Answer, ...]) -> None:
    """It is transient, however often it happened here: the next submission asks again."""
    sandbox = Scripted(*answers)
    with pytest.raises(TransientError):
        runner(tmp_path, sandbox)
    assert sandbox.asked == ATTEMPTS


@pytest.mark.parametrize("error", [UnavailableError("no endpoint left"), SandboxError("no such thing")])
def test_what_repeating_cannot_help_is_not_repeated(tmp_path: Path, error: Exception) -> None:
    """Nobody is left, or it was refused for good."""
    sandbox = Scripted(error)
    with pytest.raises(type(error)):
        runner(tmp_path, sandbox)
    assert sandbox.asked == 1
