"""What comes out: of a test, a compilation, a subtask, a submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ioi_eval.model.problem import ProblemKey
from ioi_eval.model.terms import Isolation, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the harness said of a run, or the program in its name: a claim, never a score.

    Args:
        phase: `compile`, `load`, `run` or `done`; empty if nothing was said that can be read.
        exit: it was an exit, not an error.
        error: the `repr` of what was raised.
        traceback: its end.
    """

    phase: str = ""
    exit: bool = False
    error: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What came back of a run for whoever judges it on our side. Held in memory only.

    Args:
        judged: whether the verdict is the runner's; else it is JE, until we have judged.
        output_bytes: how many bytes were printed.
        idle_s: how long it neither ran nor waited for a processor.
        report: of the harness.
    """

    judged: bool = True
    output_bytes: int = 0
    idle_s: float = 0.0
    report: Report = Report()


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """What became of a submission on one test.

    Args:
        test: the test's name.
        verdict: never CE or NC.
        score: in [0, 1]; `None` exactly for JE and SKIPPED. (Another grader may pass what has any verdict.)
        message: the checker's or manager's words, or ours for other verdicts.
        cpu_ms: CPU time, summed over the submission's processes.
        wall_ms: wall clock.
        memory_bytes: peak resident memory, of the largest process.
        exit_code: that of the first process that failed, or of the last one.
        signal: what killed it; `None` if it ended by itself.
        limit: which limit stopped it (`cpu`, `idle`, `memory`, `output`, …), else `None`.
        attempted: refused system calls that were seen, with their counts.
        near_limit: CPU time within 10 % of the limit: on a machine that is a little faster or slower, or busier, it may
            fall on the other side.
        in_time_score: for a TLE that ended by itself: what this very run would have scored in time; `None` if unknown.
        reran: this is the result of a repetition alone on the machine.
        judge_program: for JE: whose fault it is (`checker`, `manager`, `runner`); `None` for the sandbox's.
        final: for JE: a judge program's fault, the same twice, so not worth a retry.
        evidence: the first bytes of stderr, for a person.
        check_cpu_ms: CPU time of checker and manager.
        output: the first bytes of what the program printed, where somebody asked for them.
        returned: what else came back, for whoever judges on our side.
    """

    __test__ = False

    test: str
    verdict: Verdict
    score: float | None
    message: str = ""
    cpu_ms: float | None = None
    wall_ms: float | None = None
    memory_bytes: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    limit: str | None = None
    attempted: Mapping[str, int] = field(default_factory=dict)
    near_limit: bool = False
    in_time_score: float | None = None
    reran: bool = False
    judge_program: str | None = None
    final: bool = False
    evidence: str = ""
    check_cpu_ms: float | None = None
    output: bytes | None = None
    returned: Returned = Returned()

    @property
    def passed(self) -> bool | None:
        """Whether it has full marks; `None` for JE. A test that was skipped has not passed."""
        return None if self.verdict is Verdict.JE else self.score == 1.0

    @property
    def time_s(self) -> float | None:
        """CPU time."""
        return None if self.cpu_ms is None else self.cpu_ms / 1000

    @property
    def wall_s(self) -> float | None:
        """Wall clock."""
        return None if self.wall_ms is None else self.wall_ms / 1000

    @property
    def printed(self) -> bytes:
        """The first bytes of what the program printed; none where none came back."""
        return self.output or b""

    @property
    def shown(self) -> str:
        """The same as text."""
        return self.printed.decode("utf-8", "replace")

    @property
    def is_whole(self) -> bool:
        """Whether all of the output came back."""
        return len(self.printed) == self.returned.output_bytes

    @property
    def may_be_in_time(self) -> bool:
        """Whether its time is worth another measurement: a TLE of a program that ended by itself, so not much too late.

        What else runs on a machine slows a program down through caches and memory, even in CPU time: up to a third was
        measured. So does a virtual machine that has to ask its host for each page. A run that was worth nothing in time
        is not repeated, nor is one that was stopped for sleeping, whose worth nobody knows: a program that guesses
        would guess twice. Where a judge program failed on what came too late, a time close to the limit is measured
        again.
        """
        if self.verdict is not Verdict.TLE or self.limit == "idle":
            return False
        return self.near_limit if self.in_time_score is None else self.in_time_score > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOutcome:
    """How the compilation of a submission ended.

    Args:
        verdict: `None` when there is an artifact, else CE, NC or JE.
        message: the compiler's words, cut, without our paths; or ours.
        final: for JE: not worth a retry (the problem's grader or checker does not compile).
        unfit: for JE: no target that there is may judge this problem, which says nothing of how well they work.
        cpu_ms, wall_ms: what it took; 0 when the artifact was there already.
    """

    verdict: Verdict | None
    message: str = ""
    final: bool = False
    unfit: bool = False
    cpu_ms: float = 0.0
    wall_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskResult:
    """A subtask's score: what the problem's score type makes of those of its tests.

    Args:
        subtask: its name.
        verdict: that of the first test in listed order with the lowest score; under GroupThreshold of the first that
            fails, which is WA if its score is over the threshold.
        score: in [0, 1], unrounded; `None` if it cannot be known (JE).
        points: what full marks are worth.
        weighted_score: score × points, rounded to the problem's precision; `None` with `score`.
        tests: in listed order; after the first zero all are SKIPPED, unless the score type is Sum or all are shown.
    """

    subtask: str
    verdict: Verdict
    score: float | None
    points: float
    weighted_score: float | None
    tests: tuple[TestOutcome, ...]

    @property
    def solved(self) -> bool:
        """Whether the unrounded score is 1."""
        return self.score == 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedResult:
    """What one submission is worth, whatever family of problems it is for.

    Args:
        verdict: of all its tests together.
        target: description of the target that judged it (`local g++ 12.2.0 static`).
        isolation: the weakest over its runs; `None` if nothing ran.
        fingerprint: a hash of everything that determined it; empty where nobody made one. In memory only.
    """

    verdict: Verdict
    target: str = ""
    isolation: Isolation | None = None
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionResult(JudgedResult):
    """What one submission to a contest problem is worth. Its verdict is CE, NC, or the worst of its subtasks' (JE only
    where it matters).

    Args:
        submission: its id.
        problem: the problem's key.
        score: total points, rounded from the unrounded sum; `None` with any undecided subtask.
        compile: how its compilation ended.
        subtasks: in the problem's order.
    """

    submission: str
    problem: ProblemKey
    score: float | None
    compile: CompileOutcome
    subtasks: tuple[SubtaskResult, ...]
