"""How Python programs are run for APPS: on plain tests, without an IOI problem. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from ioi_eval.config import JudgeLimits
from ioi_eval.jobs import rules
from ioi_eval.jobs.harness import Interpreter, program_line
from ioi_eval.jobs.run_job import RunSetup, Values
from ioi_eval.model import CheckerProtocol, Content, Isolation, JobFile


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What each test may use.

    Args:
        cpu_s: CPU seconds.
        memory_bytes: resident memory.
        output_bytes: most output; more is OLE.
        stderr_bytes: how much of stderr is kept; the rest is cut off.
        threads: most threads.
        return_bytes: how much of each output is returned.
    """

    cpu_s: float
    memory_bytes: int
    output_bytes: int
    stderr_bytes: int
    threads: int
    return_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputJudge:
    """Who judges an output.

    Args:
        rule: a comparator in the runner's notation; `None` if the outputs are judged on our side.
        checker: a program that judges instead of a comparator.
        limits: of the checker.
    """

    rule: str | None = None
    checker: Content | None = None
    limits: JudgeLimits = field(default_factory=JudgeLimits)

    @property
    def judged_by_client(self) -> bool:
        """Whether outputs are judged on our side."""
        return self.rule is None and self.checker is None


def setup_of(
    *,
    runner: Content,
    interpreter: Interpreter,
    grader: str | None,
    judge: OutputJudge,
    limits: RunLimits,
    least: Isolation,
    warm: bool,
    preload: str,
    needed_only: bool = False,
) -> RunSetup:
    """How programs are run and judged.

    Args:
        runner, interpreter: of the target.
        grader: the other grader that is imitated when programs are run; `None` to run them with the plain interpreter.
        judge: who judges.
        limits: of each test.
        least: the weakest isolation that is accepted.
        warm: fork each test from one interpreter.
        preload: the modules that this interpreter loads for all of them.
        needed_only: run nothing after a program's first test that scores 0.
    """
    program, files = program_line(interpreter, grader=grader, warm=warm, preload=preload)
    if judge.checker is not None:
        files = (*files, JobFile(name="checker", content=judge.checker, executable=True))
    cpu_ms = round(limits.cpu_s * 1000)
    return RunSetup(
        runner=runner,
        least=least,
        files=files,
        program=program,
        limits={
            "cpu_ms": cpu_ms,
            "memory_bytes": limits.memory_bytes,
            "output_bytes": limits.output_bytes,
            "stderr_bytes": limits.stderr_bytes,
            "processes": 1,
            "threads": limits.threads,
        },
        judging=(("task", {"kind": "batch"}), ("checker", _checker(judge, limits.return_bytes))),
        needed_only=needed_only,
        judged_by_client=judge.judged_by_client,
        has_interpreter=True,
        may_share=True,
        time_limit_s=limits.cpu_s,
        longest_test_ms=rules.given_up_ms(limits.cpu_s) + round(judge.limits.wall_s * 1000),
        return_bytes=limits.return_bytes,
        sees=interpreter.sees,
    )


def _checker(judge: OutputJudge, return_bytes: int) -> Values:
    if judge.checker is not None:
        limits = judge.limits
        return {
            "protocol": CheckerProtocol.CMS.value,
            "file": "checker",
            "cpu_ms": round(limits.cpu_s * 1000),
            "wall_ms": round(limits.wall_s * 1000),
            "memory_bytes": limits.memory_bytes,
            "return_bytes": return_bytes,
        }
    if judge.rule is not None:
        return {"protocol": "compare", "rule": judge.rule, "return_bytes": return_bytes}
    return {"protocol": "none", "return_bytes": return_bytes}
