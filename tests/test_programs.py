"""Programs that are compiled before a submission: what follows from one bad answer of a worker."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Sequence
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, SetupError, TransientError, TransportError, UnavailableError
from ioi_eval.model import Job, Language, SourceFile, Stage
from ioi_eval.programs import MAX_ATTEMPTS, Builder, ProblemProgramError
from tests.box_answers import built, not_started, plan_of, step_answer
from tests.scripted_compiler import CHECKED, GOOD, TARGET, Answer, Scripted, ask
from tests.small_problems import small_problem

LOST = TransportError("cut cable")
REFUSED = Stage(stdout="", stderr="runner.cpp:1:1: error: no", code=1)


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
    ("limit", "times", "words"),
    [("cpu", 2, "over 60 s of CPU time"), ("memory", 2, "over 2048 MiB of memory"), ("file", 1, "too large")],
)
def test_a_program_that_exceeds_a_compile_limit_is_refused(tmp_path: Path, limit: str, times: int, words: str) -> None:
    """A second compilation, alone on the machine, is made if the limit depends on the machine. The error is the
    problem's and final: it is not compiled again.
    """

    async def scenario() -> None:
        sandbox = Scripted(built, *[step_answer(code=0, signal=9, limit=limit)] * times, GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for _ in range(2):
            with pytest.raises(ProblemProgramError, match=f"the problem's checker does not compile: .*{words}"):
                await ask(builder)
            assert sandbox.asked == 2 + times

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


PYTHON = step_answer(
    "harness.bin",
    output='{"python": "cpython 3.11.2", "numpy": null, "packages": "ab", "executable": "/usr/bin/python3", '
    '"origin": "/usr/bin", "reads": []}',
)
NO_HARNESS = step_answer(code=1, output="ModuleNotFoundError: No module named 'encodings'")


@pytest.mark.parametrize("answer", [not_started("No such file or directory"), NO_HARNESS])
def test_a_missing_interpreter_is_looked_for_once(tmp_path: Path, answer: Answer) -> None:
    """It is looked for once, whatever the number of submissions. Each of them gets its own error."""

    async def scenario() -> None:
        sandbox = Scripted(built, answer)
        builder, asked = Builder(sandbox, ArtifactStore(tmp_path), Policy(python="pypy3")), set()
        for _ in range(3):
            with pytest.raises(SetupError, match="the interpreter pypy3") as caught:
                await builder.tools.interpreter(TARGET)
            assert len(list(traceback.walk_tb(caught.tb))) < 5
            asked.add(sandbox.asked)
        assert len(asked) == 1
        assert builder.tools.known(Language.PYTHON, TARGET) is None

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

    async def scenario() -> None:
        sandbox = Scripted(built, *unsure, PYTHON)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        with pytest.raises(SetupError, match="the interpreter python3"):
            await builder.tools.interpreter(TARGET)
        assert builder.tools.known(Language.PYTHON, TARGET) is None
        found = await builder.tools.interpreter(TARGET)
        assert builder.tools.known(Language.PYTHON, TARGET) is found
        assert (str(found), found.fingerprint) == ("cpython 3.11.2", "cpython 3.11.2|ab")

    asyncio.run(scenario())


GRADED = small_problem(subtasks=(), linked=(SourceFile(path="graders/grader.py", content=b"import task\n"),))


def test_a_grader_in_python_that_cannot_be_parsed_is_refused_once(tmp_path: Path) -> None:
    """The error has the interpreter's message, and later submissions get it without a job."""

    async def scenario() -> None:
        sandbox = Scripted(built, PYTHON, step_answer(code=65, output="SyntaxError: invalid syntax"))
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for _ in range(2):
            with pytest.raises(ProblemProgramError, match=r"the problem's grader does not compile: SyntaxError"):
                await builder.objects(GRADED, TARGET, language=Language.PYTHON)
            assert sandbox.asked == 3

    asyncio.run(scenario())


def test_a_grader_in_python_that_a_limit_stopped_is_checked_once_more_alone(tmp_path: Path) -> None:
    """A busy machine may have been the reason."""
    alone = []

    def checked(job: Job) -> Stage:
        alone.append(job.alone)
        return step_answer("checked")(job)

    sandbox = Scripted(built, PYTHON, step_answer(code=0, signal=9, limit="cpu"), checked)
    builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
    assert asyncio.run(builder.objects(GRADED, TARGET, language=Language.PYTHON)) == ()
    assert alone == [True]
