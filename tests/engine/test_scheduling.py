"""Which runs of a program are repeated, in which order, and which result counts. The runner's answers are prepared."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.apps.verdicts import assessed
from ioi_eval.config import RunPolicy
from ioi_eval.engine.judging import Judging
from ioi_eval.engine.run_jobs import Engine
from ioi_eval.engine.scheduling import ProgramRun
from ioi_eval.errors import TargetLostError, TransportError, UnavailableError
from ioi_eval.jobs.harness import InPython, Interpreter
from ioi_eval.jobs.run_job import JobTest, Program
from ioi_eval.jobs.run_setups import problem_setup
from ioi_eval.model import (
    Batch,
    Execution,
    Isolation,
    Job,
    RunRules,
    Stage,
    TestOutcome,
    Verdict,
)
from ioi_eval.model.methods import Comparator
from ioi_eval.sandbox import Target
from tests.box_answers import answer_text
from tests.small_targets import small_target

TARGET = small_target()
PYTHON = Interpreter(version="cpython 3", numpy=None, path="python3", sees=(), harness=b"")
SETUP = problem_setup(
    RunRules(method=Batch(check=Comparator()), time_limit_s=10, memory_limit_bytes=1 << 28),
    RunPolicy(least_isolation=Isolation.FULL),
    runner=b"",
    program=InPython(interpreter=PYTHON, warm=False),
    return_bytes=99,
)

Line = dict[str, Any]
LOST, NOBODY = TransportError("cut cable"), UnavailableError("no endpoint left")


def line(verdict: str | None, score: str | None, cpu_s: float, **other: Any) -> Line:
    """A result line of the runner for the test."""
    return {
        "test": 0, "verdict": verdict, "score": score, "message": "", "cpu_us": round(cpu_s * 1e6), "wall_us": 0,
        "idle_us": 0, "memory_bytes": 0, "code": 0, "signal": 0, "limit": None, "attempted": {}, "stderr": "",
        "judge": {"cpu_us": 0, "wall_us": 0}, **other,
    }  # fmt: skip


RIGHT = line("AC", "1", 9.0)
HALF = line("PA", "0.5", 9.0)
SLOW = line("TLE", "0", 10.2, in_time="1")
SLOW_HALF = line("TLE", "0", 10.2, in_time="0.5")
CRASH = line("JE", None, 9.0, program="checker", fault="signal", explanation="SIGSEGV")
NOT_STARTED = line("JE", None, 0, program="runner", fault="start", explanation="no Python")
LOADED = line("JE", None, 9.0, program="runner", fault="overload", explanation="too busy")


def printed(words: bytes, verdict: str | None = None, cpu_s: float = 9.0, **other: Any) -> Line:
    """A result line with an output that our side compares."""
    output = base64.b64encode(words).decode()
    score = None if verdict is None else "0"
    return line(verdict, score, cpu_s, output=output, output_bytes=len(words), **other)


class Scripted:
    """A sandbox that gives prepared answers, one for each run."""

    def __init__(self, lines: Sequence[Line | Exception]) -> None:
        self.lines = list(lines)
        self.alone: list[bool] = []
        self.ready: list[str] = []
        self.orders: list[str] = []
        self.useless: list[list[str]] = []
        self.workers: list[str] = []  # where the first jobs run

    def targets(self) -> Sequence[Target]:
        """One target."""
        return (TARGET,)

    async def execute(self, job: Job, target: Target) -> Execution:  # noqa: ARG002 - the only one
        """Answer in the format of the runner."""
        self.alone.append(job.alone)
        assert job.retries is not None
        self.useless.append([*job.retries.useless])
        job.retries.tried.append(self.workers.pop(0) if self.workers else f"worker {len(self.useless)}")
        plan = next(file.content for file in job.files if file.name == "plan")
        assert isinstance(plan, bytes)
        nonce = plan.decode().partition("\nnonce ")[2].partition("\n")[0]
        self.ready.append(plan.decode().partition(" prefault_bytes=")[2].partition("\n")[0])
        self.orders.append(plan.decode().partition("\norder run=")[2].split()[0])
        answer = self.lines.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Execution(run=Stage(stdout=answer_text([answer], nonce), stderr="", code=0))


def settled(*lines: Line | Exception) -> tuple[TestOutcome, list[bool]]:
    """The final outcome of a test whose runs have these results, and which of the runs were alone."""
    outcome, _, sandbox = judged(*lines)
    return outcome, sandbox.alone


async def outcomes_of(
    engine: Engine,
    count: int,
    *,
    ours: bool = False,
    repeats: int = 1,
    target: Target = TARGET,
    zero_decides: bool = False,
    exhaustive: bool = False,
) -> Sequence[TestOutcome]:
    """The outcomes of a program on tests, as for APPS: unless `zero_decides`, each of them counts."""
    tests = {str(number): JobTest(input=b"", answer=b"") for number in range(count)}
    program = Program(problem="0", content=b"", tests=tests, setup=replace(SETUP, judged_by_client=ours))
    judging = Judging([[*tests]], zero_decides=zero_decides, exhaustive=exhaustive, near_limit_repeats=repeats)
    is_right = (lambda outcome: outcome.output == b"right") if ours else None

    def record(outcome: TestOutcome) -> None:
        judging.record(assessed(outcome, is_right, time_limit_s=SETUP.time_limit_s))

    await ProgramRun(engine, program, judging, target, record=record).run()
    return tuple(judging.outcomes().values())


def judged(*lines: Line | Exception, ours: bool = False, repeats: int = 1) -> tuple[TestOutcome, bool, Scripted]:
    """The final outcome of a test whose runs have these results, whether it passes, and the sandbox. All results must
    be used.
    """

    async def run() -> tuple[TestOutcome, bool]:
        engine = Engine(sandbox, jobs_at_once=lambda _: 1)
        (outcome,) = await outcomes_of(engine, 1, ours=ours, repeats=repeats)
        return outcome, outcome.score == 1.0

    sandbox = Scripted(lines)
    outcome, passed = asyncio.run(run())
    assert not sandbox.lines
    return outcome, passed, sandbox


@pytest.mark.parametrize(
    ("lines", "alone", "verdict", "score", "final"),
    [
        ((RIGHT,), [False], "AC", 1.0, False),
        ((SLOW, RIGHT), [False, True], "AC", 1.0, False),
        ((SLOW, SLOW), [False, True], "TLE", 0.0, False),
        ((SLOW_HALF,), [False], "TLE", 0.0, False),
        ((HALF,), [False], "PA", 0.0, False),
        ((SLOW, HALF), [False, True], "PA", 0.0, False),
        ((CRASH,), [False], "JE", None, True),
        ((SLOW, CRASH), [False, True], "JE", None, True),
        ((LOADED, RIGHT), [False, True], "AC", 1.0, False),
        ((LOADED, LOADED), [False, True], "JE", None, False),
        ((LOADED, CRASH), [False, True], "JE", None, True),
        ((LOADED, SLOW, RIGHT), [False, True, True], "AC", 1.0, False),
        ((LOADED, SLOW, SLOW), [False, True, True], "TLE", 0.0, False),
        ((LOADED, SLOW, LOADED), [False, True, True], "JE", None, False),
        ((SLOW, LOADED, LOADED), [False, True, True], "JE", None, False),
        ((SLOW, LOADED, RIGHT), [False, True, True], "AC", 1.0, False),
        ((SLOW, LOADED, SLOW, RIGHT), [False, True, True, True], "AC", 1.0, False),
        ((SLOW, LOADED, SLOW_HALF), [False, True, True], "TLE", 0.0, False),
        ((SLOW, LOADED, SLOW, LOADED), [False, True, True, True], "JE", None, False),
    ],
)
def test_doubtful_runs_are_repeated(
    lines: tuple[Line, ...], alone: list[bool], verdict: str, score: float | None, final: bool
) -> None:
    """A machine fault is repeated once, a TLE until one run is measured, both alone. No wrong output is repeated, and
    none on which the checker failed.
    """
    outcome, were_alone = settled(*lines)
    assert were_alone == alone
    assert (outcome.verdict, outcome.score, outcome.final) == (Verdict(verdict), score, final)


@pytest.mark.parametrize(
    ("zero_decides", "exhaustive", "order"), [(True, False, "needed"), (True, True, "all"), (False, False, "all")]
)
def test_a_job_stops_at_a_zero_if_the_judging_does(zero_decides: bool, exhaustive: bool, order: str) -> None:
    """The box is told to leave out tests that are not needed, or to run all of them, as the judging needs it."""
    sandbox = Scripted([RIGHT])

    async def run() -> Sequence[TestOutcome]:
        engine = Engine(sandbox, jobs_at_once=lambda _: 1)
        return await outcomes_of(engine, 1, zero_decides=zero_decides, exhaustive=exhaustive)

    assert [outcome.verdict for outcome in asyncio.run(run())] == [Verdict.AC]
    assert sandbox.orders == [order]


def test_memory_is_prepared_for_a_repetition_alone() -> None:
    """As much memory as the first run used is prepared to measure its time. After a machine fault, none is."""
    *_, sandbox = judged(LOADED, {**SLOW, "memory_bytes": 99_999}, RIGHT)
    assert sandbox.ready == ["", "", "99999"]


def test_a_worker_that_cannot_start_programs_gets_no_jobs_for_a_while() -> None:
    """It has answered fast, so it would soon be free for the repetition. One that is only busy still gets jobs."""
    *_, sandbox = judged(NOT_STARTED, SLOW, RIGHT)
    assert sandbox.useless == [[], ["worker 1"], []]
    *_, sandbox = judged(LOADED, RIGHT)
    assert sandbox.useless == [[], []]


def test_a_program_that_no_worker_starts_is_tried_on_another_target() -> None:
    """Where there is no other one, it pauses few workers: they may not be at fault."""
    with pytest.raises(TargetLostError, match="could not be started on local"):
        judged(NOT_STARTED, NOT_STARTED)
    sandbox = Scripted([NOT_STARTED] * 12)

    async def run() -> Sequence[TestOutcome]:
        engine = Engine(sandbox, jobs_at_once=lambda _: 1, max_tests=1)
        return await outcomes_of(engine, 6, target=replace(TARGET, is_only=True))

    assert [outcome.verdict for outcome in asyncio.run(run())] == [Verdict.JE] * 6
    assert sandbox.useless == [[]] * 12  # six workers failed before the first repetition


def test_all_tests_that_a_worker_did_not_start_are_repeated_by_others() -> None:
    """Each of them keeps the worker from getting the next one."""
    sandbox = Scripted([NOT_STARTED, NOT_STARTED, RIGHT, RIGHT])
    sandbox.workers = ["a", "a", "b", "b"]

    async def run() -> Sequence[TestOutcome]:
        engine = Engine(sandbox, jobs_at_once=lambda _: 1, max_tests=1)
        return await outcomes_of(engine, 2)

    assert [outcome.verdict for outcome in asyncio.run(run())] == [Verdict.AC] * 2
    assert sandbox.useless == [[], [], ["a"], ["a"]]


CLOSE, FAR, MUCH_TOO_LATE = 10.2, 12.55, 12.7


@pytest.mark.parametrize(
    ("lines", "passes", "output"),
    [
        ((printed(b"right"),), True, b"right"),
        ((printed(b"wrong"),), False, b"wrong"),
        ((printed(b"right", "TLE", CLOSE), printed(b"right")), True, b"right"),
        ((printed(b"right", "TLE", FAR), printed(b"right")), True, b"right"),
        ((printed(b"right", "TLE", CLOSE), printed(b"wrong")), False, b"wrong"),
        ((printed(b"right", "TLE", CLOSE), LOADED, printed(b"wrong")), False, b"wrong"),
        ((printed(b"right", "TLE", CLOSE), LOADED, printed(b"wrong", "TLE", CLOSE)), False, b"wrong"),
        ((printed(b"wrong", "TLE", CLOSE),), False, b"wrong"),
        ((printed(b"right", "TLE", MUCH_TOO_LATE),), False, b"right"),
        ((printed(b"right", "TLE", CLOSE, limit="idle"),), False, b"right"),
        ((printed(b"right", "TLE", CLOSE, in_time="0"),), False, b"right"),
    ],
)
def test_output_and_time_are_of_one_run(lines: tuple[Line, ...], passes: bool, output: bytes) -> None:
    """Our side compares outputs. A test passes if one run is in time and right, and each late run before
    it is right.
    """
    outcome, passed, _ = judged(*lines, ours=True)
    assert (passed, outcome.output) == (passes, output)


def test_the_best_of_several_runs_alone() -> None:
    """The third of three runs alone is in time, and its output counts."""
    late = [printed(b"right", "TLE", seconds) for seconds in (10.4, 10.2, 10.3)]
    outcome, passed, sandbox = judged(*late, printed(b"right", None, 9.9), ours=True, repeats=3)
    assert (passed, outcome.cpu_ms, sandbox.alone) == (True, 9900.0, [False, True, True, True])
    outcome, passed, _ = judged(*late, printed(b"right", "TLE", 10.3), ours=True, repeats=3)
    assert (passed, outcome.cpu_ms, outcome.near_limit) == (False, 10200.0, True)


def test_a_lost_answer_is_requested_again() -> None:
    """At most three times, as long as an endpoint is available."""
    assert settled(LOST, LOST, RIGHT)[0].verdict is Verdict.AC
    lost = settled(LOST, LOST, LOST)[0]
    assert (lost.verdict, lost.failed_program) == (Verdict.JE, None)
    assert lost.message == (
        "the job was tried 3 times, on worker 1, worker 2, worker 3, without an answer that could be used; at last:"
        " cut cable"
    )


COMPILED = {
    "step": 0, "code": 0, "signal": 0, "limit": None, "killed": 0, "cpu_us": 1, "wall_us": 1,
    "memory_bytes": 1, "output": "",
}  # fmt: skip
PROGRAM = {"artifact": "program", "base64": base64.b64encode(b"x").decode(), "bytes": 1}


@pytest.mark.parametrize("answer", [COMPILED, PROGRAM], ids=["step", "artifact"])
def test_an_answer_without_tests_is_lost(answer: Line) -> None:
    """Also if it says how a program was compiled, which was not requested. The number of attempts is limited."""
    assert settled(answer, answer, RIGHT) == (settled(RIGHT)[0], [False] * 3)
    lost, alone = settled(answer, answer, answer)
    assert (lost.verdict, lost.score, alone) == (Verdict.JE, None, [False] * 3)
    assert lost.message.endswith("at last: the runner ran none of the tests that it was asked to run")


def test_unavailable_error_is_not_retried() -> None:
    """The job has already waited for an endpoint as long as jobs may wait."""
    with pytest.raises(UnavailableError):
        settled(NOBODY, RIGHT)


class Unreliable:
    """A sandbox that finds all outputs right, but whose answers may be cut off, or changed on the way."""

    def __init__(self, spoil: Callable[[str, int, int], str]) -> None:
        self.spoil = spoil  # what arrives of an answer, given it, the number of tests, and that of earlier jobs
        self.asked: list[int] = []

    def targets(self) -> Sequence[Target]:
        """One target."""
        return (TARGET,)

    async def execute(self, job: Job, target: Target) -> Execution:  # noqa: ARG002 - the only one
        """Answer in the format of the runner."""
        plan = next(file.content for file in job.files if file.name == "plan")
        assert isinstance(plan, bytes)
        tests, nonce = plan.count(b"\ntest "), plan.decode().partition("\nnonce ")[2].partition("\n")[0]
        self.asked.append(tests)
        lines = [{**RIGHT, "cpu_us": 1000, "test": number} for number in range(tests)]
        arrived = self.spoil(answer_text(lines, nonce), tests, len(self.asked))
        return Execution(run=Stage(stdout=arrived, stderr="", code=0))


def cut_if_long(answer: str, tests: int, _: int) -> str:
    """The first half of an answer of more than two tests."""
    return answer if tests <= 2 else answer[: len(answer) // 2]


def first_one_changed(answer: str, _: int, job: int) -> str:
    """The first job's answer with another time."""
    return answer if job > 1 else answer.replace('"cpu_us":1000', '"cpu_us":1001', 1)


@pytest.mark.parametrize(("spoil", "asked"), [(cut_if_long, [8, 4, 2, 2, 2, 2]), (first_one_changed, [8, 8])])
def test_only_an_answer_that_is_cut_is_asked_for_in_halves(spoil: Callable[..., str], asked: list[int]) -> None:
    """Not three times as it was: a limit of the server's may have cut it. The program's later jobs are as small.

    What changed an answer will change another one, however short it is.
    """

    async def run(engine: Engine) -> Sequence[TestOutcome]:
        return await outcomes_of(engine, 8)

    sandbox = Unreliable(spoil)
    engine = Engine(sandbox, jobs_at_once=lambda _: 1)
    assert {one.verdict for one in asyncio.run(run(engine))} == {Verdict.AC}
    assert sandbox.asked == asked
