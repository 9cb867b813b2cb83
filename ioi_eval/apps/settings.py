"""The settings by which APPS programs are judged, and their fingerprints."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ioi_eval.boxfiles import runner_rules
from ioi_eval.compat.terms import CompatGrader
from ioi_eval.config import LEAST_SECONDS, MAX_SECONDS, MIB, RunPolicy
from ioi_eval.errors import InputError
from ioi_eval.fingerprint import digest_of, harness_digest, rules_digest, runner_meaning_digest
from ioi_eval.model import Batch, JudgedByClient, JudgeProgram, OutputCheck, RunRules, SourceFile
from ioi_eval.model.apps import AppsProblem, CallTest, StdinTest
from ioi_eval.model.methods import Comparator
from ioi_eval.problems.apps_submissions import AppsSubmission
from ioi_eval.problems.apps_values import longest_equal
from ioi_eval.problems.grader_files import check_script
from ioi_eval.sandbox import Target

TIME_LIMIT_S = 10.0
"""CPU seconds for a test. Source: Eval Protocol and mcpbr, whose 10 s are of wall clock."""

_COMPAT_OUTPUT_BYTES = 16 << 20
_COMPAT_SPARE_BYTES = 256 << 10
"""Another grader needs the whole output. With A for the longest answer of its row, a program may print
min(policy's limit of output, max(`_COMPAT_OUTPUT_BYTES`, A + spare bytes), 4 A + spare bytes); for a function, the
longest encoding of a right value replaces 4 A. More is OLE. These graders have no limit, but a job's tests share what
it may return.
"""

_ELF = b"\x7fELF"
"""The beginning of a compiled program. (A checker in a row of a problem is text, so it cannot be one.)"""

_LEAST_MEMORY = 16 * MIB  # under this no interpreter starts; the user probably meant another unit


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsSettings(RunPolicy):
    """How programs are run and judged: all that can change an outcome. It has the settings of `RunPolicy` too.

    Args:
        threads: as in `RunPolicy`.
        time_limit_s: CPU seconds for a test; `None` for 10 s, or the other grader's own.
        memory_limit_bytes: resident memory of a test.
        comparator: decides whether an output is right. Not with `compat`: another grader has its own rules.
        compat: judge as this other grader does; `None` for our rules.
        fail_fast: run nothing after a program's first failure. The other tests count as not passed. Not with `compat`:
            another grader itself decides where it stops.
        conventions: undo changes of the data set that break its own reference solutions (`docs/apps.md`).
        warm: fork each test from one interpreter per job, instead of starting one for each.
        shown_bytes: how much of an output is in a result.

    Raises:
        InputError: a number is out of range, or `comparator` or `fail_fast` is set with `compat`.
    """

    threads: int = 500
    time_limit_s: float | None = None
    memory_limit_bytes: int = 1024 * MIB
    comparator: Comparator = field(default_factory=Comparator)
    compat: CompatGrader | None = None
    fail_fast: bool = False
    conventions: bool = False
    warm: bool = True
    shown_bytes: int = 500

    def __post_init__(self) -> None:
        if self.time_limit_s is not None and not LEAST_SECONDS <= self.time_limit_s <= MAX_SECONDS:
            raise InputError(f"a time limit of {self.time_limit_s:g} s is not possible; give seconds, as in 10")
        if self.memory_limit_bytes < _LEAST_MEMORY:
            given = f"{self.memory_limit_bytes / MIB:g} MiB"
            raise InputError(
                f"a memory limit of {given} is too little for Python itself; give at least {_LEAST_MEMORY // MIB} MiB"
            )
        if self.memory_limit_bytes > (most := runner_rules()["kMaxBytes"]):
            raise InputError(
                f"a memory limit of {self.memory_limit_bytes // MIB} MiB is too high; the highest is {most // MIB} MiB"
            )
        if not isinstance(self.comparator, Comparator):
            raise InputError(f"comparator is {self.comparator!r}; give Comparator.parse({self.comparator!r})")
        if not isinstance(self.compat, CompatGrader | None):
            raise InputError(f"compat is {self.compat!r}; give ioi_eval.compat.grader_named({self.compat!r})")
        if self.compat is not None and self.comparator != Comparator():
            raise InputError(f"{self.compat.name} has its own rules; leave the comparator {self.comparator} out")
        if self.compat is not None and self.fail_fast:
            raise InputError(f"{self.compat.name} itself decides after which test it stops; leave fail_fast out")
        RunPolicy.__post_init__(self)  # `super()` does not work in a dataclass with slots

    @property
    def cpu_s(self) -> float:
        """The time limit that applies."""
        if self.time_limit_s is not None:
            return self.time_limit_s
        return TIME_LIMIT_S if self.compat is None else self.compat.per_test_s

    @property
    def judged_by(self) -> str:
        """The name of the rules: the comparator, or the other grader's name."""
        return str(self.comparator) if self.compat is None else self.compat.name


def read_checker(settings: AppsSettings) -> bytes | None:
    """The source of the comparator's checker at present, `None` without one; InputError if it cannot be used."""
    if not settings.comparator.program:
        return None
    path = Path(settings.comparator.program)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"the checker {path} cannot be read: {error.strerror}") from error
    if not content.startswith(_ELF):
        check_script(SourceFile(path=str(path), content=content))
    return content


def run_rules(problem: AppsProblem, settings: AppsSettings, *, checker: bytes | None) -> RunRules:
    """How a program is run on a test; `checker` is the source of the comparator's checker."""
    check: OutputCheck = settings.comparator
    output_bytes = settings.output_bytes
    if settings.compat is not None:
        answer = max((len(test.answer) for test in problem.tests if isinstance(test, StdinTest)), default=0)
        wanted = max((longest_equal(test) for test in problem.tests if isinstance(test, CallTest)), default=4 * answer)
        most = max(_COMPAT_OUTPUT_BYTES, answer + _COMPAT_SPARE_BYTES)
        output_bytes = min(output_bytes, most, wanted + _COMPAT_SPARE_BYTES)
    if settings.compat is not None or problem.fn_name is not None:
        check = JudgedByClient()
    elif checker is not None:
        check = JudgeProgram(source=SourceFile(path=Path(settings.comparator.program).name, content=checker))
    return RunRules(
        method=Batch(check=check),
        time_limit_s=settings.cpu_s,
        memory_limit_bytes=settings.memory_limit_bytes,
        output_limit_bytes=output_bytes,
    )


def return_bytes(problem: AppsProblem, settings: AppsSettings, rules: RunRules) -> int:
    """How many bytes of an output the job returns.

    For another grader all; for a call as many as a right value can have; else, as outputs are compared in the box, only
    those that results show.
    """
    most = rules.output_limit_bytes or settings.output_bytes
    if settings.compat is not None:
        return most
    if problem.fn_name is not None:
        return min(most, max(longest_equal(test) for test in problem.tests if isinstance(test, CallTest)))
    return min(most, settings.shown_bytes)


def judging_digest_of(settings: AppsSettings, target: Target, python: str, *, checker: bytes | None) -> str:
    """A hash of how programs are judged, and where: `python` is the fingerprint of the interpreter there, and `checker`
    that of `AppsExecutor`, as the file may have been edited since."""
    values: dict[str, Any] = {f.name: getattr(settings, f.name) for f in fields(settings)}
    del values["warm"]  # how a program is started changes no result
    del values["compat"]  # `judged_by` has its name, and `rules_digest` covers its rules
    values |= {"comparator": settings.judged_by, "time_limit_s": settings.cpu_s, "checker": checker}
    toolchain = target.toolchain.fingerprint if settings.comparator.program else ""
    ours = (rules_digest(), harness_digest(), runner_meaning_digest())
    return digest_of([ours, values, python, target.isolation, toolchain, target.narrowed, target.outer_filter])


def fingerprint_of(judging_digest: str, problem: str, submission: AppsSubmission) -> str:
    """The fingerprint of judging a program: from `judging_digest_of`, the problem's digest and the program."""
    code = (submission.code or "").encode("utf-8", "surrogatepass")
    return digest_of([code, submission.refused, problem, judging_digest])
