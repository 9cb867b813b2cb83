"""Problem packages in the Kattis format, as Kattis, DOMjudge and many contests use it: `problem.yaml`, `data/`, …

Pass-fail and scoring problems with the default output validator or the package's own, also interactive ones. The time
limit is that of `problem.yaml` (in the format since version 2023-07) or of DOMjudge's files. If none is stated, the
user gives it, or has it derived from the submissions as Kattis does.

Source: Kattis problem package format, versions "legacy" and 2025-09; DOMjudge manual, "Problem format".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ioi_eval.config import MIB
from ioi_eval.errors import listed
from ioi_eval.importers.kattis_groups import subtasks_of, test_columns
from ioi_eval.importers.kattis_programs import GRADER, flag_words, included_files, validator_files
from ioi_eval.importers.kattis_scoring import read_data
from ioi_eval.importers.kattis_settings import FORMAT, INI_FILE, MAX_MEASURED_S, ROOT_FILE, KattisSettings
from ioi_eval.importers.kattis_submissions import KattisSubmissions
from ioi_eval.importers.package import Package, open_package
from ioi_eval.importers.task import ImportedTask, PackageTests, RowValues, build_task, named_config
from ioi_eval.model import ProblemKey, TaskType
from ioi_eval.problems.task_parameters import Parameter

_MEMORY_MIB, _OUTPUT_MIB = 2048, 8  # Source: Kattis's and DOMjudge's defaults
_CODE_KIB = 256  # Source: DOMjudge's default; Kattis's is smaller, 128 KiB
_PASSES = 2  # Source: the format's default of `validation_passes`


def import_package(
    path: str | Path, *, year: int, day: str | None = None, time_limit_s: float | None = None, derive: bool = False
) -> ImportedTask:
    """Read a problem package; arguments as of `cms.import_package`.

    The problem's id is the package's name, unless `domjudge-problem.ini` gives one.

    Args:
        time_limit_s: replaces the package's time limit.
        derive: if there is no time limit, describe in `timing` how to derive it; the rows then have one minute.

    Raises:
        SetupError: its grader cannot be tried on this machine.
    """
    model = "one in submissions/accepted/"
    with open_package(path, ROOT_FILE, other_root_file=INI_FILE, format=FORMAT, model_example=model) as package:
        return _import(package, year, day, time_limit_s, derive=derive)


def _import(package: Package, year: int, day: str | None, time_limit_s: float | None, *, derive: bool) -> ImportedTask:
    settings = KattisSettings(package)
    derive = derive and time_limit_s is None and not settings.time_limits
    time_limit_s = MAX_MEASURED_S if derive else settings.time_limit(time_limit_s)
    key = ProblemKey(year=year, id=settings.identifier)
    columns = _columns(settings, time_limit_s)
    data = read_data(package, settings)
    subtasks = subtasks_of(data)
    data.check_points(package, subtasks)
    kind = data.kind
    if not kind.validation:
        _note_long_answers(package, data.root.all_tests, int(columns["output_limit"]))
    validator = validator_files(package, "interactor" if kind.interactive else "checker") if kind.validation else []
    included = included_files(package)
    has_grader = any(path == GRADER for path, _ in included)
    task_type = TaskType(columns["task_type"])
    # a header that is called like the problem would otherwise show that a grader is missing
    headers_alone = named_config(key.id, task_type, {Parameter.COMPILATION: "alone"})
    solutions = KattisSubmissions(package, data, subtasks, has_linked_source=has_grader).solutions()
    any_group = kind.legacy and data.one_group_suffices(subtasks)
    return build_task(
        package,
        key,
        columns={"name": settings.title, "day": day, **columns},
        subtasks=subtasks,
        files=[*validator, *included],
        config=headers_alone if included and not has_grader else None,
        tests=PackageTests(
            paths={test: (f"data/{test}.in", f"data/{test}.ans") for test in data.root.all_tests},
            columns=test_columns(package, data),
        ),
        solutions=solutions,
        timing=settings.derived_timing(subtasks, solutions, any_group=any_group) if derive else None,
    )


def _note_long_answers(package: Package, tests: Sequence[str], most: int) -> None:
    """Note answers that a submission cannot print. (A validator of the package may expect something shorter.)"""
    longer = [path for test in tests if package.size(path := f"data/{test}.ans") > most]
    if longer:
        package.notes.append(
            f"{len(longer)} answers are longer than a submission's output may be ({most:,} bytes):"
            f" {listed(longer)}; state `output` (MiB) in the limits of {ROOT_FILE}"
        )


def _columns(settings: KattisSettings, time_limit_s: float) -> RowValues:
    kind = settings.kind
    return {
        "time_limit": time_limit_s,
        "memory_limit": round(settings.limit("memory", _MEMORY_MIB) * MIB),
        "output_limit": round(settings.limit("output", _OUTPUT_MIB) * MIB),
        "code_limit": round(settings.limit("code", _CODE_KIB) * 1024),
        "score_precision": 6,  # the format does not round; this only removes the errors of adding fractions
        "task_type": "Interactive" if kind.interactive else "Batch",
        "checker_protocol": "kattis" if kind.validation else "tokens",
        "checker_args": flag_words(ROOT_FILE, settings.meta.get("validator_flags")),
        "passes": settings.limit("validation_passes", _PASSES) if kind.multi_pass else None,
    }
