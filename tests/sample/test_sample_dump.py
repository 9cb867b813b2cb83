"""The dump of the sample contest: the program that a judge must find in each generation, and its score."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import sample
from tests.sample.made import tasks

Rows = Callable[[Path], list[dict[str, Any]]]
Judges = Callable[[str], Any]

FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CPP = {"cpp", "c++", "cc", "cxx"}


def last_program(generation: str) -> str | None:
    """The last complete block with a C++ tag, otherwise the last one without a tag that looks like C++."""
    blocks = [(tag.lower(), code) for tag, code in FENCE.findall(generation)]
    tagged: list[str] = [code for tag, code in blocks if tag in CPP]
    untagged: list[str] = [code for tag, code in blocks if tag == "" and ";\n" in code]
    found = tagged or untagged
    return found[-1] if found else None


def without_opening_comment(code: str) -> str:
    """A solution as the dump shows it."""
    return re.sub(r"\A(//.*\n)+\n*", "", code)


@pytest.fixture(scope="module")
def pairs(rows: Rows) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each row of the dump with its expected result."""
    return list(zip(rows(sample.dump()), rows(sample.dump_expected()), strict=True))


@pytest.fixture(scope="module")
def sources() -> dict[tuple[str, str], str]:
    """The solutions, as the dump shows them."""
    return {
        (task.id, row["label"]): without_opening_comment(row["code"])
        for task in tasks().values()
        for row in task.solution_rows()
    }


def test_rows_have_the_columns_of_a_dump(pairs: list[Any]) -> None:
    """They have no `code`, and each has an expected result."""
    subtasks = {task.id: task.subtasks for task in tasks().values()}
    for row, expected in pairs:
        assert (row["uuid"], row["year"], row["problem_id"]) == (
            expected["uuid"],
            expected["year"],
            expected["problem_id"],
        )
        assert row["subtask"] in subtasks[row["problem_id"]]
        assert list(expected["expected_subtasks"]) == list(subtasks[row["problem_id"]])
        assert row["metadata"]["usage"]["completion_tokens"] > 0
        assert "code" not in row
    assert len({row["uuid"] for row, _ in pairs}) == len(pairs) >= 40


def test_the_program_is_the_named_solution(pairs: list[Any], sources: dict[tuple[str, str], str]) -> None:
    """The last program of a generation is the named solution. If none is named, there is none."""
    for row, expected in pairs:
        program = last_program(row["generation"])
        if expected["solution"] is None:
            assert program is None
            assert expected["expected_verdict"] == "NC"
        else:
            assert program is not None
            as_written = sources[row["problem_id"], expected["solution"]]
            altered = program.startswith("#include <bits/stdc++.h>") or expected["with_fixed_includes"] is not None
            assert altered or program == as_written


def test_altered_programs(pairs: list[Any], sources: dict[tuple[str, str], str], judges: Judges) -> None:
    """They are judged and have their stated scores, also with added includes."""
    judged = 0
    for row, expected in pairs:
        program = last_program(row["generation"])
        if program is None or program in sources.values():
            continue
        judged += 1
        assert expected_of(judges, row["problem_id"], program) == expected["expected_subtasks"]
    assert judged >= 4


def test_added_includes(pairs: list[Any], sources: dict[tuple[str, str], str], judges: Judges) -> None:
    """A program without its includes does not compile. With them it has its stated score.

    That is the score of a solution if they are the only difference. Another program is judged with all headers, which
    the compiler reads for seconds.
    """
    judged = []
    for row, expected in pairs:
        if expected["with_fixed_includes"] is None:
            continue
        assert expected["expected_verdict"] == "CE"
        problem, program = row["problem_id"], last_program(row["generation"])
        stated = expected["with_fixed_includes"]["expected_subtasks"]
        if program == re.sub(r"#include .*\n+", "", sources[problem, expected["solution"]]):
            assert list(stated.values()) == tasks()[problem].settings["solutions"][expected["solution"]]["subtasks"]
        else:
            judged.append(problem)
            program = f'#include <bits/stdc++.h>\n#include "{problem}.h"\n{program}'
            assert expected_of(judges, problem, program) == stated
    assert judged == ["lamps"]


def expected_of(judges: Judges, problem_id: str, program: str) -> dict[str, str]:
    """The verdicts of the small judge."""
    return {subtask: result.verdict for subtask, result in judges(problem_id).judge(program).items()}


def test_a_submissions_verdict_is_its_worst(pairs: list[Any]) -> None:
    """The one failure that occurs, otherwise PA if it occurs, otherwise AC."""
    for _, expected in pairs:
        verdicts = set(expected["expected_subtasks"].values())
        failures = verdicts - {"AC", "PA"}
        worst = failures.pop() if failures else "PA" if "PA" in verdicts else "AC"
        assert expected["expected_verdict"] == worst


def test_the_dump_has_all_kinds_of_generations(pairs: list[Any]) -> None:
    """Several blocks, thoughts, drafts, tags of all kinds, no code, cut-off code, and duplicates."""
    texts = [row["generation"] for row, _ in pairs]
    tags = Counter(tag for text in texts for tag, _ in FENCE.findall(text))
    assert {"cpp", "c++", "C++", "cc", "CPP", ""} <= set(tags)
    assert sum(len(FENCE.findall(text)) > 1 for text in texts) >= 6
    assert sum("<think>" in text for text in texts) >= 4
    cut_off = [row for row, _ in pairs if row["generation"].count("```") % 2]
    assert len(cut_off) >= 2
    assert all(row["metadata"]["stop_reason"] == "length" for row in cut_off)

    programs = Counter((row["problem_id"], last_program(row["generation"])) for row, _ in pairs)
    assert sum(count - 1 for (_, program), count in programs.items() if program) >= 5

    verdicts = {expected["expected_verdict"] for _, expected in pairs}
    assert verdicts == {"AC", "PA", "WA", "TLE", "MLE", "OLE", "RE", "CE", "NC"}
