"""`ioi-eval cluster`: look at all workers of a Piston cluster at once, and install what they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ioi_eval.cli import options
from ioi_eval.cli.endpoints import (
    Endpoints,
    RequestsPerEndpoint,
    needed_cluster,
    tell_changing,
    tell_waiting,
    worker_name,
)
from ioi_eval.cli.exits import exit_code_of_workers
from ioi_eval.cli.grouped import OptionGroup, option
from ioi_eval.errors import InputError, SandboxError, SetupError
from ioi_eval.report.texts import counted, printable, table

if TYPE_CHECKING:
    from ioi_eval.cli.problem_packages import ChangedPackage
    from ioi_eval.sandbox.piston.discovery import Prober, Worker
    from ioi_eval.sandbox.piston.wire import Runtime


Repository = Annotated[Path | None, option("--repository DIR", "The directory that the workers install packages from.")]
RepositoryUrl = Annotated[
    str | None, option("--url URL", "The URL at which workers find DIR; http://this-host:8000 by default.")
]
MostGb = Annotated[
    float | None,
    option(
        "--max-gb N", "The most GB that these packages may take on a worker; 20 by default.", min=0, max=options.MAX_GB
    ),
]
_DEFAULT_GB = 20.0
Prune = Annotated[bool, option("--prune", "Remove all other problems' packages from the workers.")]


def status(*, endpoints: Endpoints = None, max_requests_per_endpoint: RequestsPerEndpoint = None) -> int:
    """Show which workers answer, and what they have installed.

    Exit code 1 if some workers do not answer, 2 if none does.
    """
    import asyncio

    from ioi_eval.sandbox.piston.control import presences

    cluster = needed_cluster(endpoints, max_requests_per_endpoint)
    workers = asyncio.run(presences(cluster.urls))
    slots = cluster.max_requests_per_endpoint
    rows = [
        [
            worker_name(each.url),
            f"{each.latency_ms:.0f}" if each.latency_ms is not None else "",
            "0" if each.why_not else str(slots),
            each.server,
            each.why_not or _runtimes(each.runtimes),
        ]
        for each in workers
    ]
    _show(("endpoint", "ms", "slots", "server", "runtimes"), rows, left=frozenset({0, 3, 4}))
    answering = sum(not each.why_not for each in workers)
    verb = "answers" if len(workers) == 1 else "answer"
    print(f"\n{answering} of {counted(len(workers), 'worker')} {verb}: {counted(answering * slots, 'slot')}.")
    return exit_code_of_workers(answering, len(workers))


def probe(*, endpoints: Endpoints = None) -> int:
    """Run test jobs on every worker, and show what it can do.

    Shows which profile each worker can use, with which package, or why it cannot; and the largest request (48 MiB at
    most are tried) and longest job that it accepts. `bundled` needs our package, or bash, a C++ compiler and raised
    limits; `classic` needs our package or cms_ioi. A worker with only cms_ioi isolates nothing, and counts as one that
    cannot be used, because a run uses it only if its options ask for that. Exit code 1 if some workers cannot be used,
    2 if none can. `doctor` and `score` report the same workers with the same message.
    """
    import asyncio

    known = asyncio.run(abilities(needed_cluster(endpoints).urls))
    rows = []
    for each in known:
        starters = (
            "no" if worker is None else worker.installed.starter.value for worker in (each.bundled, each.classic)
        )
        rows.append([worker_name(each.url), *starters, *_offer(each.bundled or each.classic)])
    head = ("endpoint", "bundled", "classic", "compiler", "request", "longest", "cpus")
    _show(head, rows, left=frozenset({0, 1, 2, 3}))
    return _show_usable(known, workers=len(known))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPackages:
    """Which packages on which workers: a group of options."""

    endpoints: Endpoints = None
    package: Annotated[
        str | None,
        option("--package NAME", "The package; ioi_eval and ioi_eval_run by default."),
    ] = None
    version: Annotated[
        str | None,
        option(
            "--version V",
            "Its version, or a range in npm's syntax (for `ioi-eval serve` a version, its first parts, or *); else"
            " the latest.",
        ),
    ] = None
    problems: Annotated[
        str | None,
        option("--problems P", "The packages of the problems in these rows, such as open-r1/ioi."),
    ] = None
    tests: Annotated[str | None, option("--tests T", "Their tests; open-r1/ioi-test-cases by default.")] = None
    year: options.Years = None
    problem: options.ProblemIds = None

    @property
    def about_problems(self) -> Mapping[str, object]:
        """The options that select problems' packages."""
        return {"--tests": self.tests, "--year": self.year, "--problem": self.problem}


def install(
    chosen: Annotated[ChosenPackages, OptionGroup()],
    *,
    repository: Repository = None,
    url: RepositoryUrl = None,
    max_gb: MostGb = None,
    prune: Prune = False,
) -> int:
    """Install a package on every worker.

    It comes from the repository that the worker was started with (PISTON_REPO_URL). By default it is ioi_eval, and then
    ioi_eval_run, which only saves CPU time. With --problems: each problem's test data, checker and manager, as one
    package per problem, so that they are not sent with each job. These packages are written to --repository first.

    A worker that cannot reach its repository crashes when it is asked for packages. So one worker is asked first, and
    if it crashes the others are not asked. If the package is one that starts jobs (ioi_eval, bash, cms_ioi), each
    worker is probed afterwards, because it may have the package and still be unusable. Exit code 1 if some workers lack
    the package or cannot be used, 2 if this is so for all.
    """
    own = {"--repository": repository, "--url": url, "--max-gb": max_gb, "--prune": prune or None}
    _check_options(chosen, {**chosen.about_problems, **own})
    if chosen.problems is None:
        return _change(chosen, is_wanted=True)
    if repository is None:
        raise InputError("--problems needs --repository DIR, the directory that the workers' PISTON_REPO_URL serves")
    from ioi_eval.cli import problem_packages

    max_bytes = int((_DEFAULT_GB if max_gb is None else max_gb) * 1e9)
    return _show_changes(problem_packages.install(chosen, repository, url=url, max_bytes=max_bytes, prune=prune))


def uninstall(chosen: Annotated[ChosenPackages, OptionGroup()]) -> int:
    """Remove a package from every worker.

    With --problems, these problems' packages; with `--problems all`, those of all problems. The warnings and exit codes
    of `install` apply.
    """
    _check_options(chosen, chosen.about_problems)
    if chosen.problems is None:
        return _change(chosen, is_wanted=False)
    from ioi_eval.cli import problem_packages

    if chosen.problems == problem_packages.ALL and (option := _first_option_given(chosen.about_problems)):
        raise InputError(
            f"--problems {problem_packages.ALL} means every problem's package, so {option} cannot be given with it; "
            "leave it out, or name the problems' rows with --problems"
        )
    return _show_changes(problem_packages.uninstall(chosen))


def _check_options(chosen: ChosenPackages, about_problems: Mapping[str, object]) -> None:
    """Refuse options that would be ignored, because another package would be installed or removed than was intended."""
    if chosen.problems is None and (option := _first_option_given(about_problems)):
        raise InputError(f"{option} needs --problems; add --problems P")
    if chosen.problems is not None and (
        option := _first_option_given({"--package": chosen.package, "--version": chosen.version})
    ):
        raise InputError(
            f"{option} cannot be given with --problems, which names the packages itself; leave out one of them"
        )


def _first_option_given(options: Mapping[str, object]) -> str:
    """The first option that was given; empty if none was."""
    return next((name for name, value in options.items() if value is not None), "")


def _show_changes(changed: Sequence[ChangedPackage]) -> int:
    """Print what happened to packages on all workers, and return the exit code."""
    if not changed:
        return 0
    rows = [
        [each.problem, each.package, f"{sum(change.is_done for change in each.changes)} of {len(each.changes)}"]
        for each in changed
    ]
    _show(("problem", "package", "workers"), rows, left=frozenset({0, 1}))
    changes = [change for each in changed for change in each.changes]
    failed = [change for change in changes if not change.is_done]
    for line in dict.fromkeys(f"{worker_name(change.url)}: {change.message}" for change in failed):
        print(f"  {printable(line, length=2000)}")
    return exit_code_of_workers(len(changes) - len(failed), len(changes)) if changes else 0


def _change(chosen: ChosenPackages, *, is_wanted: bool) -> int:
    import asyncio

    from ioi_eval.sandbox.piston.control import PackageRequest, change
    from ioi_eval.sandbox.piston.wire import RUN_PACKAGE, Starter

    def change_package(urls: Sequence[str], language: str) -> list[str]:
        """Ask the workers, print what happened, and return those where the package is as requested."""
        package = PackageRequest(language=language, version=chosen.version or "*", is_wanted=is_wanted)
        on_wait = tell_changing(language, is_wanted=is_wanted)
        changes = asyncio.run(change(urls, package, on_wait=on_wait))
        rows = [[worker_name(each.url), "ok" if each.is_done else "FAILED", each.message] for each in changes]
        _show(("endpoint", "", language), rows, left=frozenset({0, 1, 2}))
        return [each.url for each in changes if each.is_done]

    urls = needed_cluster(chosen.endpoints).urls
    language = chosen.package or "ioi_eval"
    succeeded = change_package(urls, language)
    code = exit_code_of_workers(len(succeeded), len(urls))
    if chosen.package is None and succeeded:
        print()
        change_package(succeeded, RUN_PACKAGE)  # the others may crash on the request
    if not is_wanted or language not in {starter.value for starter in Starter} or not succeeded:
        return code
    print()
    return max(code, _show_usable(asyncio.run(abilities(succeeded)), workers=len(urls)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """Whether a worker supports each profile: many tests per job, judged by the runner (bundled), and one (classic).

    Args:
        bundled, classic: what was found out about it in this profile; `None` if it does not support it.
        why_not: why it does not support a profile, and why it is not used by default although it supports one.
    """

    url: str
    bundled: Worker | None
    classic: Worker | None
    why_not: tuple[str, ...]

    @property
    def is_usable(self) -> bool:
        """Whether a run without --profile and --isolation uses this worker; the doctor decides in the same way.

        A worker that can run our package in the classic profile only is not used: what `bundled` lacks should be fixed.
        """
        return self.bundled is not None


async def abilities(urls: Sequence[str]) -> list[Abilities]:
    """Explore all workers, many at once; the results are in the order given."""
    from ioi_eval.model.terms import Profile
    from ioi_eval.sandbox.findings import NOT_BY_DEFAULT
    from ioi_eval.sandbox.piston.control import ask_each
    from ioi_eval.sandbox.piston.discovery import Prober
    from ioi_eval.sandbox.piston.http_client import HttpClient
    from ioi_eval.sandbox.piston.wire import Starter

    async with HttpClient() as client:
        for_bundled, for_classic = (Prober(client, profile) for profile in (Profile.BUNDLED, Profile.CLASSIC))

        async def ability(url: str) -> Abilities:
            try:
                bundled, no_bundled = classic, no_classic = await _explored(for_bundled, url)
            except SandboxError as error:  # it does not answer, also if it is asked for the other profile
                return Abilities(url=url, bundled=None, classic=None, why_not=(_without_url(error, for_bundled, url),))
            if bundled is None or bundled.installed.starter is not Starter.IOI_EVAL:  # which supports both
                try:
                    classic, no_classic = await _explored(for_classic, url)
                except SandboxError as error:  # what was found out before holds
                    classic, no_classic = None, _without_url(error, for_classic, url)
            has_own_scripts = classic is not None and classic.installed.starter is Starter.CMS_IOI
            not_by_default = f"cms_ioi: {NOT_BY_DEFAULT}" if bundled is None and has_own_scripts else ""
            why_not = tuple(filter(None, (no_bundled, no_classic, not_by_default)))
            return Abilities(url=url, bundled=bundled, classic=classic, why_not=why_not)

        return await ask_each(urls, ability, at_once=len(urls), on_wait=tell_waiting("run test jobs"))


async def _explored(prober: Prober, endpoint: str) -> tuple[Worker | None, str]:
    """What was found out about a worker, or why it does not support the profile. SandboxError if it does not answer."""
    try:
        return await prober.explore(prober.address(endpoint)), ""
    except SetupError as error:
        return None, _without_url(error, prober, endpoint)


def _without_url(error: SandboxError | SetupError, prober: Prober, endpoint: str) -> str:
    """The message without the address, which the line names."""
    url = prober.address(endpoint)
    return str(error).removeprefix(f"{url}: ").removeprefix(f"{url}/runtimes: ").removeprefix(f"{url}/execute: ")


def _show_usable(known: Sequence[Abilities], *, workers: int) -> int:
    """Print which workers can be used, and why others cannot. Returns the exit code.

    Of all `workers`, those that were probed are `known`; the others cannot be used.
    """
    reasons = (f"{worker_name(each.url)}: {reason}" for each in known for reason in each.why_not)
    for reason in dict.fromkeys(reasons):
        print(f"  {printable(reason, length=2000)}")
    able = sum(each.is_usable for each in known)
    print(f"\n{able} of {counted(workers, 'worker')} can be used.")
    return exit_code_of_workers(able, workers)


def _runtimes(installed: Sequence[Runtime]) -> str:
    """The runtimes that judging can use, then how many problems' packages and other packages there are."""
    from ioi_eval.sandbox.piston.wire import RUN_PACKAGE, is_problems

    ours = {"ioi_eval": "", RUN_PACKAGE: "", "bash": "", "cms_ioi": "", "cms": " (package cms_ioi)"}
    known = [f"{each.language} {each.version}{ours[each.language]}" for each in installed if each.language in ours]
    problems = sum(is_problems(each.language) for each in installed)
    others = len(installed) - len(known) - problems
    counts = [counted(problems, "problem")] * bool(problems) + [counted(others, "other")] * bool(others)
    return ", ".join([*known, *counts]) or "none"


def _offer(worker: Worker | None) -> list[str]:
    if worker is None:
        return ["", "", "", ""]
    body, wall = worker.max_body_bytes, worker.installed.ceilings.run_timeout
    return [
        _compiler(worker.toolchain.version),
        "?" if body is None else _size(body),
        "" if wall is None else f"{wall / 1000:g} s",
        str(worker.report.processors),
    ]


def _compiler(version: str) -> str:
    """`GCC 10.2.1` for `g++ (Debian 10.2.1-6) 10.2.1 20210110`."""
    number = re.search(r"\b\d+\.\d+\.\d+\b", version.rpartition(")")[2]) or re.search(r"\d+(\.\d+)+", version)
    return f"{'clang' if 'clang' in version.lower() else 'GCC'} {number[0]}" if number else version


def _size(number: int) -> str:
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number >> 10} KiB"


def _show(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: frozenset[int]) -> None:
    """Print a table. Texts from servers are printed without control characters."""
    print(table(head, [[printable(cell) for cell in row] for row in rows], left=left, width=80))
