"""The browser for tests of the page, and the report that most of them use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Tab, browser_tab
from tests.report.report_page import HARM, SUMMARY, page
from tests.small_results import contest_row, refused, test, write_results


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    """One browser for all tests."""
    with browser_tab() as one:
        yield one


@pytest.fixture
def quiet(tab: Tab) -> Iterator[Tab]:
    """The browser. After the test, it must have had no console message and no request except for files."""
    tab.messages.clear()
    tab.requests.clear()
    yield tab
    tab.value("1")  # messages up to now have arrived
    assert tab.messages == []
    assert all(address.startswith(("file:", "data:,")) for address in tab.requests), tab.requests


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models and three years, with a few rows of every kind."""
    directory = tmp_path_factory.mktemp("report")
    rows = [
        contest_row(f"{model}-{year}-{n}", float(n % 3 > 0), float(n % 4 > 0), model=model, year=year)
        for model in ("first", "second")
        for year in (2022, 2023, 2024)
        for n in range(20 + (model == "second"))
    ]
    rows.append(contest_row("judge-error", None, 1.0, model="first"))
    rows.append(contest_row("near", 1.0, 0.0, model="first", near_limit=True))
    rows.append(refused("refused", "there is no problem nowhere", model="second"))
    rows.append(contest_row("odd", 0.5, 0.5, model="second", code=HARM, compile_message=HARM))
    rows[-1]["all_subtasks_results"][0]["test_results"] = [test(HARM, 0.5, "PA", feedback=HARM, stderr=HARM)]
    inputs = {("2024/nile", HARM): HARM.encode()}
    return page([write_results(directory, rows, SUMMARY, inputs)], directory / "report.html")
