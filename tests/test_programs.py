"""Programs that are compiled before a submission: what follows from one bad answer of a worker."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import LocalSandbox
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, SetupError, TransientError, TransportError, UnavailableError
from ioi_eval.model import Execution, Job, SourceFile, Stage
from ioi_eval.programs import MAX_ATTEMPTS, Builder, ProblemProgramError, UnfitError
from ioi_eval.sandbox import Target
from tests.box_answers import built, not_started, plan_of, step_answer
from tests.small_problems import small_problem
from tests.small_targets import small_target

TARGET = small_target(name="here")
LOST = TransportError("cut cable")
REFUSED = Stage(stdout="", stderr="runner.cpp:1:1: error: no", code=1)
Answer = Stage | Exception | Callable[[Job], Stage]


class Scripted:
    """A sandbox that gives prepared answers. The last one is repeated."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.asked = answers, 0

    def targets(self) -> Sequence[Target]:
        """One target."""
        return (TARGET,)

    async def execute(self, job: Job, _: Target) -> Execution:
        """The next answer, in the order of the calls. The event loop runs other tasks first."""
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return Execution(run=answer if isinstance(answer, Stage) else answer(job))


def runner(directory: Path, sandbox: Scripted) -> bytes:
    """The runner that a builder compiles."""
    return asyncio.run(Builder(sandbox, ArtifactStore(directory), Policy()).runner(TARGET)).path.read_bytes()


def failed(words: str) -> Stage:
    """A compilation of the runner that failed with this output."""
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
def test_after_one_bad_answer_the_runner_is_compiled_again(tmp_path: Path, bad: Answer) -> None:
    """If the answer is lost or is a failure once, the next answer counts."""
    sandbox = Scripted(bad, built)
    assert runner(tmp_path, sandbox) == b"runner"
    assert sandbox.asked == 2


@pytest.mark.parametrize("answers", [(REFUSED,), (REFUSED, LOST, REFUSED), (LOST, REFUSED, REFUSED)])
def test_a_runner_that_fails_to_compile_twice_is_a_setup_error(tmp_path: Path, answers: tuple[Answer, ...]) -> None:
    """The error has the compiler's message."""
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
    """The error is transient, whatever the number of attempts: the next submission tries again."""
    sandbox = Scripted(*answers)
    with pytest.raises(TransientError):
        runner(tmp_path, sandbox)
    assert sandbox.asked == MAX_ATTEMPTS


@pytest.mark.parametrize("error", [UnavailableError("no endpoint left"), SandboxError("no such thing")])
def test_permanent_errors_are_not_retried(tmp_path: Path, error: Exception) -> None:
    """No endpoint is left, or the request was refused for good."""
    sandbox = Scripted(error)
    with pytest.raises(type(error)):
        runner(tmp_path, sandbox)
    assert sandbox.asked == 1


CHECKER = SourceFile(path="checker/checker.cpp", content=b"int main() {}\n")
NO: dict[str, Any] = {"code": 1, "output": "g++: error: unrecognized command-line option '-std=gnu++29'"}


GOOD, CHECKED = step_answer("good"), step_answer("checker")


async def ask(builder: Builder) -> None:
    """Request a checker that is compiled to a standard which the compiler may not know."""
    await builder.judge_program("checker", CHECKER, TARGET, std="gnu++29")


@pytest.mark.parametrize(
    "unsure",
    [
        step_answer(code=0, signal=9, limit="wall"),
        step_answer(code=1, killed=9),
        step_answer(code=0),
        step_answer(code=1, output="g++: fatal error: Killed signal terminated program cc1plus"),
        step_answer(code=1, output="fatal error: error writing to /tmp/x.s: No space left on device"),
    ],
)
def test_an_unfinished_compilation_decides_nothing(tmp_path: Path, unsure: Answer) -> None:
    """It is no evidence on the program or the standard. The error is transient, and the next caller compiles again."""

    async def scenario() -> None:
        builder = Builder(Scripted(built, step_answer(**NO), unsure, CHECKED), ArtifactStore(tmp_path), Policy())
        with pytest.raises(TransientError):
            await ask(builder)
        await ask(builder)

    asyncio.run(scenario())


@pytest.mark.parametrize("words", ["Cannot allocate memory", "Resource temporarily unavailable"])
def test_a_box_without_resources_decides_nothing(tmp_path: Path, words: str) -> None:
    """The compiler is taken neither for broken nor for too old."""
    sandbox = Scripted(built, not_started(words))
    with pytest.raises(TransientError, match=words):
        asyncio.run(ask(Builder(sandbox, ArtifactStore(tmp_path), Policy())))


def test_a_standard_is_unknown_only_if_the_compiler_says_so(tmp_path: Path) -> None:
    """Then this target is unfit for the whole run, and no caller compiles again."""

    async def scenario() -> None:
        sandbox = Scripted(built, step_answer(**NO), step_answer(**NO), GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for _ in range(2):
            with pytest.raises(UnfitError, match="does not know -std=gnu\\+\\+29"):
                await ask(builder)
            assert sandbox.asked == 4

    asyncio.run(scenario())


@pytest.mark.parametrize("answer", [step_answer(**NO), not_started("No such file or directory")])
def test_a_compiler_that_refuses_everything_is_a_setup_error(tmp_path: Path, answer: Answer) -> None:
    """It refuses the known good program, or it does not exist in the box."""
    with pytest.raises(SetupError, match="does not work inside a box"):
        asyncio.run(ask(Builder(Scripted(built, answer), ArtifactStore(tmp_path), Policy())))


def test_after_no_space_left_the_known_good_program_is_compiled_again(tmp_path: Path) -> None:
    """Its earlier success says nothing about the disk now. It is compiled again if the message blames the machine."""
    full = "ld: final link failed: No space left on device"

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, GOOD, step_answer(code=1, output=full))
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for words in ("x.cpp:1:1: error: no", "", full):
            await builder.require_working_compiler("gnu++17", TARGET, refused=words)
        assert sandbox.asked == 3
        with pytest.raises(TransientError, match="No space left"):
            await builder.require_working_compiler("gnu++17", TARGET, refused=full)

    asyncio.run(scenario())


def reads_headers(job: Job) -> Stage:
    """A compiler that reads large headers instead of compiling them, and compiles the rest."""
    assert re.search(r"^step .* argv=-E argv=headers.cpp ", plan_of(job), re.MULTILINE)
    return GOOD(job)


def compiles_headers(job: Job) -> Stage:
    """A compiler that compiles the whole known good program."""
    assert "argv=-E" not in plan_of(job)
    return GOOD(job)


@pytest.mark.parametrize(
    ("changed", "later"),
    [
        ({}, [reads_headers]),
        ({"is_remote": True}, [compiles_headers]),
        ({"toolchain": replace(TARGET.toolchain, version="another")}, [built, compiles_headers]),
    ],
)
def test_a_later_run_only_reads_the_large_headers_of_the_known_good_program(
    tmp_path: Path, changed: dict[str, Any], later: list[Answer]
) -> None:
    """If an earlier one compiled the program on this machine, with the same compiler."""

    async def run(answers: list[Answer], target: Target) -> None:
        builder = Builder(Scripted(*answers), ArtifactStore(tmp_path), Policy())
        await builder.require_working_compiler("gnu++17", target, refused="x.cpp:1:1: error: no")

    asyncio.run(run([built, compiles_headers], TARGET))
    asyncio.run(run(later, replace(TARGET, **changed)))


def test_a_refused_known_good_program_is_not_stored(tmp_path: Path) -> None:
    """The next run compiles all of it."""

    async def run(*answers: Answer) -> None:
        builder = Builder(Scripted(*answers), ArtifactStore(tmp_path), Policy())
        await builder.require_working_compiler("gnu++17", TARGET, refused="x.cpp:1:1: error: no")

    with pytest.raises(SetupError, match="does not work inside a box"):
        asyncio.run(run(built, step_answer(**NO)))
    asyncio.run(run(compiles_headers))


def test_after_a_missing_part_of_the_compiler_the_known_good_program_is_compiled_again(tmp_path: Path) -> None:
    """The compiler may have been removed or upgraded during the run: right programs were CE from then on. Most headers
    are only read again, as they were compiled before.
    """
    missing = "a.cpp:1:10: fatal error: vector: No such file or directory\n"

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, reads_headers, step_answer(code=1, output=missing))
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for words in ("x.cpp:1:1: error: no", missing):
            await builder.require_working_compiler("gnu++17", TARGET, refused=words)
        assert sandbox.asked == 3
        with pytest.raises(TransientError, match=r"does not work any more: .*vector: No such file"):
            await builder.require_working_compiler("gnu++17", TARGET, refused=missing)

    asyncio.run(scenario())


def test_after_a_crash_of_the_compiler_the_known_good_program_is_compiled_again(tmp_path: Path) -> None:
    """A program can crash the compiler, and so can the machine. In the second case the known good program fails too."""

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, GOOD, step_answer(code=0, signal=7))
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        await builder.require_working_compiler("gnu++17", TARGET)
        await builder.require_working_compiler("gnu++17", TARGET, crashed=True)
        with pytest.raises(TransientError, match="did not finish"):
            await builder.require_working_compiler("gnu++17", TARGET, crashed=True)

    asyncio.run(scenario())


def test_a_compiler_that_fails_later_is_a_failure_of_the_machine(tmp_path: Path) -> None:
    """It has compiled the known good program before, so the program that crashed it may be as good."""
    quota = "Cannot create temporary file in ./: Disk quota exceeded"

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, step_answer(code=1, output=quota), GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        await builder.require_working_compiler("gnu++17", TARGET, crashed=True)
        assert sandbox.asked == 2
        with pytest.raises(TransientError, match="Disk quota"):
            await builder.require_working_compiler("gnu++17", TARGET, crashed=True)
        await builder.require_working_compiler("gnu++17", TARGET, crashed=True)

    asyncio.run(scenario())


def test_a_full_disk_is_not_the_problem_s_fault(tmp_path: Path) -> None:
    """The error is transient, although the compiler works: the disk has been filled since it was tried."""
    full = step_answer(code=1, output="ld: final link failed: No space left on device")

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, full, full, CHECKED)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        await builder.require_working_compiler("gnu++29", TARGET)
        with pytest.raises(TransientError, match="could not finish compiling"):
            await ask(builder)
        await ask(builder)

    asyncio.run(scenario())


def test_the_known_good_program_is_not_compiled_without_a_failure(tmp_path: Path) -> None:
    """There is one job for the runner and one for the checker, whatever the number of callers."""

    async def scenario() -> int:
        sandbox = Scripted(built, CHECKED)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(ask(builder))
        return sandbox.asked

    assert asyncio.run(scenario()) == 2


def test_concurrent_callers_share_one_known_good_compilation(tmp_path: Path) -> None:
    """There is one job for the runner and one for the known good program."""

    async def scenario() -> int:
        sandbox = Scripted(built, GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(builder.require_working_compiler("gnu++17", TARGET))
        return sandbox.asked

    assert asyncio.run(scenario()) == 2


def test_each_source_of_a_grader_is_compiled_once(tmp_path: Path) -> None:
    """Each of its objects has a job of its own, with one step."""
    linked = tuple(SourceFile(path=f"graders/{name}", content=b"") for name in ("grader.cpp", "more.cpp"))
    problem = small_problem(subtasks=(), linked=linked)

    def compiled(job: Job) -> Stage:
        (_,) = re.findall(r"^step ", plan_of(job), re.MULTILINE)
        (name,) = re.findall(r"^artifact path=(\S+)", plan_of(job), re.MULTILINE)
        return step_answer(name)(job)

    sandbox = Scripted(built, compiled)
    objects = asyncio.run(Builder(sandbox, ArtifactStore(tmp_path), Policy()).objects(problem, TARGET))
    assert [name for name, _ in objects] == ["linked0.o", "linked1.o"]
    assert sandbox.asked == 3


def entries(error: BaseException) -> int:
    """The number of frames in an error's traceback."""
    return sum(1 for _ in traceback.walk_tb(error.__traceback__))


def test_each_caller_gets_a_new_error_of_a_shared_compilation(tmp_path: Path) -> None:
    """The callers share one compilation. Each error object is new, so it does not collect the frames of
    other callers.
    """

    async def scenario() -> None:
        sandbox = Scripted(built, step_answer(code=1, output="checker.cpp:1:1: error: no"), GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        met = await asyncio.gather(*(ask(builder) for _ in range(20)), return_exceptions=True)
        assert {(type(error), str(error)) for error in met if error} == {
            (ProblemProgramError, "the problem's checker does not compile: checker.cpp:1:1: error: no")
        }
        assert len(set(map(id, met))) == 20
        assert max(entries(error) for error in met if error) < 20
        assert sandbox.asked == 3

    asyncio.run(scenario())


def test_a_checker_without_testlib_is_told_where_to_put_it(tmp_path: Path) -> None:
    """Authors most often forget testlib.h, and the compiler only says that the file does not exist."""

    async def scenario() -> None:
        missing = "checker.cpp:1:10: fatal error: testlib.h: No such file or directory"
        sandbox = Scripted(built, step_answer(code=1, output=missing), GOOD)
        with pytest.raises(ProblemProgramError, match=r"No such file or directory\n.*grader_files: checker/testlib\.h"):
            await ask(Builder(sandbox, ArtifactStore(tmp_path), Policy()))

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("limit", "words"), [("cpu", "over 60 s of CPU time"), ("memory", "over 2048 MiB of memory"), ("file", "too large")]
)
def test_a_program_that_exceeds_a_compile_limit_twice_is_refused(tmp_path: Path, limit: str, words: str) -> None:
    """The second compilation ran alone on the machine. The error is the problem's and final: it is not
    compiled again.
    """

    async def scenario() -> None:
        sandbox = Scripted(
            built, step_answer(code=0, signal=9, limit=limit), step_answer(code=0, signal=9, limit=limit), GOOD
        )
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for _ in range(2):
            with pytest.raises(ProblemProgramError, match=f"the problem's checker does not compile: .*{words}"):
                await ask(builder)
            assert sandbox.asked == 4

    asyncio.run(scenario())


@pytest.mark.parametrize("limits", [("cpu", "memory"), ("wall", "wall"), ("cpu", None)])
def test_two_different_limits_decide_nothing(tmp_path: Path, limits: tuple[str, str | None]) -> None:
    """Nor does the wall-clock limit. The error is transient, and the next caller compiles again."""

    async def scenario() -> None:
        ends = [step_answer(code=0, signal=9, limit=limit) for limit in limits]
        builder = Builder(Scripted(built, *ends, CHECKED), ArtifactStore(tmp_path), Policy())
        with pytest.raises(TransientError, match="could not finish compiling"):
            await ask(builder)
        await ask(builder)

    asyncio.run(scenario())


NO_HARNESS = step_answer(code=1, output="ModuleNotFoundError: No module named 'encodings'")


@pytest.mark.parametrize("answer", [not_started("No such file or directory"), NO_HARNESS])
def test_a_missing_interpreter_is_looked_for_once(tmp_path: Path, answer: Answer) -> None:
    """It is looked for once, whatever the number of submissions. Each of them gets its own error."""

    async def scenario() -> None:
        sandbox = Scripted(built, answer)
        builder, asked = Builder(sandbox, ArtifactStore(tmp_path), Policy()), set()
        for _ in range(3):
            with pytest.raises(SetupError, match="the interpreter pypy3") as caught:
                await builder.tools.interpreter("pypy3", TARGET)
            assert len(list(traceback.walk_tb(caught.tb))) < 5
            asked.add(sandbox.asked)
        assert len(asked) == 1

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "unsure",
    [
        [not_started("Cannot allocate memory")] * MAX_ATTEMPTS,
        [step_answer(code=0, signal=9)],
        [step_answer(code=0, signal=9, limit="wall")],
        [step_answer(code=1, output="OSError: [Errno 28] No space left on device: 'harness.bin'")],
    ],
)
def test_a_temporary_failure_is_not_remembered_for_the_interpreter(tmp_path: Path, unsure: Sequence[Answer]) -> None:
    """The next caller looks for the interpreter again."""
    line = (
        '{"python": "cpython 3.11.2", "numpy": null, "packages": "ab", "executable": "/usr/bin/python3", "reads": []}'
    )

    async def scenario() -> None:
        sandbox = Scripted(built, *unsure, step_answer("harness.bin", output=line))
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        with pytest.raises(SetupError, match="the interpreter python3"):
            await builder.tools.interpreter("python3", TARGET)
        found = await builder.tools.interpreter("python3", TARGET)
        assert (str(found), found.fingerprint) == ("cpython 3.11.2", "cpython 3.11.2|ab")

    asyncio.run(scenario())


def test_a_header_that_the_box_hides_is_a_setup_error(cache: Path) -> None:
    """Submissions that include the header get no CE, because the compiler does not even compile the
    known good program.
    """

    async def main() -> None:
        async with LocalSandbox() as sandbox:
            (target,) = sandbox.targets()
            hidden = Path("/usr/include/pthread.h")
            beside = (str(path) for path in hidden.parent.iterdir() if path != hidden)
            sees = (*(path for path in target.toolchain.sees if path != str(hidden.parent)), *beside)
            blind = replace(target, toolchain=replace(target.toolchain, sees=sees))
            builder = Builder(sandbox, ArtifactStore(cache), Policy())
            await builder.require_working_compiler("gnu++17", target)
            with pytest.raises(
                SetupError,
                match=r"(?s)does not work inside a box of local: .*pthread\.h: (No such file|Permission denied)",
            ):
                await Builder(sandbox, ArtifactStore(cache), Policy()).require_working_compiler("gnu++17", blind)

    asyncio.run(main())
