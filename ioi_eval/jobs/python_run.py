"""Run jobs of Python programs that are given as tests, not as a problem of IOI's kind: APPS. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ioi_eval.config import JudgeLimits
from ioi_eval.jobs import rules
from ioi_eval.jobs.bundled import Room, ready_wall_ms, request_room, size
from ioi_eval.jobs.compile import runner_files
from ioi_eval.jobs.harness import Interpreter, program_line
from ioi_eval.jobs.plan import RunnerPlan
from ioi_eval.model import CheckerProtocol, Content, Isolation, Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox import Target

_START_MS = 10_000  # for starting the box, the runner and an interpreter, on a loaded machine
_LINE_BYTES = 160 * 1024
"""Of one test, without its output: 16 KiB of report, message and stderr, each byte up to 6 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What each test may use.

    Args:
        cpu_s: CPU seconds.
        memory_bytes: resident.
        output_bytes, stderr_bytes: of the two streams; too much of the first is OLE, of the second it is cut off.
        threads: most threads.
        return_bytes: how much of each output comes back.
        ready_bytes: of memory, that the machine is made to have before the first test.
    """

    cpu_s: float
    memory_bytes: int
    output_bytes: int
    stderr_bytes: int
    threads: int
    return_bytes: int
    ready_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Who judges an output.

    Args:
        rule: a comparator as the runner reads it; `None`: whoever reads the answer judges.
        checker: a program that judges in its place.
        limits: of that program.
    """

    rule: str | None = None
    checker: Content | None = None
    limits: JudgeLimits = field(default_factory=JudgeLimits)

    @property
    def by_reader(self) -> bool:
        """Whether outputs are judged on our side."""
        return self.rule is None and self.checker is None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTest:
    """A test: its name, its standard input, and the official output where the judging in the box needs one."""

    name: str
    stdin: Content
    answer: Content | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenProgram:
    """A program, and what it is run on.

    Args:
        task: as the harness reads it.
        tests: in the order in which they run.
        stop: run nothing after the first of them that scores 0.
    """

    task: bytes
    tests: Sequence[GivenTest]
    stop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """How programs are run and judged: what must be the same for those that share a job.

    Args:
        runner, interpreter: of the target.
        grader: whose way of running programs is used; `None` for the plain interpreter's.
        judgement: who judges.
        limits: of each test.
        least: the weakest isolation that is accepted.
        warm: fork each test from one interpreter.
        preload: what that loads for all of them.
    """

    runner: Content
    interpreter: Interpreter
    grader: str | None
    judgement: Judgement
    limits: RunLimits
    least: Isolation
    warm: bool
    preload: str


def run_job(
    programs: Sequence[GivenProgram], setup: RunSetup, *, nonce: str, alone: bool = False, room_ms: int | None = None
) -> Job:
    """The job that runs programs on their tests. The tests of all of them are numbered through, in this order.

    Args:
        programs: at least one.
        setup: how.
        nonce: 32 hexadecimal digits.
        alone: nothing else of ours may run on that machine meanwhile.
        room_ms: for all tests together, of wall clock, as `room` says; `None` for no bound.
    """
    limits, judgement = setup.limits, setup.judgement
    cpu_ms = round(limits.cpu_s * 1000)
    count = sum(len(program.tests) for program in programs)
    plan = RunnerPlan(mode="run", nonce=nonce, least=setup.least)
    files = [
        JobFile(name="program", content=programs[0].task),
        *program_line(plan, setup.interpreter, grader=setup.grader, warm=setup.warm, preload=setup.preload),
    ]
    plan.line(
        "limits",
        cpu_ms=cpu_ms,
        memory_bytes=limits.memory_bytes,
        output_bytes=limits.output_bytes,
        stderr_bytes=limits.stderr_bytes,
        processes=1,
        threads=limits.threads,
        ready_bytes=limits.ready_bytes or None,
        room_ms=None if room_ms is None else min(room_ms, rules.MOST_MS),
    )
    plan.line("task", kind="batch")
    if judgement.checker is not None:
        files.append(JobFile(name="checker", content=judgement.checker, executable=True))
    _checker_line(plan, judgement, limits.return_bytes)
    plan.line("order", run="needed" if any(program.stop for program in programs) else "all")
    files += _test_lines(plan, programs)
    test_ms = rules.given_up_ms(limits.cpu_s) + round(judgement.limits.wall_s * 1000)
    wall_ms = _START_MS + ready_wall_ms(limits.ready_bytes) + count * test_ms
    line_bytes = _LINE_BYTES + limits.return_bytes * 4 // 3
    return Job(
        kind=JobKind.RUNNER,
        files=(*runner_files(setup.runner, plan), *files),
        run_limits=StageLimits(wall_ms=wall_ms, cpu_ms=wall_ms, output_bytes=_LINE_BYTES + count * line_bytes),
        alone=alone,
        sees=setup.interpreter.sees,
    )


def _test_lines(plan: RunnerPlan, programs: Sequence[GivenProgram]) -> list[JobFile]:
    """Write the tests; returns their files, each content once: samples of one problem share its tests."""
    files: list[JobFile] = []
    names: dict[Content, str] = {}

    def name_of(content: Content, name: str) -> str:
        if content not in names:
            names[content] = name
            files.append(JobFile(name=name, content=content))
        return names[content]

    number = 0
    for place, program in enumerate(programs):
        task = None if place == 0 else name_of(program.task, f"program{place}")
        for position, test in enumerate(program.tests):
            plan.line(
                "test",
                id=number,
                input=name_of(test.stdin, f"t{number}.in"),
                answer=None if test.answer is None else name_of(test.answer, f"t{number}.ans"),
                program=task,
                at=f"{place}:{position}" if program.stop else None,
            )
            number += 1
    return files


def room(target: Target, setup: RunSetup) -> Room:
    """How much one job on a target may hold: of tests whose lines it may return, and of what travels to it."""
    limits = setup.limits
    carried = (setup.runner, setup.interpreter.harness, setup.judgement.checker or b"")
    return Room(
        tests=max(1, target.max_output_bytes // (_LINE_BYTES + limits.return_bytes * 4 // 3) - 1),
        test_bytes=request_room(target, sum(map(size, carried))),
        wall_ms=None if target.max_wall_ms is None else max(0, target.max_wall_ms - _START_MS),
    )


def usual_wall_ms(limits: RunLimits) -> int:
    """The longest that one test takes on a machine that is half ours; see `jobs.bundled.usual_wall_ms`."""
    return rules.usual_wall_ms(limits.cpu_s)


def _checker_line(plan: RunnerPlan, judgement: Judgement, return_bytes: int) -> None:
    if judgement.checker is not None:
        limits = judgement.limits
        plan.line(
            "checker",
            protocol=CheckerProtocol.CMS.value,
            file="checker",
            cpu_ms=round(limits.cpu_s * 1000),
            wall_ms=round(limits.wall_s * 1000),
            memory_bytes=limits.memory_bytes,
            return_bytes=return_bytes,
        )
    elif judgement.rule is not None:
        plan.line("checker", protocol="compare", rule=judgement.rule, return_bytes=return_bytes)
    else:
        plan.line("checker", protocol="none", return_bytes=return_bytes)
