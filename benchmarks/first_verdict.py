"""The time until the first verdict for a year of IOI: `first_verdict.py [--megabytes N] [--parquet]`.

The tests of six problems of one year (0.1 to 20 MB each, 1.5 GB in all) are generated as rows. A few submissions to
each problem are scored with a wheel, which contains the compiled runner: with an empty cache, and again with a full
one. The wall clock begins when the command is started, and ends when the first `submission_judged` is in its log.
Anonymous memory is that of the process, read ten times a second. The problems have no checkers, which would have to be
compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from figures import Figure, arguments, report
from first_score import CODE, unpacked_wheel
from watched_run import anonymous_mb

PROBLEMS, SUBTASKS, SUBMISSIONS = 6, 5, 2
LEAST_BYTES, MAX_BYTES = 100_000, 20_000_000
PROGRAM = """#include <cstdio>
static char buffer[1 << 16];
int main() {{
    unsigned long size = 0, got;
    while ((got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0) size += got;
    std::printf("%lu\\n", size);  // {number}
}}
"""


def sizes(rng: random.Random, total: int) -> Iterator[int]:
    """The sizes of a problem's tests: half of them are below 1 MB."""
    left = total
    while left > LEAST_BYTES:
        size = round(min(left, LEAST_BYTES * (MAX_BYTES / LEAST_BYTES) ** rng.random()))
        left -= size
        yield size


def write_inputs(directory: Path, total: int) -> None:
    """Problems, tests with this number of bytes, and a dump, as in `open-r1/ioi` and `open-r1/ioi-test-cases`."""
    rng = random.Random(1)
    block = " ".join(str(rng.randrange(10**9)) for _ in range(MAX_BYTES // 8))
    config = json.dumps({"task_type": "Batch", "task_type_parameters_Batch_compilation": "alone"})
    with (directory / "problems.jsonl").open("w") as problems, (directory / "tests.jsonl").open("w") as tests:
        for number in range(PROBLEMS):
            of_problem: dict[str, object] = {"year": 2024, "day": str(number // 3), "problem_id": f"large{number}"}
            names: list[str] = []
            for size in sizes(rng, total // PROBLEMS):
                names.append(f"{len(names):03}")
                start = rng.randrange(len(block) - size)
                row: dict[str, object] = {
                    "problem_name": "Large",
                    "test_name": names[-1],
                    "test_input": block[start:][: size - 1] + "\n",
                }
                tests.write(json.dumps({**of_problem, **row, "test_output": f"{size}\n"}) + "\n")
            for subtask in range(SUBTASKS):
                row = {
                    "year": 2024, "day": str(number // 3), "id": f"large{number}", "name": "Large",
                    "subtask": f"{subtask:02}-part", "score": 100 // SUBTASKS, "score_precision": 2,
                    "time_limit": 1.0, "memory_limit": 1 << 28, "task_type": "Batch", "statement": "",
                    "test_names": names[: len(names) * (subtask + 1) // SUBTASKS], "starting_code": "",
                    "grader_files": [["graders/grader_config.json", config]],
                }  # fmt: skip
                problems.write(json.dumps(row) + "\n")
    with (directory / "dump.jsonl").open("w") as dump:
        for number in range(PROBLEMS * SUBMISSIONS):
            text = f"The program:\n```cpp\n{PROGRAM.format(number=number)}```\n"
            generation = {"target_subtask": "00-part", "generation": text, "problem_id": f"large{number % PROBLEMS}"}
            dump.write(json.dumps({"uuid": f"row-{number}", "year": 2024, **generation}) + "\n")


def as_parquet(path: Path) -> Path:
    """The same rows as Parquet, in row groups of 64 rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    written = path.with_suffix(".parquet")
    schema = pa.schema([(name, pa.int64() if name == "year" else pa.string()) for name in json.loads(first_line(path))])
    with pq.ParquetWriter(written, schema) as writer, path.open() as rows:
        batch: list[dict[str, object]] = []
        for row in rows:
            batch.append(json.loads(row))
            if len(batch) == 64:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        writer.write_table(pa.Table.from_pylist(batch, schema))
    path.unlink()
    return written


def first_line(path: Path) -> str:
    """The first line of a file."""
    with path.open() as file:
        return file.readline()


class Run:
    """A run of `ioi-eval score`.

    Attributes:
        begins_s: when judging began.
        first_s: when the first verdict came.
        all_s: when it ended.
        peak_mb: the peak anonymous memory.
    """

    def __init__(self, directory: Path, tests: Path, site: Path, name: str) -> None:
        log = directory / f"{name}.log"
        command = [sys.executable, "-P", "-c", CODE, "score", "dump.jsonl", "--problems", "problems.jsonl"]
        command += ["--tests", str(tests), "--out", name, "--log-file", str(log), "--no-progress"]
        environment = {**os.environ, "PYTHONPATH": str(site), "IOI_EVAL_CACHE": str(directory / "cache")}
        self.begins_s = self.first_s = self.peak_mb = 0.0
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=directory, env=environment, stdout=subprocess.DEVNULL)
        watching = threading.Thread(target=self._watch, args=(process,))
        watching.start()
        while process.poll() is None:
            events = {json.loads(line)["event"] for line in log.read_text().splitlines()} if log.exists() else set()
            now = time.monotonic() - started
            self.begins_s = self.begins_s or ("judging_begins" in events) * now
            self.first_s = self.first_s or ("submission_judged" in events) * now
            time.sleep(0.02)
        self.all_s = time.monotonic() - started
        watching.join()
        if process.returncode:
            raise SystemExit(f"exit code {process.returncode}")

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            self.peak_mb = max(self.peak_mb, anonymous_mb(process.pid))
            time.sleep(0.1)


def main() -> None:
    """Generate a year, score it twice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1500)
    parser.add_argument("--parquet", action="store_true")
    options = parser.parse_args(arguments())
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        directory = Path(name)
        site = unpacked_wheel(directory)
        write_inputs(directory, options.megabytes * 1_000_000)
        tests = directory / "tests.jsonl"
        tests = as_parquet(tests) if options.parquet else tests
        os.sync()
        for what in ("empty cache", "full cache"):
            run = Run(directory, tests, site, what.replace(" ", "-"))
            print(
                f"{what}: judging began after {run.begins_s:.2f} s, all was judged after {run.all_s:.1f} s", flush=True
            )
            report(
                Figure(name=f"{what}: first verdict", value=run.first_s, unit="s", bound=5),
                Figure(name=f"{what}: anonymous memory", value=run.peak_mb, unit="MB", bound=300),
            )
        blobs = sum(path.stat().st_size for path in (directory / "cache" / "blobs").rglob("*") if path.is_file())
        print(f"{tests.name}: {tests.stat().st_size / 1e6:.0f} MB")
        report(Figure(name="cache / test data", value=blobs / 1e6 / options.megabytes, unit="×", bound=1.1))


if __name__ == "__main__":
    main()
