"""`ioi-eval apps score` is killed during a run and started again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ioi_eval.report.frame import result_rows
from tests.apps_rows import ROWS
from tests.cli.addition import COMMAND, Write
from tests.cli.killed import killed_after_a_result

PROGRAMS = 8


def test_a_killed_run_is_resumed(write: Write, environment: Mapping[str, str], tmp_path: Path) -> None:
    """Each program is judged and listed once: no result is lost, repeated or left out."""
    write("apps.jsonl", *ROWS)
    slow = "import time\ntime.sleep(0.15)\nprint({})\n"
    dump = write("dump.jsonl", *({"problem_id": 0, "uuid": str(n), "code": slow.format(n)} for n in range(PROGRAMS)))
    command = [*COMMAND, "apps", "score", str(dump), "--dataset", "apps.jsonl", "--out", "out", "--workers", "1"]
    journal = tmp_path / "out" / "journal"
    killed_after_a_result(command, journal, environment, tmp_path)
    assert not (tmp_path / "out" / "results.jsonl").exists()
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    results = list(result_rows(tmp_path / "out"))
    assert [row["submission"] for row in results] == [str(n) for n in range(PROGRAMS)]
    assert all(row["verdict"] == "WA" and len(row["test_results"]) == row["total"] for row in results)
    run = json.loads((tmp_path / "out" / "summary.json").read_text())["this_run"]
    assert 0 < run["resumed"] < PROGRAMS
    assert run["judged"] == PROGRAMS - run["resumed"]
