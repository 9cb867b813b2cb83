"""Attackers that are judged before or at the same time do not change the results of honest programs.

`benchmarks/among_attackers.py` measures the time of honest programs among attackers. There is no bound on it here: the
test would depend on the other load of this machine.
"""

from __future__ import annotations

from functools import partial

import pytest

from tests.attacks.campaign import Campaign
from tests.attacks.harm import MEMORY_SLACK_BYTES
from tests.attacks.survival import survive


@pytest.mark.timeout(7200)
def test_honest_programs_among_attackers(campaign: Campaign, request: pytest.FixtureRequest) -> None:
    """Honest programs keep their verdicts and scores among attackers, and nothing is left on the machine."""
    full = bool(request.config.getoption("--full"))
    size = {"copies": 8, "attackers": None} if full else {"copies": 1, "attackers": 8}
    run = campaign.user.run(partial(survive, campaign.level, campaign.cache, **size))
    assert run.among == run.alone, f"seed {run.seed}"
    assert {verdict for tests in run.alone.values() for verdict, _ in tests} >= {"AC", "WA", "RE", "TLE", "MLE"}
    assert not run.harm, f"seed {run.seed}"
    assert run.lost_bytes < MEMORY_SLACK_BYTES, f"seed {run.seed}: {run.lost_bytes >> 20} MiB of memory are gone"
