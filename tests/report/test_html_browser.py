"""The page of a report in a real browser: it says nothing, fetches nothing, and can be used without a mouse."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ioi_eval.model import Verdict
from ioi_eval.report.html import Page
from ioi_eval.report.standings import Standings
from tests.browser import Tab, browser_tab, needs_chromium
from tests.small_results import apps_row, contest_row, refused, test, write_results

pytestmark = needs_chromium

LIMITS = {"name": "Nile", "day": "1", "time_limit_s": 1.0, "memory_limit_bytes": 1 << 28, "problem": "nile"}
SUMMARY = {
    "problems": [{"year": year, **LIMITS} for year in (2022, 2023, 2024)],
    "complete": False, "notes": ["<b>a note</b>"], "submissions": {"pending": 3},
}  # fmt: skip
HARM = '</script><script>harmed = 1</script><img src="x" onerror="harmed = 2">'


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    """One browser for all."""
    with browser_tab() as one:
        yield one


@pytest.fixture
def quiet(tab: Tab) -> Iterator[Tab]:
    """The browser; after the test, it has said nothing, and asked for nothing but files."""
    tab.said.clear()
    tab.asked.clear()
    yield tab
    tab.value("1")  # what was said until now has arrived
    assert tab.said == []
    assert all(address.startswith(("file:", "data:,")) for address in tab.asked), tab.asked


def page(directories: Sequence[Path], to: Path) -> Path:
    """The report of these, in a file."""
    with to.open("wb") as file:
        Page(directories).write(file)
    return to


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models, three years, of everything a little."""
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


def shown(tab: Tab) -> str:
    """What the table of submissions says of itself."""
    return str(tab.value("document.getElementById('found').textContent"))


def type_in(tab: Tab, text: str) -> None:
    """Search for it."""
    tab.value(
        f"{{ const s = document.getElementById('search'); s.value = {text!r}; s.dispatchEvent(new Event('input')) }}"
    )


_CHOSEN = "{{ const one = document.getElementById({!r}); one.value = {!r}; one.dispatchEvent(new Event('change')) }}"
_FRAMES = """new Promise((done) => {
  let left = 5;
  const next = () => (left-- ? requestAnimationFrame(next) : done(true));
  next();
})"""
_TYPED = "one.dispatchEvent(new Event('input'))"
SHORT = "[...document.querySelectorAll({0!r})].map((one) => one.textContent)"


@pytest.mark.parametrize("width", [375, 768, 1440])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_and_can_be_read(quiet: Tab, report: Path, width: int, dark: bool) -> None:
    """Nothing is wider than the screen but what scrolls by itself; every text stands out from what is behind it."""
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
def test_heat_map_can_be_read_at_every_value(quiet: Tab, tmp_path: Path, dark: bool) -> None:
    """Also where the colours are of the middle."""
    rows = [contest_row(str(n), n / 100, n / 100, problem_id=f"p{n // 2}", model=f"m{n % 2}") for n in range(101)]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "heat.html"), dark=dark)
    assert quiet.value("new Set([...document.querySelectorAll('.heat td')].map((one) => one.textContent)).size") == 102
    assert quiet.value(_CONTRASTS) == []


def test_search_filter_sort_and_pages(quiet: Tab, report: Path) -> None:
    """The number that is found is said aloud; what is not known is last in either order."""
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
    """Each has a button with its full name and number; several may be chosen; the legend has all of them."""
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


def test_legend_of_the_chart_shows_submissions(quiet: Tab, report: Path) -> None:
    """A verdict's name in the legend leads to the table."""
    quiet.open(report)
    quiet.value("document.querySelectorAll('#verdicts .legend button')[1].click()")
    assert shown(quiet).startswith("1 submission of 127")
    assert quiet.value(SHORT.format("#verdicts .legend button"))[1] == "PA: partly accepted"


_ARROW = "getComputedStyle(document.querySelector('th[aria-sort] button'), '::after').content"


def test_long_ids_are_short(quiet: Tab, tmp_path: Path) -> None:
    """By their first characters, if these are no other id's; the whole id is in the title and with the program."""
    names = ["0123abcd" + "0" * 24, "4567abcd" + "0" * 24, "4567abcd" + "1" * 24, "named"]
    written = write_results(tmp_path / "out", [contest_row(name, 1.0, 0.0) for name in names])
    quiet.open(page([written], tmp_path / "ids.html"))
    assert quiet.value(SHORT.format("#submissions-table tbody th")) == ["0123abcd", *names[1:]]
    button = "document.querySelector('#submissions-table tbody button')"
    assert quiet.value(f"{button}.title") == names[0]
    quiet.value(f"{button}.click()")
    quiet.value(_OPENED)
    assert names[0] in quiet.value("document.querySelector('.opened').textContent")


_TABLES = """[...document.querySelectorAll(".scroll")].filter((one) => one.clientWidth).map((one) => {
  const style = getComputedStyle(one);
  const sign = getComputedStyle(one, "::before").content;
  return [one.scrollWidth > one.clientWidth + 1, one.matches(".wider"), sign !== "none", style.maskImage !== "none",
          style.overflowX, one.tabIndex, one.getAttribute("role"), one.getAttribute("aria-label")];
})"""


@pytest.mark.parametrize("width", [375, 768, 1440])
def test_wide_tables_scroll_in_their_own_box_and_say_so(quiet: Tab, report: Path, width: int) -> None:
    """In a narrow window those that are wider, also those within others; by keyboard and for screen readers too."""
    quiet.open(report, width=width)
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(_OPENED)
    quiet.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    quiet.value(_FRAMES)
    tables = quiet.value(_TABLES)
    assert len(tables) >= 10
    for wide, *said in tables:
        assert said[:3] == [wide] * 3
        assert said[3:6] == ["auto", 0, "region"]
        assert said[6]
    assert any(wide for wide, *_ in tables) == (width < 1000)
    assert bool(quiet.value("document.querySelectorAll('section > div > .wider').length")) == (width < 1000)
    assert quiet.value("document.documentElement.scrollWidth <= innerWidth")
    opened = "document.querySelector('.opened .detail').getBoundingClientRect().right"
    assert quiet.value(f"{opened} <= document.querySelector('#submissions .scroll').getBoundingClientRect().right")


def test_groups_fit_where_a_difference_is_not_significant(quiet: Tab, tmp_path: Path) -> None:
    """On a usual screen: the words are below the numbers, not beside them."""
    rows = [
        contest_row(f"{model}-{problem}", (problem * (3 + group)) % 7 / 7, 0.5, model=model, problem_id=f"p{problem}")
        for group, model in enumerate(("small-7b", "middle-32b-tuned", "large-120b"))
        for problem in range(12)
    ]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "groups.html"), width=1280)
    cells = quiet.value(SHORT.format("#groups tbody tr td:nth-child(3)"))
    assert cells[0] == "first"
    assert all(cell.endswith("] not significant") for cell in cells[1:]), cells
    assert quiet.value("document.querySelectorAll('#groups .wider').length") == 0


def test_a_table_fades_only_where_more_follows(quiet: Tab, report: Path) -> None:
    """Not at its end, nor while it has the focus, whose outline would fade too; its caption stays in sight."""
    quiet.open(report, width=375)
    box = "document.querySelector('#groups .scroll')"
    quiet.value(f"{box}.scrollLeft = 1e6")
    quiet.value(_FRAMES)
    assert quiet.value(f"getComputedStyle({box}).maskImage") == "none"
    seen = "document.querySelector('#groups caption span').getBoundingClientRect()"
    assert quiet.value(f"{seen}.left") >= 0
    quiet.value(f"{box}.scrollLeft = 0")
    quiet.value(_FRAMES)
    assert quiet.value(f"getComputedStyle({box}).maskImage") != "none"
    quiet.press("Tab")
    quiet.value(f"{box}.focus()")
    assert quiet.value(f"getComputedStyle({box}).maskImage") == "none"


def test_captions_name_what_is_shown(quiet: Tab, report: Path) -> None:
    """Solved submissions are a share of submissions; years are no kind of problem; a note says how to read."""
    quiet.open(report)
    quiet.value(_CHOSEN.format("heat-measure", "solved"))
    quiet.value(_CHOSEN.format("heat-rows", "buckets"))
    assert quiet.value(SHORT.format(".heat caption")) == ["pass@1, % of submissions, by year and group"]
    assert quiet.value(SHORT.format(".heat thead th"))[0] == "year"
    words = quiet.value("document.getElementById('groups').textContent")
    assert all(text in words for text in ("1,000 resamples", "percentage points", "does not contain 0"))
    assert "worst verdict of its subtasks" in quiet.value("document.getElementById('verdicts').textContent")


def test_which_problem_is_hardest(quiet: Tab, tmp_path: Path) -> None:
    """A sentence says it; a column has the mean of the groups, which can sort rows; a row that of the problems."""
    scores = {"m": {"a": 0.5, "b": 0.25, "c": 1.0}, "n": {"a": 0.5, "b": 0.25, "c": 0.0, "d": 1.0}}
    rows = [
        contest_row(f"{model}{problem}", score, score, model=model, problem_id=problem)
        for model, of in scores.items() for problem, score in of.items()
    ]  # fmt: skip
    rows.append(contest_row("unknown", None, problem_id="e", model="m"))
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "hard.html"))
    said = "document.getElementById('hardest').textContent"
    assert quiet.value(said) == (
        "Hardest problem: 2024/b (mean score 25.0 %). Easiest problem: 2024/d (mean score 100.0 %)."
    )
    assert quiet.value(SHORT.format(".heat thead th")) == ["problem", "mean of the groups", "m", "n"]
    cells = "[...document.querySelectorAll('.heat {} tr')].map((row) => [...row.children].map((one) => one.innerText))"
    listed = quiet.value(cells.format("tbody"))
    assert listed[0] == ["2024/a", "50", "50", "50"]
    assert quiet.value(cells.format("tfoot")) == [["mean of the problems", "51", "58", "44"]]
    for order, names in (("hardest", "bacde"), ("easiest", "dacbe")):
        quiet.value(_CHOSEN.format("heat-order", order))
        assert quiet.value(SHORT.format(".heat tbody th")) == [f"2024/{name}" for name in names]
    quiet.value("document.querySelectorAll('.controls input')[1].click()")
    assert quiet.value(SHORT.format(".heat thead th")) == ["problem", "m"]
    assert "Easiest problem: 2024/c" in quiet.value(said)


def test_no_problem_is_hardest_where_all_are_alike(quiet: Tab, tmp_path: Path) -> None:
    """Nor is one problem alone; and one year has no rows of its own."""
    for count in (1, 2):
        rows = [contest_row(f"{n}", 0.5, 0.5, problem_id=f"p{n}") for n in range(count)]
        quiet.open(page([write_results(tmp_path / str(count), rows)], tmp_path / "alike.html"))
        said = quiet.value("document.getElementById('hardest')?.textContent ?? null")
        assert said == ("No problem is hardest: all have the same mean score, 50.0 %." if count > 1 else None)
        assert not quiet.value("document.getElementById('heat-rows')")
        assert quiet.value(SHORT.format(".heat tfoot td")) == ["50"] * (count - 1)


def test_judge_errors_and_near_limits_are_apart(quiet: Tab, report: Path) -> None:
    """They have a table, and buttons that show them below; they are in no bar of verdicts."""
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


def test_nothing_apart_can_be_shown_where_there_is_nothing(quiet: Tab, tmp_path: Path) -> None:
    """Without judge errors, and without times near the limit, the buttons do nothing."""
    quiet.open(page([write_results(tmp_path / "out", [contest_row("a", 1.0, 0.0)])], tmp_path / "none.html"))
    assert quiet.value("[...document.querySelectorAll('#apart button')].map((one) => one.disabled)") == [True, True]


def test_dates(quiet: Tab, report: Path) -> None:
    """Charts are of the problems between two dates; the sliders say theirs."""
    quiet.open(report)
    slide = "{ const one = document.getElementById('date-from'); one.value = 2; " + _TYPED + " }"
    quiet.value(slide)
    assert quiet.value("document.getElementById('date-range').textContent") == "2024 to 2024: 1 problem"
    assert quiet.value("document.getElementById('date-from').getAttribute('aria-valuetext')") == "2024"
    assert quiet.value(SHORT.format(".heat tbody th")) == ["2024/nile Nile"]


def test_groups_and_dates_select_submissions_too(quiet: Tab, report: Path) -> None:
    """The table holds what the charts are of, and offers no other group and problem."""
    quiet.open(report)
    quiet.value("{ const one = document.getElementById('date-from'); one.value = 2; " + _TYPED + " }")
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


def test_keyboard(quiet: Tab, report: Path) -> None:
    """The first key leads past the head; every control can be reached in the order of the page, and is seen."""
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
    quiet.value(_OPENED)
    assert quiet.value("document.activeElement.getAttribute('aria-expanded')") == "true"
    quiet.press("Enter", text="\r")
    assert quiet.value("document.querySelectorAll('.opened').length") == 0


_OPENED = """new Promise((done) => {
  const look = () => (document.querySelector(".opened .quiet, .opened p") ? done(true) : setTimeout(look, 5));
  look();
})"""


def test_why_a_program_is_wrong(quiet: Tab, report: Path) -> None:
    """The first failing test has its input, what was found, and says nothing of tests that passed."""
    quiet.open(report)
    type_in(quiet, "odd")
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(_OPENED)
    heads = quiet.value(SHORT.format(".opened .failing h3"))
    assert heads == ["The first test that failed", "Input", "The checker's message", "Standard error"]
    assert "No expected output is shown" in quiet.value("document.querySelector('.opened .failing').textContent")
    assert HARM in quiet.value("document.querySelector('.opened .failing pre').textContent")


def test_groups_beside_contestants(quiet: Tab, report: Path, tmp_path: Path) -> None:
    """A section with medals and their source, only where there are any; of the groups that are chosen."""
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
    """With the numbers of the first group that is shown, and how many contestants there are."""
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


def test_what_was_written_to_harm_is_text(quiet: Tab, report: Path) -> None:
    """Where it is shown too: program, compiler's words, test, its name."""
    quiet.open(report)
    type_in(quiet, "odd")
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(_OPENED)
    words = quiet.value("document.querySelector('.opened').textContent")
    assert words.count("onerror") >= 5
    assert quiet.value("typeof harmed") == "undefined"
    assert quiet.value("document.querySelectorAll('main img, main script').length") == 0
    assert "<b>a note</b>" in quiet.value("document.querySelector('main').textContent")


def test_for_a_screen_reader(quiet: Tab, report: Path) -> None:
    """Charts have names, and their numbers as tables with heads; controls have labels; ids and heads are in order."""
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


def test_in_black_and_white(quiet: Tab, report: Path) -> None:
    """On paper nothing has a colour, controls are gone, and bars have edges."""
    quiet.open(report)
    quiet.call("Emulation.setEmulatedMedia", media="print")
    names = ["WA", "PA", "TLE", "RE", "g0", "g1", "g7"]
    colours = quiet.value(
        f"{names!r}.map((one) => getComputedStyle(document.documentElement).getPropertyValue('--' + one))"
    )
    assert all(len(set(one.strip("# "))) == 1 for one in colours), colours
    assert quiet.value("getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert quiet.value("getComputedStyle(document.querySelector('.heat td')).backgroundColor") == "rgba(0, 0, 0, 0)"
    assert quiet.value("getComputedStyle(document.querySelector('.segment')).stroke") == "rgb(0, 0, 0)"
    quiet.call("Emulation.setEmulatedMedia", media="")


_PICTURES = """[...document.querySelectorAll("figure > div")].map((one) => {
  const [holder, picture] = [one, one.firstElementChild].map((each) => each?.getBoundingClientRect().width ?? 0);
  return [Math.round(holder), Math.round(picture), Number(one.firstElementChild?.getAttribute("width"))];
})"""


def test_charts_are_drawn_without_scrolling(quiet: Tab, report: Path) -> None:
    """At their final size before any frame is shown; if it is printed narrower they are as wide as the paper."""
    still = "globalThis.ResizeObserver = class { observe() {} };"  # as in a page that is never shown
    added = quiet.call("Page.addScriptToEvaluateOnNewDocument", source=still)
    try:
        quiet.open(report)
        found = quiet.value(_PICTURES)
        assert len(found) >= 6
        assert all(holder == picture and abs(holder - drawn) <= 1 for holder, picture, drawn in found), found
        quiet.call("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=1, mobile=False)
        found = quiet.value(_PICTURES)
        assert all(holder == picture < 700 for holder, picture, _ in found), found
    finally:
        quiet.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def test_charts_are_drawn_again_at_another_width(quiet: Tab, report: Path) -> None:
    """Not only stretched: their letters have the same size."""
    quiet.open(report)
    quiet.call("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=1, mobile=False)
    quiet.value(_FRAMES)
    assert all(abs(holder - drawn) <= 1 for holder, _, drawn in quiet.value(_PICTURES))


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize(
    ("near", "axis"),
    [(1, ["0 %", "25 %", "50 %", "75 %", "100 %"]), (3, ["0 %", "10 %", "20 %", "30 %", "40 %"])],
)
def test_axes_have_round_ticks_with_units(quiet: Tab, tmp_path: Path, near: int, axis: list[str], width: int) -> None:
    """Whatever the highest bar is; no two ticks touch."""
    rows = [contest_row(str(n), 1.0, 0.0) for n in range(7 * near)]
    for n, row in enumerate(rows):
        row["all_subtasks_results"][0]["test_results"][0]["time_s"] = 0.05 + n % near / 3
        row["all_subtasks_results"][1]["test_results"][0]["time_s"] = 0.0
    quiet.open(page([write_results(tmp_path / "out", rows, SUMMARY)], tmp_path / "ticks.html"), width=width)
    chart = "#limits .charts > :first-child svg[role=img] text"
    assert quiet.value(SHORT.format(f"{chart}[text-anchor=end]:not(.tick)")) == [*axis, "limit"]
    assert quiet.value(SHORT.format(f"{chart}.tick")) == [*(f"{n} %" for n in range(0, 101, 20)), "more"]
    boxes = quiet.value(f"[...document.querySelectorAll('{chart}.tick')].map((one) => one.getBoundingClientRect())"
                        ".map((box) => [box.left, box.right])")  # fmt: skip
    assert all(before[1] < after[0] for before, after in itertools.pairwise(boxes)), boxes
    assert boxes[-1][1] <= width
    assert quiet.value(SHORT.format("#pass-at-k svg[role=img] text[text-anchor=end]"))[-1] == "100 %"


@pytest.mark.parametrize("width", [375, 1440])
def test_lines_are_told_apart_without_colours(quiet: Tab, tmp_path: Path, width: int) -> None:
    """Each has its own dashes, which its band has too, and its group's name at its end; no two names touch."""
    rows = [
        contest_row(f"{m}-{p}-{n}", float(n % 5 < m), 0.0, model=f"model {m}", problem_id=f"p{p}")
        for m in range(8) for p in range(3) for n in range(5)
    ]  # fmt: skip
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "lines.html"), width=width)
    lines = "[...document.querySelectorAll('#pass-at-k figure > div polyline{}')].map((one) => one.{})"
    dashes = quiet.value(lines.format(":not(.edge)", "getAttribute('stroke-dasharray')"))
    assert len(set(dashes)) == 8
    assert quiet.value(lines.format(".edge", "getAttribute('stroke-dasharray')")) == [d for d in dashes for _ in "ab"]
    names = quiet.value(SHORT.format("#pass-at-k .end"))
    assert sorted(names) == [f"model {m}" for m in range(8)]
    boxes = quiet.value("[...document.querySelectorAll('#pass-at-k .end')].map((one) => one.getBBox().y)")
    assert all(after - before >= 13 for before, after in itertools.pairwise(sorted(boxes)))
    right = "Math.max(...[...document.querySelectorAll('.end')].map((one) => one.getBoundingClientRect().right))"
    assert quiet.value(right) <= width


def test_apps(quiet: Tab, tmp_path: Path) -> None:
    """Python programs: difficulties in the place of subtasks, shares of tests in that of points."""
    rows = [
        apps_row(
            f"s{n}", n % 2 == 0, n % 3 == 0, problem_id=str(n % 80), difficulty=("interview", "competition")[n % 2]
        )
        for n in range(240)
    ]
    options = {"time_limit_s": 10.0, "memory_limit_bytes": 1 << 30}
    written = write_results(tmp_path / "out", rows, {"options": options, "judged_by": "tokens"})
    quiet.open(page([written], tmp_path / "apps.html"))
    assert quiet.value(SHORT.format(".heat tbody th")) == ["competition (40 problems)", "interview (40 problems)"]
    assert "interview" in quiet.value("document.getElementById('subtasks').textContent")
    type_in(quiet, "s1")
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(_OPENED)
    assert "line 1 differs" in quiet.value("document.getElementById('submissions').textContent")


def test_quantities_have_the_names_of_the_glossary(quiet: Tab, report: Path, tmp_path: Path) -> None:
    """In the table of groups, in the heat map and over the charts, for both families."""
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
        said = quiet.value("document.querySelector('main').textContent.toLowerCase()")
        other = ["average score", "together", "single one", "judged submissions", "solved (", "undecided"]
        assert [name for name in other if name in said] == []
        titles = quiet.value(SHORT.format("#scores figcaption")) + quiet.value(SHORT.format("#pass-at-k figcaption"))
        assert all(title.split(" of k")[0].split(":")[0].lower() in (*expected, "best", "pass@k") for title in titles)


@pytest.mark.parametrize("rows", [[], [refused("a", "no")], [contest_row("a", None)]], ids=["none", "refused", "JE"])
def test_hardly_anything(quiet: Tab, tmp_path: Path, rows: list[dict[str, object]]) -> None:
    """No submission, none that could be judged: a page that says so."""
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "empty.html"))
    assert shown(quiet).startswith(f"{len(rows)} submission")
    assert quiet.value("document.getElementById('loading').textContent") == ""


def test_browser_that_cannot_unpack(quiet: Tab, tmp_path: Path) -> None:
    """It shows the charts, and says why there is no table."""
    written = write_results(tmp_path / "out", [contest_row(f"a{n}", 1.0, 0.0) for n in range(1000)])
    old = quiet.call("Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.DecompressionStream")
    try:
        quiet.open(page([written], tmp_path / "old.html"))
        assert "too old" in quiet.value("document.getElementById('loading').textContent")
        assert quiet.value("document.querySelectorAll('.heat td').length") == 1
    finally:
        quiet.call("Page.removeScriptToEvaluateOnNewDocument", identifier=old["identifier"])


def test_copies_are_counted_left_out_and_lead_to_their_original(quiet: Tab, tmp_path: Path) -> None:
    """In the notes with the group that has most; a copy that is opened names the submission that was judged."""
    rows = [contest_row(f"{m}{n}", 1.0, 0.0, model=m) for m in "mn" for n in range(4)]
    for row in rows[1:3] + rows[5:]:
        row |= {"duplicate_of": "m0", "fingerprint": "of m0"}
    rows[-1]["duplicate_of"] = "of another run"
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "copies.html"))
    said = "document.getElementById('groups').textContent"
    assert "Copies: 5 of 8 submissions (most in n: 3 of 4)." in quiet.value(said)
    quiet.value("document.getElementById('filter-copies').click()")
    assert shown(quiet).startswith("3 submissions of 8")
    quiet.value("document.getElementById('reset').click()")
    assert not quiet.value("document.getElementById('filter-copies').checked")
    for name, words in (("n1", "submission m0"), ("n3", "not in this table")):
        type_in(quiet, name)
        quiet.value("document.querySelector('#submissions-table tbody button').click()")
        quiet.value(_OPENED)
        assert words in quiet.value("document.querySelector('.opened').textContent")
    type_in(quiet, "n1")
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(_OPENED)
    quiet.value("document.querySelector('.opened p .link').click()")
    assert quiet.value(SHORT.format("#submissions-table tbody th")) == ["m0"]


def test_what_may_mislead_is_said(quiet: Tab, report: Path, tmp_path: Path) -> None:
    """Few problems, submissions written for one subtask, no standings; only where it is so."""
    rows = [contest_row(f"{m}{n}", 1.0, 0.0, model=m, problem_id=f"p{n}") for m in "mn" for n in range(25)]
    for row in rows[:5]:
        row["target_subtask"] = "01"
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "many.html"))
    notes = "document.getElementById('groups').textContent"
    assert "Written for one subtask: 5 of 50 submissions (most in m: 5 of 25)." in quiet.value(notes)
    assert "written for one subtask count too" in quiet.value("document.getElementById('pass-at-k').textContent")
    assert "they are rough" not in quiet.value(notes)
    quiet.open(report)
    assert "With 3 problems they are rough" in quiet.value(notes)
    assert "--standings FILE" in quiet.value(notes)
    assert not any(word in quiet.value(notes) for word in ("Written for", "Copies"))


def test_long_ids_are_in_the_order_of_their_characters(quiet: Tab, tmp_path: Path) -> None:
    """Their digits are no numbers; other names are ordered by the numbers in them."""
    for number, names in enumerate((["00d7" + "e" * 28, "0c6e" + "a" * 28, "1" * 32], ["a2", "a10"])):
        written = write_results(tmp_path / str(number), [contest_row(name, 1.0) for name in reversed(names)])
        quiet.open(page([written], tmp_path / "ids.html"))
        quiet.value("document.querySelector('[data-column=id]').click()")
        assert quiet.value(SHORT.format("#submissions-table tbody th")) == [name[:8] for name in names]


def test_why_curves_end_is_said(quiet: Tab, report: Path) -> None:
    """With the number of submissions that there are of the problem that has fewest."""
    quiet.open(report)
    assert "No curve goes beyond k = 20: some problem has only 20" in quiet.value(
        "document.getElementById('pass-at-k').textContent"
    )


def test_the_text_of_a_submission_without_a_program(quiet: Tab, tmp_path: Path) -> None:
    """Each has its own, with its beginning and its end; where results have none, the row of the dump is named."""
    rows = [
        contest_row(name, 0.0, code=None, verdict="NC", fingerprint="none", generation=text)
        for name, text in (("q1", "first"), ("q2", "second " + "x" * 9000 + " the end"), ("q3", None))
    ]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "texts.html"))
    texts = []
    for name in ("q1", "q2", "q3"):
        type_in(quiet, name)
        quiet.value("document.querySelector('#submissions-table tbody button').click()")
        quiet.value(_OPENED)
        texts.append(quiet.value("[...document.querySelectorAll('.opened pre')].at(-1).textContent"))
    assert texts[0] == "first"
    assert texts[1].startswith("second ")
    assert "characters left out" in texts[1]
    assert texts[1].endswith(" the end")
    assert "see submission q3 in the dump" in texts[2]


def test_an_opened_submission_fits_a_telephone(quiet: Tab, tmp_path: Path) -> None:
    """Names of subtasks are not broken into letters, and what columns do not show is said."""
    rows = [contest_row("a" * 32, 1.0, 0.0, model="heron")]
    rows[0]["verdict"] = "TLE"
    rows[0]["all_subtasks_results"][1] |= {"subtask": "01-small-weights-of-each"}
    quiet.open(page([write_results(tmp_path / "out", rows, SUMMARY)], tmp_path / "small.html"), width=375)
    quiet.value("document.querySelector('#submissions-table tbody button').click()")
    quiet.value(_OPENED)
    widths = "[...document.querySelectorAll('.opened tbody th')].map((one) => one.getBoundingClientRect().width)"
    assert all(width >= 100 for width in quiet.value(widths)), quiet.value(widths)
    hidden = quiet.value("document.querySelector('.opened .narrow').innerText")
    assert hidden == "group: heron; CPU time, s: ≥ 0.25 / 1; peak memory, MiB: 1 / 256"
    assert not quiet.value("document.querySelector('#submissions > div > .scroll').matches('.wider')")
    quiet.open(tmp_path / "small.html", width=1440)
    assert quiet.value("getComputedStyle(document.querySelector('.narrow')).display") == "none"


def test_filters_can_always_be_reset_and_count_for_verdicts(quiet: Tab, report: Path) -> None:
    """The button is there as soon as one is set; a verdict's number is of what the other filters leave."""
    quiet.open(report)
    reset = "document.getElementById('reset').hidden"
    chips = SHORT.format("#filter-verdict button")
    assert quiet.value(reset)
    all_of_them = quiet.value(chips)
    quiet.value(_CHOSEN.format("filter-problem", "0"))
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
    """Its submissions and its subtasks; the search, for which a telephone would show its keyboard, has no focus."""
    quiet.open(report)
    quiet.value("document.querySelectorAll('.heat tbody button')[2].click()")
    assert shown(quiet).startswith("44 submissions")
    assert quiet.value("document.getElementById('subtask-problem').value") == "2"
    assert quiet.value("document.activeElement.id") == "found"


def test_half_is_rounded_up_everywhere(quiet: Tab, tmp_path: Path) -> None:
    """In tables, in charts and in the heat map; a value is the same in each."""
    rows = [
        contest_row(f"{p}-{n}", float(n < solved), 0.575 if n < solved else 0.0, problem_id=f"p{p}")
        for p, solved in enumerate((3, 5, 6, 7))
        for n in range(20)
    ]
    for row in rows:
        row["verdict"] = "AC" if row["total_score"] else "WA"
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "half.html"))
    assert [quiet.value(f"rounded({value}, {digits})") for value, digits in (
        ("100 * 0.575", 0), ("100 * 0.285", 0), ("0.25", 1), ("-0.25", 1), ("1.005", 2), ("26.2499999", 1),
    )] == ["58", "29", "0.3", "-0.3", "1.01", "26.3"]  # fmt: skip
    found = quiet.value("document.querySelector('#groups tbody td:nth-child(4)').textContent")
    assert found.startswith("26.3 %")
    assert quiet.value("document.querySelector('#pass-at-k tbody td').textContent") == found


def test_what_charts_leave_out_is_said(quiet: Tab, report: Path) -> None:
    """Shares of time and memory are of the submissions that ran."""
    quiet.open(report)
    assert "CPU time: 126 of 126 submissions" in quiet.value("document.getElementById('limits').textContent")
    assert quiet.value("document.querySelector('#limits figcaption').textContent").endswith("submissions that ran")


def test_marks_of_bars_do_not_touch(quiet: Tab, tmp_path: Path) -> None:
    """Neither one another nor the line above them, where the highest bars are side by side."""
    rows = [contest_row(f"{m}-{n}", 1.0, 0.0, model=f"m{m}") for m in range(6) for n in range(3)]
    quiet.open(page([write_results(tmp_path / "out", rows, SUMMARY)], tmp_path / "marks.html"), width=1280)
    marks = "[...document.querySelectorAll('#limits .charts > :first-child svg[role=img] .mark')]"
    boxes = quiet.value(f"{marks}.map((one) => one.getBoundingClientRect()).map((b) => [b.x, b.right, b.y, b.bottom])")
    assert len(boxes) == 6
    for one, other in itertools.combinations(boxes, 2):
        assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2], (one, other)
    line = "document.querySelector('#limits .axis:nth-of-type(5)').getBoundingClientRect().y"
    assert all(box[3] <= quiet.value(line) for box in boxes)


def test_tables_of_numbers_have_the_whole_width(quiet: Tab, tmp_path: Path) -> None:
    """Charts that stand side by side go below one another when a table is opened; words are not broken."""
    rows = [
        contest_row(f"{m}-{n}", float(n % 2), 0.0, model=f"model-{m}b-tuned", problem_id="keepers")
        for m in range(6)
        for n in range(20)
    ]
    summary = {"problems": [{**LIMITS, "year": 2024, "problem": "keepers", "name": "Interpreters"}]}
    quiet.open(page([write_results(tmp_path / "out", rows, summary)], tmp_path / "wide.html"), width=1280)
    quiet.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    quiet.value(_FRAMES)
    assert (
        quiet.value("[...document.querySelectorAll('figure .scroll')].filter((one) => one.matches('.wider')).length")
        == 0
    )
    quiet.open(tmp_path / "wide.html", width=768)
    name = "document.querySelector('.heat tbody button')"
    assert quiet.value(f"{name}.textContent") == "2024/keepers Interpreters"
    assert quiet.value(f"{{ const r = new Range(); r.selectNodeContents({name}); r.getClientRects().length }}") == 2


def test_the_head_names_the_problems(quiet: Tab, report: Path, tmp_path: Path) -> None:
    """Their years, and their names where they are few."""
    quiet.open(report)
    said = "document.getElementById('about').textContent"
    assert quiet.value(said).startswith(
        "127 submissions in 2 groups to 3 problems of 3 years (2022 to 2024) (Nile). Made by"
    )
    rows = [contest_row(f"{n}", 0.5, 0.5, problem_id=f"p{n}") for n in range(9)]
    quiet.open(page([write_results(tmp_path / "out", rows)], tmp_path / "many.html"))
    assert quiet.value(said).startswith("9 submissions to 9 problems of 2024. Made by")
