"""Tests what a Piston worker can and cannot do, and says which of its settings to change."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator, Mapping

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import MIB, Policy
from ioi_eval.doctor.attempts import ALLOW, attempt_all
from ioi_eval.errors import IsolationError, SandboxError, SetupError, UnavailableError
from ioi_eval.model import Isolation, Job, JobFile, JobKind, Profile, StageLimits
from ioi_eval.sandbox.findings import NOT_BY_DEFAULT, Finding, Severity, bad, fine, linking, warning
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.discovery import Prober, UnsuitableWorkerError, Worker
from ioi_eval.sandbox.piston.endpoints import endpoint_url, without_login
from ioi_eval.sandbox.piston.wire import Starter
from ioi_eval.sandbox.serve.served_runtimes import PACKAGE_VERSION
from ioi_eval.scorer import Scorer

_PATIENCE_S = 15.0  # short, because there is no reason to wait for a worker that dies while it is examined
_CLOCK_S = 60.0
_NEWEST_STD = 10  # the first GCC with C++20


async def examine_worker(url: str, *, artifacts: ArtifactStore, slots: int) -> list[Finding]:
    """Try everything that judging on a worker with so many jobs at once needs, and everything that it must prevent."""
    url = endpoint_url(url)
    findings: list[Finding] = []
    cluster = PistonCluster([url], max_requests_per_endpoint=slots, patience_s=_PATIENCE_S)
    try:
        async with cluster:
            (worker,) = cluster.workers
            findings += _exploration_findings(worker)
            if worker.installed.starter is not Starter.CMS_IOI:
                findings += await _inspect_by_job(cluster, slots)
            if worker.profile is Profile.BUNDLED:
                scorer = Scorer(cluster, artifacts=artifacts, policy=Policy(least_isolation=Isolation.REDUCED))
                findings += _without_repetitions(await attempt_all(scorer))
    except IsolationError as error:
        findings.append(bad("isolation", str(error), ALLOW))
    except SetupError as error:
        findings += await _all_findings(url, error)
    except SandboxError as error:
        what = "connection" if isinstance(error, UnavailableError) else "jobs"
        findings.append(bad(what, _reason(str(error), url), _advice(str(error))))
    return findings


async def _all_findings(url: str, error: SetupError) -> list[Finding]:
    """Everything that must be changed on an unsuitable worker, in one report, so that its owner can do it at once."""
    from ioi_eval.sandbox.piston.http_client import HttpClient

    if isinstance(found := error.__cause__, UnsuitableWorkerError):
        return list(found.conditions if found.worker is None else _exploration_findings(found.worker))
    findings = [bad("set-up", _reason(str(error), url), _advice(str(error)))]
    async with HttpClient() as client:
        prober = Prober(client)
        with contextlib.suppress(SandboxError, SetupError):  # already reported
            findings += await prober.conditions(prober.address(url))
    return findings


def _exploration_findings(worker: Worker) -> Iterator[Finding]:
    yield _package(worker)
    yield from _compiler(worker)
    yield from worker.conditions  # with the messages of all commands that report an unsuitable worker
    yield _clock(worker.clock_ahead_s)


def _package(worker: Worker) -> Finding:
    installed = worker.installed
    name = f"{installed.starter.value} {installed.version}"
    if installed.starter is Starter.CMS_IOI:
        lost = "one test per job, compiled each time; wall-clock limits"
        return bad("package", f"{name}: the classic profile only ({lost}); {NOT_BY_DEFAULT}", _INSTALL)
    if installed.starter is Starter.BASH:
        return warning("package", f"ioi_eval is missing; {name} is used, under the server's own limits", _INSTALL)
    if installed.version != PACKAGE_VERSION:
        detail = f"{name}; this client goes with {PACKAGE_VERSION}"
        return warning("package", detail, "ioi-eval cluster uninstall, then install")
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


_SCRIPT = r"""
tell() { printf '%s\t' "$@"; echo; }
tell begin NONCE
tell processors "$(nproc)"
tell quota "$(cat /sys/fs/cgroup/cpu.max 2>/dev/null)"
tell system "$( (. /etc/os-release && echo "$PRETTY_NAME") 2>/dev/null)"
tell user "$(id -u)"
(exec 3<> /dev/udp/192.0.2.1/9) 2>/dev/null && tell network on || tell network off
tell end NONCE
"""
"""Prints what a job can see of its worker. (Connecting by UDP sends nothing; the address is one for documentation, RFC
5737.)"""

_SCRIPT_LIMITS = StageLimits(wall_ms=10_000, cpu_ms=3_000, memory_bytes=256 * MIB)


async def _inspect_by_job(cluster: PistonCluster, slots: int) -> list[Finding]:
    nonce = secrets.token_hex(16)
    script = JobFile(name="run", content=_SCRIPT.replace("NONCE", nonce).encode())
    job = Job(kind=JobKind.SCRIPTS, files=(script,), run_limits=_SCRIPT_LIMITS, trusted=True)
    run = (await cluster.execute(job, cluster.targets()[0])).run
    lines = [line.rstrip("\t").partition("\t") for line in run.stdout.splitlines()]
    if lines[:1] != [("begin", "\t", nonce)] or lines[-1] != ("end", "\t", nonce):
        output = (run.stderr or run.stdout).strip()[-300:]
        return [bad("jobs", f"a short script failed there: exit code {run.code}; {output!r}")]
    seen = {name: value for name, _, value in lines}
    return list(_inspection_findings(seen, slots, measures=run.cpu_ms is not None))


def _inspection_findings(seen: Mapping[str, str], slots: int, *, measures: bool) -> Iterator[Finding]:
    """Findings from a job that inspected its surroundings. `measures`: whether the server reports CPU time, as Piston
    since isolate and `ioi-eval serve` do."""
    measured = "the server reports CPU time and memory of jobs (as v4)" if measures else "before isolate (v3)"
    yield fine("system", f"{seen['system']}; {measured}" if seen["system"] else measured)
    if seen["network"] == "on":
        yield warning("network", "jobs have network access; only the runner keeps programs from it", _NETWORK)
    else:
        yield fine("network", "none for jobs")
    if seen["user"] == "0":
        detail = "jobs run as root; only the runner protects the server from programs"
        yield warning("user", detail, "use Piston's image, which has users for jobs")
    share, _, period = seen["quota"].partition(" ")  # `200000 100000`: two processors; `max 100000`: no quota
    if share.isdecimal() and period.isdecimal():
        quota = int(share) / int(period)
        detail = f"a quota of {quota:g} processors pauses running programs, which looks as if they waited"
        yield warning("CPU quota", detail, "pin the worker to processors instead (cpuset)")
    processors = seen["processors"]
    if processors.isdecimal() and slots > int(processors):
        detail = f"{slots} jobs at once on {processors} processors slow each other down"
        yield warning("slots", detail, f"PISTON_MAX_REQUESTS_PER_ENDPOINT={processors}")


_NETWORK = "PISTON_DISABLE_NETWORKING=true"
_INSTALL = "ioi-eval cluster install (PISTON_REPO_URL must name a repository with the package)"
_ADVICE = {
    "packages is installed": _INSTALL,
    "no C++ compiler": "g++ in the image, or the package gcc",
    "runner.cpp": "an old image: its compiler or kernel headers; use a newer one",
    "make a box": "a package that is half installed, perhaps: ioi-eval cluster uninstall, then install",
    "no connection": "check that the worker runs and that this machine reaches its address (ioi-eval cluster status)",
}
"""For words in an error message: what to do."""


def _advice(message: str) -> str:
    return next((advice for sign, advice in _ADVICE.items() if sign in message), "")


def _reason(message: str, url: str) -> str:
    url = without_login(url)
    return message.removeprefix("no endpoint can be used: ").removeprefix(f"{url}/runtimes: ").removeprefix(f"{url}: ")


def _without_repetitions(findings: list[Finding]) -> list[Finding]:
    """If every attempt failed for the same reason, make one finding of them."""
    first, *tried = findings
    reasons = {(finding.severity, finding.detail) for finding in tried}
    is_one = len(tried) > 1 and len(reasons) == 1 and tried[0].severity is Severity.BAD
    return [first, bad("jobs", tried[0].detail)] if is_one else findings
