"""Result files of a few submissions, as a run writes them, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.report import compact
from ioi_eval.report.inputs import beginning, input_line
from ioi_eval.report.result_files import INPUTS
from ioi_eval.report.rows import to_json

Row = dict[str, Any]


def dumped(value: Any) -> bytes:
    """A line of JSON."""
    return orjson.dumps(value) + b"\n"


def contest_row(name: str, *scores: float | None, **other: Any) -> Row:
    """A submission to a problem with this number of subtasks, each of 50 points and one test."""
    total = None if None in scores else sum(50.0 * (score or 0.0) for score in scores)
    verdicts = ["JE" if score is None else "AC" if score == 1 else "WA" if score == 0 else "PA" for score in scores]
    worst = next((one for one in ("JE", "WA", "PA") if one in verdicts), "AC")
    subtasks = [
        {
            "problem": "nile", "subtask": f"{number:02}", "score": score, "points": 50.0, "score_precision": 2,
            "weighted_score": None if score is None else 50.0 * score, "status": verdict,
            "test_results": [test(f"{number}-01", score, verdict)],
        }
        for number, (score, verdict) in enumerate(zip(scores, verdicts, strict=True))
    ]  # fmt: skip
    return {
        "uuid": name, "year": 2024, "problem_id": "nile", "code": f"int main() {{ return {len(name)}; }}\n",
        "target_subtask": None, "target_subtask_score": None, "target_subtask_status": None, "code_compiles": True,
        "all_subtasks_points": total, "all_subtasks_results": subtasks, "verdict": worst, "total_score": total,
        "compile_message": "", "target": "local", "isolation": "full", "time_scale": 1.0, "near_limit": False,
        "attempted": [], "cpu_s": 0.5, "error": "test 0-01: judge error" if worst == "JE" else None,
        "extraction": "fence:cpp", "fixes": [], "duplicate_of": None, "fingerprint": f"of {name}", **other,
    }  # fmt: skip


def test(name: str, score: float | None, verdict: str, **other: Any) -> Row:
    """One test."""
    words = "" if verdict == "AC" else "7 instead of 8 in line 1"
    return {
        "test_name": name, "score": score, "status": verdict, "feedback": words, "time_s": 0.25, "wall_time_s": 0.3,
        "memory_bytes": 1 << 20, "exit_code": 0, "signal": None, "limit": None, "near_limit": False, "reran": False,
        "attempted": [], "stderr": "", **other,
    }  # fmt: skip


test.__test__ = False  # type: ignore[attr-defined]


def apps_row(name: str, *passed: bool, **other: Any) -> Row:
    """A Python program for a problem with this number of tests."""
    right = sum(passed)
    tests = [
        {
            "test": number, "verdict": "AC" if one else "WA", "passed": one, "time_s": 0.1, "wall_s": 0.1,
            "memory_bytes": 1 << 23, "near_limit": False, "reran": False, "message": "" if one else "line 1 differs",
            **({} if one else {"output": "7\n", "stderr": ""}),
        }
        for number, one in enumerate(passed)
    ]  # fmt: skip
    return {
        "submission": name, "problem_id": "17", "instance_id": "apps_17", "difficulty": "interview", "code": "print(7)",
        "extraction": "fence:python", "verdict": "AC" if all(passed) else "WA", "score": right / len(passed),
        "passed": right, "total": len(passed), "resolved": all(passed), "message": "", "judged_by": "tokens",
        "near_limit": False, "codes": None, "rules": None, "test_results": tests, "python": "3.11", "target": "local",
        "isolation": "full", "duplicate_of": None, "fingerprint": f"of {name}", "error": None, **other,
    }  # fmt: skip


def refused(name: str, reason: str, **other: Any) -> Row:
    """A row that could not be judged."""
    row = dict.fromkeys(contest_row("", 1.0))
    return {**row, "uuid": name, "all_subtasks_results": [], "attempted": [], "fixes": [], "error": reason, **other}


def write_results(
    directory: Path,
    rows: Sequence[Row],
    summary: Mapping[str, Any] | None = None,
    inputs: Mapping[tuple[str, str], bytes] | None = None,
) -> Path:
    """Write the files of a finished run, without its journal; `inputs` are by problem and test."""
    directory.mkdir(parents=True, exist_ok=True)
    results, lines = [], {}
    for row in rows:
        if "submission" in row:
            line: Row = compact.apps_line(row.pop("test_results") or [])
        else:
            row["all_subtasks_results"], line = compact.without_tests(row["all_subtasks_results"])
        row["tests_id"], body = compact.line_with_id(line, dumped)
        lines[row["tests_id"]] = body
        results.append(dumped({**row, "tests_id": row["tests_id"] or None}))
    (directory / "results.jsonl").write_bytes(b"".join(results))
    (directory / "tests.jsonl").write_bytes(b"".join(lines.values()))
    if inputs is not None:
        given = [input_line(*of, beginning(content)) for of, content in inputs.items()]
        (directory / INPUTS).write_bytes(b"".join(map(to_json, given)))
    if summary is not None:
        (directory / "summary.json").write_bytes(orjson.dumps({"format": 1, "options": {}, **summary}))
    return directory
