"""Reports of several data sets: for each data set one page per problem with all submissions, and an overview page.

    <data set>/README.md            the report of its run
    <data set>/<year>_<problem>.md  every submission to a problem, with its points in each subtask
    README.md                       the data sets side by side

Source: the names and places of `publish_reports` in huggingface/ioi.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ioi_eval.errors import ODD_DATA, InputError, SetupError
from ioi_eval.report.markdown import LOWER_BOUND, cell, markdown_table
from ioi_eval.report.result_files import REPORT, SUMMARY, result_rows, summary_of
from ioi_eval.report.result_values import name_columns, points_of_subtask, problem_name_of, submission_of, total_of
from ioi_eval.report.terminal import bounded, of_full_marks, problems_of
from ioi_eval.report.texts import file_name, points

_COLUMNS = ("target_subtask", "verdict", "total_score", "code_compiles", "all_subtasks_results", "error")
INDEX = "README.md"
"""The name of the page that the Hub shows for a directory."""


def write_pages(directory: Path, results: Path, *, id_column: str) -> list[Path]:
    """Write the pages of a data set from the results of its run, and replace existing ones. Returns the pages, the
    index first."""
    summary = _read_summary(results)
    lines: dict[tuple[str, str], list[tuple[float, list[str]]]] = {}
    compiling: dict[tuple[str, str], int] = {}
    for row in result_rows(results, columns={*name_columns(id_column), *_COLUMNS}, tests=False):
        key = problem_name_of(row)
        lines.setdefault(key, []).append(_line(row, id_column))
        compiling[key] = compiling.get(key, 0) + bool(row.get("code_compiles"))
    pages = {INDEX: _read(results / REPORT) + _links(summary["problems"])}
    for problem in summary["problems"]:
        key = str(problem["year"]), str(problem["problem"])
        pages[page_name(*key)] = _page(problem, lines.get(key, []), compiling.get(key, 0))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path in directory.glob("*.md"):
            path.unlink()
        for name, text in pages.items():
            (directory / name).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise SetupError(f"{directory} cannot be written: {error.strerror}; the results are in {results}") from error
    return [directory / name for name in pages]


def page_name(year: str, problem: str) -> str:
    """The file name of a problem's page; no two problems share one."""
    return f"{file_name(f'{year}_{problem}')}.md"


def overview_page(results: Mapping[str, Path]) -> str:
    """The overview page, with a line for each data set, from the directory that its run wrote."""
    head = ("data set", "submissions", "scored", "judge errors (JE)", "not judged", "contests", "report")
    rows = [_overview_row(name, path) for name, path in results.items()]
    table = "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *rows])
    legend = "contests: points of all submissions together, and of 50 per problem, without practice problems."
    return f"# Overview\n\n{table}\n\n{legend} {LOWER_BOUND}\n"


def _overview_row(name: str, results: Path) -> list[str]:
    summary = _read_summary(results)
    try:
        counts = summary["submissions"]
        contests = ", ".join(
            f"{contest['year']}: {of_full_marks(contest, 'all_submissions_score', problems_of(summary, contest))}, "
            f"50: {bounded(contest, 'limit_50_score', problems_of(summary, contest))}"
            for contest in summary["contests"]
        )
        numbers = [str(counts[kind]) for kind in ("rows", "scored", "undecided")]
        left = str(counts["refused"] + counts["pending"])
    except ODD_DATA as error:
        raise InputError(
            f"{results / SUMMARY} is not a summary of a run ({type(error).__name__}: {error}); "
            f"`ioi-eval report {results}` writes it again"
        ) from error
    return [cell(name), *numbers, left, contests or "–", f"[{cell(name)}]({quote(name)}/{INDEX})"]


def _page(problem: Mapping[str, Any], lines: list[tuple[float, list[str]]], compiling: int) -> str:
    subtasks = [subtask["subtask"] for subtask in problem["subtasks"]]
    head = ("submission", "target", "verdict", "total", *map(str, subtasks))
    lines.sort(key=lambda line: line[0], reverse=True)
    facts = [
        f"- Submissions: **{problem['submissions']}**, of them **{compiling}** compile",
        f"- Best submission: **{points(problem['best_score'])}/{points(problem['points'])}**",
        f"- All submissions together: **{of_full_marks(problem, 'all_submissions_score')}**",
        f"- 50 submissions, chosen as by `ioi-eval select`: **{of_full_marks(problem, 'limit_50_score')}**",
    ]
    return "\n".join(
        [
            f"# {problem['year']}: {cell(str(problem['problem']))}",
            "",
            *facts,
            *(["", LOWER_BOUND] if any("?" in fact for fact in facts) else []),
            "",
            "## Submissions",
            "",
            markdown_table(head, [[*line, *[""] * (len(head) - len(line))] for _, line in lines]),
            "",
        ]
    )


def _line(row: Mapping[str, Any], id_column: str) -> tuple[float, list[str]]:
    """The sort key of a submission, and its cells."""
    total = total_of(row)
    cells = [
        submission_of(row, id_column),
        str(row.get("target_subtask") or "–"),
        str(row.get("verdict") or row.get("error") or ""),
        points(total),
        *(_subtask(subtask) for subtask in row.get("all_subtasks_results") or ()),
    ]
    return (-1.0 if total is None else float(total)), cells


def _subtask(subtask: Mapping[str, Any]) -> str:
    return f"{points(points_of_subtask(subtask))}/{points(subtask['points'])} ({subtask['status']})"


def _links(problems: list[Mapping[str, Any]]) -> str:
    keys = [(str(problem["year"]), str(problem["problem"])) for problem in problems]
    listed = [f"- [{year}/{cell(problem)}]({page_name(year, problem)})" for year, problem in keys]
    return "\n".join(["", "## Every submission", "", *listed, ""]) if listed else ""


def _read_summary(results: Path) -> dict[str, Any]:
    """The summary of the results in a directory, which must have one."""
    if not (summary := summary_of(results)):
        raise InputError(f"{results / SUMMARY} does not exist: `ioi-eval report {results}` makes it")
    return summary


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; run the same command again") from error
