"""How long `ioi-eval --help` takes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from figures import Figure, report

if __name__ == "__main__":
    command = [str(Path(sys.executable).with_name("ioi-eval")), "--help"]
    times = []
    for _ in range(10):
        started = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - started)
    print(f"10 runs, {min(times):.2f} to {max(times):.2f} s")
    report(Figure(name="ioi-eval --help", value=statistics.median(times), unit="s", bound=0.3))
