"""The conditions under which a worker judges: its limits, how grave each is, and the setting to change. Pure.

A worker that has a fatal condition is unsuitable (`discovery.py`). So `cluster probe`, `cluster install`, the doctor
and the start of a run report the same workers with the same messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ioi_eval.config import MIB
from ioi_eval.sandbox.findings import Finding, Severity, bad, fine, warning
from ioi_eval.sandbox.least_limits import LEAST_CPU_S, LEAST_FILE_BYTES, LEAST_STACK_BYTES
from ioi_eval.sandbox.piston.probing import ProbeReport
from ioi_eval.sandbox.piston.wire import Ceilings, InstalledStarter, Starter

_LEAST_BODY_BYTES = MIB
_LARGEST_TEST_BYTES = 48 * MIB  # 22.4 MB of input and 9.6 MB of output, in base64
_LEAST_OUTPUT_BYTES = 4 * MIB  # a static program is 2.4 MB, 3.2 MB in base64
_LEAST_MEMORY_BYTES = 4096 * MIB  # on v3 an address space, in which a program with up to 2 GiB and its judges must fit

_TIMES = {"run_timeout": 600_000, "run_cpu_time": 600_000, "compile_timeout": 300_000, "compile_cpu_time": 300_000}
"""What `piston/start-worker` sets, in ms."""

_LEAST_TIME_MS = 15_000
"""With less, not even a job with one test of 1 s fits: 10 s to start on a loaded machine (`jobs/run_job.py`,
_START_MS), and the longest wall clock of such a test (`jobs/plan.py`, usual_wall_ms)."""

_LEAST_PAIR_TIME_MS = 5_000
"""The same for scripts that measure the time limit by the wall clock: 3 s more than the limit (see
`jobs/scripts_job.py`)."""

_ENOUGH_TIME_MS = 60_000

_LEAST_PROCESSES, _ENOUGH_PROCESSES = 64, 96
"""With 96, a program can have 64 threads. 64 is Piston's default, which the reference's clusters have: there a correct
program with more than about 50 threads is RE. Source: graders/runner/numbers.h, kLeastProcesses, kSureThreads and
kOwnProcesses."""

_LEAST_OPEN_FILES = 320
"""With less, the runner starts no program. Source: graders/runner/numbers.h, kLeastFds."""

_LEAST_ADDRESS_KIB = _LEAST_MEMORY_BYTES // 1024
"""Of address space and data segment: enough for programs with up to 3 GiB of memory. The runner refuses a job whose
memory limit is higher than one of them."""

_NEED_OF_RUN = "tests of a second and more, and bundles of tests, need more"
_NEED_OF_COMPILE = "a checker with testlib takes 10 s on a busy worker"
"""Source: the recorded `cms_ac_testlib`, 10.4 s of wall clock."""

_OR_INSTALL = ", or install our package, which brings its own limits"

OUTPUT_SETTING = "PISTON_OUTPUT_MAX_SIZE=134217728"
BODY_SETTING = (
    "limit: '512mb' in the two body_parser lines of Piston's src/index.js (newer versions: the variable"
    " PISTON_REQUEST_BODY_LIMIT=512mb; a worker of our image: BODY_LIMIT=512mb); in an nginx in front of it"
    " client_max_body_size 512m"
)


def conditions_of(
    installed: InstalledStarter,
    *,
    is_bundled: bool,
    output_bytes: int | None,
    body_bytes: int | None,
    report: ProbeReport | None = None,
) -> tuple[Finding, ...]:
    """A worker's conditions; the advice of each is the setting of its server.

    Args:
        is_bundled: whether answers must be able to return compiled programs.
        output_bytes: answers of this length arrive; 0 if not even the probe's, `None` if not measured.
        body_bytes: requests of this length are accepted; `None` if that could not be found out.
        report: what the worker reports; `None` if its answers are too short for that.
    """
    return (
        *_times(installed.ceilings, _LEAST_PAIR_TIME_MS if installed.starter is Starter.CMS_IOI else _LEAST_TIME_MS),
        *_memory(installed.ceilings.run_memory_limit),
        *([] if output_bytes is None else [_output(output_bytes, is_bundled=is_bundled)]),
        _body(body_bytes),
        *([] if report is None else _job_limits(report)),
    )


def fatal(conditions: Sequence[Finding]) -> str:
    """The conditions with which nothing can be judged, in one line; empty if there are none."""
    return "; ".join(map(in_one_line, (each for each in conditions if each.severity is Severity.BAD)))


def in_one_line(condition: Finding) -> str:
    """Name, detail and setting."""
    setting = f"; set {condition.advice}" if condition.advice else ""
    return f"{condition.what}: {condition.detail}{setting}"


def _times(known: Ceilings, least_ms: int) -> Iterator[Finding]:
    times = {name: most for name in _TIMES if (most := getattr(known, name)) is not None}
    short = {name: most for name, most in times.items() if most < _ENOUGH_TIME_MS}
    for name, most in short.items():
        runs = name.startswith("run")
        detail = f"{most} ms; {_NEED_OF_RUN if runs else _NEED_OF_COMPILE}"
        setting = f"PISTON_{name.upper()}={_TIMES[name]}{_OR_INSTALL}"
        yield (bad if runs and most < least_ms else warning)(name, detail, setting)
    if not short:
        yield fine("time limits", ", ".join(f"{name} {most} ms" for name, most in times.items()) or "none")


def _memory(most: int | None) -> Iterator[Finding]:
    if most is not None and 0 < most < _LEAST_MEMORY_BYTES:
        detail = f"{most // MIB} MiB for a program and its judges together; tasks have limits up to 2 GiB"
        yield bad("memory", detail, "PISTON_RUN_MEMORY_LIMIT=-1")


def _job_limits(report: ProbeReport) -> Iterator[Finding]:
    """The limits that the kernel applies to a job. (Threads count as processes.)"""
    file_kib, processes, open_files, stack_kib = report.file_kib, report.processes, report.open_files, report.stack_kib
    if file_kib is not None and file_kib * 1024 < LEAST_FILE_BYTES:
        detail = f"{file_kib // 1024} MiB at most; correct programs with more output would fail"
        yield bad("file size", detail, f"PISTON_MAX_FILE_SIZE=1000000000{_OR_INSTALL}")
    if processes is not None and processes < _ENOUGH_PROCESSES:
        detail = f"{processes}, threads included; correct programs with many threads would fail"
        setting = f"PISTON_MAX_PROCESS_COUNT=512{_OR_INSTALL}"
        yield (bad if processes < _LEAST_PROCESSES else warning)("processes", detail, setting)
    if open_files is not None and open_files < _LEAST_OPEN_FILES:
        detail = f"{open_files} at once; the runner needs {_LEAST_OPEN_FILES}"
        yield bad("open files", detail, f"PISTON_MAX_OPEN_FILES=4096{_OR_INSTALL}")
    if stack_kib is not None:
        detail = f"{stack_kib // 1024} MiB at most (hard limit); a correct program that recurses deeper would fail"
        setting = "ulimit -Hs unlimited, as root, where the server is started (Docker: --ulimit stack=-1)"
        yield (bad if stack_kib * 1024 < LEAST_STACK_BYTES else warning)("stack", detail, setting)
    where = "unlimited, as root, where the server is started"
    for what, kib, flag in (("address space", report.address_kib, "v"), ("data segment", report.data_kib, "d")):
        if kib is not None and kib < _LEAST_ADDRESS_KIB:
            detail = f"{kib // 1024} MiB at most (hard limit); correct programs would get no memory"
            yield bad(what, detail, f"ulimit -H{flag} {where}")
    if report.cpu_s is not None and report.cpu_s < LEAST_CPU_S:
        detail = f"{report.cpu_s} s a process (hard limit); compiling a checker may take {LEAST_CPU_S} s"
        yield bad("CPU time", detail, f"ulimit -Ht {where}")


def _output(size: int, *, is_bundled: bool) -> Finding:
    detail = f"{size // 1024} KiB"
    if size == 0:
        return bad("output", "64 KiB or less: answers cannot come back", OUTPUT_SETTING)
    if is_bundled and size < _LEAST_OUTPUT_BYTES:
        lost = f"answers of {detail} arrive, answers of 4 MiB do not: compiled programs cannot come back"
        return bad("output", lost, OUTPUT_SETTING)
    return fine("output", f"{detail} or more")


def _body(size: int | None) -> Finding:
    if size is None:
        return warning("request size", "could not be found out; is a proxy in between?")
    detail = f"{size // 1024} KiB"
    if size < _LEAST_BODY_BYTES:
        return bad("request size", f"{detail}: programs and tests do not fit", BODY_SETTING)
    if size < _LARGEST_TEST_BYTES:
        tried = f"{detail} were accepted, and the next size that was tried was not"
        return warning("request size", f"{tried}; the largest official tests need 43 MB", BODY_SETTING)
    return fine("request size", f"{detail} or more")
