"""How submissions are scored on the test data of a Kattis package: as on Kattis, in problemtools or in DOMjudge.

DOMjudge gives a group of tests its points once, or the points that the validator gives.

Source: Kattis problem package format (legacy), "Graders"; problemtools, `support/default_grader`; DOMjudge,
`SubmissionService::maybeSetScoringResult`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ioi_eval.errors import InputError, UnsupportedError, listed
from ioi_eval.importers.kattis_data import ACCEPTED_IN_PART, DATA, SETTINGS, TestGroup, judged_names, read_groups
from ioi_eval.importers.kattis_graders import GradedGroup, try_grader, without_own_sums
from ioi_eval.importers.kattis_programs import VALIDATOR_DIRECTORIES, flag_words, with_old_flags
from ioi_eval.importers.kattis_settings import ROOT_FILE, KattisKind, KattisSettings
from ioi_eval.importers.package import Package
from ioi_eval.importers.task import language
from ioi_eval.model import Subtask

_GENERATED_TESTS = "generators/generators.yaml"
STATED_TOTAL = re.compile(r"@EXPECTED_SCORE@:[ \t]*(\d{1,18})(\.\d+)?\b", re.IGNORECASE)
"""Points that a submission states in DOMjudge's form."""

_ROUNDING = 0.01  # of points that are stated with two decimals


@dataclass(frozen=True, slots=True, kw_only=True)
class KattisData:
    """The test data, as submissions are scored on it."""

    kind: KattisKind  # with `score` too where DOMjudge or problemtools takes the scores from the validator
    root: TestGroup
    by_points: bool  # whether groups state their points as before version 2025
    for_domjudge: bool  # whether the points are given as by DOMjudge
    graded: Mapping[str, GradedGroup]  # how the package's own grader scores groups, by their paths

    @property
    def outer(self) -> tuple[TestGroup, ...]:
        """The groups `data` and `data/secret`."""
        return (self.root, *self.root.secret[:1])

    def one_group_suffices(self, subtasks: Sequence[Subtask]) -> bool:
        """Whether an accepted submission may solve only one group: because one accepted group is enough, or because the
        outer group always accepts.
        """
        in_part = any(ACCEPTED_IN_PART & set(group.flags) for group in self.outer)
        may_get_a_part = self.kind.custom_score or sum(subtask.points > 0 for subtask in subtasks) > 1
        return self.by_points and in_part and may_get_a_part

    @property
    def accepted_without_points(self) -> bool:
        """Whether an accepted submission may have no points. The validator may give the score 0. Where a group always
        accepts, or passing the samples is enough, the submission may fail all groups of secret tests.
        """
        root = self.root
        has_samples = any(group.name == "sample" and group.all_tests for group in root.groups)
        by_samples = has_samples and "accept_if_any_accepted" in root.flags and "ignore_sample" not in root.flags
        always = by_samples or any("always_accept" in group.flags for group in self.outer)
        return self.kind.custom_score or (self.by_points and always)

    @property
    def worst_counts(self) -> bool:
        """Whether tests are judged after a rejected one, and the worst verdict counts, as by default. Not asked of a
        package of a later version, which has `submissions.yaml`.
        """
        if self.kind.scoring:
            return False
        groups = self.root.walk()
        return any(group.config["on_reject"] == "continue" and "first_error" not in group.flags for group in groups)

    def check_points(self, package: Package, subtasks: Sequence[Subtask]) -> None:
        """Refuse a package without points, and note where Kattis would give a submission fewer points.

        By its rules, one rejected test may reject the whole submission, which then gets no points.
        Source: Kattis problem package format (legacy), "Graders", "Output".
        """
        worth = sum(subtask.points > 0 for subtask in subtasks)
        if not worth:
            raise InputError("no group of tests is worth points; state accept_score in its testdata.yaml")
        in_full = all(
            group.config["grading"] == "default" and not ACCEPTED_IN_PART & set(group.flags) for group in self.outer
        )
        if self.by_points and not self.for_domjudge and in_full and worth > 1:
            package.notes.append(
                "Kattis gives no points to a submission that fails a test, as neither data/ nor data/secret/ has"
                " accept_if_any_accepted or always_accept; here each group counts, as in problemtools and DOMjudge"
            )
        total = sum(subtask.points for subtask in subtasks)
        most = self.root.range[1] if self.by_points and self.root.range else math.inf
        if math.isfinite(most) and abs(total - most) > _ROUNDING:
            package.notes.append(
                f"full marks are {total:g} points, as the groups are worth that together; the range of {DATA}/ ends at"
                f" {most:g}"
            )


def read_data(package: Package, settings: KattisSettings) -> KattisData:
    """The test data of a package.

    Raises:
        SetupError: its own grader cannot be tried on this machine.
    """
    kind = settings.kind
    package.refuse_links("graders", "include", *VALIDATOR_DIRECTORIES)
    root = read_groups(package, settings.for_all_groups())
    if kind.legacy:
        root = with_old_flags(package, root, flag_words(ROOT_FILE, settings.meta.get("validator_flags")))
    else:
        _check_test_files(package)
    _check_secret_tests(package, root, kind)
    by_points = kind.scoring and (kind.legacy or _has_old_scores(root))
    if by_points and not kind.legacy and kind.validation:  # Source: problemtools, `is_custom_score_allowed`
        kind = replace(kind, validation=kind.validation | {"score"})
    for_domjudge = by_points and _is_scored_once(root, _stated_totals(package))
    if for_domjudge:
        package.notes.append(
            "each group gets its points once, as DOMjudge scores, because submissions state @EXPECTED_SCORE@"
        )
    secret = [group for group in root.secret if group.tests]
    alone = len(secret) == 1
    by_range = any(
        "accept_score" not in group.config and "range" in (group.config if alone else group.own) for group in secret
    )
    if for_domjudge and kind.validation and not kind.custom_score and by_range:  # then the validator gives the scores
        kind = replace(kind, validation=kind.validation | {"score"})
        root = root.with_each(partial(_scored_by_validator, alone=alone))
    elif kind.custom_score:
        root = without_own_sums(package, root).with_each(partial(_with_most_points, alone=alone))
    elif for_domjudge:
        root = root.with_each(_scored_once)
    if unknown := sorted({str(name) for group in root.walk() for name in group.config if name not in SETTINGS}):
        package.notes.append(f"settings of test groups that the format does not have are not read: {listed(unknown)}")
    own = [group for group in root.secret if group.tests and group.config["grading"] == "custom"]
    graded = try_grader(package, own) if kind.custom_score else {}
    return KattisData(kind=kind, root=root, by_points=by_points, for_domjudge=for_domjudge, graded=graded)


def _check_secret_tests(package: Package, root: TestGroup, kind: KattisKind) -> None:
    """Check that there are secret tests, which packages without generated tests lack.

    A problem that is not scored gets a note that only the samples are judged, unless the package has the file from
    which BAPCtools generates tests.
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


def _has_old_scores(root: TestGroup) -> bool:
    """Whether the groups of a newer package state points in the form used before 2025, as with drafts of the format.

    Source: `examples/oddecho` of problemtools, whose version is 2023-07-draft.
    """
    configs = [group.config for group in root.walk()]
    if any("max_score" in config for config in configs):
        return False
    old = {"accept_score", "range"}
    return any(old & set(config) or config["grader_flags"] or config["grading"] != "default" for config in configs)


def _with_most_points(group: TestGroup, *, alone: bool) -> TestGroup:
    """A group of a validator that gives scores; if only its `range` states the most points, with `accept_score`.

    The range is that of a test if the group has one test, or takes the minimum of its tests. A range that the group
    inherits is that of the outer directory, so it counts only if no other group has secret tests (`alone`).
    """
    if group.groups:
        return group
    is_of_tests = group.config["grading"] == "default" and (
        len(group.tests) == 1 or group.aggregations[-1:] == ("min",)
    )
    states_range = "range" in group.own or (alone and group.configured)
    if not states_range or "accept_score" in group.config or not is_of_tests:
        return group
    most = group.range[1] if group.range else math.inf
    return group if math.isinf(most) else group.with_settings(accept_score=most)


def _scored_once(group: TestGroup) -> TestGroup:
    """A group as DOMjudge scores it: a group of tests gets its `accept_score` once, if all tests are accepted.

    One without `accept_score` gets nothing.
    """
    if group.groups:
        return group
    return group.with_settings(accept_score=group.config.get("accept_score", 0)).with_lowest_score()


def _is_scored_once(root: TestGroup, totals: Sequence[float]) -> bool:
    """Whether a package can be meant for DOMjudge, which gives each group of tests its `accept_score` once.

    Old packages for Kattis, which adds the scores of tests, state the points of submissions (`totals`) in the same
    words. Packages for other judges state none.
    """
    most = 0.0
    for group in (group for group in root.secret if group.tests):
        once = group.config.get("accept_score")
        try:
            most += (group.range or (0, 0))[1] if once is None else float(once)
        except (TypeError, ValueError, OverflowError):
            return bool(totals)
    return bool(totals) and (most == 0.0 or max(totals) <= most + _ROUNDING)


def _scored_by_validator(group: TestGroup, *, alone: bool) -> TestGroup:
    """A group as DOMjudge scores it, if the validator gives the scores: the upper end of `range` is full marks.

    Samples need a range of their own. So do the groups, unless no other group has secret tests (`alone`).
    Source: DOMjudge's example problem *knapsack*.
    """
    if group.groups:
        return group
    inherits = "range" in group.config and "range" not in group.own
    if "accept_score" in group.config or "range" not in group.config or (inherits and group.name == "sample"):
        return group.with_settings(accept_score=group.config.get("accept_score", 0))
    if inherits and not alone:
        raise UnsupportedError(
            f"{group.path} states neither accept_score nor range; the range that it inherits is that of several groups"
        )
    if len(group.tests) > 1 and group.aggregations[-1:] != ("min",):
        raise UnsupportedError(
            f"{group.path} has one range for the sum of several tests' scores; one test, or grader_flags: min,"
            " is supported"
        )
    _, most = group.range or (0.0, 0.0)
    return group.with_settings(accept_score=most).with_lowest_score()


def _stated_totals(package: Package) -> list[float]:
    """All points that submissions state in DOMjudge's form."""
    sources = [name for name in package.names("submissions") if language(name) is not None]
    found = (match for name in sources for match in STATED_TOTAL.finditer(package.text(name)))
    return [float(f"{match[1]}{match[2] or ''}") for match in found]
