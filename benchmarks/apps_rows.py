"""Anonymous memory of scoring a dump for 10,000 generated rows of APPS, as large as those of the test split (245 kB).

The dump has a row for every problem, in another order, and a program for 100 of them, three times each. So this
measures the memory for rows, not for interpreters. Anonymous memory is memory without a file behind it (`RssAnon`).
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from pathlib import Path

from figures import Figure, arguments, report
from watched_run import run_watched

ROWS = 10_000
ROW_BYTES = 245_000
PROGRAM = "raise SystemExit\n"
BOUND_MB = 500


def write_inputs(directory: Path, rows: int) -> None:
    """A data set of large rows, and a dump for all of them."""
    line = " ".join(str(number) for number in range(2000)) + "\n"
    with (directory / "apps.jsonl").open("w") as file:
        for number in range(rows):
            tests = {"inputs": [f"{number}\n" + line * (ROW_BYTES // len(line))], "outputs": ["1\n"]}
            row = {"problem_id": number, "question": "?", "solutions": "", "input_output": json.dumps(tests)}
            file.write(json.dumps(row | {"difficulty": "interview", "url": "", "starter_code": ""}) + "\n")
    wanted = [*range(rows), *range(100), *range(100)]
    random.Random(1).shuffle(wanted)
    with (directory / "dump.jsonl").open("w") as file:
        for problem in wanted:
            file.write(json.dumps({"problem_id": problem, "code": PROGRAM if problem < 100 else ""}) + "\n")


def main() -> None:
    """Generate the inputs, score them, watch the memory."""
    rows = int(arguments()[0]) if arguments() else ROWS
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = Path(name)
        write_inputs(directory, rows)
        dump, rows_file = directory / "dump.jsonl", directory / "apps.jsonl"
        run = run_watched(directory, "apps", "score", str(dump), "--dataset", str(rows_file), every_s=0.05)
        size = rows_file.stat().st_size / 1e6
    print(f"{rows} rows ({size:.0f} MB), {run.written} programs in {run.seconds:.0f} s, exit code {run.exit_code}")
    if run.exit_code != 0:
        sys.exit("no figure is recorded, because the command has failed")
    report(Figure(name="anonymous memory", value=run.peak_mb, unit="MB", bound=BOUND_MB))


if __name__ == "__main__":
    main()
