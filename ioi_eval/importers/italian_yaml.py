"""Tasks in the Italian YAML format, which CMS reads: a directory with `task.yaml`.

    task.yaml             names, limits, infile and outfile, and maybe the score type
    gen/GEN               a line for each test, `#ST: points` before each subtask, `#COPY: file` for a copied test
    input/input0.txt      the tests; their names are 000, 001, …
    output/output0.txt
    sol/                  grader.* or stub.*, headers, solutions
    check/ or cor/        the source of checker (or correttore) or manager

If `task.yaml` omits a value, CMS's default is used: programs read `input.txt` and write `output.txt`, and points have
no decimals. Limits are the exception, as CMS sets none: the memory limit is 2 GiB then, and the user must give the time
limit. Judge programs are read as sources or scripts; compiled ones may only run on the author's machine.

Source: CMS, `cmscontrib/loaders/italy_yaml.py`.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from posixpath import basename
from typing import Any

from ioi_eval.config import MIB
from ioi_eval.errors import InputError, UnsupportedError, listed
from ioi_eval.expectations import MODEL_SOLUTION
from ioi_eval.importers.cms import CMS_HEADERS
from ioi_eval.importers.italian_scoring import GENERATOR_FILES, ROOT_FILE, WHOLE, read_scoring, read_tests
from ioi_eval.importers.judge_programs import judge_files
from ioi_eval.importers.output_sets import output_sets
from ioi_eval.importers.package import Package, number_in_text, open_package
from ioi_eval.importers.task import ImportedTask, PackageSolution, PackageTests, RowValues, build_task, language
from ioi_eval.model import ProblemKey, Subtask, TaskType
from ioi_eval.problems.task_parameters import Parameter, parameter_key

_MEMORY_MIB = 2048  # if no limit is stated; Kattis's default
_SOURCES = (".c", ".cpp", ".cc", ".cxx", ".c++", ".C", ".cs", ".hs", ".java", ".pas", ".php", ".py", ".rs")
"""The endings of sources. Source: CMS, `cms/grading/languages`."""

_OPENED = re.compile(r'\bfopen[ \t]*\([ \t]*argv[ \t]*\[[ \t]*([12])[ \t]*\][ \t]*,[ \t]*"([rw])b?\+?"')
_ARGUMENT = re.compile(r"\bargv([ \t]*\[[ \t]*)([12])([ \t]*\])")

_JUDGES = {"checker": ("check/checker", "cor/correttore"), "manager": ("check/manager", "cor/manager")}
"""Where CMS's loader looks for judge programs: their paths without an ending."""

_JUDGE_DIRECTORIES = ("check", "cor")
_JUDGE_NAMES = frozenset(basename(path) for paths in _JUDGES.values() for path in paths)
_JUDGE_ENDINGS = (".cpp", ".cc", ".cxx", ".c++", ".C", ".c", ".py", ".sh")  # in the order in which they are looked for

_MODELS = ("solution", "soluzione")
_NO_SOLUTIONS = ("grader", "stub", "template", "manager", "checker")
_CHECK = re.compile(r"@check-([\w-]+):([^\n]*)")
_NO_POINTS = "WA,TLE,RE,MLE,SV,OLE"
_FAILURES = (
    "wrong-answer",
    "time-limit-exceeded",
    "wall-time-limit-exceeded",
    "memory-limit-exceeded",
    "runtime-error",
)
_RESULTS = {"accepted": "AC", "partial-score": "PA", **dict.fromkeys((*_FAILURES, "zero"), _NO_POINTS)}


def import_package(
    path: str | Path, *, year: int, day: str | None = None, time_limit_s: float | None = None
) -> ImportedTask:
    """Read a task; arguments as of `cms.import_package`.

    Args:
        time_limit_s: replaces the task's time limit; in CMS it need not have one.
    """
    _refuse_outer_settings(Path(path))
    with open_package(
        path, ROOT_FILE, format="a task in the Italian YAML format", model_example="sol/solution"
    ) as package:
        _check_format(package)
        return _import(package, year, day, time_limit_s)


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
    `src/ioi/format/italian_yaml`; github.com/austrian-olympiad-informatics/ioi-tasks.
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


def _import(package: Package, year: int, day: str | None, time_limit_s: float | None) -> ImportedTask:
    meta = package.yaml(ROOT_FILE)
    package.refuse_links(*GENERATOR_FILES, "sol", *_JUDGE_DIRECTORIES)
    code = str(_first(meta, "name", "nome_breve") or "")
    if not code:
        raise InputError(f"name is missing in {ROOT_FILE}")
    score_type, subtasks, count = read_scoring(package, meta)
    task_type, parameters = _task_type(package, meta)
    limits: RowValues = {"time_limit": None, "memory_limit": None}
    if task_type is not TaskType.OUTPUT_ONLY:
        limits = _limits(package, meta, time_limit_s)
    files = _files(package, task_type)
    if parameters.get(Parameter.NUM_PROCESSES) == 1:
        files = _in_cms_order(package, files)
    return build_task(
        package,
        ProblemKey(year=year, id=code),
        columns={
            "name": str(meta.get("title", meta.get("nome", code))),
            "day": day,
            **limits,
            "score_precision": meta.get("score_precision", 0),  # Source: CMS's default of a task
            "score_type": score_type.value,
            "task_type": task_type.value,
        },
        subtasks=subtasks,
        files=files,
        config={
            "code": code,
            "task_type": task_type.value,
            **limits,
            **{parameter_key(task_type, parameter): value for parameter, value in parameters.items()},
        },
        tests=PackageTests(
            paths=read_tests(package, count, managed=task_type is TaskType.COMMUNICATION),
            read=lambda opened, path: opened.read(path) if path else b"",
        ),
        solutions=_solutions(package, subtasks, output_only=task_type is TaskType.OUTPUT_ONLY),
    )


def _first(meta: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of these keys that exists (the English name, else the Italian one); `None` for none."""
    return next((meta[name] for name in names if meta.get(name) not in (None, "")), None)


def _limits(package: Package, meta: Mapping[str, Any], time_limit_s: float | None) -> RowValues:
    """The limits, which may be stated as text. In CMS both are optional, and a task without them has none."""
    time_s, memory_mib = _first(meta, "time_limit", "timeout"), _first(meta, "memory_limit", "memlimit")
    if time_limit_s is None and time_s is None:
        raise InputError(f"time_limit is missing in {ROOT_FILE}; give it in seconds with --time-limit")
    if memory_mib is None:
        memory_mib = _MEMORY_MIB
        package.notes.append(f"{ROOT_FILE} states no memory limit, so CMS sets none; here it is {_MEMORY_MIB} MiB")
    if time_limit_s is None:
        time_limit_s = package.check_limit(number_in_text(time_s), "time_limit", ROOT_FILE)
    memory_mib = package.check_limit(number_in_text(memory_mib), "memory_limit", ROOT_FILE)
    return {"time_limit": time_limit_s, "memory_limit": round(memory_mib * MIB)}


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
    for base in _JUDGES[role]:
        if source := next((base + ending for ending in _JUDGE_ENDINGS if package.has(base + ending)), None):
            return source
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


def _files(package: Package, task_type: TaskType) -> list[tuple[str, str]]:
    """The judge's files, with their paths in rows. As in CMS, a manager gives the score itself, without a checker."""
    role, linked = ("manager", "stub") if task_type is TaskType.COMMUNICATION else ("checker", "grader")
    files = [
        (f"graders/{path.name}", package.text(str(path)))
        for path in _beside_solutions(package)
        if path.suffix in CMS_HEADERS or (path.stem == linked and language(str(path)) in ("cpp", "c", "python"))
    ]
    source = _judge(package, role)
    if source is not None:
        ending = ".cpp" if language(source) == "cpp" else PurePosixPath(source).suffix
        files += judge_files(package, source, f"{role}/{role}{ending}")
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
        wanted = next(base for base in _JUDGES["checker"] if base.startswith(f"{path.parent}/"))
        raise InputError(
            f"{path} is not read: checkers are called {' or '.join(_JUDGES['checker'])}. If it is the checker, call it"
            f" {wanted}{path.suffix}; if outputs are compared without a checker, import a copy without it"
        )


def _in_cms_order(package: Package, files: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
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


def _solutions(package: Package, subtasks: Sequence[Subtask], *, output_only: bool) -> list[PackageSolution]:
    """The sources in `sol/`, with what their comments state, or the outputs there if the task takes outputs only.

        // @check-accepted: small trees
        // @check-wrong-answer: large*

    Each line names a result and the subtasks that have it: by their names in `gen/GEN` (`#STNAME`) or `gen/gen.toml`,
    where `*` and `?` stand for other letters. A failure such as `wrong-answer` is stated of at least one test, but the
    verdict of a subtask here is that of its first test with the lowest score. So only the score is compared: all of it,
    a part, none. Source: task-maker-rust, `docs/ioi-task-format.typ`, "Solution folder".
    """
    programs = [
        path
        for path in package.names("sol")
        if language(path) is not None and PurePosixPath(path).stem not in _NO_SOLUTIONS
    ]
    if output_only:
        package.leave_out("as the task takes outputs only", programs)
        sets = output_sets(package, "sol")
        used = {*programs, *(path for output_set in sets for path in output_set.paths)}
        others = [path for path in package.names("sol") if path not in used and "output" in path]
        package.leave_out("as outputs are called output_000.txt", others)
        return [
            PackageSolution(
                path=None,
                label=output_set.name or "outputs",
                expected=MODEL_SOLUTION if output_set.name in _MODELS else None,
                outputs=output_set.outputs,
            )
            for output_set in sets
        ]
    names = _subtask_names(package, subtasks)
    return [
        PackageSolution(
            path=path,
            label=path.removeprefix("sol/"),
            expected=MODEL_SOLUTION if path.count("/") == 1 and PurePosixPath(path).stem in _MODELS else None,
            expected_subtasks=_stated(package, path, names),
        )
        for path in programs
    ]


def _subtask_names(package: Package, subtasks: Sequence[Subtask]) -> Mapping[str, str]:
    """The authors' name of each subtask that has one, by its name in the rows; empty if their numbers differ."""
    names: list[str] = []
    if package.has("gen/gen.toml"):
        stated = package.toml("gen/gen.toml").get("subtask", {})
        names = list(stated) if isinstance(stated, dict) else []
    elif package.has("gen/GEN"):
        for line in package.lines("gen/GEN"):
            comment = line.partition("#")[2].strip()
            if comment.startswith("ST:"):
                names.append("")
            elif comment.startswith("STNAME:") and names:
                names[-1] = comment.removeprefix("STNAME:").partition("#")[0].strip()
    if len(names) != len(subtasks):
        return {}
    return {subtask.name: name for subtask, name in zip(subtasks, names, strict=True) if name}


def _stated(package: Package, path: str, names: Mapping[str, str]) -> dict[str, str]:
    stated: dict[str, str] = {}
    not_compared: list[str] = []
    for match in _CHECK.finditer(package.text(path)):
        result, patterns = match[1], match[2].replace("*/", " ").split()
        for pattern in patterns:
            glob = pattern.replace("[", "[[]")
            chosen = [subtask for subtask, name in names.items() if fnmatch.fnmatchcase(name, glob)]
            if result in _RESULTS and chosen:
                stated |= dict.fromkeys(chosen, _RESULTS[result])
            else:
                not_compared.append(f"{result} of {pattern}")
    if not_compared:
        package.notes.append(
            f"{path}: what it states is not compared, as no such subtask or result is known: {listed(not_compared)}"
        )
    return stated
