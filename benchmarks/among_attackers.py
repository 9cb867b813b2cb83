"""How much longer honest programs take if attackers are judged at the same time, in CPU time and in wall clock.

Both runs have two slots. In the first run the honest programs are judged beside each other.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the package `tests`

from ioi_eval import Isolation
from tests.attacks.survival import survive

ROUNDS = 3


def main() -> None:
    """Measure at both isolation levels."""
    with tempfile.TemporaryDirectory(prefix="among-attackers-") as cache:
        Path(cache).chmod(0o755)
        for level in (Isolation.FULL, Isolation.REDUCED):
            for _ in range(ROUNDS):
                run = survive(level, Path(cache), copies=6, attackers=None)
                cpu = run.times_among.cpu_ms / run.times_alone.cpu_ms
                wall = run.times_among.wall_ms / run.times_alone.wall_ms
                same = "verdicts unchanged" if run.among == run.alone and not run.harm else "VERDICTS CHANGED"
                print(f"{level:8} CPU time x {cpu:.2f} (bound 1.2), wall clock x {wall:.2f}; {same}", flush=True)


if __name__ == "__main__":
    main()
