"""`ioi-eval export`: each format is read by its own reader if that is installed. Other files are not replaced."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

from ioi_eval.cli import export as command
from ioi_eval.errors import InputError, SetupError
from ioi_eval.report.groups import MAX_GROUPS
from ioi_eval.report.publication import MODULES, format_named
from ioi_eval.report.result_sets import open_results
from tests.cli.addition import Start
from tests.importers.packages import put_socket
from tests.small_results import Row, apps_row, contest_row, refused, write_results

SETTINGS = {
    "every-eval-ever": ["organization=Lab", "model=lab/m"],
    "eval-results": ["dataset=open-r1/ioi"],
}
"""What a format cannot do without."""

ODD = "\x1b[31m<d>&\"' \x07\n\u202e"
CONTEST: tuple[Row, ...] = (
    {"name": "a", "scores": (1.0, 1.0), "model": "lab/m"},
    {"name": "b", "scores": (1.0, 0.0), "model": "lab/m", "generation": "```cpp\nx\n```"},
    {"name": "c", "scores": (None, 0.0), "model": "lab/m"},
    {"name": ODD, "scores": (0.5, 0.0), "model": "../" + ODD},
    {"name": "a", "scores": (1.0, 0.5), "model": "lab/m", "problem_id": "r/od"},
    {"name": "b", "scores": (0.0, 0.0), "model": "../" + ODD, "problem_id": "r/od"},
)


def contest(directory: Path) -> Path:
    """Two models, two problems, a JE, and a row that could not be judged."""
    rows: list[Row] = []
    for one in CONTEST:
        values = dict(one)
        name, scores = values.pop("name"), values.pop("scores")
        rows.append(contest_row(str(name), *scores, **values))
    rows.append(refused("e", "dump, row 5: no such problem", model="lab/m", year=2024, problem_id="none"))
    facts = {"started": "2026-11-01T09:00:00+00:00", "finished": "2026-11-01T10:00:00+00:00", "ioi_eval": "1.2"}
    return write_results(directory, rows, {**facts, "options": {"problems": "open-r1/ioi", "dump": "/tmp/dump.jsonl"}})


def apps(directory: Path) -> Path:
    """One program with AC, one with WA, and one that was not judged."""
    failed = apps_row("17/2", False, verdict="JE", passed=None, score=None, error="no sandbox")
    rows = [apps_row("17/0", True, True), apps_row("17/1", True, False), failed]
    return write_results(directory, rows, {"judged_by": "tokens", "options": {"dataset": "codeparrot/apps"}})


FAMILIES = {"contest": contest, "apps": apps}


@pytest.fixture(params=FAMILIES)
def results(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Results of either family."""
    return FAMILIES[request.param](tmp_path / request.param)


def export(directory: Path, to: str, *settings: str, out: Path | None = None, by: tuple[str, ...] = ()) -> list[Path]:
    """Export to a format, and return the files."""
    command.export(directory, to=to, out=out, settings=list(settings), by=list(by))
    target = out or directory / format_named(to).default_path
    return [target] if target.is_file() else sorted(path for path in target.rglob("*") if path.is_file())


def test_parquet_is_read_by_pandas_and_datasets(results: Path, tmp_path: Path) -> None:
    """One row for each submission, in the order of the results, with all columns and the tests."""
    import datasets
    import pandas as pd

    (path,) = export(results, "parquet")
    rows = list(open_results(results).rows(tests=True))
    table = pd.read_parquet(path)
    assert list(table.columns) == list(dict.fromkeys(name for row in rows for name in row))
    assert [None if pd.isna(v) else v for v in table["verdict"]] == [row["verdict"] for row in rows]
    loaded = datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    first = loaded[0]
    tests = first["test_results"] if "test_results" in first else first["all_subtasks_results"][1]["test_results"]
    assert tests[0]["time_s"] > 0
    assert loaded["code"] == [row["code"] for row in rows]


def test_junit_has_a_suite_a_problem_and_counts_what_is_in_it(tmp_path: Path) -> None:
    """JE and refused rows are errors, other verdicts failures. The file contains no control characters."""
    (path,) = export(contest(tmp_path / "contest"), "junit")
    root = ET.parse(path).getroot()
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["2024/nile", "2024/r/od", "2024/none"]
    kinds = [[kind.tag for kind in case] for case in suites["2024/nile"]]
    assert kinds == [[], ["failure"], ["error"], ["failure"]]
    assert [suite.get("errors") for suite in suites.values()] == ["1", "0", "1"]
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("time")) == ("7", "4", "2", "3.000")
    wrong = suites["2024/nile"][1][0]
    assert (wrong.get("type"), wrong.get("message")) == ("WA", "WA, 50 of 100 points")
    assert wrong.text == "test 1-01: WA, 7 instead of 8 in line 1"
    assert suites["2024/nile"][3].get("name") == "\\x1b[31m<d>&\"' \\x07\n\\u202e"
    assert all(re.fullmatch(r"\d+\.\d{3}", str(case.get("time"))) for case in root.iter("testcase"))
    assert not set(path.read_text()) & {*map(chr, range(9)), "\x1b", "\u202e"}


def test_junit_has_the_compiler_s_message(tmp_path: Path) -> None:
    """Of a program that does not compile; and the reason why there is none."""
    rows = [
        contest_row("a", 0.0, verdict="CE", code_compiles=False, compile_message="a.cpp:1: error: x\nint x;"),
        contest_row("b", 0.0, verdict="NC", code_compiles=False, compile_message="", message="no fence of code"),
    ]
    (path,) = export(write_results(tmp_path / "out", rows), "junit")
    compiled, missing = [str(case[0].text) for case in ET.parse(path).getroot().iter("testcase")]
    assert compiled.startswith("a.cpp:1: error: x\nint x;\n")
    assert missing.startswith("no fence of code\n")


def test_junit_has_the_time_of_all_tests(tmp_path: Path) -> None:
    """If a row does not state the sum, as those of APPS."""
    (path,) = export(apps(tmp_path / "apps"), "junit")
    root = ET.parse(path).getroot()
    assert [case.get("time") for case in root.iter("testcase")][:2] == ["0.200", "0.200"]


def test_junit_has_any_number_of_groups(tmp_path: Path) -> None:
    """They are names in one file. It was refused, as formats with a file for each group are."""
    rows = [contest_row(str(number), 1.0, model=f"m{number}") for number in range(MAX_GROUPS + 1)]
    out = write_results(tmp_path / "out", rows)
    cases = ET.parse(export(out, "junit")[0]).iter("testcase")
    assert [case.get("classname") for case in cases] == [f"m{n}.2024/nile" for n in range(MAX_GROUPS + 1)]
    with pytest.raises(InputError, match="makes more than 200 groups, which would be a file each"):
        export(out, "inspect")


def test_junit_is_read_by_junitparser(results: Path) -> None:
    """junitparser reads the same counts."""
    junitparser = pytest.importorskip("junitparser", reason="junitparser is not installed")
    (path,) = export(results, "junit")
    found = junitparser.JUnitXml.fromfile(str(path))
    assert found.tests == sum(len(suite) for suite in found) == len(list(open_results(results).rows()))


def test_inspect_logs_have_a_sample_a_problem_and_an_epoch_a_submission(tmp_path: Path) -> None:
    """One log for each model. A submission without score is NaN, and is not in any mean."""
    paths = export(contest(tmp_path / "contest"), "inspect")
    assert len(paths) == 2
    with ZipFile(paths[1]) as log:
        header, summaries = (json.loads(log.read(name)) for name in ("header.json", "summaries.json"))
        assert [(one["id"], one["epoch"]) for one in summaries] == [
            *(("2024-nile", epoch) for epoch in (1, 2, 3)), ("2024-r_od-073325", 1), ("2024-none", 1),
        ]  # fmt: skip
        assert header["eval"]["model"] == "lab/m"
        assert header["eval"]["created"] == "2026-11-01T10:00:00+00:00"
        assert "dump.jsonl" not in str(header)
        score, solved = header["results"]["scores"]
        assert (score["scored_samples"], score["unscored_samples"]) == (3, 2)
        assert solved["metrics"]["pass@1"]["value"] == 0.25
        failed = json.loads(log.read("samples/2024-nile_epoch_3.json"))["scores"]["score"]
        assert failed["value"] != failed["value"]
        assert failed["reason"] == "judge_error"
        assert set(solved["metrics"]) == {"pass@1"}
        assert header["eval"]["config"] == {"epochs": 3}
        assert header["eval"]["packages"] == {"ioi_eval": "1.2"}
        assert header["eval"]["dataset"]["name"] == "open-r1/ioi"
        assert header["stats"]["started_at"] == "2026-11-01T09:00:00+00:00"
        second, refused_row = (
            json.loads(log.read(f"samples/2024-{name}.json")) for name in ("nile_epoch_2", "none_epoch_1")
        )
        assert second["metadata"]["subtasks"] == {"00": 50.0, "01": 0.0}
        assert (second["metadata"]["points"], second["metadata"]["full_marks"]) == (50.0, 100.0)
        assert second["scores"]["score"]["explanation"].startswith("WA, 50 of 100 points\ntest 1-01: WA")
        assert refused_row["scores"]["score"]["explanation"] == "not judged: dump, row 5: no such problem"
        assert refused_row["scores"]["score"]["reason"] == "not_judged"


def test_problems_with_similar_ids_are_different_samples(tmp_path: Path) -> None:
    """Of contests and of APPS."""
    contests = write_results(tmp_path / "contests", [contest_row("a", 1.0, problem_id=name) for name in ("r/o", "r-o")])
    programs = write_results(tmp_path / "apps", [apps_row(name, True, problem_id=name) for name in ("r/o", "r-o")])
    for directory in (contests, programs):
        with ZipFile(export(directory, "inspect")[0]) as log:
            assert len({each["id"] for each in json.loads(log.read("summaries.json"))}) == 2


def test_each_sample_of_each_log_has_its_own_uuid(tmp_path: Path) -> None:
    """inspect's `samples_df` drops others with the same one: those of the second run of a dump, and a repeated id."""
    found = []
    for directory, hour, name in (("a", "09", "a"), ("b", "10", "a"), ("c", "10", "a"), ("d", "10", "b")):
        rows = [contest_row(name, 1.0), refused(name, "only the first counts", year=2024, problem_id="nile")]
        out = write_results(tmp_path / directory, rows, {"finished": f"2026-11-01T{hour}:00:00+00:00", "options": {}})
        with ZipFile(export(out, "inspect")[0]) as log:
            summaries = json.loads(log.read("summaries.json"))
            samples = [json.loads(log.read(f"samples/2024-nile_epoch_{epoch}.json")) for epoch in (1, 2)]
            assert [one["uuid"] for one in samples] == [one["uuid"] for one in summaries]
            found.append({one["uuid"] for one in summaries})
    first, second, again, others = found
    assert len(first | second | others) == 6
    assert second == again


def test_inspect_reads_its_logs(results: Path) -> None:
    """The reader of inspect_ai gives every submission and the means."""
    log = pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed")
    read = [log.read_eval_log(str(path)) for path in export(results, "inspect")]
    assert sum(len(one.samples) for one in read) == len(list(open_results(results).rows()))
    assert all(one.status == "success" and one.results.scores[0].name == "score" for one in read)


def test_a_row_of_apps_without_its_number_of_tests(tmp_path: Path) -> None:
    """It can be exported: `passed` and `total` are only shown, under these names."""
    row = apps_row("a", True)
    del row["total"]
    (path,) = export(write_results(tmp_path / "apps", [row, apps_row("b", True, False)]), "inspect")
    with ZipFile(path) as log:
        facts = [json.loads(log.read(f"samples/17_epoch_{epoch}.json"))["metadata"] for epoch in (1, 2)]
    assert [(each["passed"], each["total"]) for each in facts] == [(1, None), (1, 2)]
    assert "tests" not in facts[1]


def test_an_inspect_log_of_a_part_is_not_a_success(tmp_path: Path) -> None:
    """The run was interrupted; the log has what was judged."""
    facts = {"submissions": {"pending": 3, "rows": 4}}
    (path,) = export(write_results(tmp_path / "part", [contest_row("a", 1.0)], facts), "inspect")
    with ZipFile(path) as log:
        assert json.loads(log.read("header.json"))["status"] == "cancelled"


def test_eval_results_are_entries_of_the_hub(tmp_path: Path) -> None:
    """In per cent, with the benchmark. The Hub's client reads them if it is new enough."""
    hub = pytest.importorskip("huggingface_hub")
    for directory, metric, values in (
        (contest(tmp_path / "contest"), "score", [12.5, 75.0]),
        (apps(tmp_path / "apps"), "pass@1", [50.0]),
    ):
        paths = export(directory, "eval-results", "task_id=all", "source_url=https://example.org", "source_name=Runs")
        entries = [yaml.safe_load(path.read_text()) for path in paths]
        assert [one["value"] for (one,) in entries] == values
        for (one,) in entries:
            assert one["dataset"]["task_id"] == "all"
            assert one["source"] == {"url": "https://example.org", "name": "Runs"}
            assert one["notes"].startswith(metric)
        if hasattr(hub, "parse_eval_result_entries"):
            assert [hub.parse_eval_result_entries(one)[0].value for one in entries] == [
                one["value"] for (one,) in entries
            ]


def test_eval_results_say_what_the_value_leaves_out(tmp_path: Path) -> None:
    """Submissions that could not be judged, and the rest of a run that was interrupted; also beside a user's notes."""
    paths = export(contest(tmp_path / "contest"), "eval-results", "notes=by hand")
    notes = sorted(yaml.safe_load(path.read_text())[0]["notes"] for path in paths)
    assert notes == ["by hand", "by hand; without 2 of 5 submissions, which could not be judged"]
    facts = {"options": {"problems": "open-r1/ioi"}, "submissions": {"pending": 3, "rows": 4}}
    (path,) = export(write_results(tmp_path / "part", [contest_row("a", 1.0)], facts), "eval-results")
    assert yaml.safe_load(path.read_text())[0]["notes"].endswith("; the run is not complete")


def test_eval_results_are_of_groups_that_have_the_metric(tmp_path: Path) -> None:
    """A group with fewer submissions has no such entry."""
    rows = [contest_row(name, 1.0, model=model) for name, model in (("a", "x"), ("b", "x"), ("c", "y"))]
    out = write_results(tmp_path / "out", rows, {"options": {"problems": "open-r1/ioi"}})
    (path,) = export(out, "eval-results", "metric=pass@2")
    assert yaml.safe_load(path.read_text())[0]["value"] == 100


def test_every_eval_ever_has_the_interval_of_a_mean(tmp_path: Path) -> None:
    """Over problems, if there are several."""
    rows = [contest_row("a", n % 2, problem_id=f"p{n}") for n in range(10)]
    out = write_results(tmp_path / "out", rows, {"options": {"problems": "open-r1/ioi"}})
    (path,) = export(out, "every-eval-ever", *SETTINGS["every-eval-ever"])
    for found in json.loads(path.read_text())["evaluation_results"]:
        details = found["score_details"]
        interval = details["uncertainty"]["confidence_interval"]
        assert 0 <= interval["lower"] < details["score"] == 0.5 < interval["upper"] <= 1
        assert (interval["confidence_level"], details["uncertainty"]["num_samples"]) == (0.95, 10)
        parameters = found["metric_config"].get("metric_parameters")
        assert parameters == (None if found["evaluation_result_id"] == "score" else {"k": 1})


def test_every_eval_ever_agrees_with_its_schema(results: Path) -> None:
    """It has the required keys, a score within its bounds, and texts in `details`. The path is the same each time."""
    paths = export(results, "every-eval-ever", *SETTINGS["every-eval-ever"])
    name = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json"
    assert all(re.search(rf"/every_eval_ever/data/[^/]+/[^/]+/[^/]+/{name}$", str(path)) for path in paths)
    assert export(results, "every-eval-ever", *SETTINGS["every-eval-ever"]) == paths
    for path in paths:
        values = json.loads(path.read_text())
        assert {"schema_version", "evaluation_id", "retrieved_timestamp", "model_info"} < values.keys()
        assert values["source_metadata"]["source_organization_name"] == "Lab"
        assert values["eval_library"]["name"] == "ioi_eval"
        assert {one["evaluation_result_id"] for one in values["evaluation_results"]} >= {"pass@1"}
        for one in values["evaluation_results"]:
            assert one["source_data"]["source_type"] == "hf_dataset"
            assert 0 <= one["score_details"]["score"] <= 1
            assert all(isinstance(text, str) for text in one["score_details"]["details"].values())


def test_every_eval_ever_identifies_problems_that_are_not_on_the_hub(tmp_path: Path) -> None:
    """Its datastore needs that to find duplicates. The path of a file, which may be secret, is not there."""
    found = []
    for directory, problem in (("a", "nile"), ("b", "nile"), ("c", "other")):
        rows = [contest_row("a", 1.0, problem_id=problem)]
        out = write_results(tmp_path / directory, rows, {"options": {"problems": "/tmp/problems.jsonl"}})
        (path,) = export(out, "every-eval-ever", *SETTINGS["every-eval-ever"])
        assert "problems.jsonl" not in path.read_text()
        found.append(json.loads(path.read_text())["evaluation_results"][0]["source_data"])
    one, again, other = (source.pop("additional_details")["source_id"] for source in found)
    assert one == again != other
    assert found[0] == {"dataset_name": "contest", "source_type": "other"}


@pytest.mark.parametrize("to", ["inspect", "eval-results", "every-eval-ever"])
def test_each_group_has_its_own_file(tmp_path: Path, to: str) -> None:
    """Also if the values of several columns give the same text when they are written one after the other."""
    groups = (("x, prompt y", "z"), ("x", "y, prompt z"))
    rows = [contest_row(str(n), 1.0, model=model, prompt=prompt) for n, (model, prompt) in enumerate(groups)]
    settings = ["organization=Lab"] if to == "every-eval-ever" else SETTINGS.get(to, [])
    assert len(export(write_results(tmp_path / "out", rows), to, *settings, by=("model,prompt",))) == 2


def test_groups_of_one_model_are_different_evaluations(tmp_path: Path) -> None:
    """Programs that read Every Eval Ever join files by `evaluation_id`."""
    rows = [contest_row(prompt, 1.0, model="lab/m", prompt=prompt) for prompt in ("short", "long")]
    out = write_results(tmp_path / "out", rows)
    paths = export(out, "every-eval-ever", *SETTINGS["every-eval-ever"], by=("model,prompt",))
    assert len({json.loads(path.read_text())["evaluation_id"] for path in paths}) == 2


def test_the_column_of_the_model_names_it_whatever_comes_before(tmp_path: Path) -> None:
    """A column such as `model_seed` was taken for the model's name if it was named first."""
    rows = [contest_row("a", 1.0, model="lab/m", model_seed="7")]
    out = write_results(tmp_path / "out", rows, {"options": {}})
    for by in ("model_seed,model", "model,model_seed"):
        (path,) = export(out, "every-eval-ever", "organization=Lab", out=tmp_path / by, by=(by,))
        assert json.loads(path.read_text())["model_info"]["id"] == "lab/m"


@pytest.mark.parametrize("to", ["inspect", "eval-results", "every-eval-ever"])
def test_names_of_files_are_printable(tmp_path: Path, to: str) -> None:
    """Whatever the model's name is. They are printed too."""
    settings = ["organization=Lab"] if to == "every-eval-ever" else SETTINGS.get(to, [])
    paths = export(contest(tmp_path / "results"), to, *settings, by=("model",))
    assert len(paths) == 2
    assert all(str(path).isprintable() for path in paths)


@pytest.mark.parametrize("to", MODULES)
def test_an_export_replaces_only_an_export(results: Path, tmp_path: Path, to: str) -> None:
    """Another file is not replaced, whatever its name. Neither are the results."""
    settings = SETTINGS.get(to, [])
    out = tmp_path / "there" / "out"
    written = export(results, to, *settings, out=out)
    assert export(results, to, *settings, out=out) == written
    written[0].write_bytes(b"mine")
    with pytest.raises(InputError, match="is there already and no export has written it"):
        export(results, to, *settings, out=out)
    assert written[0].read_bytes() == b"mine"
    taken = results / "results.jsonl"
    with pytest.raises(InputError, match=r"results\.jsonl is"):
        export(results, to, *settings, out=taken)
    taken.rename(results / "moved")
    with pytest.raises(InputError, match="does not exist"):
        export(results, to, *settings, out=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_an_out_of_another_kind_is_refused(tmp_path: Path) -> None:
    """A directory for a format of one file, a file for a format of several, and what cannot be opened or made."""
    directory = contest(tmp_path / "contest")
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    put_socket(tmp_path / "socket")
    for to, out, words in (
        ("junit", "there", r"is a directory; name the file itself: .*there/junit\.xml"),
        ("inspect", "file", "is a file, and this format makes a directory of files"),
        ("junit", "socket", "socket is there already and cannot be read: "),
    ):
        with pytest.raises(InputError, match=words):
            export(directory, to, out=tmp_path / out)
    with pytest.raises(SetupError, match="file is not a directory; choose another --out"):
        export(directory, "junit", out=tmp_path / "file" / "junit.xml")


@pytest.mark.parametrize(
    ("to", "settings", "words"),
    [
        ("xml", [], r"no such format 'xml'; there are: parquet, junit, inspect"),
        ("junit", ["a=b"], "--set a: junit has no such setting; it has name: of all suites together"),
        ("parquet", ["a=b"], "--set a: parquet has no such setting; it has none"),
        ("junit", ["name"], "--set name: it must be KEY=VALUE"),
        ("junit", ["name= "], "--set name= : it must be KEY=VALUE"),
        ("junit", ["name=a", "name=b"], "--set name is given twice"),
        ("eval-results", ["dataset=mine"], "mine is not a data set of the Hub"),
        ("eval-results", ["metric=pass@7"], r"no group has the metric pass@7; there are score, pass@1"),
        ("eval-results", ["source_name=a"], "needs --set source_url"),
        ("every-eval-ever", [], "needs the name of who evaluated"),
        ("every-eval-ever", ["organization=a", "relationship=b"], "must be one of first_party"),
    ],
)
def test_a_wrong_call_names_the_possible_values(tmp_path: Path, to: str, settings: list[str], words: str) -> None:
    """Nothing is written."""
    directory = contest(tmp_path / "contest")
    before = sorted(directory.iterdir())
    with pytest.raises(InputError, match=words):
        export(directory, to, *settings)
    assert sorted(directory.iterdir()) == before


def test_results_without_needed_columns_are_refused(tmp_path: Path) -> None:
    """Results without a model, data set or score."""
    one = write_results(tmp_path / "one", [contest_row("a", 1.0, 1.0)])
    with pytest.raises(InputError, match="do not name their model"):
        export(one, "every-eval-ever", "organization=Lab")
    with pytest.raises(InputError, match="what the run read its problems from is not a data set of the Hub"):
        export(one, "eval-results")
    with pytest.raises(InputError, match="--by temperature: no row has anything"):
        export(one, "junit", by=("temperature",))
    none = write_results(tmp_path / "none", [contest_row("a", None, 0.0, model="m")])
    with pytest.raises(InputError, match="has no score, and Every Eval Ever needs one"):
        export(none, "every-eval-ever", "organization=Lab")
    with pytest.raises(InputError, match="no group has the metric score; there are none, because nothing has a score"):
        export(none, "eval-results", "dataset=a/b")
    assert ET.parse(export(none, "junit")[0]).getroot().get("errors") == "1"
    many = write_results(tmp_path / "many", [contest_row(str(n), 1.0, model=str(n)) for n in range(201)])
    with pytest.raises(InputError, match="makes more than 200 groups"):
        export(many, "inspect")


FILL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
sys.argv = ["ioi-eval", *sys.argv[1:]]
from ioi_eval.cli.main import main
main()
"""


@pytest.mark.parametrize("to", MODULES)
def test_a_full_disk_leaves_no_incomplete_file(tmp_path: Path, to: str, environment: Mapping[str, str]) -> None:
    """The message names the file. The earlier file is unchanged."""
    results, out = contest(tmp_path / "contest"), tmp_path / "out"
    settings = [part for one in SETTINGS.get(to, []) for part in ("--set", one)]
    export(results, to, *SETTINGS.get(to, []), out=out)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    call = [sys.executable, "-c", FILL, "export", str(results), "--to", to, "--out", str(out), *settings]
    ended = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    assert ended.returncode == 2, ended.stderr
    assert "cannot be written: File too large. Fix that, or name another --out" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_command(start: Start, tmp_path: Path) -> None:
    """The output names the written files. A wrong call has exit code 2 and a message of one line."""
    contest(tmp_path / "results")
    ended = start("export", "results", "--to", "junit", "--out", "ci/junit.xml")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "Written: ci/junit.xml\n", "")
    wrong = start("export", "nowhere", "--to", "junit")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("ioi-eval: nowhere/results.jsonl does not exist")
