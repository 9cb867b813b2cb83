"""The table of official tasks: counts, reasons, and disagreements without a reason."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fidelity_table import (
    IMPORTERS,
    FidelityTable,
    Origin,
    Reason,
    fidelity_table,
    origins_section,
    read_origins,
    read_reasons,
)

from ioi_eval.cli.file_options import commands_of
from ioi_eval.cli.main import root
from ioi_eval.errors import InputError

DOCS = Path(__file__).resolve().parents[2] / "docs"


def disagreement(problem: str = "2024/nile", solution: str = "correct/a.cpp", where: str = "01") -> dict[str, Any]:
    """A statement that does not agree with the result."""
    decided = {
        "test": "1-05",
        "verdict": "TLE",
        "cpu_s": 2.5,
        "limit_s": 2.0,
        "memory_bytes": 1 << 20,
        "message": "a|b",
        "stderr": "",
    }
    return {
        "problem": problem,
        "solution": solution,
        "where": where,
        "stated": "AC",
        "seen": "TLE",
        "evidence": decided,
    }


def validation(*problems: str, disagreements: tuple[dict[str, Any], ...] = (), **other: Any) -> dict[str, Any]:
    """The file that `validate` writes for these problems, with 4 statements each."""
    wrong = [one["problem"] for one in disagreements]
    counts = {key: {"solutions": 2, "statements": 4, "agreements": 4 - wrong.count(key)} for key in problems}
    empty: dict[str, Any] = {"undecided": [], "refused": [], "near_limit": [], "targets": ["local, full"]}
    return {**empty, "problems": counts, "disagreements": list(disagreements), **other}


def reasons(tmp_path: Path, text: str) -> tuple[Reason, ...]:
    """The reasons in a file with this text."""
    path = tmp_path / "reasons.toml"
    path.write_text(text)
    return read_reasons(path)


REASON = """\
[[reason]]
problem = "2024/nile"
solutions = ["correct/a.cpp", "correct/b.cpp"]
text = "This machine\\n is `slow`."
"""


def made(tmp_path: Path, *disagreements: dict[str, Any], text: str = REASON) -> FidelityTable:
    """The table for one task."""
    return fidelity_table([validation("2024/nile", disagreements=disagreements)], reasons(tmp_path, text))


def test_counts_of_several_runs_are_added() -> None:
    """By task, and for all tasks."""
    near = [close("a.cpp", "1-01", 0.95, 0.05), close("a.cpp", "1-02", 1.02, -0.02, verdict="TLE")]
    near += [close("b.cpp", "1-01", 0.99, 0.01)]
    runs = [
        validation("2024/nile", disagreements=(disagreement(),)),
        validation("2022/fish", "2022/team", near_limit=near, undecided=["2022/fish, x: checker failed"]),
    ]
    runs[1]["refused"] = [f"rows/solutions.jsonl, row {number}: its language is java" for number in (1, 7)]
    runs[1]["problems"]["2022/fish"]["agreements"] = 3
    table = fidelity_table(runs, ())
    for line in (
        "| 2022/fish | 2 | 4 | 3 | 0 | 1 | 3 |",
        "| 2024/nile | 2 | 4 | 3 | 1 | 0 | 0 |",
        "| all | 6 | 12 | 10 | 1 | 1 | 3 |",
        "- 2022/fish, x: checker failed",
        "- 2 rows: its language is java",
        "- local, full",
    ):
        assert line in table.markdown.splitlines()
    assert table.unexplained == 1
    assert "**not explained yet**" in table.markdown


def close(solution: str, test: str, cpu_s: float, margin: float, *, verdict: str = "AC") -> dict[str, Any]:
    """A time close to the limit of 1 s."""
    facts = {"problem": "2022/fish", "solution": solution, "test": test, "verdict": verdict}
    return {**facts, "cpu_s": cpu_s, "limit_s": 1.0, "margin": margin, "reran": False}


def test_solutions_close_to_a_limit_are_listed_by_their_margin() -> None:
    """One row for each solution, with its closest test. The closest solution comes first."""
    near = [close("a.cpp", "1-01", 0.95, 0.05), close("a.cpp", "1-02", 1.02, -0.02, verdict="TLE")]
    near += [close("b.cpp", "1-01", 0.99, 0.01)]
    lines = fidelity_table([validation("2022/fish", near_limit=near)], ()).markdown.splitlines()
    first = lines.index("| 2022/fish | b.cpp | 1 | AC | 0.990 s in 1-01 | 99.0% |")
    assert lines[first + 1] == "| 2022/fish | a.cpp | 2 | AC, TLE | 1.020 s in 1-02 | 102.0% |"
    assert "near a time limit" not in fidelity_table([validation("2022/fish")], ()).markdown


def test_a_reason_explains_its_solutions(tmp_path: Path) -> None:
    """In all subtasks, or in those that it names. It is listed once, with its Markdown; texts of others are escaped."""
    table = made(tmp_path, disagreement(), disagreement(solution="correct/b.cpp", where="02"))
    assert (table.unexplained, table.unused) == (0, ())
    line = next(line for line in table.markdown.splitlines() if "correct/b.cpp" in line)
    assert line.endswith("| 1 |")
    assert "a\\|b" in line
    assert table.markdown.splitlines().count("1. This machine is `slow`.") == 1
    narrow = REASON + 'where = ["01"]\n'
    table = made(tmp_path, disagreement(), disagreement(where="02"), text=narrow)
    assert table.unexplained == 1
    assert made(tmp_path, disagreement(solution="correct/c.cpp")).unexplained == 1


def test_a_reason_that_explains_nothing_is_named(tmp_path: Path) -> None:
    """It is outdated, or applies to another machine."""
    table = made(tmp_path)
    assert [reason.solutions for reason in table.unused] == [("correct/a.cpp", "correct/b.cpp")]
    assert "What came out otherwise" not in table.markdown


def test_rows_of_tasks_that_were_not_judged_again_stay_marked(tmp_path: Path) -> None:
    """With their disagreements and close times. If the page is made again it is the same. A task that is judged again
    loses the mark.
    """
    runs = [
        validation("2024/nile", "2024/nil", disagreements=(disagreement(),)),
        validation("2022/fish", near_limit=[close("a|b.cpp", "1-01", 0.95, 0.05)]),
    ]
    first = fidelity_table(runs, reasons(tmp_path, REASON)).markdown
    assert "†" not in first
    table = fidelity_table([validation("2024/nil")], reasons(tmp_path, REASON), first)
    assert table.unused == ()
    lines = table.markdown.splitlines()
    assert "| 2024/nil | 2 | 4 | 4 | 0 | 0 | 0 |" in lines
    assert "| 2024/nile † | 2 | 4 | 3 | 1 | 0 | 0 |" in lines
    assert "| all | 6 | 12 | 11 | 1 | 0 | 1 |" in lines
    assert [line for line in lines if "† Found earlier" in line]
    rows = [line for line in first.splitlines() if line.startswith(("| 2024/nile | correct", "| 2022/fish | a"))]
    assert len(rows) == 2
    assert set(rows) <= set(lines)
    again = fidelity_table([validation("2024/nil")], reasons(tmp_path, REASON), table.markdown)
    assert again.markdown == table.markdown
    whole = fidelity_table(runs, reasons(tmp_path, REASON), table.markdown)
    assert whole.markdown == first


def test_earlier_rows_without_a_reason_are_counted() -> None:
    """Otherwise the page would say that no disagreement is open."""
    first = fidelity_table([validation("2024/nile", disagreements=(disagreement(),))], ())
    kept = fidelity_table([validation("2024/nil")], (), first.markdown)
    assert (first.unexplained, kept.unexplained) == (1, 1)
    assert kept.markdown.count("**not explained yet**") == 1


def test_a_task_counts_once() -> None:
    """If a task is in two runs, it is an error, because its agreements would be counted twice."""
    with pytest.raises(InputError, match="2024/nile was validated in several"):
        fidelity_table([validation("2024/nile"), validation("2024/nile")], ())


def test_an_interrupted_validation_is_refused() -> None:
    """Its unjudged solutions would look as if they did not exist."""
    with pytest.raises(InputError, match="interrupted before all its solutions were judged"):
        fidelity_table([{**validation("2024/nile"), "pending": 3}], ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[reason", "cannot be read"),
        (REASON.replace("problem", "task"), "reason 1: it needs problem and text"),
        (REASON.replace('["correct/a.cpp", "correct/b.cpp"]', '"correct/a.cpp"'), "reason 1: it needs"),
        (REASON + REASON.replace("This machine\\n is `slow`.", " "), "reason 2: it needs"),
        (REASON + "since = 2024\n", "reason 1: it needs"),
    ],
)
def test_invalid_reasons(tmp_path: Path, text: str, words: str) -> None:
    """Otherwise a misspelt entry would be ignored."""
    with pytest.raises(InputError, match=re.escape(words)):
        reasons(tmp_path, text)


def test_the_reasons_of_this_project_can_be_read() -> None:
    """The committed file."""
    assert read_reasons(DOCS / "fidelity-reasons.toml")


def test_the_page_names_the_origin_of_packages() -> None:
    """For all tasks on it, also those that were not judged again. Tasks of unknown origin are named."""
    origins = [
        Origin(importer="tps", source="x/tasks", by="x", tasks=("2022/fish", "2022/cat")),
        Origin(importer="cms", source="x/other", by="y", tasks=("2024/nile",)),
        Origin(importer="kattis", source="nowhere", by="z", tasks=("2020/none",)),
    ]
    first = fidelity_table([validation("2022/fish", "2022/team")], (), "", origins)
    assert first.tasks_without_origin == ("2022/team",)
    table = fidelity_table([validation("2024/nile")], (), first.markdown, origins)
    assert table.tasks_without_origin == ("2022/team",)
    _, _, section = table.markdown.partition("## Where the packages are from\n\n")
    rows = [line for line in section.split("\n\n")[0].splitlines() if "---" not in line]
    assert rows[1:] == ["| cms | 2024/nile | x/other | y |", "| tps | 2022/fish | x/tasks | x |"]
    assert fidelity_table([validation("2022/team")], ()).tasks_without_origin == ()


ORIGIN = """\
[[package]]
importer = "tps"
source = "x/tasks"
by = "x"
tasks = ["2022/fish"]
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[package", "cannot be read"),
        (ORIGIN.replace('"tps"', '"tsp"'), "package 1: it needs source, by, a list of tasks, and an importer: cms, "),
        (ORIGIN.replace('["2022/fish"]', "[]"), "package 1: it needs"),
        (ORIGIN + "year = 2022\n", "package 1: it needs"),
        (ORIGIN + ORIGIN, "2022/fish is in two packages"),
    ],
)
def test_invalid_origins(tmp_path: Path, text: str, words: str) -> None:
    """They are refused like invalid reasons."""
    (tmp_path / "packages.toml").write_text(text)
    with pytest.raises(InputError, match=re.escape(words)):
        read_origins(tmp_path / "packages.toml")


FEWEST = {"cms": 5, "italian-yaml": 5, "kattis": 5, "library-checker": 5, "polygon": 5, "tps": 5}
"""Of how many authors packages were judged."""


def test_packages_of_several_authors_were_judged_for_each_importer() -> None:
    """On the committed page. A new importer must be shown to read packages of several authors."""
    page = (DOCS / "fidelity.md").read_text(encoding="utf-8")
    judged = {line.split()[1] for line in page.splitlines() if line.startswith("| 2")}
    origins = read_origins(DOCS / "fidelity-packages.toml")
    assert origins_section(origins, judged) in page
    made = {(one.importer, one.by) for one in origins if judged & set(one.tasks)}
    authors = Counter(importer for importer, by in made if by != "not recorded")
    importers = {words[1] for words, _ in commands_of(root()) if words[0] == "import"}
    assert FEWEST.keys() == set(IMPORTERS) == importers
    assert [importer for importer, fewest in FEWEST.items() if authors[importer] < fewest] == []


def test_the_script_refuses_other_files(tmp_path: Path) -> None:
    """The message names the file, and the document is not changed."""
    script = DOCS.parent / "scripts" / "fidelity_table.py"
    before = (DOCS / "fidelity.md").read_bytes()
    (tmp_path / "validation.json").write_text("{}")
    ended = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert f"{tmp_path}/validation.json was not written by this version" in ended.stderr
    assert (DOCS / "fidelity.md").read_bytes() == before
