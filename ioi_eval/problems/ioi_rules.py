"""Makes an IOI problem from its row and files, by the rules of CMS. But what the row states takes precedence.

Limits in the row are used instead of those in `grader_config.json`, which is often copied without being checked; a
difference is noted. If the task types or the score types differ, the problem is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.model import (
    Batch,
    BatchAndOutput,
    CheckerProtocol,
    Communication,
    Interactive,
    JudgeProgram,
    OutputCheck,
    OutputOnly,
    Problem,
    ProblemKey,
    ProcessIO,
    RunMethod,
    ScoreType,
    SourceFile,
    Subtask,
    TaskType,
    Tokens,
    TwoSteps,
    WhiteDiff,
)
from ioi_eval.problems import limits
from ioi_eval.problems.fifo_arguments import opens_fifos, processes_of
from ioi_eval.problems.grader_config import GraderConfig, named_member, parse_grader_config
from ioi_eval.problems.grader_files import (
    GraderFiles,
    check_modules,
    check_script,
    check_testlib,
    classify,
    config_text,
    read_pairs,
)
from ioi_eval.problems.output_files import tests_by_output
from ioi_eval.problems.row import Row
from ioi_eval.problems.token_rules import check_token_flags
from ioi_eval.toolchain import check_std

_MAX_PASSES = 1000
_LAST_YEAR_OF_CXX17 = 2023  # Source: IOI 2024's rules were the first to accept C++20

_OTHER_CPP = re.compile(r"\.(?:cc|cxx)$", re.IGNORECASE)
_UNUSED_CHECKER = re.compile(
    r"(?:checker/[^/]+|(?:.*/)?(?:checker|check|chk))(?P<ending>\.(?:c|cc|cpp|cxx|go|java|pas|py|rs|sh))", re.I | re.S
)
"""The path of a file that can only be meant as the checker, if its problem has no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedColumns:
    """The values that all rows of a problem share. Where one is `None`, the configuration or a default decides."""

    name: str | None = field(compare=False)
    day: str | None = field(compare=False)
    task_type: TaskType | None
    time_limit: float | None
    memory_limit: int | None
    output_limit: int | None
    code_limit: int | None
    score_type: ScoreType | None
    score_precision: int
    grader_files: tuple[SourceFile, ...]
    checker_protocol: CheckerProtocol | None
    cxx_std: str | None
    checker_args: tuple[str, ...] | None
    manager_args: tuple[str, ...] | None
    checker_after_manager: bool | None
    passes: int


def read_shared_columns(row: Row) -> SharedColumns:
    """Read the columns that a problem's rows share."""
    task_type, score_type = row.optional_text("task_type"), row.optional_text("score_type")
    time_limit = row.number_of("time_limit") if row.has("time_limit") else None
    if time_limit is not None and time_limit <= 0:
        raise row.error(f"time_limit is {time_limit:g}; it must be a number of CPU seconds above 0")
    precision = row.integer("score_precision", 2)  # Source: CMS's default of a TPS task
    if precision < 0:
        raise row.error(f"score_precision is {precision}; it must be a number of decimals, 0 or more")
    passes = row.integer("passes", 1)
    if not 1 <= passes <= _MAX_PASSES:
        raise row.error(f"passes is {passes}; it must be a number from 1 to {_MAX_PASSES:,}")
    std, protocol = row.optional_text("cxx_std"), row.optional_text("checker_protocol")
    check_std(std)
    return SharedColumns(
        name=row.optional_text("name"),
        day=row.identifier("day") if row.has("day") else None,
        task_type=None if task_type is None else named_member(TaskType, task_type, "task_type", any_case=True),
        time_limit=time_limit,
        memory_limit=row.integer("memory_limit") if row.has("memory_limit") else None,
        output_limit=_byte_limit(row, "output_limit"),
        code_limit=_byte_limit(row, "code_limit"),
        score_type=None if score_type is None else named_member(ScoreType, score_type, "score_type"),
        score_precision=precision,
        grader_files=read_pairs(row.pairs("grader_files") if row.has("grader_files") else ()),
        checker_protocol=None if protocol is None else named_member(CheckerProtocol, protocol, "checker_protocol"),
        cxx_std=std,
        checker_args=row.arguments("checker_args" if row.has("checker_args") else "validator_flags"),
        manager_args=row.arguments("manager_args"),
        checker_after_manager=row.boolean("checker_after_manager"),
        passes=passes,
    )


def _byte_limit(row: Row, column: str) -> int | None:
    limit = row.integer(column) if row.has(column) else None
    if limit is not None and limit <= 0:
        raise row.error(f"{column} is {limit}; it must be a number of bytes above 0")
    return limit


def problem_from(key: ProblemKey, shared: SharedColumns, subtasks: tuple[Subtask, ...]) -> Problem:
    """The problem, still without its tests."""
    config = parse_grader_config(config_text(shared.grader_files), shared.task_type)
    if config.task_type is None:
        raise InputError(f"neither the row nor graders/grader_config.json gives a task_type ({', '.join(TaskType)})")
    task_type = config.task_type
    files = classify(shared.grader_files, key.id, task_type, link=config.linked is not False)
    _refuse_misplaced_files(key, shared.grader_files, config)
    _check_linking(key, files, config)
    method = _method(task_type, shared, config, files, subtasks)
    for program in (method.check, method.manager):
        if isinstance(program, JudgeProgram):
            check_script(program.source)
            check_modules(program)
            check_testlib(program)
    _check_passes(shared.passes, method)
    time_limit_s = limits.limit_of("time_limit", shared.time_limit, config.time_limit_s, task_type)
    limits.check_time_limit(time_limit_s)
    memory_limit = int(limits.limit_of("memory_limit", shared.memory_limit, config.memory_limit_bytes, task_type))
    limits.check_memory_limit(memory_limit)
    limits.check_bytes("output_limit", shared.output_limit or 0)
    return Problem(
        key=key,
        name=shared.name or key.id,
        day=shared.day,
        method=method,
        time_limit_s=time_limit_s,
        memory_limit_bytes=memory_limit,
        output_limit_bytes=shared.output_limit,
        code_limit_bytes=shared.code_limit,
        score_type=_score_type(shared, config, subtasks),
        score_precision=shared.score_precision,
        subtasks=subtasks,
        tests={},
        linked=files.linked,
        headers=files.headers,
        source_name=config.source_name,
        cxx_std=shared.cxx_std or ("gnu++17" if key.year <= _LAST_YEAR_OF_CXX17 else "gnu++20"),
        notes=(*_conflicts(key, shared, config), *limits.long_limit_notes(time_limit_s, task_type)),
    )


def _refuse_misplaced_files(key: ProblemKey, files: Sequence[SourceFile], config: GraderConfig) -> None:
    """Refuse a grader, stub or header that is not used, by its directory or ending: no submission would compile."""
    below = {file.path for file in files if file.path.startswith("graders/")}
    wanted = {f"{key.id}.h".lower()} | ({"grader.cpp", "stub.cpp"} if config.linked is not False else set())
    for file in files:
        name = _OTHER_CPP.sub(".cpp", file.name)
        is_misplaced = file.path in (file.name, f"grader/{file.name}") or (name != file.name and file.path in below)
        if is_misplaced and name.lower() in wanted and f"graders/{name}" not in below:
            raise InputError(f"grader_files holds {file.path}, where nothing uses it; call it graders/{name}")


def _refuse_misplaced_checker(shared: SharedColumns, config: GraderConfig) -> None:
    """Refuse a checker that is not used, by its directory or name: outputs would be compared without it.

    It is intended if the problem says that no checker decides.
    """
    stated = shared.checker_protocol
    if config.checker_decides is False or (stated is not None and not stated.has_program):
        return
    for file in shared.grader_files:
        if match := _UNUSED_CHECKER.fullmatch(file.path):
            ending = _OTHER_CPP.sub(".cpp", match["ending"].lower())
            is_known = ending in (".cpp", ".c", ".py", ".sh")
            wanted = f"call it checker/checker{ending}" if is_known else "write it in C++, C, Python or shell"
            raise InputError(
                f"grader_files holds {file.path}, where nothing uses it; {wanted}, or set checker_protocol to "
                f"{CheckerProtocol.WHITE_DIFF}"
            )


def _check_linking(key: ProblemKey, files: GraderFiles, config: GraderConfig) -> None:
    """Refuse a problem for which no submission would compile."""
    if files.linked or config.linked is False:
        return
    if config.task_type is TaskType.TWO_STEPS:
        raise InputError(
            "task type TwoSteps needs a manager that is linked; grader_files holds no graders/manager.cpp; add it"
        )
    name = "stub.cpp" if config.task_type and config.task_type.has_manager else "grader.cpp"
    own = f"{key.id.lower()}.h"
    header = next((file.path for file in files.headers if file.content and file.name.lower() == own), None)
    if config.linked or header:
        reason = f"there is a header {header}" if header else "its configuration says that one is linked"
        raise InputError(f"grader_files holds no graders/{name}, though {reason}; add it")


def _method(
    task_type: TaskType, shared: SharedColumns, config: GraderConfig, files: GraderFiles, subtasks: tuple[Subtask, ...]
) -> RunMethod:
    output_tests, output_only_tests = tests_by_output(config, subtasks)
    match task_type:
        case TaskType.COMMUNICATION:
            checker = _checker_after_manager(shared, files)
            manager = _manager(shared, config, files, "Communication needs a manager", "graders/manager.cpp")
            takes_fifos = any(opens_fifos(file.content.decode("utf-8", "replace")) for file in files.linked)
            shown = processes_of(manager.source.content.decode("utf-8", "replace"), len(manager.args))
            if not config.processes:
                where = f"num_processes is not stated; the number that {manager.source.path} shows"
                limits.check_processes(where, shown)
            return Communication(
                manager=manager,
                processes=config.processes or shown,
                process_io=config.process_io or (ProcessIO.FIFO_IO if takes_fifos else ProcessIO.STD_IO),
                check=checker,
            )
        case TaskType.INTERACTIVE:
            checker = _checker_after_manager(shared, files)
            return Interactive(manager=_interactor(shared, config, files, decides=checker is None), check=checker)
        case TaskType.BATCH:
            return Batch(
                check=_output_check(shared, config, files),
                input_file=config.input_file,
                output_file=config.output_file,
                passes=shared.passes,
            )
        case TaskType.BATCH_AND_OUTPUT:
            return BatchAndOutput(
                check=_output_check(shared, config, files),
                input_file=config.input_file,
                output_file=config.output_file,
                output_tests=output_tests,
                output_only_tests=output_only_tests,
            )
        case TaskType.OUTPUT_ONLY:
            return OutputOnly(check=_output_check(shared, config, files), output_tests=output_tests)
        case TaskType.TWO_STEPS:
            return TwoSteps(check=_output_check(shared, config, files))
        case _:
            assert_never(task_type)


def _check_passes(passes: int, method: RunMethod) -> None:
    if passes == 1:
        return
    checker = method.check if isinstance(method, Batch) else None
    if not isinstance(checker, JudgeProgram) or checker.protocol is not CheckerProtocol.KATTIS:
        raise UnsupportedError("more than one pass is supported for Batch with checker_protocol kattis only")
    if method.input_file or method.output_file:
        raise UnsupportedError("more than one pass is supported only if programs use standard input and output")


def _output_check(shared: SharedColumns, config: GraderConfig, files: GraderFiles) -> OutputCheck:
    """How outputs are judged if no manager talks to the submission."""
    checker, stated = _checker(shared, files), shared.checker_protocol
    if checker is None:
        _refuse_misplaced_checker(shared, config)
    if stated is CheckerProtocol.WHITE_DIFF:
        return WhiteDiff()
    if stated is CheckerProtocol.TOKENS:
        check_token_flags(shared.checker_args or ())
        return Tokens(args=shared.checker_args or ())
    # rows that name cms may lack a checker, as the reference's do
    wanted = True if stated not in (None, CheckerProtocol.CMS) else config.checker_decides
    if wanted and checker is None:
        raise InputError(
            "grader_files holds no checker/checker.cpp, though a checker is to compare the outputs; add it"
        )
    return WhiteDiff() if checker is None or wanted is False else checker


def _checker_after_manager(shared: SharedColumns, files: GraderFiles) -> JudgeProgram | None:
    """The checker that judges what the manager wrote; `None` if the manager decides."""
    checker, stated = _checker(shared, files), shared.checker_protocol
    if stated is not None and not stated.has_program:
        raise UnsupportedError(f"checker_protocol {stated.value} is for tasks without a manager or interactor")
    if shared.checker_after_manager and checker is None:
        raise InputError("grader_files holds no checker/checker.cpp, though checker_after_manager is true; add it")
    return None if shared.checker_after_manager is False else checker


def _checker(shared: SharedColumns, files: GraderFiles) -> JudgeProgram | None:
    """The checker that the files hold, used or not."""
    if files.checker is None:
        return None
    return JudgeProgram(
        source=files.checker,
        files=files.checker_files,
        protocol=shared.checker_protocol or CheckerProtocol.CMS,
        args=shared.checker_args or (),
    )


def _interactor(shared: SharedColumns, config: GraderConfig, files: GraderFiles, *, decides: bool) -> JudgeProgram:
    """The interactor. If it decides the score, it also gets the flags that a checker would get.

    Its protocol is the row's, else Kattis's, as only that format includes interactors. A checker after the interactor
    exists with testlib only.
    """
    manager = _manager(shared, config, files, "Interactive needs an interactor", "interactor/interactor.cpp")
    protocol = shared.checker_protocol or CheckerProtocol.KATTIS
    if protocol not in (CheckerProtocol.KATTIS, CheckerProtocol.TESTLIB):
        raise UnsupportedError(
            f"checker_protocol {protocol.value} is not for Interactive tasks; kattis and testlib are"
        )
    if not decides and protocol is not CheckerProtocol.TESTLIB:
        raise UnsupportedError("a checker after an interactor is supported with checker_protocol testlib only")
    flags = (shared.checker_args or ()) if decides else ()
    return replace(manager, protocol=protocol, args=(*manager.args, *flags))


def _manager(shared: SharedColumns, config: GraderConfig, files: GraderFiles, need: str, path: str) -> JudgeProgram:
    """The manager or interactor; `need` and `path` are for the message if there is none."""
    if files.manager is None:
        raise InputError(f"task type {need}; grader_files holds no {path}")
    args = config.manager_args if shared.manager_args is None else shared.manager_args
    return JudgeProgram(source=files.manager, files=files.manager_files, args=args)


def _score_type(shared: SharedColumns, config: GraderConfig, subtasks: tuple[Subtask, ...]) -> ScoreType:
    if shared.score_type and config.score_type and shared.score_type is not config.score_type:
        raise InputError(
            f"the row says that the score type is {shared.score_type}, its files {config.score_type}; make the row and "
            "graders/grader_config.json agree"
        )
    score_type = shared.score_type or config.score_type or ScoreType.GROUP_MIN
    if score_type is ScoreType.GROUP_THRESHOLD and any(subtask.threshold is None for subtask in subtasks):
        raise InputError("its score type GroupThreshold needs a number in the column threshold, in each of its rows")
    return score_type


def _conflicts(key: ProblemKey, shared: SharedColumns, config: GraderConfig) -> tuple[str, ...]:
    compared = (
        ("time_limit", shared.time_limit, config.time_limit_s),
        ("memory_limit", shared.memory_limit, config.memory_limit_bytes),
        ("id", key.id.lower(), config.code.lower() if config.code else None),
    )
    return tuple(
        f"the row's {name} ({ours}) is used, and grader_config.json's ({theirs}) is ignored"
        for name, ours, theirs in compared
        if ours is not None and theirs is not None and ours != theirs
    )
