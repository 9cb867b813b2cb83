"""The field's words as enumerations: verdicts, task types, protocols, isolation levels, profiles."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """The result of a program on one test, in a subtask or as a whole. `JE` is never the submission's failure."""

    AC = "AC"  # the score is exactly 1
    PA = "PA"  # 0 < score < 1
    WA = "WA"  # score 0, and nothing above or below applies; of a subtask also: a score over its threshold
    TLE = "TLE"  # CPU time at or over the limit, or idle for too long
    MLE = "MLE"  # peak resident memory over the limit
    OLE = "OLE"  # output over the limit, or (reduced isolation) too many files
    SV = "SV"  # a system call that no honest program needs
    RE = "RE"  # non-zero exit code, killed by a signal, or too many threads
    CE = "CE"  # does not compile
    NC = "NC"  # no code found in the generation
    JE = "JE"  # judge error: our failure, or that of a checker or manager
    SKIPPED = "SKIPPED"  # not counted: after its subtask's first zero, or nothing runs (CE, NC); APPS: docs/apps.md


class TaskType(StrEnum):
    """How a submission is run on a test. Names as in CMS, except Interactive."""

    BATCH = "Batch"
    COMMUNICATION = "Communication"
    INTERACTIVE = "Interactive"  # a judge program is connected to its stdin and stdout, as in Kattis and testlib
    OUTPUT_ONLY = "OutputOnly"  # a submission is an output for each test
    TWO_STEPS = "TwoSteps"  # the program runs as two processes: the second reads what the first sends
    BATCH_AND_OUTPUT = "BatchAndOutput"  # a program, and outputs for some of the tests

    @property
    def has_manager(self) -> bool:
        """Whether a judge program talks to the submission while it runs; else its output is judged afterwards."""
        return self in (TaskType.COMMUNICATION, TaskType.INTERACTIVE)

    @property
    def takes_outputs(self) -> bool:
        """Whether a submission may contain outputs instead of a program that makes them."""
        return self in (TaskType.OUTPUT_ONLY, TaskType.BATCH_AND_OUTPUT)


class ScoreType(StrEnum):
    """How a subtask's score is computed from the scores of its tests. Names as in CMS."""

    GROUP_MIN = "GroupMin"  # the lowest
    GROUP_MUL = "GroupMul"  # their product
    GROUP_THRESHOLD = "GroupThreshold"  # 1 if all are above 0 and at most the subtask's threshold, else 0
    SUM = "Sum"  # their mean: each is worth the same part of the points

    @property
    def zero_decides(self) -> bool:
        """Whether one test with score 0 makes the subtask's score 0, so that no later test has to run."""
        return self is not ScoreType.SUM

    @property
    def counts_repeats(self) -> bool:
        """Whether a test that a subtask names twice would count twice."""
        return self not in (ScoreType.GROUP_MIN, ScoreType.GROUP_THRESHOLD)


class StepRounding(StrEnum):
    """How a test's score is rounded to one of its steps."""

    DOWN = "down"
    LENIENTLY = "leniently"  # down, but a score less than 1e-7 of a step below a step counts as that step
    NEAREST = "nearest"  # a half is rounded up
    NEAREST_EVEN = "nearest-even"  # a half is rounded to the even step


class Language(StrEnum):
    """The language of a submission, and the file endings of its sources; a submission's file gets the first."""

    CPP = "cpp", ".cpp", ".cc", ".cxx", ".c++"
    C = "c", ".c"
    PYTHON = "python", ".py"
    RUST = "rust", ".rs"

    endings: tuple[str, ...]

    def __new__(cls, value: str, *endings: str) -> Language:
        """Make a member from its line above: its name in data, and the endings."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.endings = endings
        return member


class CheckerProtocol(StrEnum):
    """How a judge program is called and reports its score, or which comparison replaces it."""

    CMS = "cms"  # score on stdout line 1, message on stderr, exit code 0
    TESTLIB = "testlib"  # exit code 0 AC; 1, 2, 4 or 8 WA; 3 judge fault; 7 with "points X" on stderr
    KATTIS = "kattis"  # exit code 42 AC, 43 WA, feedback directory
    WHITE_DIFF = "white-diff"  # no program: runs of blanks equal, trailing blank lines ignored
    TOKENS = "tokens"  # no program: words equal, numbers within a tolerance (Kattis's and DOMjudge's default validator)

    @property
    def has_program(self) -> bool:
        """Whether a program judges; else the runner itself compares with the official output."""
        return self not in (CheckerProtocol.WHITE_DIFF, CheckerProtocol.TOKENS)


class ProcessIO(StrEnum):
    """How a Communication process gets its FIFOs."""

    STD_IO = "std_io"  # as stdin and stdout
    FIFO_IO = "fifo_io"  # as arguments: in, then out


class Keep(StrEnum):
    """Which inputs and outputs are stored with the results; only the beginning of each is."""

    NONE = "none"
    INPUTS = "inputs"  # the input of the test that gave a program its verdict, once for all programs
    FAILING = "failing"  # that, and the program's output on the tests that it failed
    ALL = "all"

    def keeps(self, *, passed: bool) -> bool:
        """Whether the output is stored for a test that passed, or did not."""
        return self is Keep.ALL or (self is Keep.FAILING and not passed)


class Isolation(StrEnum):
    """How strongly a submission was confined. Ordered by `rank`."""

    FULL = "full"
    REDUCED = "reduced"
    NONE = "none"

    @property
    def rank(self) -> int:
        """0 for none, 1 for reduced, 2 for full."""
        return {"none": 0, "reduced": 1, "full": 2}[self.value]

    def weaker(self, other: Isolation | None) -> Isolation:
        """The weaker of the two; this one if there is no other."""
        return self if other is None or self.rank < other.rank else other


class Profile(StrEnum):
    """How a submission is divided into jobs."""

    BUNDLED = "bundled"  # many tests in a job
    CLASSIC = "classic"  # one test in a job
