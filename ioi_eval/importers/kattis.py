"""Problem packages in the Kattis format, as Kattis, DOMjudge and many contests use it: `problem.yaml`, `data/`, …

Pass-fail and scoring problems with the default output validator or the package's own, also interactive ones. The
format states no time limit: Kattis derives it from the accepted submissions, DOMjudge reads `.timelimit` or
`domjudge-problem.ini`. If these are missing, the user must give it.

Source: Kattis problem package format, version "legacy"; DOMjudge manual, "Problem format".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ioi_eval.config import MIB
from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.kattis_data import ARGUMENTS, DATA, SETTINGS, TestGroup, judged_names, read_groups
from ioi_eval.importers.kattis_domjudge import (
    INI_FILE,
    check_executables,
    is_scored_once,
    read_ini,
    scored_by_validator,
    scored_once,
    states_only_ranges,
)
from ioi_eval.importers.kattis_graders import try_grader, without_own_sums
from ioi_eval.importers.kattis_groups import (
    GradedGroup,
    has_old_scores,
    pass_fail_subtasks,
    scoring_subtasks,
    test_columns,
    with_most_points,
)
from ioi_eval.importers.kattis_programs import (
    VALIDATOR_DIRECTORIES,
    flag_words,
    grader_config,
    included_files,
    validator_files,
    validator_flags,
    with_old_flags,
)
from ioi_eval.importers.kattis_scoring import subtasks_by_group
from ioi_eval.importers.kattis_settings import ROOT_FILE, KattisKind, constants, read_kind
from ioi_eval.importers.kattis_submissions import KattisSubmissions, stated_totals
from ioi_eval.importers.kattis_time_limit import MAX_MEASURED_S, derived_timing, stated_limits, time_limit
from ioi_eval.importers.package import Package, first_names, open_package
from ioi_eval.importers.task import ImportedTask, PackageSolution, RowValues, build_task
from ioi_eval.model import ProblemKey, Subtask, TaskType
from ioi_eval.problems.token_rules import check_token_flags

_FORMAT = "a problem package in the Kattis format"
_ACCEPTED_IN_PART = frozenset({"always_accept", "accept_if_any_accepted"})
_MEMORY_MIB, _OUTPUT_MIB = 2048, 8  # Source: Kattis's and DOMjudge's defaults
_CODE_KIB = 256  # Source: DOMjudge's default; Kattis's is smaller, 128 KiB
_GENERATED_TESTS = "generators/generators.yaml"
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
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
    models = "one in submissions/accepted/"
    with open_package(path, ROOT_FILE, or_file=INI_FILE, format=_FORMAT, models=models) as package:
        return _import(package, year, day, time_limit_s, derive=derive)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """The test data, as submissions are scored on it."""

    kind: KattisKind  # with `score` too if DOMjudge takes the scores from the validator
    root: TestGroup
    by_points: bool  # whether groups state their points as before version 2025
    for_domjudge: bool  # whether the points are given as by DOMjudge

    @property
    def groups(self) -> list[TestGroup]:
        return list(self.root.walk())

    def one_group_suffices(self, subtasks: Sequence[Subtask]) -> bool:
        """Whether an accepted submission may be meant for one group."""
        may_get_a_part = self.kind.custom_score or sum(subtask.points > 0 for subtask in subtasks) > 1
        return self.by_points and _accepts_in_part(self.root) and may_get_a_part


def _import(package: Package, year: int, day: str | None, time_limit_s: float | None, *, derive: bool) -> ImportedTask:
    meta = package.yaml(ROOT_FILE) if package.has(ROOT_FILE) else {}
    version = str(meta.get("problem_format_version", "legacy"))
    package.format = f"{_FORMAT}, version {version}"
    stated = read_kind(package, meta)
    if not stated.legacy:
        package.edit = constants(meta)
    ini = read_ini(package)
    ignored = "special_run" if stated.interactive else "special_compare" if stated.validation else None
    check_executables(ini, ignored_setting=ignored)
    limits = _mapping(meta, "limits")
    derive = derive and time_limit_s is None and not stated_limits(package, limits, ini)
    time_limit_s = MAX_MEASURED_S if derive else time_limit(package, limits, ini, time_limit_s)
    key = ProblemKey(year=year, id=_identifier(package, ini))
    columns = _columns(package, meta, limits, stated, time_limit_s)
    data = _read_data(package, meta, stated)
    kind = data.kind
    graded = try_grader(package, [group for group in data.groups if _is_graded(group)]) if kind.custom_score else {}
    subtasks = _subtasks(data, graded)
    _check_points(package, data, subtasks)
    validator = validator_files(package, "interactor" if kind.interactive else "checker") if kind.validation else []
    included = included_files(package)
    task = build_task(
        package,
        key,
        name=_title(meta, ini) or key.id,
        day=day,
        columns=columns,
        subtasks=subtasks,
        files=[*validator, *included],
        config=grader_config(key.id, TaskType(columns["task_type"]), included),
        tests={test: (f"data/{test}.in", f"data/{test}.ans") for group in data.groups for test in group.tests},
        solutions=_solutions(package, data, subtasks),
        test_columns=_test_columns(package, data, graded),
        derive_limit=derive,
    )
    if not derive:
        return task
    any_group = kind.legacy and data.one_group_suffices(subtasks)
    return replace(task, timing=derived_timing(task, limits, legacy=kind.legacy, any_group=any_group))


def _solutions(package: Package, data: _Data, subtasks: Sequence[Subtask]) -> list[PackageSolution]:
    submissions = KattisSubmissions(
        package,
        subtasks,
        data.root.secret[0].groups if data.root.secret else (),
        data.kind,
        one_group_suffices=data.one_group_suffices(subtasks),
        accepted_without_points=data.kind.custom_score or (data.by_points and _accepts_without_points(data.root)),
        worst_counts=data.kind.legacy and not data.kind.scoring and _judges_all_tests(data.root),
    )
    return submissions.solutions()


def _read_data(package: Package, meta: Mapping[str, Any], kind: KattisKind) -> _Data:
    package.refuse_links("graders", "include", *VALIDATOR_DIRECTORIES)
    root = read_groups(package, _for_all_groups(package, meta))
    if kind.legacy:
        root = with_old_flags(package, root, flag_words(ROOT_FILE, meta.get("validator_flags")))
    else:
        _check_test_files(package)
    _check_secret_tests(package, root, kind)
    by_points = kind.scoring and (kind.legacy or has_old_scores(root))
    if by_points and not kind.legacy and kind.validation:  # Source: problemtools, `is_custom_score_allowed`
        kind = replace(kind, validation=kind.validation | {"score"})
    for_domjudge = by_points and is_scored_once(root, stated_totals(package))
    if for_domjudge:
        package.notes.append(
            "each group gets its points once, as DOMjudge scores, because submissions state @EXPECTED_SCORE@"
        )
    if for_domjudge and kind.validation and not kind.custom_score and states_only_ranges(root):
        kind, root = replace(kind, validation=kind.validation | {"score"}), scored_by_validator(root)
    elif kind.custom_score:
        root = with_most_points(without_own_sums(package, root))
    elif for_domjudge:
        root = scored_once(root)
    if unknown := sorted({str(name) for group in root.walk() for name in group.config if name not in SETTINGS}):
        package.notes.append(
            f"settings of test groups that the format does not have are not read: {first_names(unknown)}"
        )
    return _Data(kind=kind, root=root, by_points=by_points, for_domjudge=for_domjudge)


def _check_points(package: Package, data: _Data, subtasks: Sequence[Subtask]) -> None:
    """Refuse a package without points, and note where Kattis would give a submission fewer points."""
    worth = sum(subtask.points > 0 for subtask in subtasks)
    if not worth:
        raise InputError("no group of tests is worth points; state accept_score in its testdata.yaml")
    if data.by_points and not data.for_domjudge and _is_scored_if_all_accepted(data.root) and worth > 1:
        package.notes.append(
            "Kattis gives no points to a submission that fails a test, as neither data/ nor data/secret/ has"
            " accept_if_any_accepted or always_accept; here each group counts, as in problemtools and DOMjudge"
        )


def _subtasks(data: _Data, graded: Mapping[str, GradedGroup]) -> list[Subtask]:
    kind, root = data.kind, data.root
    if not kind.scoring:
        return pass_fail_subtasks(root)
    if not data.by_points:
        return subtasks_by_group(root, has_validator=bool(kind.validation))
    return scoring_subtasks(root, gives_scores=kind.custom_score, graded=graded)


def _test_columns(package: Package, data: _Data, graded: Mapping[str, GradedGroup]) -> dict[str, dict[str, object]]:
    """The columns of test rows. Since version 2025 a test's own file replaces the validator's flags of its group.

    Source: Kattis problem package format (2025-09), "Test case configuration".
    """
    kind = data.kind
    columns = test_columns(data.root, kind, graded)
    for test in columns if not kind.legacy else ():
        name = f"data/{test}.yaml"
        own = package.yaml(name) if package.has(name) else {}
        if ARGUMENTS in own:
            columns[test] = {**columns[test], "checker_args": validator_flags(name, own)}
    if not kind.validation:
        for test, values in columns.items():
            if isinstance(flags := values.get("checker_args"), list):
                check_token_flags(flags, f"data/{test}: ")
    return columns


def _columns(
    package: Package, meta: Mapping[str, Any], limits: Mapping[str, Any], kind: KattisKind, time_limit_s: float
) -> RowValues:
    def limit(name: str, default: float) -> float:
        return package.check_limit(limits.get(name, default), name, ROOT_FILE)

    return {
        "time_limit": time_limit_s,
        "memory_limit": round(limit("memory", _MEMORY_MIB) * MIB),
        "output_limit": round(limit("output", _OUTPUT_MIB) * MIB),
        "code_limit": round(limit("code", _CODE_KIB) * 1024),
        "score_precision": 6,  # the format does not round; this only removes the errors of adding fractions
        "task_type": "Interactive" if kind.interactive else "Batch",
        "checker_protocol": "kattis" if kind.validation else "tokens",
        "checker_args": flag_words(ROOT_FILE, meta.get("validator_flags")),
        "passes": round(limit("validation_passes", _PASSES)) if kind.multi_pass else None,
    }


def _check_secret_tests(package: Package, root: TestGroup, kind: KattisKind) -> None:
    """Check that there are secret tests, which packages without generated tests lack.

    A problem that is not scored gets a note that only the samples are judged.

    Raises:
        InputError: a group of secret tests that is worth points has none; or there are none at all, and the problem is
            scored by groups, or the package has the file from which BAPCtools generates tests.
    """
    if any(group.tests for group in root.secret):
        empty = [group for group in root.secret if group.configured and not group.all_tests]
        points = {group.path: group.config.get("accept_score", group.config.get("max_score", 1)) for group in empty}
        if lacking := [path for path, worth in points.items() if kind.scoring and worth != 0]:
            raise InputError(
                f"{lacking[0]} has a configuration and no tests, so full marks would be fewer; get the complete package"
            )
        return
    missing = "there is no test in data/secret/"
    if kind.scoring or package.has(_GENERATED_TESTS):
        raise InputError(f"{missing}: the tests are missing; generate them, or get the complete package")
    package.notes.append(f"{missing}: only the samples are judged. If the tests are generated, generate them first")


def _check_test_files(package: Package) -> None:
    """Refuse settings of tests and groups (possible since version 2025) that would change the judging."""
    for name in judged_names(package, DATA):
        directory = next((part for part in name.split("/")[:-1] if part.endswith(".files")), None)
        if directory is not None:
            raise UnsupportedError(f"{name} is a file for the submission, which is not supported")
        if not name.endswith(".yaml"):
            continue
        own = package.yaml(name)
        if own.get("static_validation_score") is not None:
            raise UnsupportedError(
                f"{name} states a static validation test case (static_validation_score): a program"
                " judges the text of submissions, which is not supported"
            )
        if own.get("args"):
            raise UnsupportedError(f"{name} states args, arguments for the submission, which are not supported")


def _is_scored_if_all_accepted(root: TestGroup) -> bool:
    """Whether one rejected test rejects the whole submission, according to the flags of the outer groups.

    Kattis gives such a submission no points. Source: Kattis problem package format (legacy), "Graders", "Output".
    """
    outer = _outer(root)
    if any(group.config["grading"] != "default" for group in outer):
        return False
    return not any(_ACCEPTED_IN_PART & set(group.flags) for group in outer)


def _accepts_in_part(root: TestGroup) -> bool:
    """Whether a submission is accepted if one of the groups is, or in any case."""
    return any(_ACCEPTED_IN_PART & set(group.flags) for group in _outer(root))


def _accepts_without_points(root: TestGroup) -> bool:
    """Whether a submission can be accepted that fails each group of secret tests: always, or if it passes the samples.

    Source: Kattis problem package format (legacy), "Graders".
    """
    has_samples = any(group.name == "sample" and group.all_tests for group in root.groups)
    by_samples = has_samples and "accept_if_any_accepted" in root.flags and "ignore_sample" not in root.flags
    return by_samples or any("always_accept" in group.flags for group in _outer(root))


def _judges_all_tests(root: TestGroup) -> bool:
    """Whether tests are judged after a rejected one, and the worst verdict counts, as by default.

    Source: problemtools, `support/default_grader`.
    """
    return any(group.config["on_reject"] == "continue" and "first_error" not in group.flags for group in root.walk())


def _outer(root: TestGroup) -> list[TestGroup]:
    return [root, *root.secret[:1]]


def _is_graded(group: TestGroup) -> bool:
    return bool(group.tests) and group.config["grading"] == "custom" and group.path.startswith("data/secret")


def _for_all_groups(package: Package, meta: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for all groups, which old packages have in `problem.yaml`.

    Source: problemtools, `TestCaseGroup`: they take precedence over a group's own file; `worst_error` has no effect.
    """
    grading = _mapping(meta, "grading")
    if grading.get("objective", "max") != "max":
        raise UnsupportedError(f"the objective {grading['objective']!r} is not supported; max is")
    if grading.get("custom_scoring"):
        raise UnsupportedError("custom_scoring is not supported")
    names = ("accept_score", "reject_score", "range")
    stated = {name: grading[name] for name in names if grading.get(name) is not None}
    rejects = grading.get("on_reject") or ""
    if not isinstance(rejects, str):
        raise InputError(f"on_reject of grading in {ROOT_FILE} is {rejects!r}; it must be a text")
    policies = {"first_error": "break", "grade": "continue", "worst_error": None}
    if rejects and rejects not in policies:
        package.notes.append(
            f"on_reject of grading in {ROOT_FILE} is {rejects!r}, which is not known and has no effect"
        )
    policy = policies.get(rejects)
    return {**stated, **({"on_reject": policy} if policy else {})}


def _mapping(meta: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = meta.get(name) or {}
    if not isinstance(value, Mapping):
        raise InputError(f"{name} in {ROOT_FILE} is {value!r}; it must be a mapping of names to values")
    return value


def _identifier(package: Package, ini: Mapping[str, str]) -> str:
    """The problem's id. DOMjudge's `short-name` is none: it may be the letter that the problem has in a contest."""
    name = ini.get("externalid") or package.name
    if not _IDENTIFIER.fullmatch(name):
        raise InputError(f"{name!r} cannot be a problem's id; rename the package (letters, digits, - and _)")
    return name


def _title(meta: Mapping[str, Any], ini: Mapping[str, str]) -> str:
    name = meta.get("name")
    if isinstance(name, Mapping):
        name = name.get("en") or next(iter(name.values()), None)
    return str(name or ini.get("name") or "")
