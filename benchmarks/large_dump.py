"""Anonymous memory of scoring a dump of 100,000 generations with a year's tests (800 MB), all generated.

Most rows are copies of a few programs, so that the run takes minutes: this measures the memory for rows and tests, not
for compilers. Anonymous memory is memory without a file behind it (`RssAnon`); it is read ten times a second.
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

ROWS = 100_000
TEST_BYTES = 800 * 1000 * 1000
TESTS = 200
PROGRAM = '#include <cstdio>\nint main() {{ std::puts("{number}"); }}\n'


def write_inputs(directory: Path, rows: int) -> None:
    """A dump, a problem and its tests."""
    rng = random.Random(1)
    names = [f"{number:03}" for number in range(TESTS)]
    config = json.dumps({"task_type": "Batch", "task_type_parameters_Batch_compilation": "alone"})
    problem = {
        "year": 2024, "day": "1", "id": "large", "name": "Large", "subtask": "01", "score": 100, "score_precision": 2,
        "time_limit": 1.0, "memory_limit": 1 << 28, "task_type": "Batch", "test_names": names, "statement": "",
        "starting_code": "", "grader_files": [["graders/grader_config.json", config]],
    }  # fmt: skip
    (directory / "problems.jsonl").write_text(json.dumps(problem) + "\n")
    line = " ".join(str(rng.randrange(10**9)) for _ in range(1000)) + "\n"
    with (directory / "tests.jsonl").open("w") as file:
        for name in names:
            body = name + line * (TEST_BYTES // TESTS // len(line))
            row = {"year": 2024, "day": "1", "problem_name": "Large", "problem_id": "large", "test_name": name}
            file.write(json.dumps(row | {"test_input": body, "test_output": "1\n"}) + "\n")
    prose = "Let us think about this problem. " * 60
    with (directory / "dump.jsonl").open("w") as file:
        for number in range(rows):
            code = PROGRAM.format(number=number % 20)
            row = {"uuid": f"row-{number}", "year": 2024, "problem_id": "large", "target_subtask": "01"}
            file.write(json.dumps(row | {"generation": f"{prose}\n```cpp\n{code}```\n"}) + "\n")


def main() -> None:
    """Generate the inputs, score them, watch the memory."""
    rows = int(arguments()[0]) if arguments() else ROWS
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = Path(name)
        write_inputs(directory, rows)
        sources = [str(directory / f"{part}.jsonl") for part in ("dump", "problems", "tests")]
        run = run_watched(directory, "score", sources[0], "--problems", sources[1], "--tests", sources[2], every_s=0.1)
    print(f"{run.written} rows in {run.seconds:.0f} s, exit code {run.exit_code}")
    if run.exit_code != 0:
        sys.exit("no figure is recorded, because the command has failed")
    report(Figure(name="anonymous memory", value=run.peak_mb, unit="MB", bound=300))


if __name__ == "__main__":
    main()
