"""Summarises the failed attacks at the end of the attack suite: a few lines, also for hundreds of failures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

NAMED = 4
"""How many attacks are named among those that failed for the same reason."""


def summary(failures: Iterable[tuple[str, str]], campaigns: Sequence[str]) -> Iterator[str]:
    """How many tests failed in each campaign, and for which reasons.

    Args:
        failures: for each failed test, its id and the first line of the reason.
        campaigns: the names of the campaigns, as in the ids of tests.
    """
    ways: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for test, reason in failures:
        words = test.rpartition("::")[2]
        parameters = words.partition("[")[2].rstrip("]")
        known = [name for name in campaigns if parameters == name or parameters.startswith(f"{name}-")]
        campaign = max(known, key=len, default="")
        attack = parameters.removeprefix(campaign).removeprefix("-")
        ways[campaign or "without a campaign"][reason].append(attack or words.partition("[")[0])
    for campaign, reasons in ways.items():
        yield f"{campaign}: {sum(map(len, reasons.values()))} failed"
        for reason, tests in sorted(reasons.items(), key=lambda item: -len(item[1])):
            more = f" and {len(tests) - NAMED} more" if len(tests) > NAMED else ""
            yield f"  {len(tests)}: {reason} ({', '.join(tests[:NAMED])}{more})"
