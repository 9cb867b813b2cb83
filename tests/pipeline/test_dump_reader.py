"""Reading a dump: which rows are selected, and which errors are reported before judging."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.errors import InputError
from ioi_eval.model import Language, ProblemKey
from ioi_eval.pipeline.contest_dump import ContestDumpReader, RowSelection, survey
from ioi_eval.pipeline.dump_reader import Refused
from ioi_eval.problems.ioi import ProblemSet
from ioi_eval.problems.loading import LoadingProblems
from ioi_eval.rows import open_source
from tests.pipeline.scripted import NILE, PROBLEMS, Contest, ScriptedScorer, programs


def test_a_survey_counts_rows_by_problem(contest: Contest) -> None:
    """A row without a year is for 2024. A row without a problem is counted separately."""
    contest.write(*programs("1", "2"), {"uuid": "x"}, {"uuid": "y", "problem_id": "tree", "year": "2023"})
    seen = survey(open_source(contest.dump), RowSelection())
    assert seen.counts == {NILE.key: 2, None: 1, ProblemKey(year=2023, id="tree"): 1}
    assert (seen.rows, len(seen.problems), seen.languages) == (4, 2, frozenset())


def test_an_unreadable_row_does_not_end_the_run(contest: Contest, scorer: ScriptedScorer) -> None:
    """A deeply nested row counts as a row and is refused when it is read. The other rows are judged."""
    contest.write(*programs("1", "2"))
    nested = "[" * 900 + "]" * 900
    with contest.dump.open("a") as file:
        file.write(f'{{"uuid": "deep", "year": 2024, "problem_id": "nile", "code": {nested}}}\n')
    assert survey(open_source(contest.dump), RowSelection()).counts == {NILE.key: 3}
    contest.run(scorer)
    assert [row["total_score"] for row in contest.results()] == [100, 100, None]


@pytest.mark.parametrize(("name", "language"), [("Python 3", Language.PYTHON), ("Rust 2021", Language.RUST)])
def test_a_survey_finds_the_languages_of_programs(contest: Contest, name: str, language: Language) -> None:
    """Only of selected rows. Interpreters and compilers are checked before judging."""
    contest.write(*programs("1"), {"uuid": "x", "problem_id": "tree", "year": 2023, "language": name})
    dump = open_source(contest.dump)
    assert survey(dump, RowSelection()).languages == {language}
    assert survey(dump, RowSelection(years=frozenset({2024}))).languages == frozenset()


def test_a_selection_without_rows_lists_the_problems(contest: Contest) -> None:
    """So a mistake in `--problem` is reported at once."""
    contest.write(*programs("1", "2"))
    selection = RowSelection(years=frozenset({2023}), problems=frozenset({"nile"}))
    with pytest.raises(InputError, match=r"has no row for --year 2023 --problem nile; it has 2024/nile \(2\)"):
        survey(open_source(contest.dump), selection)
    contest.write(*programs("1"), *({"uuid": "x", "problem_id": f"p{number}", "code": "x"} for number in range(12)))
    with pytest.raises(InputError, match=r"2024/p8 \(1\) and 3 more"):
        survey(open_source(contest.dump), selection)


def test_missing_programs_are_found_in_selected_rows(contest: Contest) -> None:
    """Also if the rows of one year are selected."""
    contest.write({"uuid": "x", "problem_id": "tree", "year": 2023})
    with pytest.raises(InputError, match="no row has source_files or code"):
        survey(open_source(contest.dump), RowSelection(years=frozenset({2023})))


def test_an_unreadable_row_is_found_before_anything_is_judged(contest: Contest) -> None:
    """The whole dump is read first."""
    contest.write(*programs(*map(str, range(1000))))
    with contest.dump.open("ab") as file:
        file.write(b"not JSON\n")
    with pytest.raises(InputError, match="row 1001: is not JSON"):
        survey(open_source(contest.dump), RowSelection())


def test_an_unusable_problem_is_refused_with_its_reason(contest: Contest, scorer: ScriptedScorer) -> None:
    """Each submission to the problem is refused with the reason."""
    contest.write(*programs("1"))
    problems = ProblemSet(
        problems={}, unusable={NILE.key: InputError("problem 2024/nile: score type Sum is not supported")}
    )
    dump_reader = ContestDumpReader(
        open_source(contest.dump), RowSelection(), LoadingProblems.complete(problems), fingerprints=scorer.fingerprints
    )
    (entry,) = dump_reader.entries()
    assert isinstance(entry, Refused)
    assert entry.kind == "problem 2024/nile: score type Sum is not supported"
    assert "row 1: problem 2024/nile: score type Sum" in entry.message


def test_equal_row_numbers_of_several_files_are_not_confused(tmp_path: Path, scorer: ScriptedScorer) -> None:
    """Row 1 of two files are different rows. The message for a repeated id names the file."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        contest = Contest(tmp_path / name)
        contest.write(*programs("1"))
    problems = ProblemSet(problems=PROBLEMS, unusable={})
    first, second = ContestDumpReader(
        open_source(tmp_path), RowSelection(), LoadingProblems.complete(problems), fingerprints=scorer.fingerprints
    ).entries()
    assert not isinstance(first, Refused)
    assert isinstance(second, Refused)
    assert f"is already in {tmp_path}/a/dump.jsonl, row 1" in second.message
