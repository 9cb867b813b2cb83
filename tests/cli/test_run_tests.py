"""`ioi-eval run-tests` and `scripts/tests_runner.py`: the options of huggingface/ioi, with a stand-in of the Hub."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.cli.run_tests import with_their_options
from ioi_eval.cli.sandboxes import SandboxOptions
from ioi_eval.config import PATIENCE_S
from ioi_eval.report.result_files import result_rows
from ioi_eval.rows import named_sources
from tests.cli.addition import COMMAND, NARROW, PROBLEMS, RIGHT, SLOW, TESTS, Pushed, Start, Write, submission_row
from tests.cli.ended_early import ended_after_a_result
from tests.hub_stand_in import Hub, put_rows

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "tests_runner.py"
CARD = "---\nconfigs:\n- config_name: '2024'\n  data_files: [{split: train, path: 2024/train-*}]\n---\n"
OWN = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")


@pytest.fixture
def rows_here(write: Write) -> None:
    """The task in files."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)


@pytest.fixture
def hub(hub: Hub) -> Hub:
    """The Hub with the reference's two data sets and three dumps."""
    put_rows(hub.root, "open-r1/ioi", PROBLEMS, "data/train-00000-of-00001.jsonl")
    put_rows(hub.root, "open-r1/ioi-test-cases", TESTS, "2024/train-00000-of-00001.jsonl")
    (hub.root / "open-r1" / "ioi-test-cases" / "README.md").write_text(CARD)
    put_rows(hub.root, "org/ioi-eval-models-a-fix", [submission_row("one"), submission_row("two", NARROW)])
    put_rows(hub.root, "org/models-b-fix", [submission_row("one", NARROW)])
    put_rows(hub.root, "org/other", [submission_row("x")])
    return hub


def verdicts(directory: Path) -> dict[str, str]:
    """The verdict of each submission."""
    return {row["uuid"]: row["verdict"] for row in result_rows(directory)}


def test_several_data_sets_in_one_call(start: Start, write: Write, rows_here: None, tmp_path: Path) -> None:
    """Each data set has its own results, also if ids are equal. The reports are beside them."""
    write("a.jsonl", submission_row("one"), submission_row("two", NARROW, subtask="01-full"))
    write("b.jsonl", submission_row("one", NARROW))
    ended = start("run-tests", "a.jsonl,b.jsonl", *OWN)
    assert ended.returncode == 0, ended.stderr
    assert verdicts(tmp_path / "results" / "a") == {"one": "AC", "two": "WA"}
    assert verdicts(tmp_path / "results" / "b") == {"one": "WA"}
    page = (tmp_path / "results" / "reports" / "a" / "2024_add.md").read_text()
    assert "| one | – | AC | 100 | 0/0 (AC) | 100/100 (AC) |" in page
    assert "| two | 01-full | WA | 0 | 0/0 (AC) | 0/100 (WA) |" in page
    assert "[2024/add](2024_add.md)" in (tmp_path / "results" / "reports" / "a" / "README.md").read_text()
    overview = (tmp_path / "results" / "reports" / "README.md").read_text()
    assert "| a | 2 | 2 | 0 | 0 | 2024: 100/100, 50: 100 | [a](a/README.md) |" in overview
    assert "| b | 1 | 1 | 0 | 0 | 2024: 0/100, 50: 0 | [b](b/README.md) |" in overview
    assert "A `?` marks a lower bound" in overview


def test_a_second_call_judges_only_new_rows(start: Start, write: Write, rows_here: None, tmp_path: Path) -> None:
    """With `--override` it judges all rows again."""
    write("a.jsonl", submission_row("one"))
    assert start("run-tests", "a.jsonl", *OWN).returncode == 0
    write("a.jsonl", submission_row("one"), submission_row("two", NARROW))
    judged = []
    for more in ((), ("--override",)):
        assert start("run-tests", "a.jsonl", *OWN, *more).returncode == 0
        judged.append(json.loads((tmp_path / "results" / "a" / "summary.json").read_text())["this_run"]["judged"])
    assert judged == [1, 2]


@pytest.mark.parametrize("dumps", ["a.jsonl,b.jsonl", "b.jsonl,a.jsonl"])
def test_a_row_that_cannot_be_judged_in_one_of_several_data_sets(
    start: Start, write: Write, rows_here: None, dumps: str
) -> None:
    """The exit code is 1, whichever data set it is in, and also of a call that judges nothing."""
    write("a.jsonl", submission_row("one"), submission_row("two", problem_id="none"))
    write("b.jsonl", submission_row("one"))
    for more in (("--dry_run",), ()):
        ended = start("run-tests", dumps, *OWN, *more)
        assert ended.returncode == 1, ended.stderr


def test_after_ctrl_c_no_other_data_set_is_begun(
    write: Write, rows_here: None, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """Those that were not begun are named."""
    write("a.jsonl", *(submission_row(str(number), f"{SLOW}// {number}\n") for number in range(40)))
    write("b.jsonl", submission_row("one"))
    command = [*COMMAND, "run-tests", "a.jsonl,b.jsonl", *OWN, "--workers", "1"]
    journal = tmp_path / "results" / "a" / "journal"
    ended = ended_after_a_result(command, journal, environment, tmp_path, signal.SIGINT)
    assert ended.returncode == 130, ended.stderr
    assert "not begun: b.jsonl\n" in ended.stderr
    assert not (tmp_path / "results" / "b").exists()


def test_data_sets_of_the_same_name_are_kept_apart(start: Start, write: Write, rows_here: None, tmp_path: Path) -> None:
    """In one call and in several calls."""
    for folder, code in (("x", RIGHT), ("y", NARROW)):
        (tmp_path / folder).mkdir()
        write(f"{folder}/dump.jsonl", submission_row("one", code))
    assert start("run-tests", "x/dump.jsonl,y/dump.jsonl", *OWN).returncode == 0
    assert start("run-tests", "y/dump.jsonl", *OWN).returncode == 0
    overview = (tmp_path / "results" / "reports" / "README.md").read_text()
    assert "(dump/README.md)" in overview, "the overview is of all that stands there"
    assert verdicts(tmp_path / "results" / "dump") == {"one": "AC"}
    assert verdicts(tmp_path / "results" / "y--dump") == {"one": "WA"}
    for path in (tmp_path / "results").glob("*dump/*"):  # what a run leaves that is killed
        if path.name != "journal":
            path.unlink()
    assert start("run-tests", "y/dump.jsonl", *OWN).returncode == 0
    assert [path.name for path in (tmp_path / "results" / "dump").iterdir()] == ["journal"]
    assert verdicts(tmp_path / "results" / "y--dump") == {"one": "WA"}


def test_always_extract_code_ignores_the_code_column(
    start: Start, write: Write, rows_here: None, tmp_path: Path
) -> None:
    """Under `--always_extract_code`. A row without text to extract from has no score."""
    answer = f"```cpp\n{RIGHT}```\n"
    write("a.jsonl", submission_row("one", NARROW, generation=answer), submission_row("two"))
    ended = start("run-tests", "a.jsonl", *OWN, "--always_extract_code")
    rows = {row["uuid"]: row for row in result_rows(tmp_path / "results" / "a")}
    assert (rows["one"]["verdict"], rows["one"]["code"]) == ("AC", RIGHT)
    assert ended.returncode == 1
    assert rows["two"]["total_score"] is None
    assert "the row has no program: it needs one of the columns code, generation" in rows["two"]["error"]


def test_messages_for_fine_tuning(start: Start, write: Write, rows_here: None, tmp_path: Path) -> None:
    """A conversation of prompt and generation. A row without a prompt, or whose program is in its own conversation,
    keeps what it has: another program would be found when the results are written, and the run would never be complete.
    """
    answer = f" ```cpp\n{RIGHT}```\n"
    own = [{"role": "assistant", "content": answer}]
    write(
        "a.jsonl",
        submission_row("one", None, generation=answer, prompt="Add."),
        submission_row("two", None, generation=answer),
        submission_row("many", None, generation=[answer, "no"], prompt="Add."),
        submission_row("own", None, generation="", prompt="Add.", messages=own),
        submission_row("asked", None, generation=answer, prompt="Add.", messages=[{"role": "user", "content": "Add."}]),
        submission_row("lists", None, generation=answer, prompt="Add.", messages=[own, own]),
    )
    assert start("run-tests", "a.jsonl", *OWN, "--add_messages_column").returncode == 0
    rows = {row["uuid"]: row for row in result_rows(tmp_path / "results" / "a")}
    asked = {"role": "user", "content": "Add."}
    assert rows["one"]["messages"] == [asked, {"role": "assistant", "content": answer.strip()}]
    assert rows["two"].get("messages") is None
    assert rows["many/1"]["messages"] == [asked, {"role": "assistant", "content": "no"}]
    assert rows["own"]["messages"] == rows["lists/1"]["messages"] == own
    assert rows["asked"]["messages"] == rows["one"]["messages"]
    assert {name for name, row in rows.items() if row["verdict"] != "AC"} == {"many/1"}


def test_a_dry_run_writes_nothing(start: Start, write: Write, rows_here: None, tmp_path: Path) -> None:
    """It prints what would be judged, for each data set."""
    write("a.jsonl", submission_row("one"))
    write("b.jsonl", submission_row("one"), submission_row("two", NARROW))
    ended = start("run-tests", "a.jsonl,b.jsonl", "owner/results", *OWN, "--dry_run")
    assert ended.returncode == 0, ended.stderr
    assert [line.split() for line in ended.stdout.splitlines() if line.startswith("all")] == [
        ["all", "1", "0", "0"],
        ["all", "2", "0", "0"],
    ]
    assert not (tmp_path / "results").exists()


def test_all_other_options_are_accepted(start: Start, write: Write, rows_here: None, tmp_path: Path) -> None:
    """With the reference's names. 1,500 requests at once do not start 1,500 programs on this machine."""
    write("a.jsonl", {**submission_row("one", RIGHT.replace("#include <cstdio>\n", "")), "name": "first"})
    ended = start(
        "run-tests", "a.jsonl", *OWN, "--local_results_path", "there", "--id_column", "name", "--add_includes",
        "--max_concurrent_requests", "1500", "--test_batch_size", "-1", "--timeout", "600",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    (row,) = result_rows(tmp_path / "there" / "a")
    assert (row["name"], row["verdict"], row["fixes"]) == ("first", "AC", ["includes"])
    at_once = int(ended.stderr.split(" at once")[0].rpartition(" ")[2])
    assert at_once <= len(os.sched_getaffinity(0))


def test_requests_at_once_and_the_timeout_set_slots_and_patience() -> None:
    """They count if our own options are not given: slots used at once, and how long jobs wait for servers."""
    assert with_their_options(SandboxOptions(), at_most=3, patience_s=600.0) == SandboxOptions(
        at_most=3, patience=600.0
    )
    assert with_their_options(SandboxOptions(), at_most=None, patience_s=None) == SandboxOptions()
    ours = SandboxOptions(workers=2, patience=PATIENCE_S)  # the default counts too if it is given
    assert with_their_options(ours, at_most=3, patience_s=600.0) == ours


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.jsonl", "--test_batch_size", "0"), "--test_batch_size 0: must be 1 or more, or -1"),
        (("a.jsonl,,b.jsonl",), "names an empty data set"),
        (("*/name",), "a pattern may stand for the name, not for the owner"),
        (("a.jsonl", "results"), "form owner/name; the directory for results is named by --local_results_path"),
        (("a.jsonl", "./here"), "./here is not the name of a data set to push results to"),
        (("a.jsonl", "results", "--dry_run"), "it has the form owner/name"),
        (("b.jsonl",), "there is no file or directory b.jsonl"),
    ],
    ids=["batch", "comma", "owner", "results", "path", "dry run", "absent"],
)
def test_wrong_calls(start: Start, write: Write, rows_here: None, arguments: tuple[str, ...], words: str) -> None:
    """One message, and nothing is written."""
    write("a.jsonl", submission_row("one"))
    ended = start("run-tests", *arguments, *OWN)
    assert ended.returncode == 2
    assert words in ended.stderr


def test_wildcards_match_an_owner_s_data_sets(hub: Hub, start: Start, tmp_path: Path) -> None:
    """Problems and tests are the reference's by default."""
    ended = start("run-tests", "org/*models-*-fix,org/models-b-fix", env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert verdicts(tmp_path / "results" / "models-a-fix") == {"one": "AC", "two": "WA"}
    assert verdicts(tmp_path / "results" / "models-b-fix") == {"one": "WA"}
    ended = start("run-tests", "org/none-*", env=hub.environment)
    assert ended.returncode == 2
    assert (
        "no data set of the Hub matches org/none-*; org has ioi-eval-models-a-fix, models-b-fix, other" in ended.stderr
    )


def test_results_and_reports_are_pushed(hub: Hub, start: Start, pushed: Pushed) -> None:
    """Each data set has a private configuration. Other rows there stay, unless `--override` is given."""
    results = hub.root / "me" / "results"
    ended = start("run-tests", "org/ioi-eval-models-a-fix,org/models-b-fix", "me/results", env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert (results / ".private").exists()
    rows = {row["uuid"]: row for row in pushed("models-a-fix")}
    assert {name: row["all_subtasks_points"] for name, row in rows.items()} == {"one": 100, "two": 0}
    tests = rows["two"]["all_subtasks_results"][1]["test_results"]
    assert [(test["test_name"], test["status"]) for test in tests] == [("0-01", "AC"), ("1-01", "WA")]
    assert [row["uuid"] for row in pushed("models-b-fix")] == ["one"]
    for page in ("README.md", "models-a-fix/README.md", "models-a-fix/2024_add.md", "models-b-fix/2024_add.md"):
        assert (results / "reports" / page).is_file(), page

    put_rows(hub.root, "org/models-b-fix", [submission_row("two")])
    assert start("run-tests", "org/models-b-fix", "me/results", env=hub.environment).returncode == 0
    both = {row["uuid"]: row["verdict"] for row in pushed("models-b-fix")}
    assert both == {"two": "AC", "one": "WA"}
    ended = start("run-tests", "org/models-b-fix", "me/results", "--override", env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert [row["uuid"] for row in pushed("models-b-fix")] == ["two"]
    assert len(pushed("models-a-fix")) == 2


def test_an_impossible_push_is_refused_before_judging(hub: Hub, start: Start, tmp_path: Path) -> None:
    """A token without write access; a public data set, unless that is requested; or `--public` without RESULTS."""
    put_rows(hub.root, "me/public", [{"a": 1}])
    ended = start("run-tests", "org/other", "me/new", env={**hub.environment, "HF_TOKEN": "hf_other"})
    assert ended.returncode == 2
    assert "the results cannot be pushed to me/new" in ended.stderr
    ended = start("run-tests", "org/other", "me/public", env=hub.environment)
    assert ended.returncode == 2
    assert "the data set me/public is public" in ended.stderr
    ended = start("run-tests", "org/other", "--public", env=hub.environment)
    assert (ended.returncode, "--public needs RESULTS" in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "results").exists()
    ended = start("run-tests", "org/other", "me/public", "--public", env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert (hub.root / "me" / "public" / "other" / "train-00000-of-00001.parquet").is_file()


def test_a_failed_push_is_repeated_by_the_same_command(hub: Hub, start: Start, tmp_path: Path) -> None:
    """The Hub fails at the end. The results stay, and the next call judges nothing again."""
    results = put_rows(hub.root, "me/results", [], "reports")  # a file in place of the folder
    (results / ".private").touch()
    ended = start("run-tests", "org/other", "me/results", "--override", env=hub.environment)
    assert ended.returncode == 1
    assert (
        "the same command without --no-resume (of run-tests, --override) pushes them without judging again, and keeps "
        "the rows that RESULTS already has"
    ) in ended.stderr
    ended = start("run-tests", "org/other", "me/results", env=hub.environment)
    assert ended.returncode == 1
    assert "other cannot be pushed to me/results" in ended.stderr
    assert "the same command pushes them without judging again\n" in ended.stderr
    assert verdicts(tmp_path / "results" / "other") == {"x": "AC"}
    (results / "reports").unlink()
    ended = start("run-tests", "org/other", "me/results", env=hub.environment)
    assert ended.returncode == 0, ended.stderr
    assert json.loads((tmp_path / "results" / "other" / "summary.json").read_text())["this_run"]["judged"] == 0
    assert (results / "other" / "train-00000-of-00001.parquet").is_file()


def test_official_solutions_have_their_label_as_id(
    start: Start, write: Write, rows_here: None, tmp_path: Path, results: Callable[[], list[dict[str, Any]]]
) -> None:
    """The rows of `open-r1/ioi-sample-solutions` are scored unchanged, and compared with their statements."""
    stated = [{"problem": "add", "subtask": "01-full", "points": 100, "score": 1.0, "weighted_score": 100.0,
               "score_precision": 2, "status": "AC", "test_results": []}]  # fmt: skip
    row = {"year": 2024, "problem_id": "add", "label": "correct/author.cpp", "code": RIGHT,
           "all_subtasks_points": 100.0, "all_subtasks_results": stated}  # fmt: skip
    write("ioi-sample-solutions.jsonl", row)
    ended = start("run-tests", "ioi-sample-solutions.jsonl", *OWN)
    assert ended.returncode == 0, ended.stderr
    (found,) = result_rows(tmp_path / "results" / "ioi-sample-solutions")
    assert (found["label"], found["verdict"]) == ("correct/author.cpp", "AC")
    ended = start("validate", "ioi-sample-solutions.jsonl", *OWN)
    assert ended.returncode == 0, ended.stderr
    assert "states results; comparing with these" in ended.stderr
    write("ioi-sample-solutions.jsonl", {**row, "code": NARROW})
    assert start("validate", "ioi-sample-solutions.jsonl", *OWN).returncode == 1


def test_the_script_takes_the_same_options(
    environment: Mapping[str, str], write: Write, rows_here: None, tmp_path: Path
) -> None:
    """The script has the name that it has in the reference."""
    write("a.jsonl", submission_row("one"))
    command = [sys.executable, str(SCRIPT), "a.jsonl", *OWN, "--max_concurrent_requests", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert ended.returncode == 0, ended.stderr
    assert " 1 at once" in ended.stderr
    assert verdicts(tmp_path / "results" / "a") == {"one": "AC"}


def test_other_commands_name_their_own_options(start: Start) -> None:
    """If the reference's options are given to `score`, the message names those of `score`."""
    ended = start("score", "a.jsonl", "--add_includes")
    assert ended.returncode == 2
    assert "--add_includes is an option of Hugging Face's tests_runner.py; in ioi-eval score it is: --fix-includes" in (
        ended.stderr
    )
    assert "ioi-eval run-tests" in ended.stderr
    ended = start("validate", "a.jsonl", "--dry_run")
    assert (ended.returncode, "leave it out" in ended.stderr) == (2, True)
    ended = start("score", "a.jsonl,b.jsonl", *OWN, "--out", "out")
    assert ended.returncode == 2
    assert "Several dumps are separate words; ioi-eval run-tests takes them with commas, and patterns" in ended.stderr


@pytest.mark.parametrize(
    ("typed", "here"),
    [
        ("tests_runner.py", "ioi-eval run-tests"),
        ("new_eval_model_generations.py", "ioi-eval score (in Python: ioi_eval.pipeline.score_dump)"),
        ("evaluate.py", "ioi-eval score (answers of a model are made elsewhere"),
    ],
)
def test_programs_of_the_reference_typed_as_commands(start: Start, typed: str, here: str) -> None:
    """The message says which command to use."""
    ended = start(typed, "a", "b")
    assert ended.returncode == 2
    assert f"{typed} is not a command here; its counterpart is: {here}" in ended.stderr


def test_patterns_match_files_too(tmp_path: Path) -> None:
    """`*`, `?` and `[…]`. Each file is taken once. A file with a comma in its name is one file."""
    for name in ("a.jsonl", "b.jsonl", "cc.jsonl", "a,b.jsonl"):
        (tmp_path / name).touch()

    def found(pattern: str) -> list[str]:
        return [Path(name).name for name in named_sources(str(tmp_path / pattern))]

    assert found("?.jsonl") == ["a.jsonl", "b.jsonl"]
    assert found("[b-z]*.jsonl") == ["b.jsonl", "cc.jsonl"]
    assert found(f"b.jsonl,{tmp_path}/*.jsonl") == ["b.jsonl", "a,b.jsonl", "a.jsonl", "cc.jsonl"]
    assert found("a,b.jsonl") == ["a,b.jsonl"]


def test_many_names_in_one_argument() -> None:
    """Together they are longer than a file name may be."""
    names = [f"run-{number:02}.jsonl" for number in range(60)]
    assert list(named_sources(",".join(names))) == names
