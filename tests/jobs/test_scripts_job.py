"""Classic jobs: the reference's files at its paths, and problems that the stock pair cannot judge."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.config import JudgeLimits
from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.jobs import scripts_job
from ioi_eval.model import (
    Batch,
    Blob,
    CheckerProtocol,
    Communication,
    Job,
    JobFile,
    JudgeProgram,
    OutputCheck,
    Problem,
    ProblemKey,
    ProcessIO,
    SourceFile,
    Subtask,
    TestCase,
    Tokens,
)
from tests.small_problems import small_problem

CASE = TestCase(name="t1", input=b"1 2\n", answer=b"3\n")
CHECKER = JudgeProgram(
    source=SourceFile(path="check/my_checker.cpp", content=b"checker"),
    files=(SourceFile(path="check/testlib.h", content=b"testlib"),),
)
MANAGER = JudgeProgram(
    source=SourceFile(path="manager/manager.cpp", content=b"manager"),
    files=(SourceFile(path="manager/testlib.h", content=b"testlib"),),
    args=("a", "b"),
)
BATCH = small_problem(
    key=ProblemKey(year=2024, id="Nile"),
    name="Nile",
    method=Batch(check=CHECKER),
    time_limit_s=2.0,
    subtasks=(Subtask(name="01", points=100.0, tests=("t1",)),),
    tests={"t1": CASE},
    linked=(SourceFile(path="graders/grader.cpp", content=b"grader"),),
    headers=(SourceFile(path="graders/nile.h", content=b"header"),),
    cxx_std="gnu++17",
)
COMMUNICATION = replace(
    BATCH,
    method=Communication(manager=MANAGER, processes=2, process_io=ProcessIO.FIFO_IO),
    linked=(SourceFile(path="stub.cpp", content=b"stub"),),
)
SCRIPT = JudgeProgram(source=SourceFile(path="manager.py", content=b""))
ROW = {
    "id": "Nile",
    "time_limit": 2.0,
    "memory_limit": 1 << 28,
    "grader_files": [["graders/nile.h", "header"], ["checker/testlib.h", ""]],
}


def checked_by(check: OutputCheck) -> Problem:
    """The Batch problem, judged like this."""
    return replace(BATCH, method=Batch(check=check))


def contents(job: Job) -> dict[str, object]:
    """A job's files by name."""
    return {file.name: file.content for file in job.files}


def test_files_have_the_reference_s_paths() -> None:
    """Submission, input, expected output, grader files and configuration."""
    job = scripts_job.job(BATCH, CASE, "int x;")
    config = json.loads(str(contents(job)["graders/grader_config.json"], "utf-8"))  # type: ignore[call-overload]
    assert contents(job) == {
        "graders/nile.cpp": b"int x;",
        "input.txt": b"1 2\n",
        "correct_output.txt": b"3\n",
        "graders/grader.cpp": b"grader",
        "graders/nile.h": b"header",
        "checker/checker.cpp": b"checker",
        "checker/testlib.h": b"testlib",
        "graders/grader_config.json": contents(job)["graders/grader_config.json"],
    }
    assert all(not isinstance(value, (dict, list)) for value in config.values()), "flat keys only"
    assert (config["task_type"], config["code"], config["time_limit"]) == ("Batch", "nile", 2.0)


def test_communication_configuration() -> None:
    """Number of processes, their pipes and the manager's arguments are in flat keys."""
    job = scripts_job.job(COMMUNICATION, replace(CASE, answer=None), "int x;")
    config = json.loads(str(contents(job)["graders/grader_config.json"], "utf-8"))  # type: ignore[call-overload]
    prefix = "task_type_parameters_Communication_"
    assert {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)} == {
        "num_processes": 2,
        "user_io": "fifo_io",
        "manager_args": "a b",
    }
    assert contents(job)["graders/manager.cpp"] == b"manager"
    assert "correct_output.txt" not in contents(job)


def test_limits_of_the_job_are_above_the_problem_s() -> None:
    """The run stage has 3 s more than the problem's limit, and memory for the checker too."""
    job = scripts_job.job(BATCH, CASE, "")
    assert job.run_limits.wall_ms == 5_000
    assert job.run_limits.cpu_ms >= job.run_limits.wall_ms
    assert (job.run_limits.memory_bytes or 0) > 2 * BATCH.memory_limit_bytes
    assert job.compile_limits is not None


def test_a_job_with_the_runner_respects_the_workers_limits() -> None:
    """Our package allows 600 s of wall clock and of CPU time. Workers with isolate refuse more with 400,
    permanently.
    """
    for time_limit_s in (2.0, 20.0, 200.0):
        row = {**ROW, "time_limit": time_limit_s}
        job = scripts_job.row_job(row, "", "", "", beside=scripts_job.own_files(b"elf"), max_wall_ms=600_000)
        assert job.run_limits.wall_ms <= 600_000
        assert job.run_limits.cpu_ms <= 600_000
        assert job.run_limits.cpu_ms > 1000 * min(590, time_limit_s * 1.25 + JudgeLimits().cpu_s)
        assert job.run_limits.memory_bytes is None  # the runner limits it; a checker may use 4 GiB


def test_given_scripts_are_in_a_row_s_job() -> None:
    """The given scripts, and no others."""
    job = scripts_job.row_job(ROW, "", "", None, beside={"compile": b"# compile", "run": b"# run"})
    assert (contents(job)["compile"], contents(job)["run"]) == (b"# compile", b"# run")
    assert {"compile", "run"}.isdisjoint(contents(scripts_job.row_job(ROW, "", "", None)))


def test_checker_arguments_are_refused_with_the_reason() -> None:
    """The package passes none, and without them a checker may judge differently."""
    with pytest.raises(UnsupportedError, match="gives a checker no arguments; use the bundled profile"):
        scripts_job.job(checked_by(replace(CHECKER, args=("float_tolerance", "1e-6"))), CASE, "")


def test_test_data_is_passed_by_reference(tmp_path: Path) -> None:
    """Data on disk is passed without being read."""
    blob = Blob(path=tmp_path / "absent", size=10_000_000, sha256="0" * 64)
    job = scripts_job.job(BATCH, TestCase(name="t1", input=blob, answer=blob), "")
    assert JobFile(name="input.txt", content=blob) in job.files


@pytest.mark.parametrize(
    ("problem", "case", "words"),
    [
        (replace(BATCH, cxx_std="gnu++20"), CASE, r"gnu\+\+17, not gnu\+\+20"),
        (BATCH, replace(CASE, answer=None), "no expected output"),
        (BATCH, replace(CASE, answer=b"\n\n"), "no expected output"),
        (replace(BATCH, linked=(SourceFile(path="helper.cpp", content=b""),)), CASE, "grader.cpp and stub.cpp"),
        (replace(BATCH, headers=(SourceFile(path="a.h", content=b"a"), *BATCH.headers)), CASE, r"is a\.h, not nile\.h"),
        (replace(BATCH, headers=(SourceFile(path="a.h", content=b""), *BATCH.headers)), CASE, "first header"),
        (checked_by(replace(CHECKER, source=SourceFile(path="checker.py", content=b""))), CASE, r"C\+\+ only"),
        (replace(COMMUNICATION, method=Communication(manager=SCRIPT)), CASE, r"C\+\+ only"),
        (checked_by(replace(CHECKER, protocol=CheckerProtocol.TESTLIB)), CASE, "not testlib"),
        (checked_by(Tokens()), CASE, "not tokens"),
    ],
)
def test_problems_that_the_stock_pair_would_judge_wrongly(problem: Problem, case: TestCase, words: str) -> None:
    """The stock pair is not used if it would give a wrong score. The message has the reason."""
    with pytest.raises(UnsupportedError, match=words):
        scripts_job.job(problem, case, "")


def test_a_row_s_job_has_the_row_s_files() -> None:
    """Grader files are unchanged. Those without content are left out, as in the reference."""
    job = scripts_job.row_job(ROW, "1 2\n", "int x;", "3\n")
    assert contents(job) == {
        "graders/nile.cpp": b"int x;",
        "input.txt": b"1 2\n",
        "correct_output.txt": b"3\n",
        "graders/nile.h": b"header",
        "graders/grader_config.json": b'{"task_type":"Batch","code":"nile","time_limit":2.0,"memory_limit":268435456}',
    }
    assert "correct_output.txt" not in contents(scripts_job.row_job(ROW, "1 2\n", "int x;", None))
    own = {**ROW, "grader_files": [["graders/grader_config.json", "{}"]]}
    assert contents(scripts_job.row_job(own, "", "", None))["graders/grader_config.json"] == b"{}"
    assert job.run_limits.wall_ms == 5_000


def test_our_scripts_get_what_a_row_s_columns_state() -> None:
    """In the configuration, where they read it. The other scripts get the row's own one."""
    config = {"task_type": "Batch", "time_limit": 9, "code": "other", "cxx_std": "gnu++14"}
    own = [["graders/grader_config.json", json.dumps(config)]]
    row = {
        **ROW,
        "grader_files": own,
        "task_type": "Communication",
        "cxx_std": "gnu++20",
        "checker_protocol": "testlib",
    }
    ours = scripts_job.own_files(b"elf")

    def sent(**others: object) -> Any:
        job = scripts_job.row_job({**row, **others}, "", "", None, beside=ours)
        return json.loads(str(contents(job)["graders/grader_config.json"], "utf-8"))  # type: ignore[call-overload]

    limits = {"code": "nile", "time_limit": 2.0, "memory_limit": 268435456}
    stated = {"cxx_std": "gnu++20", "judge_cxx_std": "gnu++20", "checker_protocol": "testlib"}
    assert sent() == {"task_type": "Communication", **limits, **stated}
    unstated = sent(task_type=None, cxx_std=float("nan"), checker_protocol=None)
    assert unstated == {"task_type": "Batch", "cxx_std": "gnu++14", **limits}
    job = scripts_job.row_job(row, "", "", None)
    assert contents(job)["graders/grader_config.json"] == own[0][1].encode()
    own[0][1] = "\ufeff" + json.dumps({"task_type": "Batch", "weight": float("nan"), "name": "\ud800"})
    kept = sent(task_type=float("nan"), cxx_std=None, checker_protocol=None)
    assert (kept["task_type"], kept["name"], kept["time_limit"]) == ("Batch", "\ud800", 2.0)
    for broken in ("[]", '{"task_type": "Batch",}', "[" * 100_000):
        own[0][1] = broken
        with pytest.raises(InputError, match=r"grader_config\.json is not a JSON object"):
            sent()


def test_files_in_directories_keep_their_directory() -> None:
    """A checker may include `lib/a.h`, which the scripts look for below the checker's directory."""
    header = SourceFile(path="checker/lib/a.h", content=b"x")
    checker = JudgeProgram(source=SourceFile(path="checker/checker.cpp", content=b""), files=(header,))
    assert contents(scripts_job.job(checked_by(checker), CASE, ""))["checker/lib/a.h"] == b"x"


def test_a_file_with_the_name_of_its_directory() -> None:
    """It is not put beside the directory, where no directory could be made then."""
    check = SourceFile(path="checker/check/check", content=b"x")
    checker = JudgeProgram(source=SourceFile(path="checker/checker.cpp", content=b""), files=(check,))
    files = contents(scripts_job.job(checked_by(checker), CASE, ""))
    assert files["checker/check/check"] == b"x"
    assert "checker/check" not in files


def test_a_problem_without_headers_gets_one_that_cannot_be_included() -> None:
    """The stock pair needs the name of a header. On other workers no such header exists, so including it must be a
    compile error.
    """
    for headers in ((), (SourceFile(path="graders/testlib.h", content=b"x"),)):
        sent = contents(scripts_job.job(replace(BATCH, headers=headers), CASE, ""))["graders/nile.h"]
        assert isinstance(sent, bytes)
        assert sent.startswith(b"#error ")
    for content in (b"header", b""):
        own = replace(BATCH, headers=(SourceFile(path="graders/nile.h", content=content),))
        assert contents(scripts_job.job(own, CASE, ""))["graders/nile.h"] == content


def test_the_cms_ioi_package_finds_the_submission_of_a_row() -> None:
    """The package compiles the file with the first header's name: `graders/?.cpp` if there is no header."""
    bare = {**ROW, "grader_files": [["checker/testlib.h", "x"], ["graders/testlib.h", "x"]]}
    sent = contents(scripts_job.row_job(bare, "", "", None))["graders/nile.h"]
    assert sent == contents(scripts_job.job(replace(BATCH, headers=()), CASE, ""))["graders/nile.h"]
    ours = {"compile": b"#", "run": b"#"}
    assert "graders/nile.h" not in contents(scripts_job.row_job(bare, "", "", None, beside=ours))
    other = {**ROW, "grader_files": [["graders/nile.h", "header"], ["graders/lib.h", "x"]]}
    with pytest.raises(UnsupportedError, match=r"nile: .* takes the first header's name .* lib\.h, not nile\.h; use"):
        scripts_job.row_job(other, "", "", None)
    assert contents(scripts_job.row_job(other, "", "", None, beside=ours))["graders/lib.h"] == b"x"


def test_a_row_without_a_field_is_an_error_that_names_it() -> None:
    """The caller has to add the field."""
    with pytest.raises(InputError, match="time_limit"):
        scripts_job.row_job({key: value for key, value in ROW.items() if key != "time_limit"}, "", "", None)


@pytest.mark.parametrize(
    "odd",
    [
        {"time_limit": float("nan")},  # a row of pandas without a limit
        {"time_limit": float("inf")},
        {"time_limit": 0},
        {"time_limit": 10**400},
        {"memory_limit": float("inf")},
        {"memory_limit": -1},
        {"memory_limit": 1 << 64},
    ],
)
def test_a_row_with_an_odd_limit_is_an_error(odd: dict[str, float]) -> None:
    """It was a ValueError, a TypeError or an OverflowError, or a limit of 3 s."""
    with pytest.raises(InputError, match=r"the problem's row|(time|memory)_limit is"):
        scripts_job.row_job({**ROW, **odd}, "", "", None)


def test_no_file_of_the_problem_replaces_the_submission_or_the_test() -> None:
    """A row may have a template with the submission's name. In jobs for the stock pair no file can have it."""
    files = [["graders/nile.cpp", "template"], ["input.txt", "9"], ["correct_output.txt", "9"]]
    job = scripts_job.row_job({**ROW, "grader_files": files}, "1 2\n", "int x;", "3\n")
    found = contents(job)
    names = ("graders/nile.cpp", "input.txt", "correct_output.txt")
    assert [found[name] for name in names] == [b"int x;", b"1 2\n", b"3\n"]
    included = SourceFile(path="graders/nile.cpp", content=b"model solution")
    with pytest.raises(UnsupportedError, match=r"nile\.cpp, has the name of the submission"):
        scripts_job.job(replace(BATCH, headers=(*BATCH.headers, included)), CASE, "int x;")


def test_an_id_with_directories() -> None:
    """The submission's file is named by the last part, as in other jobs."""
    job = scripts_job.row_job({**ROW, "id": "2024/Nile"}, "", "int x;", None)
    assert contents(job)["graders/nile.cpp"] == b"int x;"
    key = replace(BATCH.key, id="2024/Nile")
    assert contents(scripts_job.job(replace(BATCH, key=key), CASE, "int x;"))["graders/nile.cpp"] == b"int x;"


def test_texts_of_a_row_s_job() -> None:
    """Lone surrogates, which JSON can contain, become question marks, as elsewhere. Other types are errors."""
    job = scripts_job.row_job(ROW, "\ud800", "\udc80", "\udfff")
    assert {contents(job)[name] for name in ("graders/nile.cpp", "input.txt", "correct_output.txt")} == {b"?"}
    odd: Any
    for odd in (b"1", 1):
        for values in ((odd, "", ""), ("", odd, ""), ("", "", odd)):
            with pytest.raises(InputError, match="where text is needed"):
                scripts_job.row_job(ROW, *values)
    unused = [["graders/a.h", None], ["graders/b.h", float("nan")]]
    assert (
        contents(scripts_job.row_job({**ROW, "grader_files": unused}, "", "", None, beside={}))["graders/nile.cpp"]
        == b""
    )
    for pair in ({"path": "a.h", "content": "x"}, "ab", ["a.h"]):
        with pytest.raises(InputError, match="lacks a usable field"):
            scripts_job.row_job({**ROW, "grader_files": [pair]}, "", "", None)
