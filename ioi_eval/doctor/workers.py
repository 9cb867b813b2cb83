"""Tests what a Piston worker can and cannot do, and says which of its settings to change."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import MIB, Policy
from ioi_eval.doctor.attempts import ALLOW, attempt_all
from ioi_eval.doctor.inspection import Inspection, inspection_job, read_inspection
from ioi_eval.errors import IsolationError, SandboxError, SetupError, UnavailableError
from ioi_eval.model import Isolation
from ioi_eval.sandbox.findings import Finding, Severity, bad, fine, linking, warning
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.discovery import Prober, UnfitWorkerError, Worker
from ioi_eval.sandbox.piston.endpoints import endpoint_url, without_login
from ioi_eval.sandbox.piston.wire import Starter
from ioi_eval.sandbox.serve.served_runtimes import PACKAGE_VERSION
from ioi_eval.scorer import Scorer

_PATIENCE_S = 15.0  # short, because there is no reason to wait for a worker that dies while it is examined
_CLOCK_S = 60.0
_LARGEST_FILE_BYTES = 64 * MIB  # more than the largest official input; and a program's largest output
_THREADS = 128  # 64 for a program (`Policy.threads`), and some for its judge programs
_NEWEST_STD = 10  # the first GCC with C++20


async def examine_worker(url: str, *, artifacts: ArtifactStore, slots: int = 1) -> list[Finding]:
    """Try everything that judging on a worker needs, and everything that it must prevent.

    Args:
        url: the worker.
        artifacts: stores the runner and the probes.
        slots: how many jobs it will get at once.

    Returns:
        The findings, in order; never empty.
    """
    url = endpoint_url(url)
    findings: list[Finding] = []
    cluster = PistonCluster([url], max_requests_per_endpoint=slots, patience_s=_PATIENCE_S)
    try:
        async with cluster:
            (worker,) = cluster.workers
            findings += _exploration_findings(worker)
            if worker.installed.starter is not Starter.CMS_IOI:
                findings += await _inspect_by_job(cluster, slots)
            if worker.profile == "bundled":
                scorer = Scorer(cluster, artifacts=artifacts, policy=Policy(isolation=Isolation.REDUCED))
                findings += _without_repetitions(await attempt_all(scorer))
    except IsolationError as error:
        findings.append(bad("isolation", str(error), ALLOW))
    except SetupError as error:
        findings += await _why_unusable(url, error)
    except SandboxError as error:
        what = "connection" if isinstance(error, UnavailableError) else "jobs"
        findings.append(bad(what, _reason(str(error), url), _cure(str(error))))
    return findings


async def _why_unusable(url: str, refusal: SetupError) -> list[Finding]:
    """Everything that must be changed on an unusable worker, in one report, so that its owner can do it at once."""
    from ioi_eval.sandbox.piston.http_client import HttpClient

    refused = bad("set-up", _reason(str(refusal), url), _cure(str(refusal)))
    async with HttpClient() as client:
        prober = Prober(client)
        try:
            await prober.explore(prober.address(url))
        except UnfitWorkerError as error:
            return list(error.conditions if error.worker is None else _exploration_findings(error.worker))
        except (SandboxError, SetupError):
            pass  # already reported
        try:
            conditions = await prober.conditions(prober.address(url))
        except (SandboxError, SetupError):
            return [refused]
    return [refused, *conditions]


def _exploration_findings(worker: Worker) -> Iterator[Finding]:
    """Findings from the exploration of a worker."""
    yield _package(worker)
    yield from _compiler(worker)
    yield from worker.conditions  # with the messages of all commands that refuse a worker
    yield _clock(worker.clock_ahead_s)


def _package(worker: Worker) -> Finding:
    installed = worker.installed
    name = f"{installed.starter.value} {installed.version}"
    if installed.starter is Starter.CMS_IOI:
        lost = "one test per job, compiled each time; wall-clock limits; programs can reach their judge"
        return warning("package", f"{name}: the classic profile only: {lost}", _INSTALL)
    if installed.starter is Starter.BASH:
        return warning("package", f"ioi_eval is missing; {name} is used, under the server's own limits", _INSTALL)
    if installed.version != PACKAGE_VERSION:
        return warning(
            "package", f"{name}; this client goes with {PACKAGE_VERSION}", "ioi-eval cluster uninstall, then install"
        )
    return fine("package", name)


def _compiler(worker: Worker) -> Iterator[Finding]:
    used, *others = worker.report.compilers
    number = re.search(r"\b(\d+)\.\d+(\.\d+)?\s*(\d{8}.*)?$", used.version)
    also = f" (also there: {', '.join(sorted({other.version for other in others}))})" if others else ""
    newer = "use a newer image, or let the package bring a compiler (built with GCC_TREE)"
    if number is None or "clang" in used.version.lower():
        yield warning("compiler", f"{used.version}: not GCC, with which official judges compile{also}", newer)
    elif int(number[1]) < _NEWEST_STD:
        lost = f"C++20, and so problems of IOI 2024 and later, needs GCC {_NEWEST_STD}"
        yield warning("compiler", f"{used.version}: an old image; {lost}{also}", newer)
    else:
        yield fine("compiler", used.version + also)
    if worker.installed.starter is not Starter.CMS_IOI:  # the scripts of cms_ioi always link dynamically
        yield linking(static=used.static)


def _clock(ahead_s: float) -> Finding:
    if abs(ahead_s) <= _CLOCK_S:
        return fine("clock", "within a minute of this machine's")
    detail = f"{abs(ahead_s):.0f} s {'ahead of' if ahead_s > 0 else 'behind'} this machine's"
    return warning("clock", detail, "set both by NTP; otherwise their logs cannot be compared")


async def _inspect_by_job(cluster: PistonCluster, slots: int) -> list[Finding]:
    nonce = secrets.token_hex(16)
    execution = await cluster.execute(inspection_job(nonce), cluster.targets()[0])
    inspection = read_inspection(execution, nonce)
    if inspection is None:
        output = (execution.run.stderr or execution.run.stdout).strip()[-300:]
        return [bad("jobs", f"a job of a second failed: exit code {execution.run.code}; {output!r}")]
    return list(_inspection_findings(inspection, slots))


def _inspection_findings(inspection: Inspection, slots: int) -> Iterator[Finding]:
    """Findings from a job that inspected its surroundings."""
    measured = (
        "the server reports CPU time and memory of jobs (as v4)" if inspection.measures else "before isolate (v3)"
    )
    yield fine("system", f"{inspection.system}; {measured}" if inspection.system else measured)
    if inspection.has_network:
        yield warning("network", "jobs have network access; only the runner keeps programs from it", _NETWORK)
    else:
        yield fine("network", "none for jobs")
    if inspection.is_root:
        detail = "jobs run as root; only the runner protects the server from programs"
        yield warning("user", detail, "use Piston's image, which has users for jobs")
    if inspection.processes is not None and inspection.processes < _THREADS:
        yield warning("processes", f"{inspection.processes}, threads included", "PISTON_MAX_PROCESS_COUNT=512")
    if inspection.file_bytes is not None and inspection.file_bytes < _LARGEST_FILE_BYTES:
        detail = f"{inspection.file_bytes // MIB} MiB at most; inputs of official tasks are up to 25 MB"
        yield warning("file size", detail, "PISTON_MAX_FILE_SIZE=1000000000")
    if inspection.open_files is not None and inspection.open_files < 256:
        yield warning("open files", str(inspection.open_files), "PISTON_MAX_OPEN_FILES=4096")
    if inspection.quota is not None:
        detail = f"a quota of {inspection.quota:g} processors pauses running programs, which looks as if they waited"
        yield warning("CPU quota", detail, "pin the worker to processors instead (cpuset)")
    if slots > inspection.processors:
        detail = f"{slots} jobs at once on {inspection.processors} processors slow each other down"
        yield warning("slots", detail, f"PISTON_MAX_REQUESTS_PER_ENDPOINT={inspection.processors}")


_NETWORK = "PISTON_DISABLE_NETWORKING=true"
_INSTALL = "ioi-eval cluster install (PISTON_REPO_URL must name a repository with the package)"
_CURES = {
    "packages is installed": _INSTALL,
    "no C++ compiler": "g++ in the image, or the package gcc",
    "runner.cpp": "an old image: its compiler or kernel headers; use a newer one",
    "make a box": "a package that is half installed, perhaps: ioi-eval cluster uninstall, then install",
    "no connection": "check that the worker runs and that this machine reaches its address (ioi-eval cluster status)",
}
"""For words in an error message: what to do."""


def _cure(message: str) -> str:
    return next((cure for sign, cure in _CURES.items() if sign in message), "")


def _reason(message: str, url: str) -> str:
    """An error message without the parts that the report has anyway."""
    url = without_login(url)
    return message.removeprefix("no endpoint can be used: ").removeprefix(f"{url}/runtimes: ").removeprefix(f"{url}: ")


def _without_repetitions(findings: list[Finding]) -> list[Finding]:
    """If every attempt failed for the same reason, make one finding of them."""
    tried = findings[1:]
    if (
        len(tried) > 1
        and len({(finding.state, finding.detail) for finding in tried}) == 1
        and tried[0].state is Severity.BAD
    ):
        return [findings[0], bad("jobs", tried[0].detail)]
    return findings
