"""Jobs in the format of huggingface/ioi: one test per job, judged by scripts. Pure.

    graders/<problem_id>.cpp  input.txt  correct_output.txt  every grader file   and the scripts   compile  run

`compile` compiles the submission with its graders, checker and manager; `run` enforces the time limit, starts the
manager, checks the output, and prints the score to stdout and feedback to stderr. `scripts_answer.py` reads them.

Two kinds of jobs are made here. `job` is for workers whose only package is `cms_ioi`, which has its own pair. For
problems that this pair is known to judge wrongly, the worker is unsuitable (`why_package_cannot_judge_test`). Its other
weaknesses are documented: wall-clock limits, `diff -b` for white-diff, one uid for submission and judge. `row_job` is
for `run_submission`, on any worker: with our own pair (`own_files`: `graders/compile` and `graders/run`, in which the
runner compiles and judges), with a user's pair, or with none. All other jobs use the runner without scripts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import orjson

from ioi_eval import boxfiles
from ioi_eval.config import JudgeLimits
from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.jobs.plan import given_up_ms
from ioi_eval.jobs.run_setups import plan_protocol
from ioi_eval.model import (
    Batch,
    CheckerProtocol,
    Communication,
    Content,
    Interactive,
    Job,
    JobFile,
    JobKind,
    Language,
    Problem,
    StageLimits,
    Submission,
    TaskType,
    TestCase,
    TwoSteps,
    by_include,
)
from ioi_eval.problems.limits import check_memory_limit, check_time_limit
from ioi_eval.problems.task_parameters import Parameter, parameter_key

HARD_LIMIT_SLACK_S = 3.0
"""The sandbox's hard limit is the problem's limit, which `run` enforces, plus this. Source: huggingface/ioi's
documents, "2 or 3 additional seconds"."""

RUNNER_SLACK_MS = 80_000
"""If our runner judges, this is added to the wall clock at which it gives a test up: time for the checker (60 s) and
for a busy machine. The runner enforces all limits itself."""

COMPILE_LIMITS = StageLimits(wall_ms=60_000, cpu_ms=60_000, memory_bytes=4 << 30, output_bytes=16 << 20)
"""A checker that includes testlib took 10.4 s of wall clock on a busy worker (recorded: `cms_ac_testlib`)."""

PACKAGE_STANDARDS = frozenset({"gnu++17", "c++17", "gnu++14", "c++14", "gnu++11", "c++11"})
"""The standards for which the fixed `-std=gnu++17` of the package `cms_ioi` is acceptable."""

_NO_HEADER = b'#error "this problem has no header"\n'
"""A header that no program can include. In other profiles this problem has no header, so there such a program does not
compile either."""

_OUTPUT_BYTES = 16 << 20
_JUDGE_MEMORY_BYTES = 1 << 30

Pair = tuple[bytes, bytes]
"""The scripts `compile` and `run`."""

_RUNNER = "runner"  # Source: `graders/compile`

_CONFIG = "graders/grader_config.json"
_COLUMN_OF = {
    "task_type": "task_type",
    "cxx_std": "cxx_std",
    "judge_cxx_std": "cxx_std",
    "checker_protocol": "checker_protocol",
}
"""Settings that our pair reads in the configuration, and the columns with texts that state them."""


def own_files(runner: Content) -> Mapping[str, Content]:
    """Our own pair and the runner that it uses, for any sandbox with bash and a C++ compiler."""
    return {**boxfiles.classic_scripts(), _RUNNER: runner}


def job(problem: Problem, case: TestCase, code: str) -> Job:
    """The job that judges a submission on one test by the worker's own scripts, unless they would judge it wrongly."""
    if reason := why_package_cannot_judge_test(problem, case):
        raise UnsupportedError(f"{problem.key}: {reason}; use the bundled profile")
    name = _name_of(problem.key.id)
    files = dict(_grader_files(problem))
    files |= _header_that_names(name, files)
    return _job(
        name,
        code.encode("utf-8", "replace"),
        case.input,
        case.answer,
        {**files, _CONFIG: orjson.dumps(_config(problem))},
        run_limits=_limits(problem.time_limit_s, problem.memory_limit_bytes, problem.method.processes),
    )


def to_standard(problem: Problem, std: str | None) -> Problem:
    """The problem with its C++ standard overridden; unchanged if `std` is `None`."""
    return problem if std is None else replace(problem, cxx_std=std)


def why_package_cannot_judge_test(problem: Problem, case: TestCase) -> str | None:
    """Why the `cms_ioi` package cannot judge this test; `None` if it can."""
    method, stem = problem.method, _name_of(problem.key.id)
    args = () if method.check is None else method.check.args
    judges = [program.source for program in (problem.checker, method.manager) if program is not None]
    beside = (*problem.headers, *(method.manager.files if method.manager else ()))
    first = _headers_in_order(file.name for file in beside)[:1]
    blank = case.answer is None or (isinstance(case.answer, bytes) and not case.answer.strip(b"\n"))
    lacks = (
        (isinstance(method, Interactive), "has no Interactive tasks"),
        (isinstance(method, TwoSteps), "has no TwoSteps tasks"),
        (problem.task_type.takes_outputs, "has no submissions that hold outputs"),
        (method.passes > 1, "runs a program once on a test"),
        (bool(args or case.checker_args), "gives a checker no arguments"),
        (case.full_score != 1 or bool(case.score_table) or case.score_steps > 0, "does not scale the scores of tests"),
        (problem.output_limit_bytes is not None, "has no limit on output of the problem's own"),
    )
    misjudges = (
        (
            problem.cxx_std not in PACKAGE_STANDARDS,
            f"it compiles with gnu++17, not {problem.cxx_std} (--std gnu++17 takes that for all problems)",
        ),
        (
            bool(method.input_file or method.output_file),
            "its programs read stdin and write stdout, and no files by name",
        ),
        (
            blank and isinstance(method, Batch),
            f"test {case.name!r} has no expected output, so it would take the program's output for the score",
        ),
        (
            not {source.name for source in problem.linked_with(Language.CPP)} <= {"grader.cpp", "stub.cpp"},
            "it links grader.cpp and stub.cpp only",
        ),
        (
            first not in ([], [f"{stem}.h"]),
            f"it takes the first header's name for the problem's, and that is {''.join(first)}, not {stem}.h",
        ),
        (
            any(file.name == f"{stem}.cpp" for file in problem.headers),
            f"a file that is included, {stem}.cpp, has the name of the submission",
        ),
        (any(not judge.name.endswith(".cpp") for judge in judges), "it compiles checkers and managers in C++ only"),
        (
            _protocol(problem) not in (CheckerProtocol.CMS, CheckerProtocol.WHITE_DIFF),
            f"it knows the cms protocol and its own diff only, not {_protocol(problem)}",
        ),
    )
    reasons = (*lacks, *((holds, f"would judge it wrongly: {reason}") for holds, reason in misjudges))
    return next((f"the cms_ioi package {reason}" for holds, reason in reasons if holds), None)


def why_package_cannot_judge_submission(submission: Submission, source_name: str) -> str | None:
    """Why the `cms_ioi` package cannot judge a submission, whatever its problem; `None` if it can."""
    if submission.code is None:
        return "the cms_ioi package judges programs only"
    if submission.language is not Language.CPP:
        return f"the cms_ioi package compiles C++ only, not {submission.language.value}"
    if len(submission.source_files(source_name)) > 1:
        return "the cms_ioi package compiles programs of one file only"
    return None


def row_job(
    problem: Mapping[str, Any],
    test_input: str,
    submission: str,
    test_output: str | None,
    *,
    beside: Mapping[str, Content] | None = None,
    max_wall_ms: int | None = None,
) -> Job:
    """The job that judges a submission on one test; the problem is given as a row. InputError if that lacks a field, or
    holds something else there; UnsupportedError if the worker's package would compile another file.

    Args:
        problem: as of `run_submission`. Our own scripts get its limits, `task_type`, `cxx_std` and `checker_protocol`
            in the configuration.
        test_input, submission, test_output: lone surrogates become question marks.
        beside: further files of the job: the scripts `compile` and `run` and what they need (`own_files`); `None`
            if the worker's package has its own scripts.
        max_wall_ms: the longest run stage that the target allows, if the runner judges.
    """
    try:
        name = _name_of(str(problem["id"]))
        time_limit_s, memory_limit_bytes = float(problem["time_limit"]), int(problem["memory_limit"])
        files = dict(_path_and_content(entry) for entry in problem["grader_files"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the problem's row lacks a usable field: {error!r}") from error
    check_time_limit(time_limit_s)
    check_memory_limit(memory_limit_bytes)
    files = {path: content for path, content in files.items() if content}
    columns = ((key, problem.get(column)) for key, column in _COLUMN_OF.items())
    stated = {key: text for key, text in columns if isinstance(text, str) and text}  # null is NaN in pandas
    always = {"code": name, "time_limit": time_limit_s, "memory_limit": memory_limit_bytes}
    files.setdefault(_CONFIG, orjson.dumps({"task_type": stated.get("task_type", TaskType.BATCH.value), **always}))
    if beside is None:
        files |= _header_that_names(name, files)
    run_limits = _limits(time_limit_s, memory_limit_bytes, 1)
    ours = beside is not None and _RUNNER in beside
    if ours:
        files[_CONFIG] = _with_settings(files[_CONFIG], {**always, **stated})
        wall_ms = given_up_ms(time_limit_s, round(1000 * JudgeLimits().cpu_s)) + RUNNER_SLACK_MS
        wall_ms = wall_ms if max_wall_ms is None else min(wall_ms, max_wall_ms)
        # Servers refuse more than their run_cpu_time. The runner limits memory itself: a checker may use 4 GiB.
        run_limits = replace(run_limits, wall_ms=wall_ms, cpu_ms=wall_ms, memory_bytes=None)
    answer = None if test_output is None else _text("test_output", test_output)
    return _job(
        name,
        _text("submission", submission),
        _text("test_input", test_input),
        # The reference treats an empty expected output as missing, and then reads the program's output as the score.
        # Our own scripts compare with the empty output.
        answer if answer or ours else None,
        {**files, **(beside or {})},
        run_limits=run_limits,
    )


def _name_of(problem_id: str) -> str:
    """The name of the submission's file without its ending: the last part of the problem's id, in lower case."""
    return problem_id.lower().rpartition("/")[2]


def _path_and_content(entry: Any) -> tuple[str, bytes]:
    """An entry of `grader_files`; TypeError or ValueError if it is not a pair."""
    if isinstance(entry, str | Mapping):
        raise TypeError(f"grader_files must hold pairs of path and content, not {type(entry).__name__}")
    path, content = entry
    is_null = content is None or (isinstance(content, float) and math.isnan(content))  # NaN in pandas
    return str(path), b"" if is_null else _text(f"grader_files: {path}", content)


def _text(name: str, text: Any) -> bytes:
    if not isinstance(text, str):
        raise InputError(f"{name} is of type {type(text).__name__}, where text is needed")
    return text.encode("utf-8", "replace")


def _with_settings(config: bytes, settings: Mapping[str, Any]) -> bytes:
    """A configuration for our pair, with these settings in the place of its own."""
    try:
        return json.dumps({**json.loads(config.decode("utf-8-sig", "replace")), **settings}).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{_CONFIG} is not a JSON object") from error


def _header_that_names(problem_id: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """A header named after the problem, if there is none: the `cms_ioi` package compiles the file with the first
    header's name, and without any header every program would be a compilation error."""
    name = f"{problem_id}.h"
    headers = _headers_in_order(path.removeprefix("graders/") for path in files if path.startswith("graders/"))
    if headers[:1] not in ([], [name]):
        raise UnsupportedError(
            f"{problem_id}: the cms_ioi package takes the first header's name for the problem's, and that is "
            f"{headers[0]}, not {name}; use a worker with the ioi_eval package"
        )
    return {} if headers else {f"graders/{name}": _NO_HEADER}


def _headers_in_order(names: Iterable[str]) -> list[str]:
    """Headers as the `cms_ioi` package finds them in a directory."""
    seen = {name for name in names if name.endswith(".h") and "/" not in name}
    return sorted(seen - {"testlib.h"}, key=str.lower)


def _protocol(problem: Problem) -> str:
    check = problem.method.check
    return CheckerProtocol.CMS if check is None else plan_protocol(check)


def _job(
    name: str,
    code: bytes,
    test_input: Content,
    answer: Content | None,
    others: Mapping[str, Content],
    *,
    run_limits: StageLimits,
) -> Job:
    # The submission and the test come last: a row may have a template with the submission's name.
    files = {**others, f"graders/{name}.cpp": code, "input.txt": test_input}
    if answer is not None:
        files["correct_output.txt"] = answer
    return Job(
        kind=JobKind.SCRIPTS,
        files=tuple(JobFile(name=name, content=content, executable=name == _RUNNER) for name, content in files.items()),
        compile_limits=COMPILE_LIMITS,
        run_limits=run_limits,
    )


def _limits(time_limit_s: float, memory_limit_bytes: int, processes: int) -> StageLimits:
    """The hard limits of the run stage, higher than those that the scripts enforce."""
    wall_ms = round((time_limit_s + HARD_LIMIT_SLACK_S) * 1000)
    return StageLimits(
        wall_ms=wall_ms,
        cpu_ms=wall_ms * (processes + 2),
        # since isolate, checker, diff and page cache share the stage's memory: with the problem's own limit, a right
        # output of 10 MB was judged wrong (recorded: `cms_big_output_10MB_ml64`)
        memory_bytes=memory_limit_bytes * (processes + 1) + _JUDGE_MEMORY_BYTES,
        output_bytes=_OUTPUT_BYTES,
    )


def _grader_files(problem: Problem) -> Iterator[tuple[str, bytes]]:
    """Every grader file, with the path at which the scripts look for it."""
    manager, checker = problem.method.manager, problem.checker
    graders = by_include((*problem.linked_with(Language.CPP), *problem.headers), "graders/")
    if manager is not None:
        graders |= by_include(manager.files, manager.source.directory) | {"manager.cpp": manager.source.content}
    for name, content in graders.items():
        yield f"graders/{name}", content
    if checker is not None:
        for name, content in by_include(checker.files, checker.source.directory).items():
            yield f"checker/{name}", content
        yield "checker/checker.cpp", checker.source.content


def _config(problem: Problem) -> dict[str, object]:
    """The configuration for the `cms_ioi` package. Flat keys only: its scripts read them with grep."""
    config: dict[str, object] = {
        "task_type": problem.task_type.value,
        "code": _name_of(problem.key.id),
        "time_limit": problem.time_limit_s,
        "memory_limit": problem.memory_limit_bytes,
    }
    if isinstance(method := problem.method, Communication):
        config[parameter_key(TaskType.COMMUNICATION, Parameter.NUM_PROCESSES)] = method.processes
        config[parameter_key(TaskType.COMMUNICATION, Parameter.USER_IO)] = method.process_io.value
        if method.manager.args:
            config[parameter_key(TaskType.COMMUNICATION, Parameter.MANAGER_ARGS)] = " ".join(method.manager.args)
    return config
