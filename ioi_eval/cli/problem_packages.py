"""Problems' packages on workers: what `cluster install --problems` and `cluster uninstall --problems` do."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.cluster import ChosenPackages
from ioi_eval.cli.endpoints import needed_cluster, tell_changing
from ioi_eval.cli.messages import tell
from ioi_eval.cli.sources import contest_problems
from ioi_eval.config import Environment, Policy
from ioi_eval.errors import InputError, SandboxError, SetupError
from ioi_eval.model import Content, Problem, Profile, size_of
from ioi_eval.programs import Builder
from ioi_eval.report.texts import counted
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.control import PackageChange, PackageRequest, Presence, change, presences
from ioi_eval.sandbox.piston.endpoints import EndpointSource
from ioi_eval.sandbox.piston.problem_packages import MadePackage, data_of, list_packages, make_package, package_of
from ioi_eval.sandbox.piston.stored_files import digest
from ioi_eval.sandbox.piston.wire import is_problems

ALL = "all"
"""The value of `uninstall --problems` for the packages of all problems."""

_NOT_ASKED = "not asked, because a worker crashed when it was asked for a package"

_NO_PACKAGE = "none on workers that answer"
"""Printed in place of a package's name if no worker that answers has any."""

_Versions = set[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPackage:
    """What happened to a package on all workers; with its problem, if that is known."""

    problem: str = ""
    package: str
    changes: Sequence[PackageChange]


def _read_problems(chosen: ChosenPackages) -> Sequence[Problem]:
    assert chosen.problems is not None, "these are packages of problems"
    tests = chosen.tests or "open-r1/ioi-test-cases"
    problems = contest_problems(chosen.problems, tests, years=chosen.year or (), ids=chosen.problem or ())
    tell(*(f"{key} is left out: {error}" for key, error in problems.unusable.items()))
    if not problems.problems:
        raise InputError(f"{chosen.problems} has no problem that can be judged")
    return tuple(problems.problems.values())


def install(
    chosen: ChosenPackages, repository: Path, *, url: str | None, max_bytes: int, prune: bool
) -> list[ChangedPackage]:
    """Make the packages, of at most `max_bytes`, install them on every worker, and remove their older versions."""
    problems = _read_problems(chosen)
    least = sum(map(_data_bytes, problems))
    if least > max_bytes:
        raise InputError(
            f"{counted(len(problems), 'problem')} with {least / 1e6:.3f} MB of test data: --max-gb allows "
            f"{max_bytes / 1e6:g} MB on a worker; name fewer with --problem and --year, or allow more"
        )
    cluster = needed_cluster(chosen.endpoints)
    packages = asyncio.run(_make(cluster.source, problems, repository))
    total = sum(each.size for _, each in packages)
    if total > max_bytes:
        raise InputError(
            f"these packages take {total / 1e6:.3f} MB on a worker, and --max-gb allows {max_bytes / 1e6:g} MB; name "
            "fewer with --problem and --year, or allow more"
        )
    list_packages(repository, url or f"http://{socket.gethostname()}:8000", [each for _, each in packages])
    tell(f"{counted(len(packages), 'package')} in {repository}, {total / 1e6:.1f} MB on each worker")
    return _install(cluster.urls, packages, prune=prune)


def uninstall(chosen: ChosenPackages) -> list[ChangedPackage]:
    """Remove problems' packages from every worker, in all versions.

    If no worker that answers has one, the changes only tell which workers answer; they are empty if all do.
    """
    urls = needed_cluster(chosen.endpoints).urls
    is_all = chosen.problems == ALL
    problems = () if is_all else _read_problems(chosen)
    named = {package_of(problem).language: str(problem.key) for problem in problems}
    presence = asyncio.run(presences(urls))
    installed = _installed(presence, None if is_all else named.keys())
    if not installed and any(each.why_not for each in presence):
        return [ChangedPackage(package=_NO_PACKAGE, changes=[_answer(each) for each in presence])]
    if not installed:
        tell("no worker has any of these packages")
    requests, removed = _Requests(), dict[str, list[PackageChange]]()
    for language, version in sorted(installed):
        removed.setdefault(language, []).extend(requests.send(urls, language, version))
    return [
        ChangedPackage(problem=named.get(language, ""), package=language, changes=changes)
        for language, changes in removed.items()
    ]


def _answer(presence: Presence) -> PackageChange:
    """Whether a worker answers, as a change of a package."""
    return PackageChange(url=presence.url, is_done=not presence.why_not, message=f"not asked: {presence.why_not}")


class _Requests:
    """Requests changes of one package after another. After a worker has crashed, none is asked for further packages."""

    def __init__(self) -> None:
        self._is_over = False

    def send(self, urls: Sequence[str], language: str, version: str, *, is_wanted: bool = False) -> list[PackageChange]:
        package = PackageRequest(language=language, version=version, is_wanted=is_wanted)
        if self._is_over:
            return [PackageChange(url=url, is_done=False, message=_NOT_ASKED) for url in urls]
        on_wait = tell_changing(language, is_wanted=is_wanted)
        changes = asyncio.run(change(urls, package, on_wait=on_wait))
        self._is_over = any(each.is_dead for each in changes)
        return changes


def _install(
    urls: Sequence[str], packages: Sequence[tuple[Problem, MadePackage]], *, prune: bool
) -> list[ChangedPackage]:
    """Install packages; returns the changes for each package, and the removals that failed.

    As soon as a worker has a package, its older versions are removed there, so a disk holds at most one problem twice.
    """
    requests, changed = _Requests(), list[ChangedPackage]()
    wanted = {(each.language, each.version) for _, each in packages}
    others = sorted(_installed(asyncio.run(presences(urls)), None) - wanted)

    def remove(urls: Sequence[str], language: str, version: str) -> None:
        removed = requests.send(urls, language, version)
        if any(not each.is_done for each in removed):
            changed.append(ChangedPackage(package=f"removal of {language} {version}", changes=removed))

    for problem, each in packages:
        installed = requests.send(urls, each.language, each.version, is_wanted=True)
        changed.append(ChangedPackage(problem=str(problem.key), package=each.language, changes=installed))
        able = [change.url for change in installed if change.is_done]
        for language, version in others if able else ():
            if language == each.language:
                remove(able, language, version)
    named = {language for language, _ in wanted}
    for language, version in others if prune else ():
        if language not in named:
            remove(urls, language, version)
    return changed


def _data_bytes(problem: Problem) -> int:
    return sum(map(size_of, data_of(problem).values()))


async def _make(
    source: EndpointSource, problems: Sequence[Problem], repository: Path
) -> list[tuple[Problem, MadePackage]]:
    packages = []
    async with PistonCluster(source, profile=Profile.BUNDLED) as cluster:
        builder = Builder(cluster, ArtifactStore(Environment.read().cache), Policy())
        targets = [target for target in cluster.targets() if not target.has_own_scripts]
        common = [program for target in targets for program in await _runners(builder, target)]
        for problem in problems:
            compiled = [program for target in targets for program in await _judges(builder, problem, target)]
            contents = data_of(problem) | {digest(content): content for content in (*common, *compiled)}
            package = package_of(problem)
            packages.append((problem, await asyncio.to_thread(make_package, repository, package, contents)))
    return packages


async def _runners(builder: Builder, target: Target) -> list[Content]:
    """The programs that every problem needs on a target: those that run submissions."""
    runners: list[Content] = [await builder.ready_runner(target)]
    try:
        interpreter = await builder.tools.interpreter(target)
    except (SetupError, SandboxError):  # the target has no Python
        return runners
    return [*runners, interpreter.harness]


async def _judges(builder: Builder, problem: Problem, target: Target) -> list[Content]:
    try:
        judges = await builder.judge_programs(problem, target)
        objects = [content for _, content in await builder.objects(problem, target)]
    except SandboxError as error:  # judging the problem there gives the same error
        tell(f"{problem.key}: its compiled programs are left out for {target.name}: {error}")
        return []
    return [*judges.values(), *objects]


def _installed(presence: Iterable[Presence], languages: Collection[str] | None) -> _Versions:
    """The problems' packages that at least one worker has: those of these names, or all."""
    versions = {(runtime.language, runtime.version) for each in presence for runtime in each.runtimes}
    return {
        (language, version)
        for language, version in versions
        if is_problems(language) and (languages is None or language in languages)
    }
