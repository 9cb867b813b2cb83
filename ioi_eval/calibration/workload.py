"""The fixed workload, as a problem with a submission of ours, and its times on the reference machine."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError
from ioi_eval.fingerprint import cpp_meaning
from ioi_eval.model import Batch, Problem, ProblemKey, Submission, SubmissionResult, Subtask, TestCase, Verdict

ROUNDS = 9
"""How often each part is measured alone: enough that one disturbance does not change the median; 15 s in all."""

REFERENCE = "AMD EPYC (Zen 4), a KVM guest with 2 processors, g++ 12.2"
"""The machine on which the verdicts of `docs/fidelity.md` were found, with unscaled limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPart:
    """One part of the workload: its output, and its CPU time on the reference machine (the fastest of about fifty runs
    there)."""

    answer: int
    reference_ms: float


PARTS: Mapping[str, WorkloadPart] = {
    "arithmetic": WorkloadPart(answer=34969993137489448, reference_ms=213),
    "sorting": WorkloadPart(answer=12508837808091750194, reference_ms=229),
    "walking": WorkloadPart(answer=1782899406212, reference_ms=213),
    "containers": WorkloadPart(answer=46476611441, reference_ms=250),
    "table": WorkloadPart(answer=9801, reference_ms=279),
    "floating": WorkloadPart(answer=291067758, reference_ms=226),
}


def workload_digest(source: bytes | None = None) -> str:
    """A digest of what this workload, or another source, does: figures of different workloads are not comparable."""
    return hashlib.sha256(cpp_meaning(source or boxfiles.read("calibrate.cpp"))).hexdigest()[:16]


def problem(*, rounds: int) -> Problem:
    """The workload as a problem: in each round one test for each part.

    So a disturbance of some seconds affects all parts in one round, and not one part in all rounds.
    """
    tests = [
        TestCase(name=f"{name}-{number}", input=f"{name}\n".encode(), answer=f"{part.answer}\n".encode())
        for number in range(1, rounds + 1)
        for name, part in PARTS.items()
    ]
    return Problem(
        key=ProblemKey(year=0, id="calibrate"),
        name="How fast this machine is",
        method=Batch(),
        time_limit_s=60.0,
        memory_limit_bytes=512 * 1024 * 1024,
        subtasks=(Subtask(name="parts", points=0, tests=tuple(test.name for test in tests)),),
        tests={test.name: test for test in tests},
        cxx_std="gnu++17",
    )


def submission() -> Submission:
    """The program, compiled and run as submissions are."""
    key = ProblemKey(year=0, id="calibrate")
    return Submission(id="calibrate", problem=key, code=boxfiles.read("calibrate.cpp").decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The CPU times of some rounds by part, and the sum of wall clocks."""

    cpu_ms: Mapping[str, tuple[float, ...]]
    wall_ms: float

    @classmethod
    def of(cls, result: SubmissionResult) -> Times:
        """The times from a result; a `SetupError` if they cannot be used."""
        unusable = "the workload could not be measured"
        if result.compile.verdict is not None:
            raise SetupError(f"{unusable}: it was not compiled: {result.compile.message}")
        cpu_ms: dict[str, list[float]] = {part: [] for part in PARTS}
        wall_ms = 0.0
        for outcome in result.subtasks[0].tests:
            if outcome.verdict is not Verdict.AC or outcome.cpu_ms is None:
                raise SetupError(f"{unusable}: {outcome.test}: {outcome.verdict}, {outcome.message}")
            cpu_ms[outcome.test.rpartition("-")[0]].append(outcome.cpu_ms)
            wall_ms += outcome.wall_ms or 0.0
        return cls(cpu_ms={part: tuple(times) for part, times in cpu_ms.items()}, wall_ms=wall_ms)

    @property
    def total_cpu_ms(self) -> float:
        """The sum over all parts and rounds."""
        return sum(sum(times) for times in self.cpu_ms.values())
