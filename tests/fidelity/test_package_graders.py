"""Points of submissions to packages with their own graders are those that the graders give."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.importers.kattis_packages import SCORING, read
from tests.importers.packages import loaded

GRADER = """
import sys
full, rest, last = map(int, sys.argv[1:])
results = [line.split() for line in sys.stdin]
score = max(float(score) for _, score in results)
assert score <= 40
verdict = next((verdict for verdict, _ in results if verdict != "AC"), "AC")
points = full if score <= 3 else int(rest * (last - score) / last + 1e-7)
print(verdict, "%f" % (max(0, points) if verdict == "AC" else 0))
"""

VALIDATOR = """
import pathlib, sys
verdict, score = pathlib.Path(sys.argv[1]).read_text().split()
pathlib.Path(sys.argv[3], "score.txt").write_text(score)
sys.exit(42 if verdict == "AC" else 43)
"""

GROUPS = 16


@pytest.mark.parametrize("inner", ["", "max"])
def test_points_of_random_results(tmp_path: Path, full_bench: Any, inner: str) -> None:
    """The grader is run as by problemtools: until a test is rejected, or on the highest score of all tests."""
    random_ = random.Random(inner)
    changes: dict[str, str | None] = {name: None for name in SCORING if name.startswith("data/secret/")}
    changes |= {
        "problem.yaml": "type: scoring\nvalidation: custom score\n",
        "data/testdata.yaml": "on_reject: continue\nrange: 0 1000\ngrader_flags: ignore_sample\n",
        "data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted\n",
        "data/sample/1.in": "AC 9\n",
        "output_validators/validate.py": VALIDATOR,
        "graders/grader.py": GRADER,
    }
    expected = {}
    for number in range(GROUPS):
        name, flags = f"g{number:02}", random_.choice(["30 20 40", "77 76 33"])
        folder = f"data/secret/{name}"
        own = f"grading: custom\non_reject: break\nrange: 0 {flags[:2]}\ngrader_flags: {flags}\n"
        changes[f"{folder}/testdata.yaml"] = own
        if inner:
            folder = f"{folder}/all"
            changes[f"{folder}/testdata.yaml"] = f"grading: default\ngrader_flags: {inner}\nrange: 0 40\n"
        results = [(random_.choices(["AC", "WA"], [9, 1])[0], random_.randrange(41)) for _ in range(2)]
        for index, (verdict, score) in enumerate(results):
            changes |= {f"{folder}/{index}.in": f"{verdict} {score}\n", f"{folder}/{index}.ans": ""}
        seen = [f"{verdict} {float(score if verdict == 'AC' else 0)}" for verdict, score in results]
        if results[0][0] != "AC":
            del seen[1:]
        if inner:
            worst = next((verdict for verdict, _ in results if verdict != "AC"), "AC")
            seen = [f"{worst} {max(float(line.split()[1]) for line in seen)}"]
        answer = subprocess.run(
            [sys.executable, "-c", GRADER, *flags.split()],
            input="\n".join(seen),
            capture_output=True,
            text=True,
            check=True,
        )
        expected[name] = float(answer.stdout.split()[1])
    problem = loaded(tmp_path, read(tmp_path, SCORING, **changes))
    result = full_bench.result(problem, "int main() {}")
    assert {one.subtask: one.weighted_score for one in result.subtasks} == {"sample": 0.0, **expected}
    assert len(set(expected.values())) > GROUPS // 3, "the results differ"
    assert result.score == sum(expected.values())
