"""Tasks in the Italian YAML format, which CMS reads: a directory with `task.yaml`.

    task.yaml             names, limits, infile and outfile, and maybe the score type
    gen/GEN               a line for each test, `#ST: points` before each subtask, `#COPY: file` for a copied test
    input/input0.txt      the tests; their names are 000, 001, …
    output/output0.txt
    sol/                  grader.* or stub.*, headers, solutions
    check/ or cor/        the source of checker (or correttore) or manager

If `task.yaml` omits a value, CMS's default is used: programs read `input.txt` and write `output.txt`, and points have
no decimals. Judge programs are read as sources or scripts; compiled ones may only run on the author's machine.

Source: CMS, `cmscontrib/loaders/italy_yaml.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from ioi_eval.config import MIB
from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.cms import CMS_HEADERS
from ioi_eval.importers.italian_scoring import GENERATION, ROOT_FILE, WHOLE, read_scoring, read_tests
from ioi_eval.importers.italian_solutions import LINKED, MODELS, read_solutions
from ioi_eval.importers.judge_programs import judge_files
from ioi_eval.importers.package import Package, number_in_text, open_package
from ioi_eval.importers.task import ImportedTask, RowValues, build_task, language
from ioi_eval.model import ProblemKey, TaskType
from ioi_eval.problems.task_parameters import Parameter, parameter_key

_MEMORY_MIB = 2048  # if no limit is stated; Kattis's default
_SOURCES = (".c", ".cpp", ".cc", ".cxx", ".c++", ".C", ".cs", ".hs", ".java", ".pas", ".php", ".py", ".rs")
"""The endings of sources. Source: CMS, `cms/grading/languages`."""

_OPENED = re.compile(r'\bfopen[ \t]*\([ \t]*argv[ \t]*\[[ \t]*([12])[ \t]*\][ \t]*,[ \t]*"([rw])b?\+?"')
_ARGUMENT = re.compile(r"\bargv([ \t]*\[[ \t]*)([12])([ \t]*\])")

_JUDGE_DIRECTORIES = ("check", "cor")
_JUDGE_NAMES = ("checker", "correttore", "manager")
_JUDGE_ENDINGS = (".cpp", ".cc", ".c", ".py", ".sh")  # in the order in which they are looked for


def import_package(
    path: str | Path, *, year: int, day: str | None = None, time_limit_s: float | None = None
) -> ImportedTask:
    """Read a task; arguments as of `cms.import_package`.

    Args:
        time_limit_s: replaces the task's time limit; in CMS it need not have one.
    """
    _refuse_outer_settings(Path(path))
    with open_package(path, ROOT_FILE, format="a task in the Italian YAML format", models=MODELS) as package:
        _check_format(package)
        meta = package.yaml(ROOT_FILE)
        return _task(package, meta if time_limit_s is None else {**meta, "time_limit": time_limit_s}, year, day)


def _refuse_outer_settings(directory: Path) -> None:
    """Refuse a task whose settings are beside its directory, where CMS reads them too (deprecated)."""
    if not directory.is_dir():
        return
    outer = directory.resolve().parent / f"{directory.resolve().name}.yaml"
    if outer.is_file() and not any(directory.rglob(ROOT_FILE)):
        raise InputError(
            f"{directory} holds no {ROOT_FILE}; {outer} seems to have the settings, as in old tasks: copy it to"
            f" {directory / ROOT_FILE}"
        )


def _check_format(package: Package) -> None:
    """Refuse tasks of other formats whose settings too are called `task.yaml`, by what only they have.

    Source: task-maker-rust, `task-maker-format/src/terry`, `src/ioi/dag/task_type/interactive.rs` and
    `src/ioi/format/italian_yaml`;
    github.com/austrian-olympiad-informatics/ioi-tasks.
    """
    other = ""
    if any(package.has(f"managers/generator{ending}") for ending in _SOURCES):
        other = "of Terry, where each participant gets inputs of their own (managers/generator)"
    elif re.search(r"^(?:extends|long_name)[ \t]*:", package.text(ROOT_FILE), re.MULTILINE):
        other = "in the format of the Austrian olympiad (extends or long_name)"
    elif any(PurePosixPath(name).stem == "controller" for each in _JUDGE_DIRECTORIES for name in package.names(each)):
        other = (
            "of task-maker-rust's type Interactive, where a controller starts the programs (check/controller or"
            " cor/controller)"
        )
    if other:
        package.format = ""  # the message names it
        raise UnsupportedError(f"{package.where}: by its files it is a task {other}; that is not supported")


def _task(package: Package, meta: Mapping[str, Any], year: int, day: str | None) -> ImportedTask:
    package.refuse_links(*GENERATION, "sol", *_JUDGE_DIRECTORIES)
    code = str(_first(meta, "name", "nome_breve") or "")
    if not code:
        raise InputError(f"name is missing in {ROOT_FILE}")
    score_type, subtasks, count = read_scoring(package, meta)
    config = _config(package, meta, code)
    files = _files(package, str(config["task_type"]))
    if config.get(parameter_key(TaskType.COMMUNICATION, Parameter.NUM_PROCESSES)) == 1:
        files = _with_our_order(package, files)
    return build_task(
        package,
        ProblemKey(year=year, id=code),
        name=str(meta.get("title", meta.get("nome", code))),
        day=day,
        columns={
            "time_limit": config["time_limit"],
            "memory_limit": config["memory_limit"],
            "score_precision": meta.get("score_precision", 0),  # Source: CMS's default of a task
            "score_type": score_type.value,
            "task_type": config["task_type"],
        },
        subtasks=subtasks,
        files=files,
        config=config,
        tests=read_tests(package, count),
        solutions=read_solutions(package, subtasks, output_only=config["task_type"] == TaskType.OUTPUT_ONLY),
    )


def _first(meta: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of these keys that exists (the English name, else the Italian one); `None` for none."""
    return next((meta[name] for name in names if meta.get(name) not in (None, "")), None)


def _limits(package: Package, meta: Mapping[str, Any]) -> RowValues:
    """The limits, which may be stated as text. In CMS both are optional, and a task without them has none."""
    time_s, memory_mib = _first(meta, "time_limit", "timeout"), _first(meta, "memory_limit", "memlimit")
    if time_s is None:
        raise InputError(f"time_limit is missing in {ROOT_FILE}; give it in seconds with --time-limit")
    if memory_mib is None:
        memory_mib = _MEMORY_MIB
        package.notes.append(f"{ROOT_FILE} states no memory limit, so CMS sets none; here it is {_MEMORY_MIB} MiB")
    return {
        "time_limit": package.check_limit(number_in_text(time_s), "time_limit", ROOT_FILE),
        "memory_limit": round(package.check_limit(number_in_text(memory_mib), "memory_limit", ROOT_FILE) * MIB),
    }


# --------------------------------------------------------------------------- files


def _config(package: Package, meta: Mapping[str, Any], code: str) -> RowValues:
    """`grader_config.json`: the task type and its parameters, found as by CMS's loader."""
    task_type, parameters = _task_type(package, meta)
    limited = task_type is not TaskType.OUTPUT_ONLY
    return {
        "code": code,
        "task_type": task_type.value,
        **(_limits(package, meta) if limited else {"time_limit": None, "memory_limit": None}),
        **{parameter_key(task_type, parameter): value for parameter, value in parameters.items()},
    }


def _task_type(package: Package, meta: Mapping[str, Any]) -> tuple[TaskType, dict[Parameter, Any]]:
    """The task type and its parameters. No file states the type: it follows from the files that exist."""
    output_eval = "diff" if _judge(package, "checker") is None else "comparator"
    if meta.get("output_only"):
        return TaskType.OUTPUT_ONLY, {Parameter.OUTPUT_EVAL: output_eval}
    if _judge(package, "manager") is not None:
        linked = _is_linked(package, "stub")
        return TaskType.COMMUNICATION, {
            Parameter.NUM_PROCESSES: meta.get("num_processes") or 1,
            Parameter.COMPILATION: "stub" if linked else "alone",
            Parameter.USER_IO: meta.get("user_io") or ("fifo_io" if linked else "std_io"),
        }
    linked = _is_linked(package, "grader")
    batch = {
        Parameter.COMPILATION: "grader" if linked else "alone",
        Parameter.INPUT_FILE: str(meta.get("infile", "input.txt") or ""),  # an empty name means the standard stream
        Parameter.OUTPUT_FILE: str(meta.get("outfile", "output.txt") or ""),
        Parameter.OUTPUT_EVAL: output_eval,
    }
    outputs = {
        Parameter.OUTPUT_ONLY_TESTS: _output_tests(meta, "output_only"),
        Parameter.OUTPUT_OPTIONAL_TESTS: _output_tests(meta, "output_optional"),
    }
    return (TaskType.BATCH_AND_OUTPUT, {**batch, **outputs}) if any(outputs.values()) else (TaskType.BATCH, batch)


def _is_linked(package: Package, stem: str) -> bool:
    """Whether there is a grader or stub in some language. Source: CMS, which looks for one in each language."""
    return any(path.stem == stem and path.suffix in _SOURCES for path in _beside_solutions(package))


def _beside_solutions(package: Package) -> list[PurePosixPath]:
    """The files directly in `sol/`, where CMS looks for graders, stubs and headers."""
    return [PurePosixPath(name) for name in package.names("sol") if name.count("/") == 1]


def _output_tests(meta: Mapping[str, Any], kind: str) -> list[str]:
    """The names of the tests whose numbers a setting lists, separated by commas."""
    stated = meta.get(f"{kind}_testcases")
    numbers = [part.strip() for part in str("" if stated is None else stated).split(",") if part.strip()]
    if wrong := next((number for number in numbers if not WHOLE.fullmatch(number)), None):
        raise InputError(f"{kind}_testcases in {ROOT_FILE} holds {wrong!r}; it must hold numbers only")
    return [f"{int(number):03}" for number in numbers]


def _judge(package: Package, role: str) -> str | None:
    """The path of a judge program's source, or of a script; `None` if the task has no such program."""
    for directory in _JUDGE_DIRECTORIES:
        name = "correttore" if role == "checker" and directory == "cor" else role
        base = f"{directory}/{name}"
        for ending in _JUDGE_ENDINGS:
            if package.has(base + ending):
                return base + ending
        if other := next((base + ending for ending in _SOURCES if package.has(base + ending)), None):
            raise UnsupportedError(
                f"{other} is a {role} in a language that is not supported; {', '.join(_JUDGE_ENDINGS)} are"
            )
        if not package.has(base):
            continue
        if not package.read(base).startswith(b"#!"):
            raise InputError(f"{base} is a program without its source; add {base}.cpp")
        return base
    return None


def _files(package: Package, task_type: str) -> list[tuple[str, str]]:
    """The judge's files, with their paths in rows. As in CMS, a manager gives the score itself, without a checker."""
    files = [
        (f"graders/{path.name}", package.text(str(path)))
        for path in _beside_solutions(package)
        if path.suffix in CMS_HEADERS or (path.stem in LINKED and language(str(path)) in ("cpp", "c", "python"))
    ]
    role = "manager" if task_type == TaskType.COMMUNICATION else "checker"
    source = _judge(package, role)
    if source is not None:
        files += judge_files(package, source, f"{role}/{role}{PurePosixPath(source).suffix}")
    others = [path for directory in _JUDGE_DIRECTORIES for path in map(PurePosixPath, package.names(directory))]
    if source is None and role == "checker":
        _refuse_other_names(others)
    unused = [
        str(other)
        for other in others
        if other.stem in _JUDGE_NAMES and other.suffix in _JUDGE_ENDINGS and str(other) != source
    ]
    if unused:
        what = f"the {role} is {source}" if source else f"outputs are compared without a {role}"
        package.notes.append(f"left out, because CMS does not use them either: {', '.join(unused)} ({what})")
    return files


def _refuse_other_names(paths: Sequence[PurePosixPath]) -> None:
    """Refuse a program where checkers are, in a task without a checker: outputs would be compared without it.

    CMS's loader reads a compiled program, which may have been made from a source of any name.
    """
    for path in paths:
        if len(path.parts) > 2 or path.stem in _JUDGE_NAMES or path.suffix not in (*_SOURCES, *_JUDGE_ENDINGS):
            continue
        wanted = "checker" if str(path.parent) == "check" else "correttore"
        raise InputError(
            f"{path} is not read: checkers are called check/checker or cor/correttore. If it is the checker, call it"
            f" {path.parent}/{wanted}{path.suffix}; if outputs are compared without a checker, import a copy without it"
        )


def _with_our_order(package: Package, files: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The judge's files of a task with one process, with the arguments of manager and stub in CMS's order.

    In CMS a FIFO has no fixed direction, so manager and stub may both use them the other way round, as old tasks do.
    Here each FIFO has one, so both arguments are swapped in both sources; the messages do not change.

    Source: CMS, `cms/grading/tasktypes/Communication.py`; the two tasks of cms-dev/con_test that communicate.
    """
    paths = {path: PurePosixPath(path).stem for path, _ in files if path.endswith((".cpp", ".cc", ".c"))}
    talking = {path: text for path, text in files if paths.get(path) in ("manager", "stub")}
    is_reversed = all({*_OPENED.findall(text)} == {("1", "w"), ("2", "r")} for text in talking.values())
    if {paths[path] for path in talking} != {"manager", "stub"} or not is_reversed:
        return list(files)
    package.notes.append(
        "manager and stub use their FIFOs in the opposite order of CMS; argv[1] and argv[2] are swapped in both"
    )
    swapped = {
        path: _ARGUMENT.sub(lambda match: f"argv{match[1]}{'21'[int(match[2]) - 1]}{match[3]}", text)
        for path, text in talking.items()
    }
    return [(path, swapped.get(path, text)) for path, text in files]
