"""A run survives attacks: programs that are judged at the same time or before do not change honest results.

How long they take among attackers is measured by `benchmarks/among_attackers.py`: here a bound on it would make the
test depend on what else this machine does.
"""

from __future__ import annotations

from functools import partial

import pytest

from tests.attacks.campaign import Campaign
from tests.attacks.harm import MEMORY_SLACK_BYTES
from tests.attacks.survival import survive


@pytest.mark.timeout(7200)
def test_honest_programs_among_attackers(campaign: Campaign, request: pytest.FixtureRequest) -> None:
    """Honest programs keep their verdicts, and the machine stays as it was."""
    full = bool(request.config.getoption("--full"))
    size = {"copies": 8, "attackers": None} if full else {"copies": 1, "attackers": 8}
    run = campaign.person.does(partial(survive, campaign.level, campaign.cache, **size))
    assert run.among == run.alone, f"seed {run.seed}"
    assert {verdict for tests in run.alone.values() for verdict, _ in tests} >= {"AC", "WA", "RE", "TLE", "MLE"}
    assert not run.harm, f"seed {run.seed}"
    assert run.lost_bytes < MEMORY_SLACK_BYTES, f"seed {run.seed}: {run.lost_bytes >> 20} MiB of memory are gone"
