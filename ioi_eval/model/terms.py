"""The field's words as enumerations: verdicts, task types, protocols, isolation levels."""

from __future__ import annotations

from enum import StrEnum


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
    """How a submission meets its tests. Names as in CMS, but for Interactive."""

    BATCH = "Batch"
    COMMUNICATION = "Communication"
    INTERACTIVE = "Interactive"  # a program of the judge's at its stdin and stdout, as in Kattis and testlib
    OUTPUT_ONLY = "OutputOnly"  # a submission is an output for each test
    TWO_STEPS = "TwoSteps"  # a program that runs twice: the second run gets what the first one sends it
    BATCH_AND_OUTPUT = "BatchAndOutput"  # a program, and outputs for some of the tests

    @property
    def has_manager(self) -> bool:
        """Whether a program of the judge's talks to the submission while it runs; else its output is judged."""
        return self in (TaskType.COMMUNICATION, TaskType.INTERACTIVE)

    @property
    def takes_outputs(self) -> bool:
        """Whether a submission may hold outputs in the stead of a program that would make them."""
        return self in (TaskType.OUTPUT_ONLY, TaskType.BATCH_AND_OUTPUT)


class ScoreType(StrEnum):
    """What a subtask makes of the scores of its tests. Names as in CMS."""

    GROUP_MIN = "GroupMin"  # the lowest
    GROUP_MUL = "GroupMul"  # their product
    GROUP_THRESHOLD = "GroupThreshold"  # 1 if all are above 0 and at most the subtask's threshold, else 0
    SUM = "Sum"  # their mean: each is worth the same part of the points

    @property
    def zero_decides(self) -> bool:
        """Whether a test that scores 0 makes a 0 of its subtask, so that nothing after it has to run."""
        return self is not ScoreType.SUM


class Language(StrEnum):
    """What a submission is written in, and how names of its source files end; the first is that of a submission's."""

    CPP = "cpp", ".cpp", ".cc", ".cxx", ".c++"
    C = "c", ".c"
    PYTHON = "python", ".py"
    RUST = "rust", ".rs"

    endings: tuple[str, ...]

    def __new__(cls, value: str, *endings: str) -> Language:
        """A member from its line above: what data call it, and the endings."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.endings = endings
        return member


class CheckerProtocol(StrEnum):
    """How a judge program tells its score."""

    CMS = "cms"  # score on stdout line 1, message on stderr, exit code 0
    TESTLIB = "testlib"  # exit code 0 AC; 1, 2, 4 or 8 WA; 3 judge fault; 7 with "points X" on stderr
    KATTIS = "kattis"  # exit code 42 AC, 43 WA, feedback directory
    WHITE_DIFF = "white-diff"  # no program: runs of blanks equal, trailing blank lines ignored
    TOKENS = "tokens"  # no program: words equal, numbers within a tolerance (Kattis's and DOMjudge's default validator)

    @property
    def has_program(self) -> bool:
        """Whether a program judges; else the runner compares with the official output by itself."""
        return self not in (CheckerProtocol.WHITE_DIFF, CheckerProtocol.TOKENS)


class ProcessIO(StrEnum):
    """How a Communication process gets its FIFOs."""

    STD_IO = "std_io"  # as stdin and stdout
    FIFO_IO = "fifo_io"  # as arguments: in, then out


class Keep(StrEnum):
    """Of which tests the beginning of the program's output is kept beside their results."""

    NONE = "none"
    FAILING = "failing"
    ALL = "all"

    def keeps(self, *, passed: bool) -> bool:
        """Whether that of such a test is kept."""
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
