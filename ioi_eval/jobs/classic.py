"""The classic profile: one test a job, in the source documents' own contract. Pure.

    graders/<problem_id>.cpp  input.txt  correct_output.txt  every grader file   and the scripts   compile  run

`compile` compiles the submission with its graders, checker and manager; `run` keeps the time limit, talks to the
managers, checks the output, and prints the score to stdout and feedback to stderr. `classic_answer.py` reads them.

`own_pair` is ours (`graders/compile`, `graders/run`): it judges by the same rules as the bundled profile, and closes
everything that profile closes if the runner travels along.

Workers with the `cms_ioi` package bring their own pair. What it gets wrong is refused here by name where it can be
known beforehand (`stock_pair_refuses`); what cannot is documented: wall-clock limits, `diff -b` for white-diff, one
uid for submission and judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import orjson

from ioi_eval import boxfiles
from ioi_eval.config import JudgeLimits
from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.jobs.bundled import manager_cpu_ms
from ioi_eval.model import (
    CheckerProtocol,
    Content,
    Isolation,
    Job,
    JobFile,
    JobKind,
    Language,
    Problem,
    StageLimits,
    TaskType,
    TestCase,
)
from ioi_eval.problems.grader_files import BUILD_SCRIPT
from ioi_eval.problems.task_parameters import Parameter, parameter_key

HARD_LIMIT_S = 3.0
"""How far the sandbox's hard limit lies above the problem's, which `run` itself keeps. Source: the source
documents, "2 or 3 additional seconds"."""

RUNNER_SLACK_MS = 90_000
"""The same where the runner judges, above ten times the limit and a manager's CPU limit: it keeps all limits by itself,
gives up at 10 (L + M) + 10 s, its checker has 60 s, and a loaded machine must not decide. Source: PROTOCOL.md."""

COMPILE_LIMITS = StageLimits(wall_ms=60_000, cpu_ms=60_000, memory_bytes=4 << 30, output_bytes=16 << 20)
"""A checker that includes testlib took 10.4 s of wall clock on a busy worker (recorded: `cms_ac_testlib`)."""

STOCK_STANDARDS = frozenset({"gnu++17", "c++17", "gnu++14", "c++14", "gnu++11", "c++11"})
"""What the stock pair's fixed `-std=gnu++17` can stand for."""

_OUTPUT_BYTES = 16 << 20
_JUDGE_MEMORY_BYTES = 1 << 30
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")  # what a script reads out of JSON as it stands

Pair = tuple[bytes, bytes]
"""The scripts `compile` and `run`."""

RUNNER = "runner"
"""The runner's name in a job that carries it. Source: `graders/compile`."""


def own_pair() -> Pair:
    """Our pair, for any sandbox with bash and a C++ compiler."""
    return boxfiles.read("compile"), boxfiles.read("run")


def job(
    problem: Problem,
    case: TestCase,
    code: str,
    *,
    pair: Pair | None = None,
    runner: Content | None = None,
    least: Isolation = Isolation.REDUCED,
    judge_std: str | None = None,
    most_wall_ms: int | None = None,
    alone: bool = False,
) -> Job:
    """The job that judges a submission on one test.

    Args:
        problem: gives graders, judge programs and limits.
        case: the test.
        code: the submission.
        pair: the scripts to carry; `None` where the worker's package brings its own.
        runner: the runner as it was compiled on the target, for our own pair to judge with.
        least: the weakest isolation that our own pair accepts.
        judge_std: the C++ standard of checker and manager for our own pair; `None` for that of submissions.
        most_wall_ms: the longest run stage that the target allows, for a job with the runner; `None` for no bound.
        alone: nothing else of ours may run on that machine meanwhile.

    Raises:
        UnsupportedError: the stock pair would judge this problem wrongly, or no pair can judge it.
    """
    if reason := refusal(problem, case, stock=pair is None):
        raise UnsupportedError(f"{problem.key}: {reason}; use the bundled profile")
    config = _config(problem)
    if pair is not None:
        config |= {"isolation": least.value, "judge_cxx_std": judge_std or problem.cxx_std}
    answer = case.answer
    if answer is None and problem.checker is None and problem.task_type is TaskType.BATCH:
        answer = b""  # else the scripts would take the program's output for its score: see `row_job`
    return _job(
        problem.key.id,
        code,
        case.input,
        answer,
        {**dict(_grader_files(problem)), "graders/grader_config.json": orjson.dumps(config)},
        time_limit_s=problem.time_limit_s,
        memory_limit_bytes=problem.memory_limit_bytes,
        processes=problem.processes,
        manager_ms=manager_cpu_ms(problem, JudgeLimits()),  # `graders/run` has those of CMS, too
        pair=pair,
        runner=runner,
        most_wall_ms=most_wall_ms,
        alone=alone,
    )


def to_standard(problem: Problem, std: str | None) -> Problem:
    """The problem with its C++ standard overridden; itself if `std` is `None`."""
    return problem if std is None else replace(problem, cxx_std=std)


def refusal(problem: Problem, case: TestCase, *, stock: bool) -> str | None:
    """Why the scripts cannot judge this test, the stock pair or ours; `None` if they can."""
    reasons = (
        (problem.task_type is TaskType.INTERACTIVE, "has no Interactive tasks"),
        (problem.task_type is TaskType.TWO_STEPS, "has no TwoSteps tasks"),
        (problem.task_type.takes_outputs, "has no submissions that hold outputs"),
        (problem.passes > 1, "runs a program once on a test"),
        (problem.checker is not None and problem.checker.name == BUILD_SCRIPT, "builds no checker by a script"),
        (
            not all(_PLAIN_NAME.fullmatch(name) for name in (problem.input_file, problem.output_file) if name),
            "takes names of files in letters, digits, and . _ - only",
        ),
        (bool(problem.checker_args or case.checker_args), "gives a checker no arguments"),
        (case.full_score != 1 or case.score_steps > 0, "does not scale the scores of tests"),
        (problem.checker_protocol is CheckerProtocol.TOKENS, "does not compare tokens"),
        (problem.output_limit_bytes is not None, "has no limit on output of the problem's own"),
    )
    if reason := next((reason for holds, reason in reasons if holds), None):
        return f"the classic profile {reason}"
    if stock and (reason := stock_pair_refuses(problem, case)):
        return f"the cms_ioi package would judge it wrongly: {reason}"
    return None


def row_job(
    problem: Mapping[str, Any],
    test_input: str,
    submission: str,
    test_output: str | None,
    *,
    pair: Pair | None = None,
    runner: Content | None = None,
    most_wall_ms: int | None = None,
) -> Job:
    """The job that judges a submission on one test of a problem that is given as its row.

    Args:
        problem: a row of the problem data set: `id`, `time_limit` (s), `memory_limit` (bytes), `grader_files`
            (pairs of path and content; files without content are left out).
        test_input: the test's input.
        submission: the program.
        test_output: the expected output, if there is one.
        pair: the scripts `compile` and `run` to carry; `None` where the worker's package brings its own.
        runner, most_wall_ms: as `job` has them.

    Raises:
        InputError: the row lacks a field, or holds something else there.
    """
    try:
        name = str(problem["id"])
        time_limit_s, memory_limit_bytes = float(problem["time_limit"]), int(problem["memory_limit"])
        files = {str(path): str(content).encode() for path, content in problem["grader_files"] if content}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the problem's row lacks a usable field: {error!r}") from error
    limits = {"code": name.lower(), "time_limit": time_limit_s, "memory_limit": memory_limit_bytes}
    files.setdefault("graders/grader_config.json", orjson.dumps(limits))
    return _job(
        name,
        submission,
        test_input.encode(),
        test_output.encode() if test_output else None,
        files,
        time_limit_s=time_limit_s,
        memory_limit_bytes=memory_limit_bytes,
        processes=1,
        pair=pair,
        runner=runner,
        most_wall_ms=most_wall_ms,
    )


def stock_pair_refuses(problem: Problem, case: TestCase) -> str | None:
    """Why the `cms_ioi` package would judge this test wrongly; `None` if it would not."""
    name = f"{problem.key.id.lower()}.h"
    beside = (*problem.headers, *problem.manager_files)
    seen = {file.name for file in beside if file.content and file.name.endswith(".h")}
    headers = sorted(seen - {"testlib.h"}, key=str.lower)
    judges = [source for source in (problem.checker, problem.manager) if source is not None]
    blank = case.answer is None or (isinstance(case.answer, bytes) and not case.answer.strip(b"\n"))
    reasons = (
        (problem.cxx_std not in STOCK_STANDARDS, f"it compiles with gnu++17, not {problem.cxx_std}"),
        (
            bool(problem.input_file or problem.output_file),
            "its programs read stdin and write stdout, and no files by name",
        ),
        (
            blank and problem.task_type is TaskType.BATCH,
            f"test {case.name!r} has no expected output, so it would take the program's output for the score",
        ),
        (
            not {source.name for source in problem.linked_with(Language.CPP)} <= {"grader.cpp", "stub.cpp"},
            "it links grader.cpp and stub.cpp only",
        ),
        (headers[:1] != [name], f"it takes the first header's name for the problem's, and that is not {name}"),
        (any(not judge.name.endswith(".cpp") for judge in judges), "it compiles checkers and managers in C++ only"),
        (
            problem.checker_protocol not in (CheckerProtocol.CMS, CheckerProtocol.WHITE_DIFF),
            f"it knows the cms protocol and its own diff only, not {problem.checker_protocol.value}",
        ),
    )
    return next((reason for holds, reason in reasons if holds), None)


def _job(
    problem_id: str,
    code: str,
    test_input: Content,
    answer: Content | None,
    grader_files: Mapping[str, bytes],
    *,
    time_limit_s: float,
    memory_limit_bytes: int,
    processes: int,
    pair: Pair | None,
    manager_ms: int = 0,
    runner: Content | None = None,
    most_wall_ms: int | None = None,
    alone: bool = False,
) -> Job:
    files: dict[str, Content] = {
        f"graders/{problem_id.lower()}.cpp": code.encode("utf-8", "surrogateescape"),
        "input.txt": test_input,
    }
    if answer is not None:
        files["correct_output.txt"] = answer
    files |= grader_files
    if pair is not None:
        files["compile"], files["run"] = pair
    if runner is not None:
        files[RUNNER] = runner
    wall_ms = round((time_limit_s + HARD_LIMIT_S) * 1000)
    cpu_ms = wall_ms * (processes + 2)
    if runner is not None:
        wall_ms = round(time_limit_s * 10_000) + 10 * manager_ms + RUNNER_SLACK_MS
        wall_ms = wall_ms if most_wall_ms is None else min(wall_ms, most_wall_ms)
        cpu_ms = wall_ms  # more than all that the runner allows; servers refuse more than their run_cpu_time
    return Job(
        kind=JobKind.SCRIPTS,
        files=tuple(JobFile(name=name, content=content, executable=name == RUNNER) for name, content in files.items()),
        compile_limits=COMPILE_LIMITS,
        run_limits=StageLimits(
            wall_ms=wall_ms,
            cpu_ms=cpu_ms,
            # since isolate, checker, diff and page cache share the stage's memory: under the problem's own limit a
            # right answer of 10 MB came out wrong (recorded: `cms_big_output_10MB_ml64`)
            memory_bytes=memory_limit_bytes * (processes + 1) + _JUDGE_MEMORY_BYTES,
            output_bytes=_OUTPUT_BYTES,
        ),
        alone=alone,
    )


def _grader_files(problem: Problem) -> Iterator[tuple[str, bytes]]:
    """Every grader file, at the place where the scripts look for it."""
    for source in (*problem.linked_with(Language.CPP), *problem.headers, *problem.manager_files):
        yield f"graders/{source.name}", source.content
    if problem.manager is not None:
        yield "graders/manager.cpp", problem.manager.content
    for source in problem.checker_files:
        yield f"checker/{source.name}", source.content
    if problem.checker is not None:
        yield "checker/checker.cpp", problem.checker.content


def _config(problem: Problem) -> dict[str, object]:
    """Flat keys only: scripts read them with grep."""
    config: dict[str, object] = {
        "task_type": problem.task_type.value,
        "code": problem.key.id.lower(),
        "time_limit": problem.time_limit_s,
        "memory_limit": problem.memory_limit_bytes,
        "cxx_std": problem.cxx_std,
        "checker_protocol": problem.checker_protocol.value,
    }
    if problem.input_file or problem.output_file:
        config[parameter_key(TaskType.BATCH, Parameter.INPUT_FILE)] = problem.input_file
        config[parameter_key(TaskType.BATCH, Parameter.OUTPUT_FILE)] = problem.output_file
    if problem.task_type is TaskType.COMMUNICATION:
        config[parameter_key(TaskType.COMMUNICATION, Parameter.NUM_PROCESSES)] = problem.processes
        config[parameter_key(TaskType.COMMUNICATION, Parameter.USER_IO)] = problem.process_io.value
        if problem.manager_args:
            config[parameter_key(TaskType.COMMUNICATION, Parameter.MANAGER_ARGS)] = " ".join(problem.manager_args)
    return config
