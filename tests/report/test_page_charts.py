"""The charts of a report's page, in a real browser."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.browser import Tab, needs_chromium
from tests.report.report_page import FRAMES, LIMITS, SHORT, SUMMARY, page, shown
from tests.small_results import contest_row, write_results

pytestmark = needs_chromium


def test_legend_of_the_chart_shows_submissions(quiet: Tab, report: Path) -> None:
    """A click on a verdict in the legend shows its submissions in the table."""
    quiet.open(report)
    quiet.value("document.querySelectorAll('#verdicts .legend button')[1].click()")
    assert shown(quiet).startswith("1 submission of 127")
    assert quiet.value(SHORT.format("#verdicts .legend button"))[1] == "PA: partly accepted"


_PICTURES = """[...document.querySelectorAll("figure > div")].map((one) => {
  const [holder, picture] = [one, one.firstElementChild].map((each) => each?.getBoundingClientRect().width ?? 0);
  return [Math.round(holder), Math.round(picture), Number(one.firstElementChild?.getAttribute("width"))];
})"""


def test_charts_are_drawn_without_scrolling(quiet: Tab, report: Path) -> None:
    """They have their final size before a frame is displayed. On narrower paper they are as wide as the paper."""
    still = "globalThis.ResizeObserver = class { observe() {} };"  # as in a page that is never displayed
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
    """They are not stretched: letters keep their size."""
    quiet.open(report)
    quiet.call("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=1, mobile=False)
    quiet.value(FRAMES)
    assert all(abs(holder - drawn) <= 1 for holder, _, drawn in quiet.value(_PICTURES))


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize(
    ("near", "axis"),
    [(1, ["0 %", "25 %", "50 %", "75 %", "100 %"]), (3, ["0 %", "10 %", "20 %", "30 %", "40 %"])],
)
def test_axes_have_round_ticks_with_units(quiet: Tab, tmp_path: Path, near: int, axis: list[str], width: int) -> None:
    """For any height of the highest bar. No two ticks touch."""
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
def test_lines_can_be_distinguished_without_colours(quiet: Tab, tmp_path: Path, width: int) -> None:
    """Each line and its band have their own dashes, and the group's name is at its end. No two names touch."""
    rows = [
        contest_row(f"{m}-{p}-{n}", float(n % 5 < m), 0.0, model=f"model {m}", problem_id=f"p{p}")
        for m in range(8) for p in range(6) for n in range(5)
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


def test_the_end_of_curves_is_explained(quiet: Tab, report: Path) -> None:
    """With the number of submissions to the problem that has fewest."""
    quiet.open(report)
    assert "No curve goes beyond k = 20: some problem has only 20" in quiet.value(
        "document.getElementById('pass-at-k').textContent"
    )


def test_half_is_rounded_up_everywhere(quiet: Tab, tmp_path: Path) -> None:
    """In tables, in charts and in the heat map: a value is the same in each."""
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


def test_omissions_of_charts_are_stated(quiet: Tab, report: Path) -> None:
    """Shares of time and memory only include submissions that ran."""
    quiet.open(report)
    assert "CPU time: 126 of 126 submissions" in quiet.value("document.getElementById('limits').textContent")
    assert quiet.value("document.querySelector('#limits figcaption').textContent").endswith("submissions that ran")


def test_labels_of_bars_do_not_touch(quiet: Tab, tmp_path: Path) -> None:
    """Neither one another nor the line above, if the highest bars are side by side."""
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
    """Charts that are side by side are placed below one another when a table is opened. Words are not broken."""
    rows = [
        contest_row(f"{m}-{n}", float(n % 2), 0.0, model=f"model-{m}b-tuned", problem_id="keepers")
        for m in range(6)
        for n in range(20)
    ]
    summary = {"problems": [{**LIMITS, "year": 2024, "problem": "keepers", "name": "Interpreters"}]}
    quiet.open(page([write_results(tmp_path / "out", rows, summary)], tmp_path / "wide.html"), width=1280)
    quiet.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    quiet.value(FRAMES)
    assert (
        quiet.value("[...document.querySelectorAll('figure .scroll')].filter((one) => one.matches('.wider')).length")
        == 0
    )
    quiet.open(tmp_path / "wide.html", width=768)
    name = "document.querySelector('.heat tbody button')"
    assert quiet.value(f"{name}.textContent") == "2024/keepers Interpreters"
    assert quiet.value(f"{{ const r = new Range(); r.selectNodeContents({name}); r.getClientRects().length }}") == 2


def test_printed_in_black_and_white(quiet: Tab, report: Path) -> None:
    """On paper there are no colours and no controls, and bars have edges."""
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
