"""The domain's values. Immutable, without behaviour beyond derived properties, and known to every layer.

Three groups, in the order in which a submission meets them:

- what is asked: `Problem` (with `Subtask`, `TestCase`), `Submission`;
- what a sandbox is given and returns: `Job` (with `JobFile`, `StageLimits`), `Execution` (with `Stage`);
- what comes out: `TestOutcome`, `CompileOutcome`, `SubtaskResult`, `SubmissionResult`.

Units are in the names. Points and scores are unrounded unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Verdict(StrEnum):
    """What became of a program on one test, in a subtask or as a whole. `JE` is ours, never theirs."""

    AC = "AC"  # the score is exactly 1
    PA = "PA"  # 0 < score < 1
    WA = "WA"  # score 0 by the checker's or manager's word
    TLE = "TLE"  # CPU time at or over the limit, or idle for too long
    MLE = "MLE"  # peak resident memory over the limit
    OLE = "OLE"  # output over the limit
    SV = "SV"  # a call with no honest use
    RE = "RE"  # non-zero exit code or killed by a signal
    CE = "CE"  # does not compile
    NC = "NC"  # no code found in the generation
    JE = "JE"  # judge error: our failure, or that of a checker or manager
    SKIPPED = "SKIPPED"  # could not matter any more, or does not count


class TaskType(StrEnum):
    """How a submission meets its tests. Names as in CMS."""

    BATCH = "Batch"
    COMMUNICATION = "Communication"


class CheckerProtocol(StrEnum):
    """How a judge program tells its score."""

    CMS = "cms"  # score on stdout line 1, message on stderr, exit code 0
    TESTLIB = "testlib"  # exit code 0 AC, 1 or 2 WA, 3 judge fault, 7 with "points X" on stderr
    KATTIS = "kattis"  # exit code 42 AC, 43 WA, feedback directory
    WHITE_DIFF = "white-diff"  # no program: runs of blanks equal, trailing blank lines ignored


class ProcessIO(StrEnum):
    """How a Communication process gets its FIFOs."""

    STD_IO = "std_io"  # as stdin and stdout
    FIFO_IO = "fifo_io"  # as arguments: in, then out


class Isolation(StrEnum):
    """How strongly a submission was confined. Ordered by `rank`."""

    FULL = "full"
    REDUCED = "reduced"
    NONE = "none"

    @property
    def rank(self) -> int:
        """0 for none, 1 for reduced, 2 for full."""
        return {"none": 0, "reduced": 1, "full": 2}[self.value]


# --------------------------------------------------------------------------- bytes, in memory or on disk


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Bytes on disk, by reference. The file never changes while it is referred to.

    Args:
        path: where the bytes are.
        size: how many they are.
        sha256: their hash, hexadecimal.
    """

    path: Path
    size: int
    sha256: str


Content = bytes | Blob


# --------------------------------------------------------------------------- what is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One of a problem's own files, by its path as the row gives it (`graders/nile.h`)."""

    path: str
    content: bytes

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """One test. `answer` is the official output; `None` where the package has none."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    name: str
    input: Content
    answer: Content | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtask:
    """A group of tests that is worth `points` times the lowest score among them.

    `tests` is in listed order, never empty, without repetition.
    """

    name: str
    points: float
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemKey:
    """What names a problem. Ids repeat over the years."""

    year: int
    id: str

    def __str__(self) -> str:
        return f"{self.year}/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem, ready to be judged.

    Args:
        key: year and id; the id, in lower case, names the submission's file.
        name: its title.
        day: the contest day as the row gives it; `None` if unknown.
        task_type: Batch or Communication.
        time_limit_s: CPU seconds a process.
        memory_limit_bytes: peak resident bytes a process.
        score_precision: decimals of a subtask's rounded points.
        subtasks: in the contest's order.
        tests: by name; every name that a subtask lists is there.
        linked: sources that are linked with the submission (grader or stub).
        headers: what the submission may include.
        checker: the program that judges an output; `None` for white-diff or when the manager decides.
        checker_files: what the checker's source may include.
        checker_protocol: how checker or manager tell the score.
        manager: the program that talks to the submission's processes.
        manager_files: what the manager's source may include.
        manager_args: further arguments of the manager, after the FIFOs.
        checker_after_manager: the manager's stdout is the output that the checker judges.
        processes: how many processes of the submission run at once (Communication).
        process_io: how they get their FIFOs.
        cxx_std: the C++ standard (`gnu++17`).
        notes: what the reader mended or noticed, for the results (`final newline added to 3 tests`).
    """

    key: ProblemKey
    name: str
    day: str | None = None
    task_type: TaskType
    time_limit_s: float
    memory_limit_bytes: int
    score_precision: int = 2
    subtasks: tuple[Subtask, ...]
    tests: Mapping[str, TestCase]
    linked: tuple[SourceFile, ...] = ()
    headers: tuple[SourceFile, ...] = ()
    checker: SourceFile | None = None
    checker_files: tuple[SourceFile, ...] = ()
    checker_protocol: CheckerProtocol = CheckerProtocol.CMS
    manager: SourceFile | None = None
    manager_files: tuple[SourceFile, ...] = ()
    manager_args: tuple[str, ...] = ()
    checker_after_manager: bool = False
    processes: int = 1
    process_io: ProcessIO = ProcessIO.STD_IO
    cxx_std: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One program for one problem.

    Args:
        id: its name in the dump (the id column, as text).
        problem: which problem it is for.
        code: the program; `None` where the generation holds none (verdict NC).
        extraction: which rule found the code (`fence:cpp`, `column:code`, `none`, …).
        fixes: what was changed in the code before compiling (`includes`), for the results.
    """

    id: str
    problem: ProblemKey
    code: str | None
    extraction: str = "column:code"
    fixes: tuple[str, ...] = ()


# --------------------------------------------------------------------------- what a sandbox gets and gives


class JobKind(StrEnum):
    """What starts a job in its box."""

    SCRIPTS = "scripts"  # the files `compile` (if there is one) and `run`, bash scripts, in that order
    RUNNER = "runner"  # the file `runner`, with the file `plan`: see graders/PROTOCOL.md


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """A file that travels into the box. Names are relative, with `/` between their parts."""

    name: str
    content: Content
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLimits:
    """The hard limits of one stage, kept by the sandbox; finer ones are kept inside the box.

    Args:
        wall_ms: wall clock.
        cpu_ms: CPU time of all processes.
        memory_bytes: `None` for the sandbox's own.
        output_bytes: how much stdout may come back.
    """

    wall_ms: int
    cpu_ms: int
    memory_bytes: int | None = None
    output_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What Piston's `POST /api/v2/execute` takes, without its encoding.

    Args:
        kind: what starts it.
        files: what is in the box. The first is the main file.
        args: arguments of the run stage.
        stdin: standard input of the run stage.
        compile_limits: limits of the compile stage (kind SCRIPTS with a `compile` file only).
        run_limits: limits of the run stage.
        alone: nothing else of ours may run on that machine meanwhile (a near-limit time is measured again).
        trusted: nothing in the box comes from a submission (the runner's own compilation).
    """

    kind: JobKind
    files: tuple[JobFile, ...]
    args: tuple[str, ...] = ()
    stdin: bytes = b""
    compile_limits: StageLimits | None = None
    run_limits: StageLimits
    alone: bool = False
    trusted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """How one stage of a job ended.

    Args:
        stdout, stderr: as text; invalid UTF-8 is replaced, as Piston does.
        code: exit code; `None` when a signal ended it.
        signal: its name (`SIGKILL`), else `None`.
        status, message: newer Piston's words (`TO`, `OL`, …), else `None`.
        cpu_ms, wall_ms, memory_bytes: where the sandbox measured them.
    """

    stdout: str
    stderr: str
    code: int | None
    signal: str | None = None
    status: str | None = None
    message: str | None = None
    cpu_ms: float | None = None
    wall_ms: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What a sandbox returns for a job."""

    run: Stage
    compile: Stage | None = None


# --------------------------------------------------------------------------- what comes out


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """What became of a submission on one test.

    Args:
        test: the test's name.
        verdict: never CE or NC.
        score: in [0, 1]; `None` exactly for JE and SKIPPED.
        message: the checker's or manager's words, or ours for other verdicts.
        cpu_ms: CPU time, summed over the submission's processes.
        wall_ms: wall clock.
        memory_bytes: peak resident memory, of the largest process.
        exit_code, signal: how the (first failing) process ended.
        limit: which limit stopped it (`cpu`, `idle`, `memory`, `output`, …), else `None`.
        attempted: refused system calls that were seen, with their counts.
        near_limit: CPU time within 10 % of the limit.
        reran: this is the result of the repetition alone on the machine.
        judge_program: for JE: whose fault it is (`checker`, `manager`, `runner`); `None` for the sandbox's.
        final: for JE: a judge program's fault, the same twice, so not worth a retry.
        evidence: the first bytes of stderr, for a person.
        check_cpu_ms: CPU time of checker and manager.
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
    reran: bool = False
    judge_program: str | None = None
    final: bool = False
    evidence: str = ""
    check_cpu_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOutcome:
    """How the compilation of a submission ended.

    Args:
        verdict: `None` when there is an artifact, else CE, NC or JE.
        message: the compiler's words, cut, without our paths; or ours.
        final: for JE: not worth a retry (the problem's grader or checker does not compile).
        cpu_ms, wall_ms: what it took; 0 when the artifact was there already.
    """

    verdict: Verdict | None
    message: str = ""
    final: bool = False
    cpu_ms: float = 0.0
    wall_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubtaskResult:
    """A subtask's score: the minimum over its tests.

    Args:
        subtask: its name.
        verdict: that of the first test in listed order with the lowest score.
        score: the minimum, unrounded; `None` if it cannot be known (JE).
        points: what full marks are worth.
        weighted_score: score × points, rounded to the problem's precision; `None` with `score`.
        tests: in listed order; after the first zero all are SKIPPED.
    """

    subtask: str
    verdict: Verdict
    score: float | None
    points: float
    weighted_score: float | None
    tests: tuple[TestOutcome, ...]

    @property
    def solved(self) -> bool:
        """Whether the unrounded minimum is 1."""
        return self.score == 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionResult:
    """What one submission is worth.

    Args:
        submission: its id.
        problem: the problem's key.
        verdict: CE, NC, or the worst of its subtasks' (JE only where it matters).
        score: total points, rounded from the unrounded sum; `None` with any undecided subtask.
        compile: how its compilation ended.
        subtasks: in the problem's order.
        target: description of the target that judged it (`local g++ 12.2.0 static`).
        isolation: the weakest isolation over its runs; `None` if nothing ran.
    """

    submission: str
    problem: ProblemKey
    verdict: Verdict
    score: float | None
    compile: CompileOutcome
    subtasks: tuple[SubtaskResult, ...]
    target: str = ""
    isolation: Isolation | None = None
