"""The table of submissions on a report's page, in a real browser: search, filters, order, and opened submissions."""

from __future__ import annotations

from pathlib import Path

from ioi_eval.model import Verdict
from tests.browser import Tab, needs_chromium
from tests.report.report_page import CHOSEN, HARM, LIMITS, OPENED, SHORT, SUMMARY, TYPED, page, shown, type_in
from tests.small_results import contest_row, test, write_results

pytestmark = needs_chromium


def test_search_filter_sort_and_pages(quiet: Tab, report: Path) -> None:
    """Screen readers announce the number of matches. Missing values are last in either order."""
    quiet.open(report)
    assert shown(quiet) == "127 submissions of 127: 1 to 50 are shown"
    type_in(quiet, "FIRST 2023")
    assert shown(quiet).startswith("20 submissions")
    type_in(quiet, "nothing such")
    assert shown(quiet) == "No submission matches, of 127."
    quiet.value("document.getElementById('reset').click()")
    assert shown(quiet) == "127 submissions of 127: 1 to 50 are shown"
    assert quiet.value("document.getElementById('reset').hidden")
    quiet.value("document.querySelector('[data-column=score]').click()")
    assert quiet.value("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "ascending"
    assert "▲" in quiet.value(_ARROW)
    scores = "#submissions-table tbody tr td:nth-child(5)"
    assert quiet.value(SHORT.format(scores))[0] == "0/100"
    quiet.value("document.querySelector('[data-column=score]').click()")
    assert quiet.value("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "descending"
    assert "▼" in quiet.value(_ARROW)
    assert quiet.value(SHORT.format(scores))[0] == "100/100"
    for _ in range(2):
        quiet.value("[...document.querySelectorAll('#submissions button')].at(-1).click()")
    assert shown(quiet).endswith(": 101 to 127 are shown")
    assert quiet.value(SHORT.format(scores))[-2:] == ["–", "–"]
    assert quiet.value("[...document.querySelectorAll('#submissions button')].at(-1).disabled")


def test_verdicts_are_named_and_filter(quiet: Tab, report: Path) -> None:
    """Each has a button with its full name and number. Several can be selected. The legend lists all verdicts."""
    quiet.open(report)
    chips = SHORT.format("#filter-verdict button")
    assert quiet.value(chips) == [
        "AC accepted 60", "PA partly accepted 1", "WA wrong answer 64", "JE judge error 1", "not judged 1",
    ]  # fmt: skip
    press = "[...document.querySelectorAll('#filter-verdict button')].find((one) => one.textContent.startsWith('{}'))"
    for verdict, found in (("AC", 60), ("PA", 61), ("not", 62)):
        quiet.value(press.format(verdict) + ".click()")
        assert shown(quiet).startswith(f"{found} submissions of 127")
        assert quiet.value(press.format(verdict) + ".getAttribute('aria-pressed')") == "true"
    quiet.value(press.format("AC") + ".click()")
    assert shown(quiet).startswith("2 submissions of 127")
    type_in(quiet, "nothing such")
    quiet.value("document.getElementById('reset').click()")
    assert shown(quiet).startswith("127 submissions of 127")
    assert quiet.value("document.querySelectorAll('#filter-verdict [aria-pressed=true]').length") == 0
    quiet.value("document.querySelectorAll('.controls input[type=checkbox]')[0].click()")  # the group with the JE
    assert quiet.value(press.format("JE") + ".disabled")
    assert quiet.value(chips)[0] == "AC accepted 30"
    assert quiet.value(SHORT.format("#submissions dl dt")) == [verdict.value for verdict in Verdict]


_ARROW = "getComputedStyle(document.querySelector('th[aria-sort] button'), '::after').content"


def test_long_ids_are_short(quiet: Tab, tmp_path: Path) -> None:
    """They are shortened to their first characters if no other id has these. The full id is in the title and with the
    program.
    """
    names = ["0123abcd" + "0" * 24, "4567abcd" + "0" * 24, "4567abcd" + "1" * 24, "named"]
    written = write_results(tmp_path / "out", [contest_row(name, 1.0, 0.0) for name in names])
    quiet.open(page([written], tmp_path / "ids.html"))
    assert quiet.value(SHORT.format("#submissions-table tbody th")) == ["0123abcd", *names[1:]]
    button = "document.querySelector('#submissions-table tbody button')"
    assert quiet.value(f"{button}.title") == names[0]
    quiet.value(f"{button}.click()")
    quiet.value(OPENED)
    assert names[0] in quiet.value("document.querySelector('.opened').textContent")


def test_groups_and_dates_select_submissions_too(quiet: Tab, report: Path) -> None:
    """The table has the submissions of the charts, and offers no other groups and problems."""
    quiet.open(report)
    quiet.value("{ const one = document.getElementById('date-from'); one.value = 2; " + TYPED + " }")
    assert shown(quiet).startswith("44 submissions of 44 in the problems selected above")
    box = "document.querySelectorAll('.controls input[type=checkbox]')[{}].click()"
    quiet.value(box.format(0))
    assert shown(quiet) == "22 submissions of 22 in the groups and problems selected above: 1 to 22 are shown"
    for name, offered in (("group", ["all", "second"]), ("problem", ["all", "2024/nile Nile"])):
        assert quiet.value(SHORT.format(f"#filter-{name} option:enabled")) == offered
    quiet.value(box.format(1))
    assert shown(quiet) == "No group is selected."
    told = quiet.value(SHORT.format("main section:not(#submissions) > div"))
    assert told == ["No group is selected."] * 8


def test_a_subtask_has_the_counts_of_its_tests(quiet: Tab, tmp_path: Path) -> None:
    """Those that are not counted may have run."""
    row = contest_row("a", 0.0)
    row["all_subtasks_results"][0]["test_results"] = [
        test("1", 1.0, "AC"),
        test("2", 0.0, "WA"),
        test("3", None, "SKIPPED"),
    ]
    quiet.open(page([write_results(tmp_path / "out", [row])], tmp_path / "counts.html"))
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(OPENED)
    assert "1 of 3 accepted, 1 not counted" in quiet.value("document.querySelector('.opened table').textContent")


def test_the_deciding_test_is_shown(quiet: Tab, report: Path) -> None:
    """With its input and the difference. Passed tests are not mentioned."""
    quiet.open(report)
    type_in(quiet, "odd")
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(OPENED)
    heads = quiet.value(SHORT.format(".opened .failing h3"))
    assert heads == ["The test that gave the verdict", "Input", "The checker's message", "Standard error"]
    assert "Where no expected output is named" in quiet.value("document.querySelector('.opened .failing').textContent")
    assert HARM in quiet.value("document.querySelector('.opened .failing pre').textContent")


def test_copies_are_counted_can_be_left_out_and_name_their_original(quiet: Tab, tmp_path: Path) -> None:
    """A note names the group with most copies. An opened copy names the submission that was judged."""
    rows = [contest_row(f"{m}{n}", 1.0, 0.0, model=m) for m in "mn" for n in range(4)]
    for row in rows[1:3] + rows[5:]:
        row |= {"duplicate_of": "m0", "fingerprint": "of m0"}
    rows[-1]["duplicate_of"] = "of another run"
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "copies.html"))
    groups_text = "document.getElementById('groups').textContent"
    assert "Copies: 5 of 8 submissions (most in n: 3 of 4)." in quiet.value(groups_text)
    quiet.value("document.getElementById('filter-copies').click()")
    assert shown(quiet).startswith("3 submissions of 8")
    quiet.value("document.getElementById('reset').click()")
    assert not quiet.value("document.getElementById('filter-copies').checked")
    for name, words in (("n1", "submission m0"), ("n3", "not in this table")):
        type_in(quiet, name)
        quiet.value("document.querySelector('#submissions-table tbody button').click()")
        quiet.value(OPENED)
        assert words in quiet.value("document.querySelector('.opened').textContent")
    type_in(quiet, "n1")
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(OPENED)
    quiet.value("document.querySelector('.opened p .link').click()")
    assert quiet.value(SHORT.format("#submissions-table tbody th")) == ["m0"]


def test_long_ids_are_in_the_order_of_their_characters(quiet: Tab, tmp_path: Path) -> None:
    """Digits in them are no numbers. Other ids are ordered by the numbers in them."""
    for number, names in enumerate((["00d7" + "e" * 28, "0c6e" + "a" * 28, "1" * 32], ["a2", "a10"])):
        written = write_results(tmp_path / str(number), [contest_row(name, 1.0) for name in reversed(names)])
        quiet.open(page([written], tmp_path / "ids.html"))
        quiet.value("document.querySelector('[data-column=id]').click()")
        assert quiet.value(SHORT.format("#submissions-table tbody th")) == [name[:8] for name in names]


def test_the_text_of_a_submission_without_a_program(quiet: Tab, tmp_path: Path) -> None:
    """Each has its own, with its beginning and its end. If results have none, the row of the dump is named."""
    rows = [
        contest_row(name, 0.0, code=None, verdict="NC", fingerprint="none", generation=text)
        for name, text in (("q1", "first"), ("q2", "second " + "x" * 9000 + " the end"), ("q3", None))
    ]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "texts.html"))
    texts = []
    for name in ("q1", "q2", "q3"):
        type_in(quiet, name)
        quiet.value("document.querySelector('#submissions-table tbody button').click()")
        quiet.value(OPENED)
        texts.append(quiet.value("[...document.querySelectorAll('.opened pre')].at(-1).textContent"))
    assert texts[0] == "first"
    assert texts[1].startswith("second ")
    assert "characters left out" in texts[1]
    assert texts[1].endswith(" the end")
    assert "see submission q3 in the dump" in texts[2]


def test_a_limit_has_as_many_digits_as_a_time(quiet: Tab, tmp_path: Path) -> None:
    """With --time-scale 1.13 one of 1.5 s is 1.695 s. It was shown as 1.7 beside the time of a program that is late."""
    row = contest_row("late", 0.0)
    row["all_subtasks_results"][0]["test_results"][0] |= {"time_s": 1.699, "status": "TLE"}
    summary = {"problems": [{"year": 2024, **LIMITS, "time_limit_s": 1.5 * 1.13}]}
    quiet.open(page([write_results(tmp_path / "out", [row], summary)], tmp_path / "limit.html"))
    cells = quiet.value("[...document.querySelectorAll('#submissions-table tbody td')].map((cell) => cell.textContent)")
    assert "1.699 / 1.695" in cells


def test_an_opened_submission_fits_a_telephone(quiet: Tab, tmp_path: Path) -> None:
    """Names of subtasks are not broken into letters, and hidden columns are mentioned."""
    rows = [contest_row("a" * 32, 1.0, 0.0, model="heron")]
    rows[0]["verdict"] = "TLE"
    rows[0]["all_subtasks_results"][1] |= {"subtask": "01-small-weights-of-each"}
    quiet.open(page([write_results(tmp_path / "out", rows, SUMMARY)], tmp_path / "small.html"), width=375)
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(OPENED)
    widths = "[...document.querySelectorAll('.opened tbody th')].map((one) => one.getBoundingClientRect().width)"
    assert all(width >= 100 for width in quiet.value(widths)), quiet.value(widths)
    hidden = quiet.value("document.querySelector('.opened .narrow').innerText")
    assert hidden == "group: heron; CPU time, s: 0.25 / 1; peak memory, MiB: 1 / 256"
    assert not quiet.value("document.querySelector('#submissions > div > .scroll').matches('.wider')")
    quiet.open(tmp_path / "small.html", width=1440)
    assert quiet.value("getComputedStyle(document.querySelector('.narrow')).display") == "none"


def test_filters_can_always_be_reset_and_count_for_verdicts(quiet: Tab, report: Path) -> None:
    """The button appears as soon as a filter is set. A verdict's number counts what the other filters leave."""
    quiet.open(report)
    reset = "document.getElementById('reset').hidden"
    chips = SHORT.format("#filter-verdict button")
    assert quiet.value(reset)
    all_of_them = quiet.value(chips)
    quiet.value(CHOSEN.format("filter-problem", "0"))
    assert quiet.value(chips)[0] == "AC accepted 20"
    type_in(quiet, "first")
    assert quiet.value(chips) == [
        "AC accepted 10", "PA partly accepted 0", "WA wrong answer 10", "JE judge error 0", "not judged 0",
    ]  # fmt: skip
    quiet.value("document.querySelector('#filter-verdict button').click()")
    assert shown(quiet).startswith("10 submissions of 127")
    assert quiet.value(chips)[2] == "WA wrong answer 10"
    assert not quiet.value(reset)
    quiet.value("document.getElementById('reset').click()")
    assert quiet.value(chips) == all_of_them
    assert quiet.value(reset)


def test_a_problem_that_is_clicked_is_shown_everywhere(quiet: Tab, report: Path) -> None:
    """Its submissions and its subtasks. The search field gets no focus, because a telephone would show its keyboard."""
    quiet.open(report)
    quiet.value("document.querySelectorAll('.heat tbody button')[2].click()")
    assert shown(quiet).startswith("44 submissions")
    assert quiet.value("document.getElementById('subtask-problem').value") == "2"
    assert quiet.value("document.activeElement.id") == "found"


def test_use_by_keyboard(quiet: Tab, report: Path) -> None:
    """The first key skips the page's head. Every control can be reached in the order of the page, and is visible."""
    quiet.open(report)
    quiet.press("Tab")
    assert quiet.value("document.activeElement.textContent") == "Skip to the report"
    assert quiet.value("document.activeElement.getBoundingClientRect().left >= 0")
    quiet.press("Enter", text="\r")
    assert quiet.value("document.activeElement.id") == "main"
    places = []
    for _ in range(12):
        quiet.press("Tab")
        places.append(quiet.value("document.activeElement.getBoundingClientRect().top + scrollY"))
        assert quiet.value("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert places == sorted(places)
    quiet.value("document.querySelector('#submissions-table tbody button').focus()")
    quiet.press("Enter", text="\r")
    quiet.value(OPENED)
    assert quiet.value("document.activeElement.getAttribute('aria-expanded')") == "true"
    quiet.press("Enter", text="\r")
    assert quiet.value("document.querySelectorAll('.opened').length") == 0
