"""TPS task directories (in which the IOI prepares its tasks) whose tests have been generated.

Beside the contents of a CMS export, TPS states verdicts of each solution: one for all subtasks, and exceptions.
Subtasks have the names that TPS's exporter gives them (`03-full`), so a directory and its export give the same
subtasks.

Source: TPS, `docs/README.md`, `scripts/internal/problem_data.sh`, `scripts/exporters/CMS.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from posixpath import basename
from typing import Any

from ioi_eval.config import MIB
from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.expectations import MODEL_SOLUTION, Expectation
from ioi_eval.importers.cms import (
    CHECKER,
    CMS_HEADERS,
    UNLABELLED,
    all_tests,
    included_by_judges,
    select_complete,
    with_checker,
)
from ioi_eval.importers.judge_programs import judge_files
from ioi_eval.importers.output_sets import output_sets
from ioi_eval.importers.package import ROOT_FILE, Package, mapping_of, open_package
from ioi_eval.importers.score_parameters import score_type_without_parameters
from ioi_eval.importers.task import ImportedTask, PackageSolution, PackageTests, RowValues, build_task, language
from ioi_eval.model import Language, ProblemKey, ScoreType, Subtask, TaskType
from ioi_eval.problems.fifo_arguments import opens_fifos
from ioi_eval.problems.grader_config import parse_task_type
from ioi_eval.problems.task_parameters import Parameter, parameter_key, unread_names

_MAPPING, _SUMMARY = "tests/mapping", "tests/gen_summary"
_NEWER = "internal/problem_model.py"  # in `scripts` of newer versions of TPS
_NEWER_STANDARD = "gnu++20"  # Source: TPS 1.26, `scripts/templates/problem_defaults.py`
_HOW_TO_GENERATE = "generate them with `tps gen` in the task's directory (the tool is in ioi-2022/tps)"
_CODE_ENDINGS = (".cpp", *CMS_HEADERS)
_SCRIPTS = ("checker/checker.py", "checker/checker.sh")  # can be checkers, because TPS runs whatever `make` leaves
_OTHER_NAMES = {  # of verdicts. Source: TPS 1.26, `scripts/internal/verdicts.py`
    "model_solution": "model",
    "correct": "ac accept accepted",
    "partially_correct": "pc partial",
    "incorrect": "wa wrong wronganswer wrong_answer",
    "time_limit": "tl tle time timelimit timelimit_exceed timelimit_exceeded time_limit_exceed time_limit_exceeded",
    "memory_limit": "ml mle mem memory mem_limit mem_limit_exceed mem_limit_exceeded memory_limit_exceed"
    " memory_limit_exceeded",
    "runtime_error": "rt re rte runtime run_time run_time_error",
    "protocol_violation": "pv proto_viol",
    "security_violation": "sv secur_viol",
    "failed": "f fail",
    "time_limit_and_runtime_error": "tle_rte tle_rt tle_re tl_rte tl_rt tl_re rte_tle rt_tle re_tle rte_tl rt_tl re_tl",
}
_NAME_OF = {other: name for name, others in _OTHER_NAMES.items() for other in others.split()}


def import_package(path: str | Path, *, year: int, day: str | None = None) -> ImportedTask:
    """Read a TPS task directory or an archive of one; arguments as of `cms.import_package`."""
    model = "one with the verdict model_solution in solutions.json"
    with open_package(path, format="a TPS task directory", model_example=model) as package:
        return _import(package, year, day)


def _import(package: Package, year: int, day: str | None) -> ImportedTask:
    meta = package.json(ROOT_FILE)
    if {"code", "task_type"} <= meta.keys() and "type" not in meta:
        raise InputError(f"{package.where} is a CMS export package; use `ioi-eval import cms`")
    package.refuse_links("grader", "checker", _MAPPING)
    name = str(_required({"name": meta.get("code"), **meta}, "name"))  # leo900807/tps calls it `code`
    task_type = parse_task_type(_required(meta, "type"), ROOT_FILE)
    if task_type is TaskType.BATCH_AND_OUTPUT:
        raise UnsupportedError(f"TPS has no task type {task_type.value!r}; import the CMS export package")
    tests = all_tests(package, _HOW_TO_GENERATE, beside=(_MAPPING, _SUMMARY))
    stated = _stated(package)
    subtasks = _subtasks(package, stated, tuple(tests))
    title = meta.get("title") or name
    time_s, memory_mib = (
        package.check_limit(_required(meta, field), field, ROOT_FILE) for field in ("time_limit", "memory_limit")
    )
    limits = {"time_limit": time_s, "memory_limit": int(memory_mib * MIB)}
    starting_code = f"public/cpp/{name}.cpp"
    columns: RowValues = {
        "name": title,
        "day": day,
        "statement": package.text("statement/index.md") if package.has("statement/index.md") else "",
        "starting_code": package.text(starting_code) if package.has(starting_code) else "",
        **limits,
        "score_precision": _precision(package, meta),
        "score_type": (score_type_without_parameters(meta) or ScoreType.GROUP_MIN).value,
        "task_type": task_type.value,
    }
    if standard := meta.get("cpp_std") or (_NEWER_STANDARD if _is_newer(package) else None):
        columns["cxx_std"] = standard
    files = _code_files(package, meta, task_type)
    config = _config(meta, {"task_type": task_type.value, "code": name, "name": title, **limits})
    package.leave_out(f"as {task_type} has no such parameters (type_params)", unread_names(config, task_type))
    if any(path == CHECKER for path, _ in files):
        config = with_checker(package, config, task_type, f"type_params in {ROOT_FILE}")
    return build_task(
        package,
        ProblemKey(year=year, id=name),
        columns=columns,
        subtasks=list(subtasks.values()),
        files=files,
        config=config,
        tests=PackageTests(paths=tests),
        solutions=_solutions(package, stated, subtasks, tests if task_type is TaskType.OUTPUT_ONLY else None),
    )


def _required(meta: Mapping[str, Any], field: str) -> Any:
    if not meta.get(field):
        raise InputError(f"{field} is missing in {ROOT_FILE}")
    return meta[field]


def _precision(package: Package, meta: Mapping[str, Any]) -> Any:
    """The decimals of points. Newer versions of TPS state those of a score from 0 to 1, which are two more.

    Source: TPS 1.26, `scripts/exporters/CMS.py`.
    """
    stated = meta.get("score_precision", 2)
    is_of_share = "score_precision" in meta and isinstance(stated, int) and _is_newer(package)
    return max(0, stated - 2) if is_of_share else stated


def _is_newer(package: Package) -> bool:
    """Whether the task is made with a newer version of TPS. Tasks may link to shared scripts."""
    return package.has(f"scripts/{_NEWER}") or (package.where / "scripts" / _NEWER).exists()


def _flag(meta: Mapping[str, Any], field: str, default: bool) -> bool:
    value = meta.get(field, default)
    if not isinstance(value, bool):
        raise InputError(f"{field} is {value!r} in {ROOT_FILE}; it must be true or false")
    return value


def _config(meta: Mapping[str, Any], stated: RowValues) -> RowValues:
    config = {**stated, **mapping_of(f"type_params in {ROOT_FILE}", meta.get("type_params") or None)}
    if "task_type_parameters" in meta:  # CMS's list. Source: TPS, `scripts/exporters/CMS.py`
        config["task_type_parameters"] = meta["task_type_parameters"]
    elif stated["task_type"] == TaskType.COMMUNICATION:
        fields = (Parameter.NUM_PROCESSES, Parameter.USER_IO)
        config |= {parameter_key(TaskType.COMMUNICATION, field): meta[field] for field in fields if field in meta}
    if meta.get("has_grader") is False:
        config[parameter_key(stated["task_type"], Parameter.COMPILATION)] = "alone"
    return config


def _code_files(package: Package, meta: Mapping[str, Any], task_type: TaskType) -> list[tuple[str, str]]:
    """The judge's files, with their paths in a CMS export. The defaults of the `has_…` fields are TPS's."""
    is_batch = not task_type.has_manager
    files: list[tuple[str, str]] = []
    if _flag(meta, "has_grader", task_type is not TaskType.OUTPUT_ONLY):
        files += _graders(package, meta, "grader" if is_batch else "stub")
    if _flag(meta, "has_manager", not is_batch):
        directly = [path for path in package.names("grader") if path.count("/") == 1 and path.endswith(_CODE_ENDINGS)]
        files += [(f"graders/{basename(path)}", package.text(path)) for path in directly]
        files += [
            (f"graders/{path.removeprefix('grader/')}", text)
            for path, text in included_by_judges(package, directly)
            if not path.endswith(CMS_HEADERS)  # those in `grader/cpp/` are the submissions' own
        ]
    has_checker = _flag(meta, "has_checker", is_batch or _is_of_2017(package, meta))
    if has_checker and not _flag(meta, "ignore_checker", False):  # Source: the loader of leo900807/cms
        source = next((path for path in (CHECKER, *_SCRIPTS) if package.has(path)), None)
        if source is None:
            raise InputError(
                f"{package.absent(CHECKER)}; if the task has none, and outputs are compared except for blanks, set"
                " has_checker to false"
            )
        files += judge_files(package, source, source)
    return files


def _graders(package: Package, meta: Mapping[str, Any], name: str) -> list[tuple[str, str]]:
    """The graders: the source in each language that we judge, if it exists, and the headers of C++."""
    required = f"grader/cpp/{_grader_name(meta)}.cpp"
    if not package.has(required):
        hint = "" if required in package.links else "; if submissions stand alone, set has_grader to false"
        raise InputError(package.absent(required) + hint)
    sources = {required: f"graders/{name}.cpp"}
    for other in (Language.C, Language.PYTHON):
        wanted = f"{_grader_name(meta)}{other.endings[0]}"
        paths = [path for path in package.names("grader") if path.count("/") == 2 and basename(path) == wanted]
        sources |= dict.fromkeys(paths[:1], f"graders/{name}{other.endings[0]}")
    files = [(box_path, package.text(path)) for path, box_path in sources.items()]
    headers = [path for path in package.names("grader/cpp") if path.endswith(CMS_HEADERS)]
    return files + [(f"graders/{basename(path)}", package.text(path)) for path in headers]


def _grader_name(meta: Mapping[str, Any]) -> str:
    return str(meta.get("grader_name", "grader"))


def _is_of_2017(package: Package, meta: Mapping[str, Any]) -> bool:
    """Whether a Communication task was made for TPS before it supported several processes.

    Its checker judges the manager's output. Source: TPS of 2017, `scripts/templates/run.sh` of its sample *prize*,
    which has none of these fields.
    """
    grader = f"grader/cpp/{_grader_name(meta)}.cpp"
    if {"num_processes", "has_checker"} & set(meta) or not package.has(grader):
        return False
    return opens_fifos(package.text(grader))


def _stated(package: Package) -> dict[str, dict[str, Any]]:
    """The entry of each subtask in `subtasks.json`, by its name, in the order of their index."""
    stated = package.json("subtasks.json").get("subtasks")
    if not isinstance(stated, dict) or not stated:
        raise InputError("subtasks.json states no subtasks")
    for name, meta in stated.items():
        for field, kind in (("index", int), ("score", (int, float))):
            value = meta.get(field) if isinstance(meta, dict) else None
            if isinstance(value, bool) or not isinstance(value, kind):
                raise InputError(f"subtasks.json: {field} of {name} is {value!r}; it must be a number")
    return dict(sorted(stated.items(), key=lambda item: int(item[1]["index"])))


def _subtasks(package: Package, stated: Mapping[str, dict[str, Any]], tests: Sequence[str]) -> dict[str, Subtask]:
    mapping = _mapping(package, stated, tests)
    patterns = {
        name: meta["regex"]
        for name, meta in stated.items()
        if not mapping.get(name) and isinstance(meta.get("regex"), str)
    }
    matched = select_complete(package, patterns, tests, _HOW_TO_GENERATE)
    subtasks: dict[str, Subtask] = {}
    for name, meta in stated.items():
        chosen: Sequence[str] = mapping.get(name) or matched.get(name, ())
        if not chosen and meta["score"] == 0:
            package.notes.append(f"the subtask {name}, worth nothing, has no tests and is left out")
            continue
        if not chosen:
            raise InputError(f"{_MAPPING} gives the subtask {name} no tests; {_HOW_TO_GENERATE}")
        subtasks[name] = Subtask(name=f"{meta['index']:02}-{name}", points=meta["score"], tests=tuple(chosen))
    return subtasks


def _mapping(
    package: Package, stated: Mapping[str, dict[str, Any]], tests: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The tests of each subtask: lines "subtask test"."""
    if not package.has(_MAPPING):
        if all("regex" in meta for meta in stated.values()):
            return {}
        raise InputError(f"there is no {_MAPPING}; {_HOW_TO_GENERATE}")
    known = frozenset(tests)
    mapping: dict[str, dict[str, None]] = {}
    for number, line in enumerate(package.lines(_MAPPING), 1):
        words = line.split()
        if not words:
            continue
        where = f"{_MAPPING}, line {number}"
        if len(words) != 2:
            raise InputError(f"{where} is {line!r}; it must be a subtask and a test")
        subtask, test = words
        if subtask not in stated:
            raise InputError(f"{where} names the subtask {subtask}, which is not in subtasks.json")
        if test not in known:
            raise InputError(f"{where} names the test {test}, but there is no tests/{test}.in; {_HOW_TO_GENERATE}")
        mapping.setdefault(subtask, {})[test] = None
    return {subtask: tuple(chosen) for subtask, chosen in mapping.items()}


def _solutions(
    package: Package,
    stated: Collection[str],
    subtasks: Mapping[str, Subtask],
    output_tests: Mapping[str, tuple[str, str]] | None,
) -> list[PackageSolution]:
    """The solutions that `solutions.json` names: programs, or outputs if `output_tests` are given.

    A note names those whose statement is wrong: the task can be judged without them.
    """
    if not package.has("solutions.json"):
        package.notes.append(
            "there is no solutions.json, which states the solutions' verdicts: no solution is imported"
        )
        return []
    verdicts = _with_full_names(package.json("solutions.json"))
    outputs: dict[str, tuple[tuple[str, str], ...]] = {}
    if output_tests is not None:
        outputs = _outputs(package, verdicts, output_tests)
        chosen = [*outputs]
    else:
        chosen = [name for name in verdicts if language(name) is not None]
        unknown = [name for name in verdicts if name not in chosen]
        package.leave_out("because their endings are of no known language", unknown)
        paths = {f"solution/{name}" for name in chosen}
        others = [path for path in package.names("solution") if language(path) is not None and path not in paths]
        package.leave_out("because solutions.json states no verdicts for them", others)
    valid: list[PackageSolution] = []
    for name in chosen:
        try:
            solution = _solution(package, name, verdicts[name], stated, subtasks)
        except InputError as error:
            package.notes.append(f"left out: {error}")
        else:
            valid.append(replace(solution, path=None, outputs=outputs[name]) if name in outputs else solution)
    return valid


def _with_full_names(stated: Any) -> Any:
    """What is stated about solutions, with the names of verdicts that a CMS export has. TPS ignores upper case."""
    if isinstance(stated, str):
        return _NAME_OF.get(stated.lower(), stated.lower())
    return {key: _with_full_names(value) for key, value in stated.items()} if isinstance(stated, dict) else stated


def _outputs(
    package: Package, verdicts: Mapping[str, Any], tests: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """The outputs of each solution that has some. TPS itself makes them by programs, with larger limits than
    contestants have. If the model solution is a program, its outputs are the official ones.
    """
    sets = {output_set.name: output_set for output_set in output_sets(package, "solution")}
    outputs = {name: sets[name.removesuffix(".zip")].outputs for name in verdicts if name.removesuffix(".zip") in sets}
    programs = [name for name in verdicts if name not in outputs]
    stated_models = [name for name in programs if isinstance(verdicts[name], dict) and not verdicts[name].get("except")]
    if model := next((name for name in stated_models if verdicts[name].get("verdict") == MODEL_SOLUTION), None):
        programs.remove(model)
        outputs[model] = tuple((f"output_{test}.txt", package.text(answer)) for test, (_, answer) in tests.items())
        package.notes.append(f"{model}, the model solution, is submitted as the official outputs")
    package.leave_out("as the task takes outputs only", programs)
    return outputs


def _solution(
    package: Package, name: str, meta: Any, stated: Collection[str], subtasks: Mapping[str, Subtask]
) -> PackageSolution:
    where = f"solutions.json: {name}"
    entry = meta if isinstance(meta, dict) else {"except": None}
    verdict, exceptions = entry.get("verdict") or None, entry.get("except", {})
    if not isinstance(verdict, str | None) or not isinstance(exceptions, dict):
        raise InputError(f"{where} states no verdict")
    if not package.names(f"solution/{name}") and not package.has(f"solution/{name}"):
        raise InputError(f"{package.absent(f'solution/{name}')} (solutions.json names it)")
    if unknown := [subtask for subtask in exceptions if subtask not in stated]:
        raise InputError(f"{where}: an exception names the subtask {unknown[0]}, which is not in subtasks.json")
    try:
        for label in (verdict, *exceptions.values()):
            if label is not None:
                Expectation.parse(str(label))
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    stated_verdicts = {subtask.name: exceptions.get(key, verdict) for key, subtask in subtasks.items()}
    return PackageSolution(
        path=f"solution/{name}",
        label=f"{verdict or UNLABELLED}/{name}",
        expected=verdict,
        expected_subtasks={key: str(each) for key, each in stated_verdicts.items() if each is not None},
    )
