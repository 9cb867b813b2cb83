"""What a Piston worker can and cannot do, and which of its settings to change. Everything is found out by trying."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.doctor.attempts import ALLOW, attempt_all
from ioi_eval.doctor.findings import Finding, State, linking
from ioi_eval.errors import IsolationError, SandboxError, SetupError, UnavailableError
from ioi_eval.model import Isolation
from ioi_eval.sandbox.cluster import PistonCluster
from ioi_eval.sandbox.discovery import Scout, Worker
from ioi_eval.sandbox.fleet import endpoint_url
from ioi_eval.sandbox.inspection import Inspection, inspection_job, read_inspection
from ioi_eval.sandbox.pool_terms import PoolPolicy
from ioi_eval.sandbox.wire import Ceilings, Starter
from ioi_eval.scorer import Scorer

PACKAGE_VERSION = "1.0.0"
"""Our package in `piston/packages/`."""

_MIB = 1 << 20
_PATIENCE_S = 15.0  # a worker that dies while it is examined is not waited for
_CLOCK_S = 60.0
_LARGEST_TEST_BYTES = 48 * _MIB  # 22.4 MB of input and 9.6 MB of output, in base64
_LARGEST_FILE_BYTES = 64 * _MIB  # more than the largest official input; and a program's largest output
_THREADS = 128  # 64 of a program (`Policy.threads`), and those of its judges
_NEWEST_STD = 10  # the first GCC with C++20

_TIMES = {"run_timeout": 600_000, "run_cpu_time": 600_000, "compile_timeout": 300_000, "compile_cpu_time": 300_000}
"""What `piston/start-worker` sets, in ms."""

_LEAST_TIME_MS = 15_000
"""Below, not even a test of one second fits: it may take 10 s of wall clock more before it is our fault."""

_ENOUGH_TIME_MS = 60_000

_NEED_OF_RUN = "tests of a second and more, and bundles of tests, need more"
_NEED_OF_COMPILE = "a checker with testlib takes 10 s on a busy worker"
"""Source: the recorded `cms_ac_testlib`, 10.4 s of wall clock."""


async def examine_worker(url: str, *, artifacts: ArtifactStore, slots: int = 1) -> list[Finding]:
    """Try everything that judging on a worker needs, and everything that it must prevent.

    Args:
        url: the worker.
        artifacts: where the runner and the probes are kept.
        slots: how many jobs it is to be given at once.

    Returns:
        What was found, in order; never empty.
    """
    url = endpoint_url(url)
    findings: list[Finding] = []
    cluster = PistonCluster([url], max_requests_per_endpoint=slots, policy=PoolPolicy(patience_s=_PATIENCE_S))
    try:
        async with cluster:
            (worker,) = cluster.workers
            findings += _offered(worker)
            if worker.service.starter is not Starter.CMS_IOI:
                findings += await _seen_by_a_job(cluster, slots)
            if worker.profile == "bundled":
                scorer = Scorer(cluster, artifacts=artifacts, policy=Policy(isolation=Isolation.REDUCED))
                findings += _told_once(await attempt_all(scorer))
    except IsolationError as error:
        findings.append(_bad("isolation", str(error), ALLOW))
    except SetupError as error:
        findings.append(_bad("set-up", _reason(str(error), url), _cure(str(error))))
        findings += await _limits(url)
    except SandboxError as error:
        what = "connection" if isinstance(error, UnavailableError) else "jobs"
        findings.append(_bad(what, _reason(str(error), url), _cure(str(error))))
    return findings


async def _limits(url: str) -> list[Finding]:
    """What else is to be changed on a worker that cannot be used as it is: its owner wants to hear it all at once."""
    from yarl import URL

    from ioi_eval.sandbox.http_client import HttpClient

    async with HttpClient() as client:
        try:
            learned = await Scout(client).limits(URL(url))
        except (SandboxError, SetupError):
            return []  # that it does not answer has been said
    if learned is None:
        return []
    service, body = learned
    return [*_ceilings(service.ceilings), _body(body)]


def _offered(worker: Worker) -> Iterator[Finding]:
    """What its exploration found out."""
    yield _package(worker)
    yield from _compiler(worker)
    yield from _ceilings(worker.service.ceilings)
    yield _output(worker)
    yield _body(worker.max_body_bytes)
    yield _clock(worker.clock_ahead_s)


def _package(worker: Worker) -> Finding:
    service = worker.service
    name = f"{service.starter.value} {service.version}"
    install = "ioi-eval cluster install (the worker needs PISTON_REPO_URL: piston/README.md)"
    if service.starter is Starter.CMS_IOI:
        lost = "one test a job, compiled each time; wall-clock limits; programs can reach their judge"
        return _warning("package", f"{name}: the classic profile only: {lost}", install)
    if service.starter is Starter.BASH:
        return _warning("package", f"ioi_eval is missing; {name} does instead, under the server's own limits", install)
    if service.version != PACKAGE_VERSION:
        return _warning(
            "package", f"{name}; this client goes with {PACKAGE_VERSION}", "ioi-eval cluster uninstall, then install"
        )
    return _ok("package", name)


def _compiler(worker: Worker) -> Iterator[Finding]:
    used, *others = worker.look.compilers
    number = re.search(r"\b(\d+)\.\d+(\.\d+)?\s*(\d{8}.*)?$", used.version)
    also = f" (also there: {', '.join(sorted({other.version for other in others}))})" if others else ""
    newer = "use a newer image, or let the package bring a compiler: GCC_TREE in piston/README.md"
    if number is None or "clang" in used.version.lower():
        yield _warning("compiler", f"{used.version}: not GCC, with which official judges compile{also}", newer)
    elif int(number[1]) < _NEWEST_STD:
        yield _bad("compiler", f"{used.version}: an old image; C++20 needs GCC {_NEWEST_STD}{also}", newer)
    else:
        yield _ok("compiler", used.version + also)
    if not used.machine.startswith("x86_64"):
        yield _bad("machine", f"{used.machine}; the runner is made for x86-64", "use another machine")
    if worker.service.starter is not Starter.CMS_IOI:  # its scripts link dynamically, whatever is installed
        yield linking(static=used.static)


def _ceilings(known: Ceilings) -> Iterator[Finding]:
    times = {name: getattr(known, name) for name in _TIMES}
    short = {name: most for name, most in times.items() if most is not None and most < _ENOUGH_TIME_MS}
    for name, most in short.items():
        state = State.BAD if most < _LEAST_TIME_MS and name.startswith("run") else State.WARNING
        need = _NEED_OF_RUN if name.startswith("run") else _NEED_OF_COMPILE
        detail = f"{name} is {most} ms; {need}"
        advice = f"PISTON_{name.upper()}={_TIMES[name]}; or our package, which brings its own limits"
        yield Finding(state=state, what=name, detail=detail, advice=advice)
    if not short:
        yield _ok("time limits", ", ".join(f"{name} {most} ms" for name, most in times.items() if most is not None))
    memory = known.run_memory_limit
    if memory is not None and 0 < memory < (4 << 30):
        detail = f"{memory // _MIB} MiB for a program and its judges together; tasks have limits up to 2 GiB"
        state = State.BAD if memory < (512 << 20) else State.WARNING
        yield Finding(state=state, what="memory", detail=detail, advice="PISTON_RUN_MEMORY_LIMIT=-1")


def _output(worker: Worker) -> Finding:
    size = worker.max_output_bytes
    detail = f"{size // 1024} KiB"
    if worker.profile != "bundled" or size >= 4 * _MIB:
        return _ok("output", f"{detail} or more")
    return _bad("output", f"less than 4 MiB: compiled programs cannot come back ({detail} do)", _OUTPUT)


def _body(size: int | None) -> Finding:
    if size is None:
        return _warning("request size", "could not be found out", "is a proxy in between?")
    detail = f"{size // 1024} KiB, in whole steps"
    limit = "BODY_LIMIT=512mb of piston/start-worker (Piston has no setting for it: two lines of its src/index.js)"
    if size < _MIB:
        return _bad("request size", f"{detail}: programs and tests do not fit", limit)
    if size < _LARGEST_TEST_BYTES:
        return _warning("request size", f"{detail}: the largest official tests need 43 MB", limit)
    return _ok("request size", f"{detail} or more")


def _clock(ahead_s: float) -> Finding:
    if abs(ahead_s) <= _CLOCK_S:
        return _ok("clock", "as here, within a minute")
    detail = f"{abs(ahead_s):.0f} s {'ahead of' if ahead_s > 0 else 'behind'} this machine's"
    return _warning("clock", detail, "let both follow NTP; logs cannot be compared as it is")


async def _seen_by_a_job(cluster: PistonCluster, slots: int) -> list[Finding]:
    nonce = secrets.token_hex(16)
    execution = await cluster.execute(inspection_job(nonce), cluster.targets()[0])
    seen = read_inspection(execution, nonce)
    if seen is None:
        words = (execution.run.stderr or execution.run.stdout).strip()[-300:]
        return [_bad("jobs", f"a job of a second failed: exit code {execution.run.code}; {words!r}")]
    return list(_seen(seen, slots))


def _seen(seen: Inspection, slots: int) -> Iterator[Finding]:
    """What a job saw around itself."""
    yield _ok("system", f"{seen.system or 'unknown'}; {'measures jobs' if seen.measures else 'before isolate (v3)'}")
    if seen.has_network:
        yield _warning("network", "jobs have one; only the runner stands between programs and it", _NETWORK)
    else:
        yield _ok("network", "none for jobs")
    if seen.is_root:
        yield _bad("user", "jobs run as root", "use Piston's image, which has users for jobs")
    if seen.processes is not None and seen.processes < _THREADS:
        yield _warning("processes", f"{seen.processes}, threads included", "PISTON_MAX_PROCESS_COUNT=512")
    if seen.file_bytes is not None and seen.file_bytes < _LARGEST_FILE_BYTES:
        detail = f"{seen.file_bytes // _MIB} MiB at most; inputs of official tasks are up to 25 MB"
        yield _warning("file size", detail, "PISTON_MAX_FILE_SIZE=1000000000")
    if seen.open_files is not None and seen.open_files < 256:
        yield _warning("open files", str(seen.open_files), "PISTON_MAX_OPEN_FILES=4096")
    if seen.quota is not None:
        detail = f"a quota of {seen.quota:g} processors stops programs in mid-run, which looks like waiting"
        yield _warning("CPU quota", detail, "pin the worker to processors instead (cpuset)")
    if slots > seen.processors:
        detail = f"{slots} jobs at once on {seen.processors} processors disturb each other's clocks"
        yield _warning("slots", detail, f"PISTON_MAX_REQUESTS_PER_ENDPOINT={seen.processors}")


_OUTPUT = "PISTON_OUTPUT_MAX_SIZE=134217728"
_NETWORK = "PISTON_DISABLE_NETWORKING=true"
_CURES = {
    "of output": _OUTPUT,
    "packages is installed": "ioi-eval cluster install (the worker needs PISTON_REPO_URL: piston/README.md)",
    "no C++ compiler": "g++ in the image, or the package gcc",
    "runner.cpp": "an old image: its compiler or kernel headers; use a newer one",
    "make a box": "a package that is half installed, perhaps: ioi-eval cluster uninstall, then install",
    "no connection": "is the worker running, and does its address hold from here? (ioi-eval cluster status)",
}
"""By words of an error: what to do."""


def _cure(words: str) -> str:
    return next((cure for sign, cure in _CURES.items() if sign in words), "")


def _reason(words: str, url: str) -> str:
    """An error's words without what the report says anyway."""
    return words.removeprefix("no endpoint can be used: ").removeprefix(f"{url}/runtimes: ").removeprefix(f"{url}: ")


def _told_once(findings: list[Finding]) -> list[Finding]:
    """Where every attempt failed for one reason, that is one finding."""
    tried = findings[1:]
    if (
        len(tried) > 1
        and len({(finding.state, finding.detail) for finding in tried}) == 1
        and tried[0].state is State.BAD
    ):
        return [findings[0], _bad("jobs", tried[0].detail)]
    return findings


def _ok(what: str, detail: str) -> Finding:
    return Finding(state=State.OK, what=what, detail=detail)


def _warning(what: str, detail: str, advice: str = "") -> Finding:
    return Finding(state=State.WARNING, what=what, detail=detail, advice=advice)


def _bad(what: str, detail: str, advice: str = "") -> Finding:
    return Finding(state=State.BAD, what=what, detail=detail, advice=advice)
