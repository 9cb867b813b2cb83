"""The page of a report: its contents, and that untrusted data is only text in it."""

from __future__ import annotations

import base64
import gzip
import itertools
import random
import re
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import InputError
from ioi_eval.report.html import Page
from ioi_eval.report.html_cells import best_of
from ioi_eval.report.standings import Standings, read_standings
from tests.small_results import apps_row, contest_row, refused, write_results

SUMMARY = {
    "ioi_eval": "1",
    "problems": [
        {
            "year": 2024,
            "problem": "nile",
            "name": "Nile",
            "day": "1",
            "time_limit_s": 1.0,
            "memory_limit_bytes": 1 << 28,
        }
    ],
}
HOSTILE = (
    "</script><script>window.harmed = 1</script>",
    "<!--<script>",
    '"><img src=x onerror="window.harmed = 2">',
    "%STYLE% %TITLE%",
    "\x00\x07\x1b[31m\u202egpj.exe\u2066\U000e0041",
    "\ufffe\uffff\U0010ffff",
)


def html(*directories: Path, noscript: str = "") -> str:
    """The page of a report of these results."""
    file = BytesIO()
    Page(directories).write(file, noscript=noscript)
    return file.getvalue().decode()


def blocks(page: str) -> dict[str, Any]:
    """The data blocks of a page, by name."""
    found = {}
    for name, how, text in re.findall(r'<script type="text/plain" id="(.*?)" data-packed="(.*?)">(.*?)</script>', page):
        found[name] = orjson.loads(text if how == "json" else gzip.decompress(base64.b64decode(text)))
    return found


@given(st.lists(st.integers(0, 4), min_size=1, max_size=7), st.integers(1, 7))
def test_the_best_of_k_is_the_mean_over_all_subsets(values: list[int], k: int) -> None:
    """Compared with all combinations."""
    k = min(k, len(values))
    drawn = [max(one) for one in itertools.combinations(values, k)]
    (mean,) = best_of(Counter(map(float, values)), [k])
    assert mean == pytest.approx(sum(drawn) / len(drawn))


def test_a_copy_leads_to_the_submission_of_its_own_problem(tmp_path: Path) -> None:
    """Ids are unique within a problem only."""
    rows = [contest_row("a", 1.0), contest_row("a", 0.0, problem_id="tree")]
    rows.append(contest_row("b", 0.0, problem_id="tree", duplicate_of="a"))
    rows.append(contest_row("c", 0.0, problem_id="tree", duplicate_of="no longer there"))
    table = blocks(html(write_results(tmp_path / "out", rows)))["rows"]
    assert (table["copy"], table["original"]) == ([2, 3], [1, -1])


@pytest.mark.parametrize(
    ("one", "other"), [(f"{130 * 'x'}1", f"{130 * 'x'}2"), ("p\x01", "p\x02"), ("the  nile", "the nile")]
)
def test_different_problems_are_different_on_the_page(tmp_path: Path, one: str, other: str) -> None:
    """Long names are shortened, and control characters and further blanks left out: these problems were one."""
    rows = [contest_row("a", 1.0, problem_id=one), contest_row("a", 0.0, problem_id=other)]
    page = Page([write_results(tmp_path / "out", rows)])
    assert len({row.problem for row in page.rows}) == 2
    assert max(len(row.problem) for row in page.rows) <= 120


def test_a_problem_whose_name_is_shown_otherwise_has_a_place_in_the_contest(tmp_path: Path) -> None:
    """The page shows one blank for two, and the first characters of a long name."""
    rows = [contest_row("a", 1.0, problem_id="two  rivers"), contest_row("b", 0.0, problem_id="x" * 200)]
    (contest,) = Page([write_results(tmp_path / "out", rows)], standings=[Standings(contest="all")]).contests
    assert contest["groups"][0]["ways"][0].startswith("50 of 100")


def test_numbers_of_a_contest(tmp_path: Path) -> None:
    """By group: means over judged submissions. Judge errors, refused rows and times near a limit are separate."""
    rows = [
        contest_row("a", 1.0, 1.0, model="m"),
        contest_row("b", 1.0, 0.0, model="m", near_limit=True),
        contest_row("c", 0.0, 1.0, model="m"),
        contest_row("d", None, 0.0, model="m"),
        contest_row("e", 0.0, 0.5, model="n"),
        refused("f", "no such problem", model="n"),
        refused("g", "no program", model="n"),
    ]
    rows[2]["all_subtasks_results"][0]["test_results"][0]["time_s"] = 9.0  # of 1 s
    found = blocks(html(write_results(tmp_path, rows, SUMMARY)))
    table, summary = found["rows"], found["summary"]
    assert (table["problem"], table["near"], table["directory"]) == ([0] * 5 + [-1] * 2, [1], [])
    assert (table["memory"][0], table["verdict"][-2:]) == (1.0, [-1, -1])
    assert {one["error"] for one in found["block-0"] if "error" in one} >= {"no such problem", "no program"}
    assert summary["groups"] == ["m", "n"]
    assert (summary["rows"], summary["refused"]) == (7, 2)
    (problem,) = summary["problems"]
    assert (problem["id"], problem["name"], problem["points"], problem["time"]) == ("2024/nile", "Nile", 100, 1)
    assert problem["bucket"] == "2024"
    (_, _, first), (_, _, second) = summary["cells"]
    assert (first["n"], first["je"], first["near"], first["solved"]) == (3, 1, 1, 1)
    assert (first["mean"], first["best"], first["all"]) == (pytest.approx(2 / 3, abs=1e-4), 1, 1)
    assert first["union"][:2] == pytest.approx([2 / 3, 1.0], abs=1e-4)  # any two have both subtasks
    assert first["single"][:2] == pytest.approx([2 / 3, (1 + 1 + 0.5) / 3], abs=1e-4)
    assert first["time"] == [0, 0, 3, *[0] * 8, 1]
    assert second["parts"] == [[0, 0], [25, 25]]


def test_a_je_with_score_0_does_not_count_as_zero(tmp_path: Path) -> None:
    """With `--unscored-as zero` rows have a 0 for JE. The report leaves them out all the same."""
    row = contest_row("a", None, 1.0) | {"total_score": 0.0, "all_subtasks_points": 0.0}
    row["all_subtasks_results"][0] |= {"score": 0.0, "weighted_score": 0.0}
    found = blocks(html(write_results(tmp_path, [row, contest_row("b", 1.0, 1.0)])))
    ((_, _, cell),) = found["summary"]["cells"]
    assert (cell["n"], cell["je"], cell["mean"]) == (1, 1, 1.0)
    assert found["rows"]["score"] == [None, 100]
    shown = [one["subtasks"][0] for one in found["block-0"]]
    assert [(status, points) for _, status, points, *_ in shown] == [("JE", None), ("AC", 50)]


def test_points_of_a_je_count_in_the_sum_of_best_subtasks(tmp_path: Path) -> None:
    """As in `summary.json`. The submission itself has no score, and is in no mean."""
    out = write_results(tmp_path / "out", [contest_row("a", 1.0, None), contest_row("b", 0.0, 0.5)])
    ((_, _, cell),) = blocks(html(out))["summary"]["cells"]
    assert (cell["n"], cell["je"], cell["mean"], cell["best"], cell["all"]) == (1, 1, 0.25, 0.25, 0.75)
    assert (cell["parts"], cell["union"]) == ([[0.0, 50.0], [25.0, 25.0]], [0.25])


def test_a_problem_with_judge_errors_only_has_a_sum_of_best_subtasks(tmp_path: Path) -> None:
    """As in `summary.json`: subtasks with a score count. It has no other number."""
    out = write_results(tmp_path / "out", [contest_row("a", 1.0, None), contest_row("b", None, 0.5)])
    ((_, _, cell),) = blocks(html(out))["summary"]["cells"]
    assert (cell["n"], cell["all"], "mean" in cell, "best" in cell) == (0, 0.75, False, False)


def test_a_problem_without_points_has_no_shares_of_them(tmp_path: Path) -> None:
    """For example if only its samples are scored."""
    row = contest_row("a", 1.0)
    row["all_subtasks_results"][0] |= {"points": 0.0, "weighted_score": 0.0}
    ((_, _, cell),) = blocks(html(write_results(tmp_path / "out", [row | {"total_score": 0.0}])))["summary"]["cells"]
    assert (cell["n"], cell["solved"], "all" in cell, "mean" in cell) == (1, 1, False, False)


def test_the_sum_of_best_subtasks_is_rounded_once(tmp_path: Path) -> None:
    """As in `summary.json`: two times 12.5 are 25 points, also where 12 is shown for a subtask. Full marks are 100."""
    row = contest_row("a", 0.25, 0.25, total_score=25.0)
    for subtask in row["all_subtasks_results"]:
        subtask |= {"score_precision": 0, "weighted_score": 12.0}
    ((_, _, cell),) = blocks(html(write_results(tmp_path / "out", [row])))["summary"]["cells"]
    assert (cell["mean"], cell["best"], cell["all"]) == (0.25, 0.25, 0.25)
    assert (cell["single"], cell["union"]) == ([0.25], [0.25])
    row = contest_row("a", 1.0, 1.0, 1.0, total_score=36.64)  # as CMS adds floats; their exact sum gives 36.63
    for subtask, points in zip(row["all_subtasks_results"], (1.1, 33.335, 2.2), strict=True):
        subtask |= {"points": points, "weighted_score": round(points, 2)}
    ((_, _, cell),) = blocks(html(write_results(tmp_path / "out", [row])))["summary"]["cells"]
    assert cell["all"] == cell["best"] == round(36.64 / 36.635, 7)


def test_numbers_of_apps(tmp_path: Path) -> None:
    """A score is the share of tests. Limits are those of the run."""
    options = {"time_limit_s": 10.0, "memory_limit_bytes": 1 << 30}
    rows = [apps_row("a", True, True), apps_row("b", True, False)]
    found = blocks(html(write_results(tmp_path, rows, {"options": options, "judged_by": "tokens"})))
    ((_, _, cell),) = found["summary"]["cells"]
    assert (cell["n"], cell["solved"], cell["mean"], cell["single"]) == (2, 1, 0.75, [0.75, 1.0])
    assert (cell["time"][0], cell["memory"][0]) == (2, 2)
    assert found["summary"]["problems"][0]["bucket"] == "interview"
    (shown,) = [one for one in found["block-0"] if one["tests"][-1]["verdict"] == "WA"]
    assert shown["tests"][1] == {
        "name": "1", "verdict": "WA", "time": 0.1, "memory": 8.0, "message": "line 1 differs", "output": "7\n",
        "decides": True,
    }  # fmt: skip


def test_rows_that_contain_their_tests(tmp_path: Path) -> None:
    """As those of the reference do; the tests are shown too."""
    row = contest_row("a", 1.0, 0.0)
    (tmp_path / "results.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    found = blocks(html(tmp_path))
    assert [one["verdict"] for one in found["block-0"][0]["tests"]] == ["AC", "WA"]
    assert found["rows"]["time"] == [0.25]


def test_a_row_of_another_program_without_weighted_scores(tmp_path: Path) -> None:
    """The points are score times points, as in other commands; the page could not be made."""
    subtask = {"subtask": "1", "score": 0.5, "points": 30, "status": "PA", "test_results": []}
    row = {"uuid": "a", "year": 2024, "problem_id": "nile", "code": "x", "all_subtasks_results": [subtask]}
    (tmp_path / "results.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    found = blocks(html(tmp_path))
    assert found["rows"]["score"] == [15]
    assert found["block-0"][0]["subtasks"] == [["1", "PA", 15, 30, [0, 0, 0]]]


def test_groups(tmp_path: Path) -> None:
    """A group is a model. If several directories have the same model or none, it is a directory, or the groups of a
    summary.
    """
    one = write_results(tmp_path / "one", [contest_row("a", 1.0, model_name="m", model_kwargs={"seed": 1})])
    two = write_results(tmp_path / "two", [contest_row("a", 1.0, model_name="m")])
    none = write_results(tmp_path / "none", [contest_row("a", 1.0)])
    by = write_results(tmp_path / "by", [contest_row("a", 1.0, model="m", t={"x": 0.5})], {"by": ["model", "t.x"]})
    assert Page([none]).group_names == ["all submissions"]
    assert Page([one, none]).group_names == ["m", str(none)]
    assert Page([one, two]).group_names == [f"{one}: m", f"{two}: m"]
    assert Page([by]).group_names == ["model m, t.x 0.5"]


def test_groups_by_a_column_called_group(tmp_path: Path) -> None:
    """A report of several directories adds a column of this name. Here it is the dump's, and only some rows have it."""
    rows = [contest_row("a", 1.0), contest_row("b", 1.0, group="g"), contest_row("c", 1.0, group="h")]
    assert Page([write_results(tmp_path / "by", rows, {"by": ["group"]})]).group_names == ["(none)", "g", "h"]


def test_one_column_names_the_model(tmp_path: Path) -> None:
    """As in `summary.json`, whatever columns single rows have."""
    rows = [contest_row("a", 1.0, model="m", model_path="x"), contest_row("b", 1.0, model=None, model_path="y")]
    assert Page([write_results(tmp_path, rows)]).group_names == ["m", "(none)"]


def test_the_number_of_groups_on_the_page_is_limited(tmp_path: Path) -> None:
    """The smallest groups are joined."""
    rows = [contest_row(str(n), 1.0, model=f"m{n}" if n < 100 else "m0") for n in range(150)]
    names = Page([write_results(tmp_path, rows)]).group_names
    assert len(names) == 41
    assert {"m0", "(all others)"} <= set(names)


@pytest.mark.parametrize("text", HOSTILE)
def test_untrusted_text_is_no_markup(text: str, tmp_path: Path) -> None:
    """In any field: the page has only our scripts, and invisible characters are made visible."""
    directory = tmp_path / re.sub(r"[/\0]", "_", text)
    tests = [{"test_name": text, "score": 0.0, "status": "WA", "feedback": text, "stderr": text}]
    row = contest_row(text, 0.0, model=text, code=text * 3, compile_message=text, extraction=text, problem_id=text)
    row["all_subtasks_results"][0] |= {"subtask": text, "test_results": tests}
    page = html(write_results(directory, [row, refused(text, text)], {"notes": [text]}), noscript=text)
    found = blocks(page)
    assert page.count("</script") == len(found) + 1
    assert page.count("<script") == len(found) + 1
    assert "<img" not in page
    unseen = set("\0\x07\x1b\u202e\u2066\U000e0041")
    assert not unseen & set(page + orjson.dumps(found).decode())
    shown, other = sorted(found["block-0"], key=lambda one: "code" not in one)
    assert (text in shown["code"]) == (not unseen & set(text))
    assert other["error"]


def test_a_program_of_megabytes_is_cut(tmp_path: Path) -> None:
    """Omissions are counted. Of many tests the failed ones are kept."""
    row = contest_row("a", 0.0, code="x" * 5_000_000)
    tests = [{"test_name": str(n), "score": 1.0, "status": "AC"} for n in range(1000)]
    row["all_subtasks_results"][0]["test_results"] = [*tests, {"test_name": "last", "score": 0.0, "status": "WA"}]
    page = html(write_results(tmp_path, [row]))
    (shown,) = blocks(page)["block-0"]
    assert shown["code"].endswith("x… ⟨4,940,000 characters more⟩")
    assert len(page) < 300_000
    assert (shown["tests"][0]["name"], len(shown["tests"]), shown["more"]) == ("last", 200, 801)


def test_texts_of_which_the_results_have_the_beginning_only(tmp_path: Path) -> None:
    """The size of the rest is not known, only how much more the results have."""
    row = contest_row("a", 0.0, generation="text around the program")
    row["all_subtasks_results"][0]["test_results"][0] |= dict.fromkeys(("feedback", "output", "stderr"), "x" * 4096)
    (shown,) = blocks(html(write_results(tmp_path, [row])))["block-0"]
    assert (shown["tests"][0]["exit_code"], "score" in shown["tests"][0], "text" in shown) == (0, False, False)
    assert shown["tests"][0]["message"].endswith("x… ⟨3,496 characters more⟩")
    for name in ("output", "stderr"):
        assert shown["tests"][0][name].endswith("x… ⟨3,496 characters more in the results⟩")


def test_programs_of_every_kind_are_shown(tmp_path: Path) -> None:
    """A page has at most 5 MB. It shows some submissions of each kind."""
    dice = random.Random(1)
    rows = [
        contest_row(str(n), float(n % 100 > 0), model=f"m{n % 2}", code=f"{dice.getrandbits(20_000):x}")
        for n in range(3000)
    ]
    page = html(write_results(tmp_path, rows))
    assert 4_000_000 < len(page) <= 5_000_000
    found = blocks(page)
    places = found["rows"]["detail"]
    shown = [place for place, (block, _) in enumerate(places) if block >= 0]
    assert 1000 < len(shown) < 3000
    assert sum(n % 100 == 0 for n in shown) == 30
    for place in shown[:: len(shown) // 7]:
        block, index = places[place]
        assert found[f"block-{block}"][index]["code"] == rows[place]["code"]


def test_copies_share_their_details(tmp_path: Path) -> None:
    """A program that a thousand rows have is on the page once."""
    rows = [contest_row("a", 0.0, fingerprint="f", duplicate_of="b" if n else None) for n in range(1000)]
    found = blocks(html(write_results(tmp_path, rows)))
    assert found["rows"]["detail"] == [[0, 0]] * 1000
    assert len(found["block-0"]) == 1


def test_equal_texts_without_a_program_share_their_details(tmp_path: Path) -> None:
    """All of them have the fingerprint of an empty program. Rows with another text or reason have their own details."""
    rows = [
        contest_row(str(n), 0.0, fingerprint="f", verdict="NC", code=None, compile_message=reason, generation=text)
        for n, (text, reason) in enumerate([("I", "no"), ("we", "no"), ("I", "cut off"), ("I", "no"), ("we", "no")])
    ]
    found = blocks(html(write_results(tmp_path, rows)))
    assert found["rows"]["detail"] == [[0, 0], [0, 1], [0, 2], [0, 0], [0, 1]]
    assert [(shown["text"], shown["compiler"]) for shown in found["block-0"]] == [
        ("I", "no"), ("we", "no"), ("I", "cut off"),
    ]  # fmt: skip


def test_problems_of_apps_are_in_the_order_of_the_terminal(tmp_path: Path) -> None:
    """From easy to hard; difficulties that the data set does not have come last."""
    levels = ("competition", "other", "interview", "introductory", "interview")
    rows = [apps_row(str(n), True, problem_id=str(10 - n), difficulty=level) for n, level in enumerate(levels)]
    found = blocks(html(write_results(tmp_path, rows)))["summary"]["problems"]
    assert [problem["bucket"] for problem in found] == [*("introductory", "interview", "interview"), *levels[:2]]
    assert [problem["name"] or problem["id"] for problem in found[1:3]] == ["6", "8"]


def test_inputs_of_failing_tests_are_on_the_page_once(tmp_path: Path) -> None:
    """Of the test that gave a program its verdict, from any directory. Results of an earlier version have none."""
    rows = [contest_row(str(n), 1.0, float(n % 3 == 0), code=f"int {n};") for n in range(300)]
    inputs = {("2024/nile", "0-01"): b"not failed", ("2024/nile", "1-01"): b"3 4\n\xff\x07" + b"5" * 10**6}
    with_inputs = write_results(tmp_path / "one", rows, inputs=inputs)
    without = write_results(tmp_path / "two", [contest_row("old", 0.0, 0.0)])
    page = html(with_inputs, without)
    found = blocks(page)
    (text,) = found["inputs"]
    assert text.startswith("3 4\n\\xff⟨U+0007⟩555")
    assert text.endswith("5… ⟨1,000,006 bytes in all⟩")
    assert Counter(one.get("input") for one in found["block-0"]) == {0: 200, None: 101}
    empty = write_results(tmp_path / "empty", [contest_row("a", 1.0, 0.0)], inputs={("2024/nile", "1-01"): b""})
    assert blocks(html(empty))["inputs"] == ["(empty)"]


def test_the_test_that_gave_the_verdict_is_marked(tmp_path: Path) -> None:
    """It is shown first, with its input. If there are more tests than the page shows, it is among them."""
    row = contest_row("a", 0.0)
    tests = [{"test_name": f"{n:03}", "score": 0.5, "status": "PA"} for n in range(300)]
    row["all_subtasks_results"][0]["test_results"] = [*tests, {"test_name": "300", "score": 0.0, "status": "WA"}]
    (shown,) = blocks(html(write_results(tmp_path, [row], inputs={("2024/nile", "300"): b"7"})))["block-0"]
    assert [test["name"] for test in shown["tests"] if test.get("decides")] == ["300"]
    assert (len(shown["tests"]), shown["more"], shown["input"]) == (200, 101, 0)
    assert (shown["tests"][1]["verdict"], shown["tests"][1]["score"]) == ("PA", 0.5)


def test_inputs_have_a_quarter_of_the_page(tmp_path: Path) -> None:
    """If each program fails another test, the page stays within 5 MB and has programs too."""
    dice = random.Random(1)
    rows, inputs = [], {}
    for n in range(3000):
        name = f"{n:04}"
        tests = [{"test_name": name, "score": 0.0, "status": "WA"}]
        rows.append(contest_row(name, 0.0, code=f"{dice.getrandbits(8_000):x}"))
        rows[-1]["all_subtasks_results"][0]["test_results"] = tests
        inputs["2024/nile", name] = f"{dice.getrandbits(4_000):x}".encode()
    page = html(write_results(tmp_path, rows, inputs=inputs))
    assert len(page) <= 5_000_000
    found = blocks(page)
    shown = [one for name in found if name.startswith("block-") for one in found[name]]
    assert 900 < len(found["inputs"]) < 1300
    assert len(shown) > 2000
    for one in shown:
        expected = inputs["2024/nile", one["tests"][0]["name"]].decode()
        assert one["input"] == -1 or found["inputs"][one["input"]] == expected


def test_groups_are_compared_with_contestants(tmp_path: Path) -> None:
    """With medals if the points for them are known. Each group has its own points. Practice problems and other years do
    not count.
    """
    rows = [
        contest_row(f"{model}{n}", 1.0, float(model == "m"), model=model, problem_id=f"p{n}", year=2008)
        for model in "mn"
        for n in range(6)
    ]
    rows += [
        contest_row("x", 1.0, model="m", year=2007),
        contest_row("j", None, 1.0, model="n", problem_id="p0", year=2008),
    ]
    out = write_results(tmp_path / "out", rows, {"problems": []})
    (contest,) = blocks(html(out))["summary"]["contests"]
    assert (contest["name"], contest["cutoffs"]["silver"]) == ("IOI 2008", 229)
    assert contest["source"].startswith("http://")
    lower = "1 submission without a score (JE): the points are a lower bound."
    assert contest["groups"] == [
        {"group": 0, "ways": ["600 of 600: gold"] * 3, "note": "", "meaning": ""},
        {"group": 1, "ways": ["300 of 600: silver", *["350 of 600: silver"] * 2], "note": lower, "meaning": ""},
    ]
    table = tmp_path / "ioi.csv"
    table.write_text("points,year\n310,2008\n9,2008\n1,2008\n")
    (contest,) = Page([out], standings=read_standings(str(table))).contests
    assert contest["contestants"] == 3
    assert contest["groups"][1]["ways"][0] == "300 of 600: rank 2 of 3, percentile 66"
    meaning = (
        "Rank 1 of 3: 0 of 3 contestants have more points. Percentile 100: 100 % of the contestants have fewer points."
    )
    assert contest["groups"][1]["meaning"] == meaning
    assert Page([out], standings=[Standings(contest="c", year="1999")]).contests == []
    apps = write_results(tmp_path / "apps", [apps_row("a", True)])
    assert Page([apps], standings=[Standings(contest="c", totals=(1.0,))]).contests == []


def test_tests_without_subtasks(tmp_path: Path) -> None:
    """Somebody has edited the file. The tests are read when the page is written."""
    results = write_results(tmp_path / "out", [contest_row("a", 1.0)])
    line = orjson.loads((results / "tests.jsonl").read_bytes())
    del line["subtasks"]
    (results / "tests.jsonl").write_bytes(orjson.dumps(line) + b"\n")
    with pytest.raises(InputError, match="line 1: this is not a row of results"):
        Page([results]).write(BytesIO())


BAD = {
    "is not a row of results": b'{"uuid": "a"}\n',
    "line 1 cannot be read": b"{not json\n",
    "is not a row": b"[]\n",
}


@pytest.mark.parametrize("words", BAD)
def test_invalid_results(words: str, tmp_path: Path) -> None:
    """The message has the file, the line, and what to do."""
    (tmp_path / "results.jsonl").write_bytes(BAD[words])
    with pytest.raises(InputError, match=words) as refusal:
        Page([tmp_path])
    assert str(tmp_path / "results.jsonl") in str(refusal.value)


def test_directories_that_cannot_be_in_one_report(tmp_path: Path) -> None:
    """A missing one, the same one twice, both families, a newer version, other subtasks, an incomplete row."""
    contest = write_results(tmp_path / "contest", [contest_row("a", 1.0)])
    apps = write_results(tmp_path / "apps", [apps_row("a", True)])
    other = write_results(tmp_path / "other", [contest_row("a", 1.0, 0.0)])
    newer = write_results(tmp_path / "newer", [contest_row("a", 1.0)], {"format": 99, "ioi_eval": "9.9"})
    torn = write_results(tmp_path / "torn", [contest_row("a", 1.0)])
    (torn / "tests.jsonl").write_bytes(b'{"tests_id": "x"}\n')
    lacking = write_results(tmp_path / "lacking", [contest_row("a", 1.0), {**contest_row("b", 1.0)}])
    lines = (lacking / "results.jsonl").read_bytes().splitlines()
    (lacking / "results.jsonl").write_bytes(lines[0] + b'\n{"verdict": "AC", "all_subtasks_results": []}\n')
    for directories, words in (
        ([tmp_path / "no"], "does not exist; check the path"),
        ([contest, contest / "." / ".." / "contest"], "is named twice"),
        ([contest, apps], "make a report of each"),
        ([contest, other], "with other subtasks"),
        ([newer], "of ioi_eval 9.9"),
        ([torn], "tests.jsonl, line 1: it lacks test_results; correct it, or delete the file and repeat"),
        ([lacking], "line 2: this is not a row of results"),
    ):
        with pytest.raises(InputError, match=words):
            Page(directories)


def test_times_are_compared_with_the_limits_of_their_own_run(tmp_path: Path) -> None:
    """The limits of the first directory counted for all. The table shows a limit if all runs that state one agree."""
    slow = orjson.loads(orjson.dumps(SUMMARY))
    slow["problems"][0]["time_limit_s"] = 4.0
    first = write_results(tmp_path / "first", [contest_row("a", 1.0, model="m")], SUMMARY)
    other = write_results(tmp_path / "other", [contest_row("b", 1.0, model="n")], slow)
    without = write_results(tmp_path / "without", [contest_row("c", 1.0, model="o")])
    found = blocks(html(first, other, without))
    assert found["rows"]["directory"] == [0, 1, 2]
    found = found["summary"]
    assert [cell.get("time", []).index(1) for _, _, cell in found["cells"][:2]] == [2, 0]  # 0.25 s of 1 s, of 4 s
    assert "time" not in found["cells"][2][2]
    assert (found["problems"][0]["time"], found["problems"][0]["memory"]) == (None, 256)
    found = blocks(html(without, first))["summary"]
    assert ([cell["time"][2] for _, _, cell in found["cells"]], found["problems"][0]["time"]) == ([1, 1], 1)
    assert [cell["memory"][0] for _, _, cell in found["cells"]] == [1, 1]
    assert found["problems"][0]["name"] == "Nile"  # which the first directory does not state


def test_a_report_without_rows(tmp_path: Path) -> None:
    """An empty dump has a report too."""
    page = html(write_results(tmp_path / "out", []))
    assert "<title>Report: out</title>" in page
    summary = blocks(page)["summary"]
    assert summary["rows"] == 0
    assert [(run["complete"], run["pending"]) for run in summary["runs"]] == [(True, "")]


def test_two_results_of_one_program_are_separate(tmp_path: Path) -> None:
    """It was judged twice, once with JE. Each row shows its own tests."""
    rows = [contest_row("a", None, fingerprint="same"), contest_row("b", 1.0, fingerprint="same")]
    found = blocks(html(write_results(tmp_path, rows)))
    assert sorted(one["tests"][0]["verdict"] for one in found["block-0"]) == ["AC", "JE"]


def test_a_test_that_one_subtask_skipped_has_the_result_of_another(tmp_path: Path) -> None:
    """If no subtask ran it, it is listed once, as not counted."""
    listed = {"first": ("a AC", "b WA"), "second": ("a SKIPPED", "b SKIPPED", "c SKIPPED"), "third": ("c SKIPPED",)}
    listed |= {"fourth": ("d SKIPPED", "e AC"), "fifth": ("d RE",)}
    row = contest_row("a", 0.0)
    row["all_subtasks_results"] = [
        {
            **row["all_subtasks_results"][0],
            "subtask": name,
            "test_results": [dict(zip(("test_name", "status"), test.split(), strict=True)) for test in tests],
        }
        for name, tests in listed.items()
    ]
    (shown,) = blocks(html(write_results(tmp_path, [row])))["block-0"]
    found = [(test["name"], test["verdict"]) for test in shown["tests"]]
    assert found == [("a", "AC"), ("b", "WA"), ("c", "SKIPPED"), ("e", "AC"), ("d", "RE")]
    assert {one[0]: one[4] for one in shown["subtasks"]} == {
        "first": [1, 2, 0], "second": [1, 3, 1], "third": [0, 1, 1], "fourth": [1, 2, 0], "fifth": [0, 1, 0],
    }  # fmt: skip


def test_a_subtask_counts_its_tests_that_are_not_shown(tmp_path: Path) -> None:
    """Only 200 tests of a submission are on the page; the counts are of all."""
    row = contest_row("a", 1.0, 1.0)
    for subtask, count in zip(row["all_subtasks_results"], (150, 130), strict=True):
        subtask["test_results"] = [
            {"test_name": f"{subtask['subtask']}-{number}", "status": "AC"} for number in range(count)
        ]
    (shown,) = blocks(html(write_results(tmp_path, [row])))["block-0"]
    assert (len(shown["tests"]), shown["more"]) == (200, 80)
    assert [one[4] for one in shown["subtasks"]] == [[150, 150, 0], [130, 130, 0]]


def test_a_submission_without_a_program_has_its_text_only(tmp_path: Path) -> None:
    """Nothing was run, so its tests and subtasks would only repeat its verdict. The row may have no text either."""
    text = f"{'a' * 2000}I do not know.{'z' * 2000}"
    row = contest_row("a", 0.0, code=None, verdict="NC", fingerprint="none", generation=text)
    without = contest_row("b", 0.0, code=None, verdict="NC", fingerprint="none")
    shown, other = blocks(html(write_results(tmp_path, [row, without])))["block-0"]
    cut = f"{'a' * 2000}… ⟨14 characters left out⟩ …{'z' * 2000}"
    assert shown.items() >= {"text": cut, "extraction": "fence:cpp"}.items()
    assert shown.keys().isdisjoint({"tests", "subtasks", "code", "input"})
    assert "text" not in other
