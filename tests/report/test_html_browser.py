"""The page of a report in a real browser: no console messages, no requests, and it can be used without a mouse."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from ioi_eval.report.html import Page
from ioi_eval.report.standings import Standings
from tests.browser import Tab, needs_chromium
from tests.report.report_page import CHOSEN, FRAMES, OPENED, SHORT, TYPED, page, shown, type_in
from tests.small_results import apps_row, contest_row, refused, write_results

pytestmark = needs_chromium


@pytest.mark.parametrize("width", [375, 768, 1440])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_and_has_enough_contrast(quiet: Tab, report: Path, width: int, dark: bool) -> None:
    """Only elements that scroll are wider than the screen. Every text has enough contrast to its background."""
    quiet.open(report, width=width, dark=dark)
    assert quiet.value("document.documentElement.scrollWidth <= innerWidth")
    assert quiet.value("document.querySelectorAll('main section').length") == 9
    quiet.value("document.querySelector('#filter-verdict button').click()")
    assert quiet.value(_CONTRASTS) == []


_CONTRASTS = """(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    if (a < 255) return null;
    const part = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const found = light(getComputedStyle(one).backgroundColor);
      if (found !== null) return found;
    }
    return light("canvas");
  };
  const found = new Set();
  const texts = "p, td, th, caption, a, button, label, legend, li, summary, figcaption, h2, h3, span, select, output";
  for (const one of document.querySelectorAll(texts)) {
    const [text, ground] = [light(getComputedStyle(one).color), behind(one)];
    const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    if (contrast < 4.5) found.add(`${one.tagName}.${one.className} ${one.textContent.slice(0, 20)}: ${contrast}`);
  }
  return [...found];
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_the_heat_map_has_enough_contrast_at_every_value(quiet: Tab, tmp_path: Path, dark: bool) -> None:
    """Also at the middle of the colour scale."""
    rows = [contest_row(str(n), n / 100, n / 100, problem_id=f"p{n // 2}", model=f"m{n % 2}") for n in range(101)]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "heat.html"), dark=dark)
    assert quiet.value("new Set([...document.querySelectorAll('.heat td')].map((one) => one.textContent)).size") == 102
    assert quiet.value(_CONTRASTS) == []


_TABLES = """[...document.querySelectorAll(".scroll")].filter((one) => one.clientWidth).map((one) => {
  const style = getComputedStyle(one);
  const sign = getComputedStyle(one, "::before").content;
  return [one.scrollWidth > one.clientWidth + 1, one.matches(".wider"), sign !== "none", style.maskImage !== "none",
          style.overflowX, one.tabIndex, one.getAttribute("role"), one.getAttribute("aria-label")];
})"""


@pytest.mark.parametrize("width", [375, 768, 1440])
def test_wide_tables_scroll_in_their_own_box_and_say_so(quiet: Tab, report: Path, width: int) -> None:
    """In a narrow window, also tables inside others. They can be scrolled by keyboard, and screen
    readers announce it.
    """
    quiet.open(report, width=width)
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(OPENED)
    quiet.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    quiet.value(FRAMES)
    tables = quiet.value(_TABLES)
    assert len(tables) >= 10
    for wide, *attributes in tables:
        assert attributes[:3] == [wide] * 3
        assert attributes[3:6] == ["auto", 0, "region"]
        assert attributes[6]
    assert any(wide for wide, *_ in tables) == (width < 1000)
    assert bool(quiet.value("document.querySelectorAll('section > div > .wider').length")) == (width < 1000)
    assert quiet.value("document.documentElement.scrollWidth <= innerWidth")
    opened = "document.querySelector('.opened .detail').getBoundingClientRect().right"
    assert quiet.value(f"{opened} <= document.querySelector('#submissions .scroll').getBoundingClientRect().right")


def test_the_table_of_groups_fits_on_a_usual_screen(quiet: Tab, tmp_path: Path) -> None:
    """ "not significant" is below the numbers, not beside them."""
    rows = [
        contest_row(f"{model}-{problem}", (problem * (3 + group)) % 7 / 7, 0.5, model=model, problem_id=f"p{problem}")
        for group, model in enumerate(("small-7b", "middle-32b-tuned", "large-120b"))
        for problem in range(12)
    ]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "groups.html"), width=1280)
    cells = quiet.value(SHORT.format("#groups tbody tr td:nth-child(3)"))
    assert cells[0] == "first"
    assert all(cell.endswith("] 12 problems, not significant") for cell in cells[1:]), cells
    assert quiet.value("document.querySelectorAll('#groups .wider').length") == 0


def test_a_difference_is_over_common_problems(quiet: Tab, tmp_path: Path) -> None:
    """It is not shown if the groups have different problems. With few problems it has no interval."""

    def differences(problems: dict[str, int]) -> list[str]:
        rows = [
            contest_row(f"{model}{n}", 1 - shift - (n == 0) / 2, model=model, problem_id=f"p{n}")
            for shift, (model, count) in zip((0.0, 0.25), problems.items(), strict=True)
            for n in range(count)
        ]
        quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "groups.html"), width=1280)
        found: list[str] = quiet.value(SHORT.format("#groups tbody tr td:nth-child(3)"))
        return found

    words, others = "document.getElementById('groups').textContent", "Groups have different problems"
    assert differences({"m": 4, "n": 4}) == ["first", "−25.0 4 problems"]
    assert "significant" not in quiet.value(words)
    assert others not in quiet.value(words)
    assert differences({"m": 5, "n": 5}) == ["first", "−25.0 5 problems"]
    assert differences({"m": 6, "n": 6}) == ["first", "−25.0 [−25.0,\xa0−25.0] 6 problems"]
    assert "does not contain 0 and a randomisation test" in quiet.value(words)
    assert differences({"m": 7, "n": 6}) == ["first", "other problems 6 in common"]
    assert others in quiet.value(words)


def test_an_incomplete_run_has_no_intervals(quiet: Tab, tmp_path: Path) -> None:
    """A warning says so, with the text of the commands. A JE gives another warning."""
    rows = [
        contest_row(f"{model}{n}{k}", n / 8, model=model, problem_id=f"p{n}")
        for model in "mn" for n in range(8) for k in range(3)
    ]  # fmt: skip
    for pending in (9, 0):
        counts = {"pending": pending, "rows": 57}
        written = write_results(
            tmp_path / f"out{pending}", [dict(row) for row in rows], {"complete": False, "submissions": counts}
        )
        quiet.open(page([written], tmp_path / "part.html"))
        [warning] = quiet.value(SHORT.format("p.warning"))
        expected = (
            "is not complete: 9 of 57 submissions are still to be judged; submissions without code are judged first"
        )
        assert (expected in warning, "something could not be judged" in warning) == (pending > 0, not pending)
        assert ("[" in quiet.value("document.getElementById('groups').textContent")) == (not pending)
        assert (quiet.value("document.querySelectorAll('.band').length") > 0) == (not pending)
        assert ("Bands: 95 %" in quiet.value("document.getElementById('scores').textContent")) == (not pending)


def test_a_table_fades_only_where_more_follows(quiet: Tab, report: Path) -> None:
    """Neither at its end, nor while it has the focus, because its outline would fade too. Its caption stays visible."""
    quiet.open(report, width=375)
    box = "document.querySelector('#groups .scroll')"
    quiet.value(f"{box}.scrollLeft = 1e6")
    quiet.value(FRAMES)
    assert quiet.value(f"getComputedStyle({box}).maskImage") == "none"
    seen = "document.querySelector('#groups caption span').getBoundingClientRect()"
    assert quiet.value(f"{seen}.left") >= 0
    quiet.value(f"{box}.scrollLeft = 0")
    quiet.value(FRAMES)
    assert quiet.value(f"getComputedStyle({box}).maskImage") != "none"
    quiet.press("Tab")
    quiet.value(f"{box}.focus()")
    assert quiet.value(f"getComputedStyle({box}).maskImage") == "none"


def test_captions_name_what_is_shown(quiet: Tab, report: Path) -> None:
    """Solved submissions are a share of submissions. Rows by year are labelled "year". Notes explain the numbers."""
    quiet.open(report)
    quiet.value(CHOSEN.format("heat-measure", "solved"))
    quiet.value(CHOSEN.format("heat-rows", "buckets"))
    assert quiet.value(SHORT.format(".heat caption")) == ["pass@1, % of submissions, by year and group"]
    assert quiet.value(SHORT.format(".heat thead th"))[0] == "year"
    words = quiet.value("document.getElementById('groups').textContent")
    assert all(text in words for text in ("With fewer than 6 problems there are no intervals", "percentage points"))
    assert "worst verdict of its subtasks" in quiet.value("document.getElementById('verdicts').textContent")


def test_column_heads_of_the_heat_map_break_between_words(quiet: Tab, tmp_path: Path) -> None:
    """With names of groups from several columns, on a screen too narrow for all columns."""
    rows = [
        contest_row(f"{model}{heat}{n}", n / 3, model=model, problem_id=f"p{n}", temperature=heat)
        for model in ("small-7b", "large-120b")
        for heat in (0.2, 0.6, 0.8, 1)
        for n in range(3)
    ]
    written = write_results(tmp_path / "out", rows, {"by": ["model", "temperature"]})
    for width in (1200, 768):
        quiet.open(page([written], tmp_path / "heat.html"), width=width)
        assert quiet.value("document.querySelectorAll('.heat thead th').length") == 10
        assert quiet.value(_BROKEN_WORDS) == []
        assert quiet.value("document.documentElement.scrollWidth <= innerWidth")


_BROKEN_WORDS = """[...document.querySelectorAll(".heat thead th")].flatMap((head) => {
  const text = head.firstChild;
  return [...text.data.matchAll(/[a-z]+/g)].filter((found) => {
    const range = document.createRange();
    range.setStart(text, found.index);
    range.setEnd(text, found.index + found[0].length);
    return new Set([...range.getClientRects()].map((box) => box.top)).size > 1;
  }).map((found) => found[0]);
})"""


def test_a_problem_with_judge_errors_only_counts_in_the_sum_of_best_subtasks(quiet: Tab, tmp_path: Path) -> None:
    """As in report.md. The group has no mean score."""
    rows = [contest_row("a", 1.0, None, problem_id="p"), contest_row("b", 1.0, 1.0, problem_id="q")]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "je.html"))
    cells = quiet.value(
        "[...document.querySelectorAll('#groups tbody td, #groups tbody th')].map((one) => one.innerText)"
    )
    assert (cells[1], cells[4]) == ("–", "75.0 %")


def test_a_contest_with_a_problem_without_points_has_no_mean_score(quiet: Tab, tmp_path: Path) -> None:
    """As in report.md. It counted as a problem with 0 %. pass@1 is of both."""
    rows = [
        contest_row(f"{model}{problem}", 1.0, 1.0, model=model, problem_id=problem)
        for model in "mn"
        for problem in "pq"
    ]
    for row in rows[::2]:
        row["total_score"] = 0.0
        for subtask in row["all_subtasks_results"]:
            subtask |= {"points": 0.0, "weighted_score": 0.0}
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "free.html"))
    for row in quiet.value(
        "[...document.querySelectorAll('#groups tbody tr')].map((row) => row.innerText.split('\\t'))"
    ):
        assert row[1] == "–"
        assert row[2] in {"first", "–"}
        assert row[3].startswith("100.0 %")
        assert row[4] == "–"
    cells = "[...document.querySelectorAll('.heat {} tr')].map((row) => [...row.children].map((one) => one.innerText))"
    assert quiet.value(cells.format("tbody")) == [["2024/p", "–", "–", "–"], ["2024/q", "100", "100", "100"]]
    assert quiet.value(cells.format("tfoot")) == [["mean of the problems", "–", "–", "–"]]
    assert "0/0" in quiet.value("document.querySelector('#submissions-table tbody').innerText")


def test_which_problem_is_hardest(quiet: Tab, tmp_path: Path) -> None:
    """A sentence names it. A column has the mean over the groups, by which rows can be sorted; a row has the mean over
    the problems, if a group has a score for each of its problems.
    """
    scores = {"m": {"a": 0.5, "b": 0.25, "c": 1.0}, "n": {"a": 0.5, "b": 0.25, "c": 0.0, "d": 1.0}}
    rows = [
        contest_row(f"{model}{problem}", score, score, model=model, problem_id=problem)
        for model, of in scores.items() for problem, score in of.items()
    ]  # fmt: skip
    rows.append(contest_row("unknown", None, problem_id="e", model="m"))
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "hard.html"))
    hardest = "document.getElementById('hardest').textContent"
    assert quiet.value(hardest) == (
        "Hardest problem: 2024/b (mean score 25.0 %). Easiest problem: 2024/d (mean score 100.0 %)."
    )
    assert quiet.value(SHORT.format(".heat thead th")) == ["problem", "mean of the groups", "m", "n"]
    cells = "[...document.querySelectorAll('.heat {} tr')].map((row) => [...row.children].map((one) => one.innerText))"
    listed = quiet.value(cells.format("tbody"))
    assert listed[0] == ["2024/a", "50", "50", "50"]
    assert quiet.value(cells.format("tfoot")) == [["mean of the problems", "44", "–", "44"]]
    for order, names in (("hardest", "bacde"), ("easiest", "dacbe")):
        quiet.value(CHOSEN.format("heat-order", order))
        assert quiet.value(SHORT.format(".heat tbody th")) == [f"2024/{name}" for name in names]
    quiet.value("document.querySelectorAll('.controls input')[1].click()")
    assert quiet.value(SHORT.format(".heat thead th")) == ["problem", "m"]
    assert "Easiest problem: 2024/c" in quiet.value(hardest)


def test_no_problem_is_hardest_if_all_means_are_equal(quiet: Tab, tmp_path: Path) -> None:
    """Nor is a single problem. With one year there are no rows by year."""
    for count in (1, 2):
        rows = [contest_row(f"{n}", 0.5, 0.5, problem_id=f"p{n}") for n in range(count)]
        quiet.open(page([write_results(tmp_path / str(count), rows)], tmp_path / "alike.html"))
        hardest = quiet.value("document.getElementById('hardest')?.textContent ?? null")
        assert hardest == ("No problem is hardest: all have the same mean score, 50.0 %." if count > 1 else None)
        assert not quiet.value("document.getElementById('heat-rows')")
        assert quiet.value(SHORT.format(".heat tfoot td")) == ["50"] * (count - 1)


def test_judge_errors_and_near_limits_have_their_own_table(quiet: Tab, report: Path) -> None:
    """Buttons show these submissions in the table below. They are not in the bars of verdicts."""
    quiet.open(report)
    rows = "[...document.querySelectorAll('#apart tbody tr')].map((row) => row.textContent)"
    assert quiet.value(rows) == ["first2024/nile Nile1121"]
    assert "JE" not in quiet.value("document.getElementById('verdicts').textContent")
    for place, name in enumerate(("judge-error", "near")):
        quiet.value(f"document.querySelectorAll('#apart button')[{place}].click()")
        assert quiet.value(SHORT.format("#submissions-table tbody th"))[0] == name
        assert shown(quiet).startswith("1 submission of")
    assert "1 row could not be judged at all" in quiet.value("document.getElementById('apart').textContent")
    assert quiet.value("document.body.innerText.match(/near (a |the )?limit/gi)") is None  # it is about time only


def test_buttons_without_submissions_are_disabled(quiet: Tab, tmp_path: Path) -> None:
    """If there are no judge errors, or no times near the limit."""
    quiet.open(page([write_results(tmp_path / "out", [contest_row("a", 1.0, 0.0)])], tmp_path / "none.html"))
    assert quiet.value("[...document.querySelectorAll('#apart button')].map((one) => one.disabled)") == [True, True]


def test_charts_follow_the_selected_dates(quiet: Tab, report: Path) -> None:
    """Charts show the problems between two dates. The sliders announce their values."""
    quiet.open(report)
    slide = "{ const one = document.getElementById('date-from'); one.value = 2; " + TYPED + " }"
    quiet.value(slide)
    assert quiet.value("document.getElementById('date-range').textContent") == "2024 to 2024: 1 problem"
    assert quiet.value("document.getElementById('date-from').getAttribute('aria-valuetext')") == "2024"
    assert quiet.value(SHORT.format(".heat tbody th")) == ["2024/nile Nile"]


def test_groups_and_contestants_on_the_page(quiet: Tab, report: Path, tmp_path: Path) -> None:
    """A section with medals and their source, for the selected groups. It is left out if there are no contestants."""
    quiet.open(report)
    assert not quiet.value("document.getElementById('contests')")
    rows = [contest_row(f"{m}{n}", 1.0, 0.5, model=m, problem_id=f"p{n}", year=2005) for n in range(6) for m in "mn"]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "contests.html"), width=375)
    assert quiet.value("document.documentElement.scrollWidth <= innerWidth")
    words = quiet.value("document.getElementById('contests').textContent")
    assert words.count("450 of 600: silver") == 6
    assert "gold 496, silver 393, bronze 275. Source: http://olympiads" in words
    assert "so there is no rank" in words
    quiet.value("document.querySelector('.controls input').click()")
    assert quiet.value("document.getElementById('contests').textContent").count("450 of 600") == 3


def test_rank_and_percentile_are_explained(quiet: Tab, tmp_path: Path) -> None:
    """With the numbers of the first group that is shown, and the number of contestants."""
    rows = [contest_row(f"{m}{n}", n / 3, 0.5, model=m, problem_id=f"p{n}") for n in range(3) for m in "mn"]
    written = write_results(tmp_path / "out", [*rows, contest_row("x", 1.0, year=2023, model="other")])
    standings = [Standings(contest="IOI 2024", year="2024", totals=tuple(range(0, 200, 2)), source="a table")]
    with (tmp_path / "ranks.html").open("wb") as file:
        Page([written], standings=standings).write(file)
    quiet.open(tmp_path / "ranks.html")
    words = "document.getElementById('contests').textContent"
    for text in (
        "rank and percentile among the 100 contestants of IOI 2024",
        'How to read it: "125 of 300: rank 38 of 100, percentile 63". Rank 38 of 100: 37 of 100 contestants have more '
        "points. Percentile 63: 63 % of the contestants have fewer points.",
        "Groups are not counted among the contestants",
    ):
        assert text in quiet.value(words), quiet.value(words)
    for box in (0, 1):
        quiet.value(f"document.querySelectorAll('.controls input')[{box}].click()")
    assert quiet.value(words).startswith("Compared with contestantsNo selected group has submissions to IOI 2024.")


def test_markup_in_untrusted_fields_is_text(quiet: Tab, report: Path) -> None:
    """Also in the details: program, compile error, test and its name."""
    quiet.open(report)
    type_in(quiet, "odd")
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(OPENED)
    words = quiet.value("document.querySelector('.opened').textContent")
    assert words.count("onerror") >= 5
    assert quiet.value("typeof harmed") == "undefined"
    assert quiet.value("document.querySelectorAll('main img, main script').length") == 0
    assert "<b>a note</b>" in quiet.value("document.querySelector('main').textContent")


def test_accessibility_for_screen_readers(quiet: Tab, report: Path) -> None:
    """Charts have names, and their numbers as tables with column heads. Controls have labels. Ids and headings are in
    order.
    """
    quiet.open(report)
    assert quiet.value("[...document.querySelectorAll('[role=img]')].every((one) => one.getAttribute('aria-label'))")
    assert quiet.value("[...document.querySelectorAll('figure')].every((one) => one.querySelector('details table'))")
    assert quiet.value(
        "[...document.querySelectorAll('table')].every((one) => one.caption?.textContent && "
        "[...one.querySelectorAll('th')].every((head) => head.scope))"
    )
    labelled = "[...document.querySelectorAll('main input, main select')].every((one) => one.labels.length === 1)"
    assert quiet.value(labelled)
    assert quiet.value("{ const ids = [...document.querySelectorAll('[id]')].map((one) => one.id); "
                       "new Set(ids).size === ids.length }")  # fmt: skip
    levels = quiet.value("[...document.querySelectorAll('h1, h2, h3')].map((one) => Number(one.tagName[1]))")
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_apps(quiet: Tab, tmp_path: Path) -> None:
    """For Python programs, difficulties replace subtasks, and shares of tests replace points."""
    rows = [
        apps_row(
            f"s{n}", n % 2 == 0, n % 3 == 0, problem_id=str(n % 80), difficulty=("interview", "competition")[n % 2]
        )
        for n in range(240)
    ]
    options = {"time_limit_s": 10.0, "memory_limit_bytes": 1 << 30}
    written = write_results(tmp_path / "out", rows, {"options": options, "judged_by": "tokens"})
    quiet.open(page([written], tmp_path / "apps.html"))
    assert quiet.value(SHORT.format(".heat tbody th")) == ["interview (40 problems)", "competition (40 problems)"]
    assert "interview" in quiet.value("document.getElementById('subtasks').textContent")
    type_in(quiet, "s1")
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(OPENED)
    assert "line 1 differs" in quiet.value("document.getElementById('submissions').textContent")


def test_quantities_have_the_names_of_the_glossary(quiet: Tab, report: Path, tmp_path: Path) -> None:
    """In the table of groups, in the heat map and above the charts, for both families."""
    glossary = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [apps_row("a", True, False), apps_row("b", True, True)]
    apps = page([write_results(tmp_path / "out", rows)], tmp_path / "apps.html")
    names = {
        report: ["mean score", "best submission", "sum of best subtasks", "pass@1"],
        apps: ["test case average", "best submission", "strict accuracy (pass@1)"],
    }
    for of, expected in names.items():
        quiet.open(of)
        assert quiet.value(SHORT.format("#heat-measure option")) == expected
        assert all(f"| {name.split(' (')[0].replace('@1', '@k')} |" in glossary for name in expected)
        heads = quiet.value(SHORT.format("#groups thead th"))
        assert [head.split(",")[0] for head in heads if "%" in head] == [expected[0], *reversed(expected[-2:])]
        page_text = quiet.value("document.querySelector('main').textContent.toLowerCase()")
        other = ["average score", "together", "single one", "judged submissions", "solved (", "undecided"]
        assert [name for name in other if name in page_text] == []
        titles = quiet.value(SHORT.format("#scores figcaption")) + quiet.value(SHORT.format("#pass-at-k figcaption"))
        assert all(title.split(" of k")[0].split(":")[0].lower() in (*expected, "best", "pass@k") for title in titles)


@pytest.mark.parametrize("rows", [[], [refused("a", "no")], [contest_row("a", None)]], ids=["none", "refused", "JE"])
def test_a_page_without_judged_submissions(quiet: Tab, tmp_path: Path, rows: list[dict[str, object]]) -> None:
    """No submission, or none that could be judged. The page says so."""
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "empty.html"))
    assert shown(quiet).startswith(f"{len(rows)} submission")
    assert quiet.value("document.getElementById('loading').textContent") == ""


def test_a_browser_that_cannot_decompress(quiet: Tab, tmp_path: Path) -> None:
    """It shows the charts, and says why there is no table."""
    written = write_results(tmp_path / "out", [contest_row(f"a{n}", 1.0, 0.0) for n in range(1000)])
    old = quiet.call("Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.DecompressionStream")
    try:
        quiet.open(page([written], tmp_path / "old.html"))
        assert "too old" in quiet.value("document.getElementById('loading').textContent")
        assert quiet.value("document.querySelectorAll('.heat td').length") == 1
    finally:
        quiet.call("Page.removeScriptToEvaluateOnNewDocument", identifier=old["identifier"])


def test_warnings_about_misleading_numbers(quiet: Tab, report: Path, tmp_path: Path) -> None:
    """Few problems, submissions written for one subtask, no standings. Each warning is shown only if it applies."""
    rows = [contest_row(f"{m}{n}", 1.0, 0.0, model=m, problem_id=f"p{n}") for m in "mn" for n in range(25)]
    for row in rows[:5]:
        row["target_subtask"] = "01"
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "many.html"))
    notes = "document.getElementById('groups').textContent"
    assert "Written for one subtask: 5 of 50 submissions (most in m: 5 of 25)." in quiet.value(notes)
    assert "written for one subtask count too" in quiet.value("document.getElementById('pass-at-k').textContent")
    assert "they are rough" not in quiet.value(notes)
    few = [contest_row(f"{m}{n}", 1.0, 0.0, model=m, problem_id=f"p{n}") for m in "mn" for n in range(9)]
    quiet.open(page([write_results(tmp_path / "out", few)], tmp_path / "few.html"))
    assert all(text in quiet.value(notes) for text in ("With 9 problems they are rough", "1,000 resamples"))
    quiet.open(report)
    assert "--standings FILE" in quiet.value(notes)
    assert not any(word in quiet.value(notes) for word in ("Written for", "Copies"))


def test_the_head_names_the_problems(quiet: Tab, report: Path, tmp_path: Path) -> None:
    """Their years, and their names if there are few."""
    quiet.open(report)
    about = "document.getElementById('about').textContent"
    assert quiet.value(about).startswith(
        "127 submissions in 2 groups to 3 problems of 3 years (2022 to 2024) (Nile). Made by"
    )
    rows = [contest_row(f"{n}", 0.5, 0.5, problem_id=f"p{n}") for n in range(9)]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "many.html"))
    assert quiet.value(about).startswith("9 submissions to 9 problems of 2024. Made by")
