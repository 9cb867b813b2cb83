"""How much longer honest programs take if attackers are judged at the same time, in CPU time and in wall clock.

Both runs have two slots. In the first run, only honest programs are judged.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from figures import Figure, report

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the package `tests`

from ioi_eval import Isolation
from tests.attacks.survival import survive

ROUNDS = 3


def main() -> None:
    """Measure at both isolation levels."""
    with tempfile.TemporaryDirectory(prefix="among-attackers-") as cache:
        Path(cache).chmod(0o755)
        for level in (Isolation.FULL, Isolation.REDUCED):
            ratios, changed = [], 0
            for _ in range(ROUNDS):
                run = survive(level, Path(cache), copies=6, attackers=None)
                cpu = run.times_among.cpu_ms / run.times_alone.cpu_ms
                wall = run.times_among.wall_ms / run.times_alone.wall_ms
                is_same = run.among == run.alone and not run.harm
                same = "verdicts unchanged" if is_same else "VERDICTS CHANGED"
                print(f"{level:8} CPU time x {cpu:.2f}, wall clock x {wall:.2f}; {same}", flush=True)
                ratios.append(cpu)
                changed += not is_same
            report(
                Figure(name=f"CPU time among attackers, {level}", value=statistics.median(ratios), unit="×", bound=1.2),
                Figure(name=f"rounds with other verdicts, {level}", value=changed, unit="", bound=0),
            )


if __name__ == "__main__":
    main()
