"""The pages of `run-tests`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval.cli.reporting import remake
from ioi_eval.errors import InputError
from ioi_eval.report.markdown_pages import overview_page, write_pages
from tests.small_results import contest_row, refused, write_results


@pytest.mark.parametrize(("score", "is_bound"), [(None, True), (0.0, False)])
def test_points_that_a_judge_error_makes_a_bound_are_explained(
    tmp_path: Path, score: float | None, is_bound: bool
) -> None:
    """The page of a problem says what the `?` beside its points means."""
    results = write_results(tmp_path / "results", [contest_row("a", 0.5, 0.0), contest_row("b", score, 0.0)])
    remake([results], None, "uuid")
    page = write_pages(tmp_path / "pages", results, id_column="uuid")[1].read_text()
    assert ("All submissions together: **25?/100**" in page) is is_bound
    assert ("A `?` marks a lower bound" in page) is is_bound


def test_the_page_of_a_problem(tmp_path: Path) -> None:
    """The submissions with the most points come first. Those that compile are counted."""
    rows = [
        contest_row("half", 0.5, 0.0, target_subtask="01"),
        contest_row("broken", 0.0, 0.0, verdict="CE", code_compiles=False),
        contest_row("best", 1.0, 0.0),
        refused("none", "no such problem", year=2024, problem_id="nile"),
    ]
    results = write_results(tmp_path / "results", rows)
    remake([results], None, "uuid")
    text = write_pages(tmp_path / "pages", results, id_column="uuid")[1].read_text()
    assert "- Submissions: **3**, of them **2** compile\n" in text
    found = [line.split(" | ")[:4] for line in text.splitlines() if line.startswith("| ")][2:]
    assert found == [
        ["| best", "–", "WA", "50"],
        ["| half", "01", "WA", "25"],
        ["| broken", "–", "CE", "0"],
        ["| none", "–", "no such problem", "–"],
    ]
    assert "| mine | 4 | 3 | 0 | 1 | " in overview_page({"mine": results})


def test_pages_of_problems_that_are_gone_are_removed(tmp_path: Path) -> None:
    """Another run in the same directory had them. Files that are no pages stay."""
    results = write_results(tmp_path / "results", [contest_row("a", 0.5, 0.0)])
    with pytest.raises(InputError, match=r"summary\.json does not exist: `ioi-eval report .*` makes it"):
        write_pages(tmp_path / "pages", results, id_column="uuid")
    remake([results], None, "uuid")
    (tmp_path / "pages").mkdir()
    for name in ("2023_gone.md", "notes.txt"):
        (tmp_path / "pages" / name).touch()
    written = write_pages(tmp_path / "pages", results, id_column="uuid")
    assert {path.name for path in (tmp_path / "pages").iterdir()} == {"notes.txt", *(path.name for path in written)}
    (results / "report.md").unlink()
    with pytest.raises(InputError, match=r"report\.md cannot be read: No such file"):
        write_pages(tmp_path / "pages", results, id_column="uuid")


def test_a_summary_that_somebody_changed_is_named(tmp_path: Path) -> None:
    """The overview has a line for all directories, also for those that another run wrote."""
    results = write_results(tmp_path / "results", [contest_row("a", 0.5, 0.0)])
    remake([results], None, "uuid")
    assert "| [mine](mine/README.md) |" in overview_page({"mine": results})
    assert "| [my dump](my%20dump/README.md) |" in overview_page({"my dump": results})
    path = results / "summary.json"
    path.write_text(path.read_text().replace('"contests"', '"contest"'))
    with pytest.raises(InputError, match=r"summary\.json is not a summary of a run .*'contests'.*writes it again"):
        overview_page({"mine": results})
