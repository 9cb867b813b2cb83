"""The results of a test, a compilation, a subtask and a submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ioi_eval.model.problem import ProblemKey
from ioi_eval.model.terms import Isolation, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessReport:
    """What the harness reported about a run.

    The program can forge it. By our rules it can only lower its own score: the phase `compile` of a failed run makes
    every test CE. By the rules of another grader (`--compat`) it says how a call ended.
    """

    phase: str = ""  # `compile`, `load`, `run` or `done`; empty if there is no readable report
    exit: bool = False  # whether the program exited, rather than failed with an error
    error: str = ""  # the `repr` of the exception
    traceback: str = ""  # only the end of it


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDetails:
    """Details of a run that judging needs. No result stores them."""

    judged_in_box: bool = True  # whether the runner has judged; if not, the verdict is JE until our side has judged
    output_bytes: int = 0  # that the program printed
    idle_s: float = 0.0  # how long it neither ran nor waited for a processor
    report: HarnessReport = HarnessReport()
    not_started: bool = False  # for JE: the machine could not start the program, or its interpreter


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """The result of a submission on one test.

    The journal stores the values in this order, without defaults at the end (`journal/codec.py`). So those that most
    tests have come first. `details` is not stored.

    Args:
        test: the test's name.
        verdict: never NC, and CE only for APPS.
        score: in [0, 1]; `None` exactly for JE and SKIPPED. (By the rules of another grader, it may be 1 with any
            other verdict.)
        message: that of the checker or manager, if one decided the verdict; else ours.
        cpu_ms: CPU time, summed over the submission's processes.
        wall_ms: wall clock.
        memory_bytes: peak resident memory, of the largest process.
        output: the first bytes of what the program printed; `None` unless the caller asked for them.
        exit_code: of the process that failed first, else of the first process.
        signal: the signal that killed it; `None` if it ended by itself.
        limit: which limit it exceeded, whether or not it was stopped for that (`cpu`, `idle`, `memory`, `output`,
            `files`, `threads`), else `None`.
        attempted: refused system calls that were seen, with their counts.
        near_limit: whether the CPU time is near the time limit (`NEAR_LIMIT` in `jobs/runner_answer.py`): on a machine
            that is a little faster, slower or busier, the verdict may be another.
        in_time_score: for a TLE of a program that was not stopped for its time: the score of this run if its time had
            been within the limit (0 if another limit or a forbidden call stopped it); `None` if unknown.
        reran: whether an earlier run was late, and this is the result of one alone on the machine.
        failed_program: for JE: which program failed (`checker`, `manager`, `runner`; or `client`, as long as our side
            has not judged the output); `None` if the sandbox failed.
        final: for JE: a checker or manager failed on the test, or a program of the problem does not compile; it is not
            tried again.
        stderr: its first bytes, for people to read.
        check_cpu_ms: CPU time of checker and manager.
        details: further data, for judging outside the box.
    """

    __test__ = False

    test: str
    verdict: Verdict
    score: float | None
    message: str = ""
    cpu_ms: float | None = None
    wall_ms: float | None = None
    memory_bytes: int | None = None
    output: bytes | None = None
    exit_code: int | None = None
    signal: str | None = None
    limit: str | None = None
    attempted: Mapping[str, int] = field(default_factory=dict)
    near_limit: bool = False
    in_time_score: float | None = None
    reran: bool = False
    failed_program: str | None = None
    final: bool = False
    stderr: str = ""
    check_cpu_ms: float | None = None
    details: RunDetails = RunDetails()

    @property
    def passed(self) -> bool | None:
        """Whether it has full marks; `None` for JE. A test that was skipped has not passed."""
        return None if self.verdict is Verdict.JE else self.score == 1.0

    @property
    def time_s(self) -> float | None:
        """CPU time, in whole microseconds."""
        return None if self.cpu_ms is None else round(self.cpu_ms / 1000, 6)

    @property
    def wall_s(self) -> float | None:
        """Wall clock, in whole microseconds."""
        return None if self.wall_ms is None else round(self.wall_ms / 1000, 6)

    @property
    def printed(self) -> bytes:
        """The first bytes of what the program printed; empty if none were returned."""
        return self.output or b""

    @property
    def printed_text(self) -> str:
        """`printed` as text."""
        return self.printed.decode("utf-8", "replace")

    @property
    def has_whole_output(self) -> bool:
        """Whether all of the output was returned."""
        return len(self.printed) == self.details.output_bytes

    @property
    def may_be_in_time(self) -> bool:
        """Whether its time is measured again: a TLE of a program that ended by itself, so not much over the limit.

        Other programs on the machine slow a program down through caches and memory, even in CPU time: by up to a third,
        as measured. So does a virtual machine that has to ask its host for each page. A run is not repeated if it would
        have scored 0 in time, or if its score is unknown because it was stopped: a program that guesses could guess
        twice.
        """
        return self.verdict is Verdict.TLE and bool(self.in_time_score)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOutcome:
    """How the compilation of a submission ended; for JE also why it was not judged at all."""

    verdict: Verdict | None  # `None` if it compiled, or there is nothing to compile (outputs); else CE, NC or JE
    message: str = ""  # the compiler's, shortened and without our paths; or ours
    final: bool = False  # for JE: do not try again (the problem's grader or checker does not compile)
    all_unsuitable: bool = False  # for JE: every target is unsuitable for this submission; they may still judge others
    cpu_ms: float = 0.0  # of the compilation; 0 if the artifact was stored already


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskResult:
    """A subtask's score, computed from those of its tests by the problem's score type.

    Args:
        subtask: its name.
        verdict: that of the first test in listed order with the lowest score; under GroupThreshold of the first that
            fails, which is WA if its score is over the threshold.
        score: in [0, 1], unrounded; `None` if it cannot be known (JE).
        points: what full marks are worth.
        weighted_score: score × points, rounded to the problem's precision; `None` if `score` is.
        tests: in listed order; after the first zero all are SKIPPED, unless the score type is Sum or all are shown.
    """

    subtask: str
    verdict: Verdict
    score: float | None
    points: float
    weighted_score: float | None
    tests: tuple[TestOutcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedResult:
    """The result of one submission: the fields that IOI and APPS share.

    Args:
        verdict: of all its tests together.
        target: description of the target that judged it (`local, bundled, g++ 12.2.0, static`).
        isolation: the weakest over its runs; `None` if nothing ran.
        fingerprint: a hash of everything that determined it; empty if none was computed. In memory only.
    """

    verdict: Verdict
    target: str = ""
    isolation: Isolation | None = None
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionResult(JudgedResult):
    """The result of one submission to a contest problem. Its verdict is CE, NC, or the worst of its subtasks'
    verdicts.

    Args:
        submission: its id.
        problem: the problem's key.
        score: total points, rounded from the unrounded sum; `None` if any subtask has no score.
        compile: how its compilation ended.
        subtasks: in the problem's order.
    """

    submission: str
    problem: ProblemKey
    score: float | None
    compile: CompileOutcome
    subtasks: tuple[SubtaskResult, ...]
