"""Summarises the failed attacks at the end of the attack suite in some lines, even if there are hundreds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

NAMED = 4
"""How many attacks are named of those that failed in the same way."""


def summary(failures: Iterable[tuple[str, str]], campaigns: Sequence[str]) -> Iterator[str]:
    """How many tests failed in each campaign, and in which ways.

    Args:
        failures: of each test its id and the first line of why it failed.
        campaigns: their names, as they stand in the ids.
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
