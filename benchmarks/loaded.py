"""Whether verdicts stay the same on a loaded machine: the same validation, repeated beside busy processes.

    python benchmarks/loaded.py [--busy 8] [--repeats 10] [ROWS…]

ROWS are directories as `ioi-eval import` makes them (problems.jsonl, tests.jsonl, solutions.jsonl); without any, the
sample contest is used. Each repetition is `ioi-eval validate` beside that number of busy processes: half of them
compute, half of them walk through memory, which slows others down even in CPU time. A **flip** is a subtask whose
verdict or score differs from the first repetition. If a test of the subtask is near the limit in some repetition, the
flip is listed separately, with its margin, because machines differ by as much.

Exit code 1 if there is a flip that is not near a limit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the package `tests`

from figures import Figure, arguments, report

from ioi_eval import sample
from tests.busy_processes import COMPUTES, WALKS, busy_processes

Subtask = tuple[str, str, str]  # problem, solution, subtask

COMMAND = str(Path(sys.executable).with_name("ioi-eval"))


def main() -> int:
    """Repeat, compare, and print the flips."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("rows", nargs="*", type=Path)
    options = parser.parse_args(arguments())
    sources = [(rows / "solutions.jsonl", rows / "problems.jsonl", rows / "tests.jsonl") for rows in options.rows]
    sources = sources or [(sample.solutions(), sample.problems(), sample.tests())]
    flips = 0
    for source in sources:
        seen: dict[Subtask, list[str]] = defaultdict(list)
        near: dict[Subtask, float] = {}
        with tempfile.TemporaryDirectory() as directory, busy_processes(options.busy, COMPUTES, WALKS):
            for number in range(options.repeats):
                out = Path(directory) / str(number)
                print(f"{source[0]}: repetition {number + 1}: {validate(source, out)}", flush=True)
                collect(out, seen, near)
        flips += print_flips(seen, near)
    report(Figure(name="flips that are not near a limit", value=flips, unit="", bound=0))
    return 1 if flips else 0


def validate(source: tuple[Path, Path, Path], out: Path) -> str:
    """Run one repetition. Returns the last line of its output."""
    solutions, problems, tests = map(str, source)
    command = [COMMAND, "validate", solutions, "--problems", problems, "--tests", tests, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return done.stdout.strip().splitlines()[-3] if "Report" in done.stdout else done.stdout


def collect(out: Path, seen: dict[Subtask, list[str]], near: dict[Subtask, float]) -> None:
    """Record the results of a repetition for every subtask, and how near to a limit one of its tests was."""
    near_limit = json.loads((out / "validation.json").read_text(encoding="utf-8"))["near_limit"]
    margins = {(entry["problem"], entry["solution"], entry["test"]): abs(entry["margin"]) for entry in near_limit}
    for line in (out / "results.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        for subtask in row["all_subtasks_results"]:
            key = (f"{row['year']}/{row['problem_id']}", row["label"], subtask["subtask"])
            seen[key].append(f"{subtask['status']} {subtask['score']}")
            for test in subtask["test_results"]:
                margin = margins.get((*key[:2], test["test_name"]))
                if margin is not None:
                    near[key] = min(near.get(key, 1.0), margin)


def print_flips(seen: dict[Subtask, list[str]], near: dict[Subtask, float]) -> int:
    """Print the flips. Returns the number of those that are not near a limit."""
    flipped = {key: verdicts for key, verdicts in seen.items() if len(set(verdicts)) > 1}
    print(f"{len(seen)} subtasks of solutions, {len(flipped)} of them flipped; {len(near)} are near a limit")
    for key, verdicts in flipped.items():
        label = f"near the limit ({near[key]:.1%})" if key in near else "FLIP"
        print(f"  {label}: {', '.join(key)}: {', '.join(sorted(set(verdicts)))}")
    return sum(key not in near for key in flipped)


if __name__ == "__main__":
    sys.exit(main())
