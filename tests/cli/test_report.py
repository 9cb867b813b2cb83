"""`ioi-eval report`, and the page that `score` and `apps score` write."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from ioi_eval.cli.dump_run import end_run
from ioi_eval.cli.reporting import remake
from ioi_eval.errors import InputError
from ioi_eval.events import Events
from ioi_eval.journal import Journal
from ioi_eval.report.groups import MAX_GROUPS, OTHERS
from ioi_eval.report.html import Page
from ioi_eval.report.html_details import detail_of
from ioi_eval.report.standings import Standings
from tests.cli.addition import NARROW, RIGHT, Start, Write
from tests.small_results import apps_row, contest_row, refused, write_results

MADE = ("summary.json", "report.md", "report.html")
ROWS = (
    {"uuid": "a", "problem_id": "add", "year": 2024, "code": RIGHT, "model": "m"},
    {"uuid": "b", "problem_id": "add", "year": 2024, "code": NARROW, "model": "n", "target_subtask": "01-full"},
    {"uuid": "c", "problem_id": "add", "year": 2024, "code": RIGHT, "model": "n"},
    {"uuid": "d", "problem_id": "add", "year": 2024, "generation": "no idea"},
    {"uuid": "e", "problem_id": "none", "year": 2024, "code": RIGHT},
    {"uuid": "f", "year": 2024, "code": RIGHT, "problem_id": None},
)


def test_report_makes_the_same_files_as_score(score: Start, start: Start, write: Write, tmp_path: Path) -> None:
    """The files are equal byte by byte if they are made from results and summary. Without a summary the numbers are the
    same, and titles, days and limits are unknown.
    """
    ended = score(write("dump.jsonl", *ROWS))
    out = tmp_path / "out"
    assert "Page:    out/report.html" in ended.stdout
    before = {name: (out / name).read_bytes() for name in MADE}
    again = start("report", "out")
    assert again.returncode == ended.returncode == 1, again.stderr
    assert "\nReport:  out/report.md\nPage:    out/report.html\n" in again.stdout
    assert {name: (out / name).read_bytes() for name in MADE} == before
    (out / "summary.json").unlink()
    assert start("report", out / "results.jsonl").returncode == 1
    one, other = orjson.loads(before["summary.json"]), orjson.loads((out / "summary.json").read_bytes())
    same = (
        "submissions", "verdicts", "contests", "average_score", "pass_at_k", "pass_at_k_interval", "undecided",
        "isolation", "targets", "near_limit",
    )  # fmt: skip
    assert {name: one[name] for name in same} == {name: other[name] for name in same}
    unknown = dict.fromkeys(("name", "day", "time_limit_s", "memory_limit_bytes"))
    for mine, again_made in ((one, other), *zip(one["groups"], other["groups"], strict=True)):
        assert [problem | unknown for problem in mine["problems"]] == [
            problem | unknown for problem in again_made["problems"]
        ]
        assert mine["average_score"] == again_made["average_score"]


def test_the_numbers_of_edited_results_are_new(tmp_path: Path) -> None:
    """Groups, and for APPS the table by difficulty, were copied from the old summary if as many rows had each verdict.
    The rows that are still to be judged stay in their group.
    """

    def made() -> dict[str, Any]:
        remake([tmp_path / "out"], None, "uuid")
        found: dict[str, Any] = orjson.loads((tmp_path / "out" / "summary.json").read_bytes())
        return found

    models = ("alpha", "beta", "beta")
    write_results(tmp_path / "out", [contest_row(f"{n}", float(n > 1), model=m) for n, m in enumerate(models)])
    before = made()
    for each in (before, before["groups"][1]):
        each["submissions"] |= {"pending": 2, "rows": each["submissions"]["rows"] + 2}
    (tmp_path / "out" / "summary.json").write_bytes(orjson.dumps(before))
    again = made()
    assert [(group["name"], group["submissions"]) for group in again["groups"]] == [
        (group["name"], group["submissions"]) for group in before["groups"]
    ]
    results = tmp_path / "out" / "results.jsonl"
    results.write_bytes(results.read_bytes().replace(b'"beta"', b'"gamma"'))
    counts = {
        group["name"]: (group["submissions"]["scored"], group["submissions"]["pending"]) for group in made()["groups"]
    }
    assert counts == {"alpha": (1, 0), "beta": (0, 2), "gamma": (2, 0)}
    assert "gamma" in (tmp_path / "out" / "report.md").read_text()

    rows = [apps_row("a", True, False, level="hot"), apps_row("b", True, False, level="cold")]
    write_results(tmp_path / "out", rows, {"by": ["level"]})
    before = made()
    results.write_bytes(results.read_bytes().replace(b'"passed":1', b'"passed":0'))
    for old, new in zip((before, *before["groups"]), ((after := made()), *after["groups"]), strict=True):
        assert [each["difficulties"][0]["test_case_average"]["value"] for each in (old, new)] == [0.5, 0.0]


def test_a_note_on_groups_goes_with_them(tmp_path: Path) -> None:
    """It stayed when results were grouped by other columns, as that on rows in none of the groups did."""
    rows = [contest_row(str(n), 1.0, model="m", prompt=str(n)) for n in range(MAX_GROUPS + 1)]
    counts = {"rows": len(rows) + 1, "scored": len(rows), "undecided": 0, "refused": 0, "pending": 1, "copies": 0}
    facts = {"submissions": counts, "verdicts": {"AC": len(rows)}, "notes": ["a note"], "by": ["model"], "groups": []}
    out = write_results(tmp_path / "out", rows, facts)

    def notes(*by: str) -> list[str]:
        assert remake([out], None, "uuid", by=by) == 1
        found: list[str] = orjson.loads((out / "summary.json").read_bytes())["notes"]
        return found

    pending = "1 row still to be judged: in none of the groups"
    joined = (
        f"there are more than {MAX_GROUPS} groups by prompt: later ones are put together as {OTHERS!r}; "
        "choose columns with fewer values"
    )
    assert notes("prompt") == notes() == ["a note", joined, pending]
    assert notes("model") == ["a note", pending]
    assert notes("none") == ["a note"]


def test_an_unchanged_page_is_not_made_again(score: Start, write: Write, tmp_path: Path) -> None:
    """A run without new results does not write the page."""
    dump = write("dump.jsonl", ROWS[0])
    score(dump)
    page = tmp_path / "out" / "report.html"
    made = page.stat().st_mtime_ns
    score(dump)
    assert page.stat().st_mtime_ns == made


def test_a_page_that_cannot_be_written_does_not_harm_the_run(score: Start, write: Write, tmp_path: Path) -> None:
    """A message says what to do. The exit code is that of judging."""
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    (tmp_path / "out" / "report.html" / "file").touch()
    ended = score(write("dump.jsonl", ROWS[0]))
    assert ended.returncode == 0, ended.stderr
    said = "out/report.html was not written, but all else was; `ioi-eval report out` makes it later: "
    assert f"ioi-eval: {said}out/report.html cannot be written: Is a directory. Fix the cause first\n" in ended.stderr
    assert "Page:" not in ended.stdout


def test_results_of_the_reference(start: Start, write: Write, tmp_path: Path) -> None:
    """These rows have no verdict of the submission and no columns that only our results have. There is no summary."""

    def theirs(name: str, verdict: str, score: float, **other: Any) -> dict[str, Any]:
        tests = [{"test_name": "1-01", "score": score, "status": verdict, "feedback": "7 instead of 8"}]
        problem = other.get("problem_id", "nile")
        subtasks = [
            {"problem": problem, "subtask": subtask, "points": points, "score": worth, "weighted_score": worth * points,
             "score_precision": 2, "status": status, "test_results": tests}
            for subtask, points, worth, status in (("00", 0, 1.0, "AC"), ("01", 100, score, verdict))
        ]  # fmt: skip
        row = {
            "uuid": name,
            "year": 2024.0,
            "day": "1",
            "problem_id": "nile",
            "code": "int main() {}",
            "target_subtask": "01",
        }
        worth = {"all_subtasks_points": 100 * score, "code_compiles": verdict != "CE", "all_subtasks_results": subtasks}
        return {**row, **worth, "model": "m", **other}

    (tmp_path / "theirs").mkdir()
    rows = [theirs("a", "AC", 1.0), theirs("b", "PA", 0.5, model="n"), theirs("c", "CE", 0.0), theirs("d", "WA", 0.0)]
    rows.append(theirs("p", "AC", 1.0, problem_id="easy", day="practice"))
    write("theirs/results.jsonl", *rows, {**rows[3], "uuid": "e", "all_subtasks_results": None})
    ended = start("report", "theirs")
    assert ended.returncode == 1, ended.stderr
    summary = orjson.loads((tmp_path / "theirs" / "summary.json").read_bytes())
    assert summary["verdicts"] == {"AC": 2, "PA": 1, "WA": 1, "CE": 1}
    assert [(one["year"], one["problem"], one["best_score"]) for one in summary["problems"]] == [
        (2024, "nile", 100), (2024, "easy", 100),
    ]  # fmt: skip
    assert [(group["name"], group["submissions"]["scored"]) for group in summary["groups"]] == [("m", 4), ("n", 1)]
    assert (summary["submissions"]["refused"], summary["refused"][0]["reason"]) == (1, "it has no results of subtasks")
    days = {(one["problem"], one["day"]) for one in summary["problems"]}
    assert days == {("nile", "1"), ("easy", "practice")}
    assert [(one["problems"], one["points"]) for one in summary["contests"]] == [(1, 100)], "without practice problems"
    assert start("report", "theirs").returncode == 1
    assert orjson.loads((tmp_path / "theirs" / "summary.json").read_bytes()) == summary, "it is the same each time"
    page = Page([tmp_path / "theirs"])
    assert page.group_names == ["m", "n"]
    (tmp_path / "theirs" / "summary.json").unlink()
    (contest,) = Page([tmp_path / "theirs"], standings=[Standings(contest="c", year="2024", totals=(1.0,))]).contests
    assert [one["ways"][0].partition(":")[0] for one in contest["groups"]] == ["100 of 100", "50 of 100"]
    assert b"2024/nile" in (tmp_path / "theirs" / "report.html").read_bytes()
    assert "1-01" in str(detail_of(page.results[0], next(page.results[0].page_rows())))


def test_several_directories(start: Start, tmp_path: Path) -> None:
    """One report over all of them is written to another directory. The result directories are not changed."""
    one = write_results(tmp_path / "one", [contest_row("a", 1.0, 1.0), contest_row("b", 0.0, 0.0)])
    two = write_results(tmp_path / "two", [contest_row("a", 1.0, 0.0), refused("b", "dump, row 2: no such problem")])
    ended = start("report", one, two, "--out", "all")
    assert ended.returncode == 1, ended.stderr
    summary = orjson.loads((tmp_path / "all" / "summary.json").read_bytes())
    assert summary["submissions"] == {
        "rows": 4, "scored": 3, "undecided": 0, "refused": 1, "pending": 0, "copies": 0,
    }  # fmt: skip
    assert summary["refused"][0]["reason"] == "no such problem"
    assert b"all submissions" in (tmp_path / "all" / "report.html").read_bytes()
    assert sorted(path.name for path in one.iterdir()) == ["results.jsonl", "tests.jsonl"]


def test_times_of_several_directories_are_summed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows have only the time of the programs; compile times and those of checkers are in the summaries. The text does
    not take the sum of the durations for the duration of one run."""
    directories = []
    for name, compiled in (("one", 2.0), ("two", 0.5)):
        out = write_results(tmp_path / name, [contest_row("a", 1.0)])
        assert remake([out], None, "uuid") == 0
        path = out / "summary.json"
        cpu = {"compile": compiled, "run": 0.25, "check": 0.125, "of_a_later_version": 1.0}
        summary = orjson.loads(path.read_bytes())
        run = {**summary["this_run"], "cpu_s": cpu, "judged": 2, "wall_s": 7.5}
        path.write_bytes(orjson.dumps({**summary, "cpu_s": cpu, "this_run": run}))
        directories.append(out)
    assert remake(directories, tmp_path / "all", "uuid") == 0
    made = orjson.loads((tmp_path / "all" / "summary.json").read_bytes())
    assert made["this_run"]["cpu_s"] == {"compile": 2.5, "run": 0.5, "check": 0.25}
    assert (made["cpu_s"]["compile"], made["cpu_s"]["check"]) == (2.5, 0.25)
    for text in (capsys.readouterr().out, (tmp_path / "all" / "report.md").read_text()):
        assert "4 judged in 2 runs of 15.0 s together" in text


def test_groups_of_several_directories_are_the_same_in_summary_and_page(start: Start, tmp_path: Path) -> None:
    """Rows without a model are grouped by directory, and not pooled."""
    one = write_results(tmp_path / "one", [contest_row("a", 1.0)])
    two = write_results(tmp_path / "two", [contest_row("a", 0.0)])
    assert start("report", one, two, "--out", "all").returncode == 0
    groups = orjson.loads((tmp_path / "all" / "summary.json").read_bytes())["groups"]
    assert all(problem["time_limit_s"] is None for group in groups for problem in group["problems"]), "not known, not 0"
    worth = {group["name"]: group["pass_at_k"]["1"] for group in groups}
    assert worth == dict(zip(Page([one, two]).group_names, (1.0, 0.0), strict=True))


def test_many_groups_are_joined_on_the_page_only(tmp_path: Path) -> None:
    """The summary has up to 200, with a note about further ones."""
    out = write_results(tmp_path / "out", [contest_row(str(n), 1.0, model=f"m{n}") for n in range(50)])
    assert remake([out], None, "uuid") == 0
    summary = orjson.loads((out / "summary.json").read_bytes())
    assert {group["name"] for group in summary["groups"]} == {f"m{n}" for n in range(50)}
    assert len(Page([out]).group_names) == 41


def test_each_run_names_its_submissions_by_its_own_column(tmp_path: Path) -> None:
    """The summary looked for all names in the column of the first run."""
    one = write_results(tmp_path / "one", [contest_row("a", 0.0)])
    row = contest_row("b", 1.0)
    row["name"] = row.pop("uuid")
    two = write_results(tmp_path / "two", [row])
    assert remake([two], None, "name") == 0
    assert remake([one, two], tmp_path / "all", "uuid") == 0
    (problem,) = orjson.loads((tmp_path / "all" / "summary.json").read_bytes())["problems"]
    assert problem["best_submission"] == "b"


def test_an_id_column_that_is_named_counts(start: Start, tmp_path: Path) -> None:
    """A first report without it is refused if the results do not have the usual one; it had – for each name, and the
    option changed nothing afterwards. Of several directories, those that have the column use it.
    """
    row = contest_row("a", 1.0, label="right")
    both = write_results(tmp_path / "both", [dict(row)])
    del row["uuid"]
    only = write_results(tmp_path / "only", [row])
    before = sorted(tmp_path.rglob("*"))
    for arguments, column in (
        (["only"], "uuid"),
        (["only", "both", "--out", "all"], "uuid"),
        (["both", "--id-column", "no"], "no"),
    ):
        ended = start("report", *arguments)
        assert ended.returncode == 2
        assert f"has no column {column}; name the one that names submissions with --id-column" in ended.stderr
    assert sorted(tmp_path.rglob("*")) == before
    for directory, column, best in ((both, "uuid", "a"), (both, "label", "right"), (only, "label", "right")):
        assert start("report", directory, "--id-column", column).returncode == 0
        for option in ((), ("--id-column", column)):
            assert start("report", directory, *option).returncode == 0
            summary = orjson.loads((directory / "summary.json").read_bytes())
            assert summary["problems"][0]["best_submission"] == best
            assert summary["options"]["id_column"] == column


def test_groups_by_a_column_with_the_name_of_a_result_column(
    score: Start, start: Start, write: Write, tmp_path: Path
) -> None:
    """The page and a report that is made anew have the groups of the run: by the dump's values."""
    rows = [{**ROWS[0], "verdict": "OK"}, {**ROWS[2], "verdict": "WRONG"}]
    score(write("dump.jsonl", *rows), "--by", "verdict")
    out = tmp_path / "out"
    assert list(Page([out]).group_names) == ["OK", "WRONG"]
    before = orjson.loads((out / "summary.json").read_bytes())["groups"]
    assert start("report", "out", "--by", "verdict").returncode == 0
    after = orjson.loads((out / "summary.json").read_bytes())["groups"]
    assert [group["name"] for group in after] == ["OK", "WRONG"]
    assert after == before


def test_a_directory_of_reports_is_not_taken_for_results(start: Start, write: Write, tmp_path: Path) -> None:
    """A run may write into it."""
    one = write_results(tmp_path / "one", [contest_row("a", 1.0)])
    assert start("report", one, "--out", "all").returncode == 0
    ended = start("score", write("dump.jsonl", {"uuid": "x"}), "--problems", "p", "--tests", "t", "--out", "all")
    assert "holds the results of" not in ended.stderr


def test_apps(start: Start, tmp_path: Path) -> None:
    """Results of Python programs. A note names missing modules that the tests' messages mention."""
    lacks = apps_row("c", False)
    lacks["test_results"][0]["message"] = "ModuleNotFoundError(\"No module named 'numpy'\")"
    rows = [apps_row("a", True), apps_row("b", True, False), lacks, {**apps_row("d", True), "verdict": None}]
    out = write_results(tmp_path / "out", rows)
    ended = start("report", out)
    assert ended.returncode == 1, ended.stderr
    summary = orjson.loads((out / "summary.json").read_bytes())
    assert summary["judged_by"] == "tokens"
    assert summary["difficulties"][0]["test_case_average"]["value"] == 0.5
    assert any("numpy" in note for note in summary["notes"])
    assert "interview" in (out / "report.md").read_text()
    assert (out / "report.html").stat().st_size > 10_000


def test_standings_that_the_user_names(start: Start, tmp_path: Path) -> None:
    """The contestants are on the page. A table of another year is refused, and nothing is written."""
    write_results(tmp_path / "out", [contest_row("a", 1.0, 0.0)])
    (tmp_path / "ioi.csv").write_text("contestant,points,medal,year\nA,90,gold,2024\nB,50,bronze,2024\n")
    assert start("report", "out", "--standings", "ioi.csv").returncode == 0
    assert b"50 of 100: bronze, rank 2 of 2, percentile 0" in (tmp_path / "out" / "report.html").read_bytes()
    (tmp_path / "ioi.csv").write_text("points,year\n90,2023\n")
    wrong = start("report", "out", "--out", "new", "--standings", "ioi.csv")
    assert (wrong.returncode, "but none has a problem of out: a table needs its year" in wrong.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no"], "no/results.jsonl does not exist; check the path"),
        (["one/tests.jsonl"], "one/tests.jsonl is a file; name the directory that was given as --out, or the results."),
        (["one", "two"], "several directories need --out"),
        (["one", "one", "--out", "all"], "is named twice"),
        (["one", "apps", "--out", "all"], "make a report of each"),
        (["one", "two", "--out", "one"], "--out one holds results"),
        (["one", "--out", "two"], "--out two holds results"),
        (["held"], "is writing results here"),
        (["one", "held", "--out", "all"], "a run is writing to held"),
        (["locked"], "locked/.lock: cannot be written: Is a directory; choose another --out"),
        (["one", "--out", "one/results.jsonl"], "is not a directory"),
    ],
)
def test_wrong_calls(start: Start, tmp_path: Path, arguments: list[str], words: str) -> None:
    """Each is refused with one line that says what to do. No file is changed."""
    for name in ("one", "two", "held", "locked"):
        write_results(tmp_path / name, [contest_row("a", 1.0)])
    (tmp_path / "locked" / ".lock").mkdir()
    write_results(tmp_path / "apps", [apps_row("a", True)])
    lock = os.open(tmp_path / "held" / ".lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    before = sorted(path for path in tmp_path.rglob("*"))
    ended = start("report", *arguments)
    os.close(lock)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert sorted(path for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("out", [None, "all"])
def test_no_run_replaces_results_while_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str | None
) -> None:
    """The report would have rows of one run, and programs and groups of another."""
    one = write_results(tmp_path / "one", [contest_row("a", 1.0)])
    (one / ".lock").touch()
    refused = []

    class ReadMeanwhile(Page):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            with pytest.raises(InputError, match="is writing results here") as error:
                Journal(one, options={})
            refused.append(error)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr("ioi_eval.cli.reporting.Page", ReadMeanwhile)
    assert remake([one], None if out is None else tmp_path / out, "uuid") == 0
    assert refused
    Journal(one, options={}).close()


def test_a_run_that_begins_keeps_the_page_of_the_last_from_being_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run before has ended and no longer locks its directory, but has not written its page yet."""
    one = write_results(tmp_path / "one", [contest_row("a", 1.0)])
    assert remake([one], None, "uuid") == 0
    (one / "report.html").unlink()
    summary = orjson.loads((one / "summary.json").read_bytes())
    with Journal(one, options={}):
        end_run(one, summary, Events())
    assert not (one / "report.html").exists()
    assert "is writing results here" in capsys.readouterr().err
    end_run(one, summary, Events())
    assert (one / "report.html").exists()


def test_report_in_another_directory(start: Start, tmp_path: Path) -> None:
    """The directory is created. The results are not changed."""
    one = write_results(tmp_path / "one", [contest_row("a", 1.0)])
    assert start("report", one, "--out", tmp_path / "new" / "deep").returncode == 0
    assert sorted(path.name for path in one.iterdir()) == ["results.jsonl", "tests.jsonl"]
    assert (tmp_path / "new" / "deep" / "report.html").is_file()


def test_results_are_grouped_by_other_columns(tmp_path: Path) -> None:
    """They replace the run's own groups. Groups of one row are possible. Facts that only the run knows are kept."""
    rows = [contest_row(str(n), 1.0, float(n > 1), model="m", temperature=n / 2, metadata={"k": "a"}) for n in range(3)]
    facts = {"by": ["model"], "groups": [], "notes": ["a note"], "started": "2026-11-01T10:00:00+00:00"}
    counts = {"rows": 4, "scored": 3, "undecided": 0, "refused": 0, "pending": 1, "copies": 0}
    run_summary = {**facts, "submissions": counts, "verdicts": {"AC": 1, "WA": 2}}
    one = write_results(tmp_path / "one", rows, run_summary)

    def summary(*by: str) -> dict[str, Any]:
        assert remake([one], None, "uuid", by=by) == 1
        found: dict[str, Any] = orjson.loads((one / "summary.json").read_bytes())
        return found

    found = summary("temperature")
    assert (found["by"], [group["name"] for group in found["groups"]]) == (["temperature"], ["0", "0.5", "1"])
    assert [group["submissions"]["scored"] for group in found["groups"]] == [1, 1, 1]
    assert found["started"] == "2026-11-01T10:00:00+00:00"
    assert found["notes"] == ["a note", "1 row still to be judged: in none of the groups"]
    assert Page([one]).group_names == ["0", "0.5", "1"]
    assert summary()["by"] == ["temperature"]
    assert [group["name"] for group in summary("model,metadata.k")["groups"]] == ["model m, metadata.k a"]
    found = summary("none")
    assert (found["by"], found["groups"]) == ([], [])
    before = (one / "summary.json").read_bytes()
    with pytest.raises(
        InputError, match=r"--by prompt: no row has anything in that column; the columns are: uuid, year, .*model"
    ):
        summary("prompt")
    assert (one / "summary.json").read_bytes() == before


def test_rows_still_to_be_judged_are_in_none_of_the_groups_of_several_directories(tmp_path: Path) -> None:
    """A note says so. The advice names the command of the run, which is not `report`."""
    counts = {"rows": 3, "scored": 1, "undecided": 0, "refused": 0, "pending": 2, "copies": 0}
    stopped = {"submissions": counts, "verdicts": {"AC": 1}, "interrupted": True}
    one = write_results(tmp_path / "one", [contest_row("a", 1.0, model="m")], stopped)
    two = write_results(tmp_path / "two", [contest_row("b", 1.0, model="n")])
    assert remake([one, two], tmp_path / "all", "uuid") == 1
    found = orjson.loads((tmp_path / "all" / "summary.json").read_bytes())
    assert found["notes"] == ["2 rows still to be judged: in none of the groups"]
    assert (
        "interrupted; repeat the command of the run (without --no-resume) to continue"
        in (tmp_path / "all" / "report.md").read_text()
    )


def test_results_of_several_directories_are_grouped_by_other_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for APPS. A value that two directories share is split by directory."""
    monkeypatch.chdir(tmp_path)
    both = [
        write_results(Path(name), [apps_row("17/0", True, level=level), apps_row("17/1", False, level="hot")], {})
        for name, level in (("one", "cold"), ("two", "warm"))
    ]
    assert remake(both, Path("all"), "uuid", by=("level",)) == 0
    found = orjson.loads(Path("all/summary.json").read_bytes())
    assert sorted(group["name"] for group in found["groups"]) == ["cold", "one: hot", "two: hot", "warm"]


def test_times_that_are_not_known_are_not_shown(tmp_path: Path) -> None:
    """Rows do not say when they were judged. The page said "judged until unknown", also if another run's time is known,
    and the report "unknown to unknown".
    """
    directories = [write_results(tmp_path / name, [contest_row("a", 1.0)]) for name in ("one", "two")]
    for _ in range(2):  # the second time there is a summary
        assert remake(directories[:1], None, "uuid") == 0
        assert "unknown" not in (directories[0] / "report.md").read_text(encoding="utf-8")
        assert b'"finished":""' in (directories[0] / "report.html").read_bytes()
    finished = "2026-01-01T00:01:00+00:00"
    summary = orjson.loads((directories[0] / "summary.json").read_bytes())
    (directories[1] / "summary.json").write_bytes(orjson.dumps({**summary, "started": finished, "finished": finished}))
    assert remake(directories, tmp_path / "all", "uuid") == 0
    assert f"; {finished} to {finished}\n" in (tmp_path / "all" / "report.md").read_text(encoding="utf-8")
