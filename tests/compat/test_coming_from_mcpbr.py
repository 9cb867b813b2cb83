"""The table of mcpbr in `docs/coming-from.md`: every row is tried."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.apps.configuration import Configuration
from ioi_eval.cli.apps_options import AppsRules
from tests.apps_rows import DOUBLE, write_rows
from tests.compat.coming_from import PROBLEMS, Cells, apps, cases, read, run, without_row, write
from tests.forked_commands import forked_commands

pytestmark = pytest.mark.usefixtures("kept_in_the_cache")


def ids(records: list[dict[str, Any]]) -> list[str]:
    """The problems of these records."""
    return [record["instance_id"] for record in records]


def command_of(here: str) -> str:
    """The command in a cell."""
    found = re.fullmatch(r"`(ioi-eval [^`]+)`", here)
    assert found is not None, here
    return found[1]


def configured(theirs: str, folder: Path, *more: str) -> list[dict[str, Any]]:
    """Records of a call with the configuration in the row, in the way of the page."""
    (folder / "config.yaml").write_text("\n".join(re.findall(r"`([^`]+: [^`]+)`", theirs) + list(more)) + "\n")
    return apps(folder, f"{SCORE} -c config.yaml")


SCORE = "ioi-eval apps score DUMP --dataset SRC --out DIR"
ALL = ["apps_0", "apps_42", "apps_7"]


def refused(folder: Path, options: str) -> str:
    """The error message of a call with an option of mcpbr's."""
    ended = run(folder, f"{SCORE} {options}")
    assert ended.returncode == 2
    return ended.stderr


def _m_run(row: Cells, folder: Path) -> None:
    (folder / "config.yaml").write_text("sample_size: 2\n")
    assert ids(apps(folder, command_of(row[1]))) == ALL[:2]
    exact = apps(folder, f"{SCORE} --compat mcpbr")
    assert exact[0] == {"instance_id": "apps_0", "resolved": True, "passed": 3, "total": 3, "pass_rate": 1.0}
    for typed in (("run",), ("mcpbr", "run"), ("apps", "run")):
        ended = forked_commands().run(*typed, "-c", "config.yaml", cwd=folder, env=os.environ)
        assert (ended.returncode, "its counterpart is: ioi-eval apps score DUMP" in ended.stderr) == (2, True)


def _m_benchmark(_: Cells, folder: Path) -> None:
    for option in ("--benchmark", "-b"):
        assert "this command is for APPS only" in refused(folder, f"{option} apps")


def _m_number(row: Cells, folder: Path) -> None:
    assert ids(apps(folder, command_of(row[1]))) == ALL
    assert ids(apps(folder, f"{SCORE} --sample 1")) == ["apps_0"]


def _m_task(row: Cells, folder: Path) -> None:
    assert ids(apps(folder, command_of(row[1]))) == ["apps_42"]
    assert ids(apps(folder, f"{SCORE} --task apps_42")) == ["apps_42"]


def _m_difficulty(row: Cells, folder: Path) -> None:
    assert ids(apps(folder, command_of(row[1]))) == ["apps_42", "apps_7"]


def _m_sampling(row: Cells, folder: Path) -> None:
    assert ids(apps(folder, command_of(row[1]))) == ALL
    message = refused(folder, row[0].strip("`"))
    assert any(words in message for words in ("it is: --sampling", "it is: --seed", "goes by difficulty"))


def _m_output(row: Cells, folder: Path) -> None:
    assert ids(apps(folder, command_of(row[1]))) == ALL
    for option in ("-o", "--output"):
        assert "--out DIR, whose mcpbr.jsonl" in refused(folder, f"{option} results.json")


def _m_benchmark_key(row: Cells, folder: Path) -> None:
    assert ids(configured(row[0], folder)) == ALL
    (folder / "config.yaml").write_text("benchmark: codecontests\n")
    ended = run(folder, "ioi-eval apps score DUMP.jsonl --dataset SRC.jsonl --out OTHER -c config.yaml")
    assert (ended.returncode, "it must be apps" in ended.stderr) == (2, True)


def _m_size(row: Cells, folder: Path) -> None:
    assert ids(configured(row[0].replace("10", "2"), folder)) == ALL[:2]


def _m_filter(row: Cells, folder: Path) -> None:
    assert ids(configured(row[0], folder)) == ["apps_0"]


def _m_tasks(row: Cells, folder: Path) -> None:
    assert ids(configured(row[0], folder)) == ["apps_42"]


def _m_strategy(_: Cells, folder: Path) -> None:
    keys = ("sampling_strategy: stratified", "random_seed: 7", "stratify_field: difficulty", "sample_size: 6")
    assert ids(configured("", folder, *keys)) == ALL


def _m_seconds(row: Cells, folder: Path) -> None:
    for seconds, limit in (("300", 10.0), ("3", 3.0)):
        configured(row[0].replace("300", seconds), folder)
        assert json.loads((folder / "DIR/summary.json").read_text())["options"]["time_limit_s"] == limit
    assert AppsRules(timeout=5.0).settings(Configuration(timeout_seconds=3.0), isolation=None).time_limit_s == 5.0


def _m_others(_: Cells, folder: Path) -> None:
    write(folder, {0: DOUBLE})
    (folder / "config.yaml").write_text("model: m\nprovider: p\nmcp_server: {command: npx}\n")
    ended = run(folder, "ioi-eval apps score DUMP.jsonl --dataset SRC.jsonl --out DIR -c config.yaml")
    assert "config.yaml: not used, because not about scoring: model, provider, mcp_server" in ended.stderr


def _m_misspelt(row: Cells, folder: Path) -> None:
    (folder / "config.yaml").write_text(row[0].strip("`") + "\n")
    assert "mcpbr has no key 'sample_sise'. Did you mean 'sample_size'?" in refused(folder, "-c config.yaml")


def _m_solution(row: Cells, folder: Path) -> None:
    (folder / "solution.py").write_text(DOUBLE)
    assert ids(apps(folder, command_of(row[1]))) == ["apps_42"]


def _m_late(_: Cells, folder: Path) -> None:
    assert ids(apps(folder, f"{SCORE} --compat mcpbr --timeout 10")) == ALL
    write(folder, {0: "while int(input()) == 2:\n    pass\nprint(2)\n"})
    ended = run(folder, "ioi-eval apps score DUMP.jsonl --dataset SRC.jsonl --out DIR --compat mcpbr --timeout 1")
    assert ended.returncode == 0, ended.stderr
    (record,) = read(folder / "DIR/mcpbr.jsonl")
    assert (record["passed"], record["total"], record["resolved"]) == (1, 3, False)


def _m_whole(_: Cells, folder: Path) -> None:
    (folder / "config.yaml").write_text("eval_timeout_seconds: 600\n")
    assert ids(apps(folder, f"{SCORE} -c config.yaml")) == ALL


def _m_strip(_: Cells, folder: Path) -> None:
    write(folder, {0: "print('', 2 * int(input()))\n"})
    passed = []
    for options in ("", "--compat mcpbr"):
        run(folder, f"ioi-eval apps score DUMP.jsonl --dataset SRC.jsonl --out DIR {options}")
        passed.append(read(folder / "DIR/mcpbr.jsonl")[0]["passed"])
    assert passed == [0, 3]


def _m_record(_: Cells, folder: Path) -> None:
    exact = {"instance_id": "apps_42", "resolved": True, "passed": 3, "total": 3, "pass_rate": 1.0}
    assert apps(folder, f"{SCORE} -t 42 --compat mcpbr") == [exact]
    assert apps(folder, f"{SCORE} -t 42") == [{**exact, "judged_by": "lines"}]


def _m_resolved(_: Cells, folder: Path) -> None:
    write(folder, {0: "print(2)\n"})
    run(folder, "ioi-eval apps score DUMP.jsonl --dataset SRC.jsonl --out DIR --compat mcpbr")
    (record,) = read(folder / "DIR/mcpbr.jsonl")
    assert (record["passed"], record["resolved"]) == (1, False)


def _m_words(row: Cells, folder: Path) -> None:
    words = row[0].strip("`")
    records = apps(folder, f"{SCORE} --compat mcpbr", ids=(8, 9, 10))
    assert [record["resolved"] for record in records if record["error"] == words] == [False]


def _m_write(_: Cells, folder: Path) -> None:
    write(folder, {0: "#" * (1 << 20) + "\n"})
    run(folder, "ioi-eval apps score DUMP.jsonl --dataset SRC.jsonl --out DIR --compat mcpbr")
    assert read(folder / "DIR/mcpbr.jsonl")[0]["error"].startswith("Failed to write solution: ")


def _m_index(_: Cells, folder: Path) -> None:
    rows = [{name: value for name, value in row.items() if name != "problem_id"} for row in PROBLEMS[:3]]
    write_rows(folder / "SRC.jsonl", rows)
    write_rows(folder / "DUMP.jsonl", [{"problem_id": 1, "code": DOUBLE}])
    run(folder, "ioi-eval apps score DUMP.jsonl --dataset SRC.jsonl --out DIR --filter-difficulty interview")
    assert ids(read(folder / "DIR/mcpbr.jsonl")) == ["apps_1"]


def _m_audit(row: Cells, folder: Path) -> None:
    write(folder, {})
    ended = run(folder, command_of(row[1]).replace("SRC", "SRC.jsonl"))
    assert ended.returncode in (0, 1), ended.stderr
    listed = {str(line["problem_id"]) for line in read(folder / "list.jsonl") if line["exclude"]}
    assert listed == {"7", "8", "9", "10"}
    assert ids(apps(folder, f"{SCORE} --exclude list.jsonl")) == ALL[:2]


def _m_levels(_: Cells, folder: Path) -> None:
    apps(folder, SCORE)
    report = (folder / "DIR/report.md").read_text()
    assert all(f"| {level} |" in report for level in ("introductory", "interview", "competition", "all"))


MCPBR: dict[str, Callable[[Cells, Path], None]] = {
    "mcpbr run": _m_run,
    "`-b apps`": _m_benchmark,
    "`-n 20`": _m_number,
    "`-t apps_42`": _m_task,
    "--filter-difficulty": _m_difficulty,
    "--sampling-strategy": _m_sampling,
    "--random-seed": _m_sampling,
    "--stratify-field": _m_sampling,
    "`-o results.json`": _m_output,
    "benchmark: ": _m_benchmark_key,
    "sample_size": _m_size,
    "filter_difficulty": _m_filter,
    "task_ids": _m_tasks,
    "`sampling_strategy`": _m_strategy,
    "`timeout_seconds": _m_seconds,
    "`model`": _m_others,
    "sample_sise": _m_misspelt,
    "solution.py": _m_solution,
    "individual timeout": _m_late,
    "eval_timeout": _m_whole,
    "stdout.strip()": _m_strip,
    "instance_id": _m_record,
    "marked as resolved": _m_resolved,
    "No test cases provided": _m_words,
    "Could not parse": _m_words,
    "Empty test cases": _m_words,
    "Failed to write": _m_write,
    "apps_{index}": _m_index,
    "Use --task": _m_audit,
    "Compare across": _m_levels,
}


@pytest.mark.parametrize(("row", "keys"), cases("mcpbr", MCPBR))
def test_a_row_is_right(row: Cells, keys: list[str], tmp_path: Path) -> None:
    """The statement of the row is true."""
    assert len(keys) == 1, "every row has one check"
    MCPBR[keys[0]](row, tmp_path)


def test_every_check_has_its_row() -> None:
    """No check is left over from a deleted row."""
    assert without_row("mcpbr", MCPBR) == []
