"""Run jobs of Python programs that are given as tests, not as a problem of IOI's kind: APPS. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ioi_eval.config import JudgeLimits
from ioi_eval.jobs.compile import runner_files
from ioi_eval.jobs.harness import Interpreter, program_line
from ioi_eval.jobs.plan import Plan
from ioi_eval.model import CheckerProtocol, Content, Isolation, Job, JobFile, JobKind, StageLimits

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
    """

    cpu_s: float
    memory_bytes: int
    output_bytes: int
    stderr_bytes: int
    threads: int
    return_bytes: int


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


def run_job(
    task: bytes,
    tests: Sequence[GivenTest],
    *,
    runner: Content,
    interpreter: Interpreter,
    grader: str | None,
    judgement: Judgement,
    limits: RunLimits,
    least: Isolation,
    stop: bool,
    warm: bool,
    preload: str,
    nonce: str,
    alone: bool = False,
) -> Job:
    """The job that runs one program on tests. Test number n of the plan is `tests[n]`.

    Args:
        task: the program, as the harness reads it.
        tests: in the order in which they run.
        runner, interpreter: of the target.
        grader: whose way of running programs is used; `None` for the plain interpreter's.
        judgement: who judges.
        limits: of each test.
        least: the weakest isolation that is accepted.
        stop: run nothing after the first test that scores 0.
        warm: fork each test from one interpreter.
        preload: what that loads for all of them.
        nonce: 32 hexadecimal digits.
        alone: nothing else of ours may run on that machine meanwhile.
    """
    cpu_ms = round(limits.cpu_s * 1000)
    plan = Plan(mode="run", nonce=nonce, least=least)
    files = [
        JobFile(name="program", content=task),
        *program_line(plan, interpreter, grader=grader, warm=warm, preload=preload),
    ]
    plan.line(
        "limits",
        cpu_ms=cpu_ms,
        memory_bytes=limits.memory_bytes,
        output_bytes=limits.output_bytes,
        stderr_bytes=limits.stderr_bytes,
        processes=1,
        threads=limits.threads,
    )
    plan.line("task", kind="batch")
    if judgement.checker is not None:
        files.append(JobFile(name="checker", content=judgement.checker, executable=True))
    _checker_line(plan, judgement, limits.return_bytes)
    plan.line("order", run="needed" if stop else "all")
    for number, test in enumerate(tests):
        files.append(JobFile(name=f"t{number}.in", content=test.stdin))
        if test.answer is not None:
            files.append(JobFile(name=f"t{number}.ans", content=test.answer))
        answer = f"t{number}.ans" if test.answer is not None else None
        plan.line("test", id=number, input=f"t{number}.in", answer=answer, at=f"0:{number}" if stop else None)
    wall_ms = _START_MS + len(tests) * (cpu_ms * 10 + 10_000 + round(judgement.limits.wall_s * 1000))
    line_bytes = _LINE_BYTES + limits.return_bytes * 4 // 3
    return Job(
        kind=JobKind.RUNNER,
        files=(*runner_files(runner, plan), *files),
        run_limits=StageLimits(wall_ms=wall_ms, cpu_ms=wall_ms, output_bytes=_LINE_BYTES + len(tests) * line_bytes),
        alone=alone,
        sees=interpreter.sees,
    )


def most_tests(limits: RunLimits, max_output_bytes: int) -> int:
    """How many tests' lines fit into what one job of a target may return; at least one."""
    return max(1, max_output_bytes // (_LINE_BYTES + limits.return_bytes * 4 // 3) - 1)


def _checker_line(plan: Plan, judgement: Judgement, return_bytes: int) -> None:
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
