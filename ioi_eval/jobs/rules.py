"""The runner's time rules, for the code that decides the size of jobs. Pure.

The numbers are those of `graders/runner/rules.h`; none is repeated here.
"""

from __future__ import annotations

from ioi_eval import boxfiles

RULES = boxfiles.runner_rules()

LONGEST_IN_PLAN_MS = RULES["kMaxMs"]
"""The longest time that a plan may name, in ms."""

GIVEN_UP_FACTOR = RULES["kGivenUpFactor"]
"""A test is given up if its wall clock reaches this many times the CPU limits of program and manager, plus a slack."""

GIVEN_UP_SLACK_MS = RULES["kGivenUpSlackMs"]
"""The slack in `GIVEN_UP_FACTOR`."""


def given_up_ms(limit_s: float, manager_ms: int = 0) -> int:
    """The wall clock at which the runner gives a test up, in ms.

    Args:
        limit_s: the program's CPU limit.
        manager_ms: the manager's CPU limit; 0 if there is no manager.
    """
    return round(GIVEN_UP_FACTOR * 1000 * limit_s) + GIVEN_UP_FACTOR * manager_ms + GIVEN_UP_SLACK_MS


def cpu_stop_ms(limit_s: float) -> float:
    """The CPU time at which the runner stops a program that spends little on page faults, in ms.

    Args:
        limit_s: the program's CPU limit.
    """
    return 10 * RULES["kCpuPercent"] * limit_s + RULES["kCpuSlackMs"]


def usual_wall_ms(limit_s: float) -> int:
    """The longest wall clock of a usual test, in ms: twice the CPU time at which a program is stopped, and 2 s.

    This is enough for a program that computes on half of a processor until it is stopped, and for one that idles until
    it is stopped. One that does both takes longer, and so may slow page faults (PROTOCOL.md), but not beyond what
    the server allows (`room_ms`): a job that reaches a server's limit is split in two. The size of jobs is computed
    from this and not from `RunSetup.longest_test_ms`, which a test reaches only on a hopelessly overloaded machine.

    Args:
        limit_s: the program's CPU limit.
    """
    return round(2 * (cpu_stop_ms(limit_s) + RULES["kIdleSlackMs"]))


def pages_ms(memory_bytes: int) -> int:
    """The most CPU time that page faults for this much memory may cost, in ms: PROTOCOL.md allows 20 µs for each."""
    return memory_bytes // RULES["kPageBytes"] * RULES["kPageUs"] // 1000
