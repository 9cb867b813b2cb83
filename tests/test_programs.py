"""What is compiled before a submission: what one bad answer of a worker may say, and what not."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, SetupError, TransientError, TransportError, UnavailableError
from ioi_eval.model import Execution, Isolation, Job, SourceFile, Stage
from ioi_eval.programs import ATTEMPTS, Builder, UnfitError
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


CHECKER = SourceFile(path="checker/checker.cpp", content=b"int main() {}\n")
NO = {"code": 1, "output": "g++: error: unrecognized command-line option '-std=gnu++29'"}


def said(artifact: str | None = None, **changes: object) -> Callable[[Job], Stage]:
    """The runner's answer to a compile job: one step that ended so, and perhaps an artifact."""

    def answer(job: Job) -> Stage:
        plan = next(file.content for file in job.files if file.name == "plan")
        assert isinstance(plan, bytes)
        step = {"step": 0, "code": 0, "signal": 0, "limit": None, "cpu_us": 1, "wall_us": 1}
        step |= {"memory_bytes": 1, "output": ""}
        lines: list[dict[str, object]] = [{**step, **changes}]
        if artifact is not None:
            lines.append({"artifact": artifact, "base64": base64.b64encode(b"x").decode(), "bytes": 1})
        nonce = plan.decode().split("\n")[1].split()[1]
        end = {"end": True, "nonce": nonce, "lines": len(lines), "isolation": "full"}
        return Stage(stdout="".join(f"{orjson.dumps(line).decode()}\n" for line in (*lines, end)), stderr="", code=0)

    return answer


def not_started(words: str) -> Stage:
    """The answer of a runner whose box lacks something."""
    line = {"fault": "system", "words": f"step 0 was not started: execute /opt/g++: {words}", "nonce": ""}
    return Stage(stdout=f"{orjson.dumps(line).decode()}\n", stderr="", code=1)


GOOD, CHECKED = said("good"), said("checker")


async def ask(builder: Builder) -> None:
    """Have a checker compiled to a standard that may be unknown."""
    await builder.judge_program("checker", CHECKER, TARGET, std="gnu++29")


@pytest.mark.parametrize(
    "unsure",
    [
        said(code=0, signal=9, limit="wall"),
        said(code=1, killed=9),
        said(code=0),
        said(code=1, output="g++: fatal error: Killed signal terminated program cc1plus"),
        said(code=1, output="fatal error: error writing to /tmp/x.s: No space left on device"),
    ],
)
def test_a_compiler_that_did_not_come_to_its_end_refused_nothing(tmp_path: Path, unsure: Answer) -> None:
    """No program, and no word on the standard: transient, and asked again by the next who needs it."""

    async def scenario() -> None:
        builder = Builder(Scripted(built, unsure, GOOD, CHECKED), ArtifactStore(tmp_path), Policy())
        with pytest.raises(TransientError):
            await ask(builder)
        await ask(builder)

    asyncio.run(scenario())


@pytest.mark.parametrize("words", ["Cannot allocate memory", "Resource temporarily unavailable"])
def test_a_box_that_lacked_something_says_nothing_of_the_compiler(tmp_path: Path, words: str) -> None:
    """Neither that it is broken nor that it is old."""
    sandbox = Scripted(built, not_started(words))
    with pytest.raises(TransientError, match=words):
        asyncio.run(ask(Builder(sandbox, ArtifactStore(tmp_path), Policy())))


def test_a_standard_is_unknown_only_if_the_compiler_says_so(tmp_path: Path) -> None:
    """Then this target is unfit, for the whole run, and nobody tries again."""

    async def scenario() -> None:
        sandbox = Scripted(built, said(**NO), GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for _ in range(2):
            with pytest.raises(UnfitError, match="does not know -std=gnu\\+\\+29"):
                await ask(builder)
        assert sandbox.asked == 3

    asyncio.run(scenario())


@pytest.mark.parametrize("answer", [said(**NO), not_started("No such file or directory")])
def test_a_compiler_that_refuses_everything_is_the_setups_fault(tmp_path: Path, answer: Answer) -> None:
    """It says no to a program that is good everywhere, or the box cannot see it."""
    with pytest.raises(SetupError, match="does not work inside a box"):
        asyncio.run(ask(Builder(Scripted(built, answer), ArtifactStore(tmp_path), Policy())))


def test_many_who_need_a_standard_wait_for_one_try(tmp_path: Path) -> None:
    """One job for the runner, one for the good program, one for the checker."""

    async def scenario() -> int:
        sandbox = Scripted(built, GOOD, CHECKED)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(ask(builder))
        return sandbox.asked

    assert asyncio.run(scenario()) == 3
