"""Writes plans for the runner, as text, and has its time rules, from which the size of jobs is computed. Pure.

`graders/runner.cpp` reads plans; `graders/PROTOCOL.md` defines the format. The numbers of the rules are those of
`graders/runner/rules.h`; none is repeated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ioi_eval.boxfiles import RUNNER_VERSION, runner_rules
from ioi_eval.model import Isolation
from ioi_eval.model.job import word

Value = str | int | Sequence[str]


def word_list(texts: Iterable[str]) -> str:
    """Several words in one value, separated by `,`; each is encoded first."""
    return ",".join(word(text).replace(",", "%2C") for text in texts)


class RunnerPlan:
    """A plan being written, line by line. The end line of the answer must repeat `nonce`, 32 hexadecimal digits."""

    def __init__(self, *, mode: str, nonce: str, least: Isolation) -> None:
        self._lines = [f"ioi-eval-runner {RUNNER_VERSION}", f"nonce {nonce}"]
        self.line("isolation", least=least.value)
        self._lines.append(f"mode {mode}")

    def line(self, name: str, **values: Value | None) -> None:
        """Add a line. A value of `None` is left out; for a sequence, the key is repeated."""
        parts = [name]
        for key, value in values.items():
            if value is None:
                continue
            if isinstance(value, (str, int)):
                parts.append(f"{key}={word(str(value))}")
            else:
                parts.extend(f"{key}={word(item)}" for item in value)
        self._lines.append(" ".join(parts))

    def encode(self) -> bytes:
        """The plan's bytes, closed by its `end` line."""
        return "\n".join([*self._lines, "end", ""]).encode("ascii")


# --------------------------------------------------------------------------- the runner's time rules

RULES = runner_rules()

LONGEST_IN_PLAN_MS = RULES["kMaxMs"]
"""The longest time that a plan may name, in ms."""


def given_up_ms(limit_s: float, manager_ms: int = 0) -> int:
    """The wall clock at which the runner gives a test up, in ms: a multiple of all CPU limits, plus a slack."""
    return round(RULES["kGivenUpFactor"] * (1000 * limit_s + manager_ms)) + RULES["kGivenUpSlackMs"]


def cpu_stop_ms(limit_s: float) -> float:
    """The CPU time at which the runner stops a program that spends little on page faults, in ms."""
    return 10 * RULES["kCpuPercent"] * limit_s + RULES["kCpuSlackMs"]


def usual_wall_ms(limit_s: float) -> int:
    """The longest wall clock of a usual test, in ms: twice the CPU time at which a program is stopped, and 2 s.

    This is enough for a program that computes on half of a processor until it is stopped, and for one that idles until
    it is stopped. A program that does both takes longer, and so does one with slow page faults, which get no time that
    the server does not allow (PROTOCOL.md, `job_wall_ms`). A job that reaches a server's limit is split in two. The
    size of jobs is computed from this and not from `RunSetup.longest_test_ms`, which a test reaches only on an
    overloaded machine.
    """
    return round(2 * (cpu_stop_ms(limit_s) + RULES["kIdleSlackMs"]))


def pages_ms(memory_bytes: int) -> int:
    """The most CPU time that page faults for this much memory may cost, in ms: PROTOCOL.md allows 20 µs for each."""
    return memory_bytes // RULES["kPageBytes"] * RULES["kPageUs"] // 1000
