"""The doctor finds the misconfiguration of a worker by running jobs, and names the setting to change.

The worker really executes the jobs, with that misconfiguration.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.cluster import abilities
from ioi_eval.doctor import Finding, Severity, examine_worker
from ioi_eval.doctor.attempts import FULL_ON_A_WORKER, _attempt, _isolation
from ioi_eval.doctor.workers import _exploration_findings, _without_repetitions
from ioi_eval.errors import UnavailableError
from ioi_eval.jobs.find_runner import runner_key
from ioi_eval.model import Isolation, Profile, TestOutcome, Verdict
from ioi_eval.sandbox.findings import NOT_BY_DEFAULT, bad, fine
from ioi_eval.sandbox.local.compiler import detect
from ioi_eval.sandbox.piston.discovery import Prober, Worker
from ioi_eval.sandbox.piston.probing import ProbeReport
from ioi_eval.sandbox.piston.wire import InstalledStarter, Starter
from ioi_eval.toolchain import Toolchain


@pytest.fixture(scope="module")
def artifacts(cache: Path) -> ArtifactStore:
    """The store of compiled artifacts."""
    return ArtifactStore(cache)


def examine(url: str, artifacts: ArtifactStore, *, slots: int = 1) -> dict[str, Finding]:
    """The doctor's findings by subject."""
    findings = asyncio.run(examine_worker(url, artifacts=artifacts, slots=slots))
    return {finding.what: finding for finding in findings}


def require(findings: Mapping[str, Finding], expected: Mapping[str, tuple[Severity, *tuple[str, ...]]]) -> None:
    """Check the severities of findings, and texts in their details or advice."""
    for what, (state, *texts) in expected.items():
        assert findings[what].severity is state, what
        for text in texts:
            assert text in f"{findings[what].advice} {findings[what].detail}"


def worker(start: Any, *options: str) -> Any:
    """A worker with time limits that are enough to compile the runner on a busy machine, unless options change them."""
    patient = ("--limit", "run_timeout=600000", "--limit", "run_cpu_time=600000")
    return start("stub_piston.py", *patient, *options)


def tool(directory: Path, name: str, script: str) -> None:
    """Write a program that jobs find before that of the system."""
    (directory / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (directory / name).chmod(0o755)


def test_a_correct_worker(start: Any, artifacts: ArtifactStore) -> None:
    """The doctor finds no fault, except that a stub server cannot isolate: the runner cannot confine programs there, so
    nothing is judged, and the advice says what to allow. Jobs that can use the network are a warning.
    """
    findings = examine(worker(start).urls[0], artifacts)
    wrong = {what for what, finding in findings.items() if finding.severity is not Severity.OK}
    assert wrong - {"network", "user", "linking", "CPU quota"} == {"isolation"}  # they depend on this machine
    assert findings["isolation"].severity is Severity.BAD
    assert "Landlock" in findings["isolation"].advice
    with open("/proc/net/route", encoding="ascii") as routes:
        if any(line.split()[1] == "00000000" for line in routes):  # this machine has a way to the internet
            assert findings["network"].severity is Severity.WARNING
            assert findings["network"].advice == "PISTON_DISABLE_NETWORKING=true"


@pytest.mark.usefixtures("short_requests")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--packages", "none"], {"set-up": (Severity.BAD, "cluster install")}),
        (
            [
                *("--packages", "bash", "--body", "20000000", "--limit", "run_timeout=30000"),
                *("--limit", "compile_timeout=10000"),
            ],
            {
                "package": (Severity.WARNING, "cluster install"),
                "request size": (Severity.WARNING, "BODY_LIMIT"),
                "run_timeout": (Severity.WARNING, "PISTON_RUN_TIMEOUT=600000"),
                "compile_timeout": (
                    *(Severity.WARNING, "PISTON_COMPILE_TIMEOUT=300000"),
                    "a checker with testlib takes 10 s",
                ),
            },
        ),
        (["--output", "1500000"], {"output": (Severity.BAD, "PISTON_OUTPUT_MAX_SIZE")}),
        (["--limit", "run_cpu_time=3000"], {"run_cpu_time": (Severity.BAD, "PISTON_RUN_CPU_TIME=600000")}),
        (["--limit", "run_memory_limit=1073741824"], {"memory": (Severity.BAD, "PISTON_RUN_MEMORY_LIMIT")}),
        (["--ulimit", "ulimit -f 10000"], {"file size": (Severity.BAD, "PISTON_MAX_FILE_SIZE=1000000000")}),
        (["--ulimit", "ulimit -n 319"], {"open files": (Severity.BAD, "PISTON_MAX_OPEN_FILES=4096")}),
        (["--ulimit", "ulimit -s 8192"], {"stack": (Severity.BAD, "--ulimit stack=-1", "8 MiB")}),
        (["--ulimit", "ulimit -s 65536"], {"stack": (Severity.WARNING, "--ulimit stack=-1", "64 MiB")}),
        (["--ulimit", "ulimit -u 63"], {"processes": (Severity.BAD, "PISTON_MAX_PROCESS_COUNT=512")}),
        (["--ulimit", "ulimit -u 64"], {"processes": (Severity.WARNING, "PISTON_MAX_PROCESS_COUNT=512")}),
    ],
    ids=[
        *("none", "warnings", "output", "time", "memory", "file size", "open files", "stack", "larger stack"),
        *("processes", "default processes"),
    ],
)
def test_settings(
    start: Any, artifacts: ArtifactStore, options: list[str], expected: dict[str, tuple[Severity, *tuple[str, ...]]]
) -> None:
    """Each misconfiguration gets a finding with its severity and the setting to change."""
    if options[-1].startswith("ulimit -u") and os.getuid() != 0:
        pytest.skip("an ordinary user may have more processes than that, and could start none")
    require(examine(worker(start, *options).urls[0], artifacts), expected)


@pytest.mark.parametrize(("why", "advice"), [("", FULL_ON_A_WORKER), ("no user namespaces", "no user namespaces")])
def test_reduced_isolation_comes_with_advice_for_full(why: str, advice: str) -> None:
    """If the reason is unknown, as on a worker, the advice says how each generation of Piston gives full isolation."""
    finding = _isolation(Isolation.REDUCED, why)
    assert (finding.severity, finding.advice) == (Severity.WARNING, f"for full: {advice}")


@pytest.mark.parametrize(
    ("outcome", "severity", "detail"),
    [
        (TestOutcome(test="fork", verdict=Verdict.AC, score=1.0, message="refused"), Severity.OK, "refused"),
        (TestOutcome(test="fork", verdict=Verdict.SV, score=0.0), Severity.OK, "killed"),
        (TestOutcome(test="fork", verdict=Verdict.WA, score=0.0, message="it forked"), Severity.BAD, "WA: it forked"),
        (TestOutcome(test="fork", verdict=Verdict.RE, score=0.0, stderr="no memory"), Severity.BAD, "RE: no memory"),
    ],
)
def test_what_an_attempt_shows(outcome: TestOutcome, severity: Severity, detail: str) -> None:
    """One that succeeds is a hole; one that ends otherwise shows nothing, which is reported too."""
    finding = _attempt(outcome)
    assert (finding.what, finding.severity, finding.detail) == ("cannot start processes", severity, detail)


def test_attempts_that_all_failed_for_one_reason_are_one_finding() -> None:
    """For example if no job has an answer. Different reasons, and attempts that were prevented, are listed each."""
    first, lost, killed = fine("isolation", "full"), "JE: no answer", fine("cannot fork", "killed")
    reads, forks = bad("cannot read /proc", lost), bad("cannot fork", lost)
    assert _without_repetitions([first, reads, forks]) == [first, bad("jobs", lost)]
    for tried in ([reads], [reads, bad("cannot fork", "JE: late")], [reads, killed], [killed, killed]):
        assert _without_repetitions([first, *tried]) == [first, *tried]


def explored(starter: Starter) -> Worker:
    """What is found out about a worker with this package."""
    toolchain = Toolchain(command="g++", version="g++ 12.2.0", machine="x86_64-linux-gnu", static=False)
    return Worker(
        url=URL("http://127.0.0.1:2000/api/v2"),
        runtimes=(),
        profile=Profile.CLASSIC,
        installed=InstalledStarter(starter=starter, version="1.0.0"),
        report=ProbeReport(compilers=(toolchain,), kernel="6.1.0", processors=2, clock_s=0),
        max_output_bytes=4 << 20,
        max_body_bytes=None,
        clock_ahead_s=0.0,
    )


@pytest.mark.parametrize("starter", Starter)
def test_linking_is_a_finding_unless_the_worker_has_cms_ioi(starter: Starter) -> None:
    """The scripts of the `cms_ioi` package always link dynamically, so the doctor gives no advice there."""
    subjects = {finding.what for finding in _exploration_findings(explored(starter))}
    assert ("linking" in subjects) == (starter is not Starter.CMS_IOI)


def test_a_worker_with_only_cms_ioi_cannot_be_used_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """`score` refuses it unless its options ask for it. So the doctor and `cluster probe` do not count it, and say when
    it is used.
    """

    async def found(prober: Prober, _: URL) -> tuple[Worker | None, str]:
        return (None, "no package") if prober._profile == "bundled" else (explored(Starter.CMS_IOI), "")

    monkeypatch.setattr("ioi_eval.cli.cluster._explored", found)
    [known] = asyncio.run(abilities(["http://127.0.0.1:2000"]))
    assert (known.is_usable, known.bundled) == (False, None)
    assert known.why_not == ("no package", f"cms_ioi: {NOT_BY_DEFAULT}")
    findings = {finding.what: finding for finding in _exploration_findings(explored(Starter.CMS_IOI))}
    require(findings, {"package": (Severity.BAD, "cluster install", NOT_BY_DEFAULT)})


def test_a_worker_that_fails_in_the_classic_profile_only_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package `cms_ioi` may not answer, or the worker only later: runs with the other profile use it."""

    async def found(prober: Prober, endpoint: str) -> tuple[Worker | None, str]:
        if prober._profile == "classic":
            raise UnavailableError(f"{prober.address(endpoint)}: no answer")
        return explored(Starter.BASH), ""

    monkeypatch.setattr("ioi_eval.cli.cluster._explored", found)
    [known] = asyncio.run(abilities(["http://127.0.0.1:2000"]))
    assert (known.is_usable, known.classic, known.why_not) == (True, None, ("no answer",))


def test_all_faults_are_reported_at_once(start: Any, artifacts: ArtifactStore) -> None:
    """The output limit of a default server already makes it unusable. The doctor also reports its other limits."""
    url = worker(
        start, "--packages", "bash", "--output", "1024", "--body", "102400", "--limit", "run_timeout=14000"
    ).urls[0]
    expected = {
        "output": (Severity.BAD, "PISTON_OUTPUT_MAX_SIZE"),
        "run_timeout": (Severity.BAD, "PISTON_RUN_TIMEOUT=600000"),
        "request size": (Severity.BAD, "BODY_LIMIT"),
    }
    findings = examine(url, artifacts)
    require(findings, expected)
    assert {what for what, finding in findings.items() if finding.severity is Severity.BAD} == expected.keys()


@pytest.mark.usefixtures("short_requests")
@pytest.mark.parametrize(
    ("version", "texts"),
    [
        (
            "g++ (Debian 8.3.0-6) 8.3.0",
            ("C++20, and so problems of IOI 2024 and later, needs GCC 10", "GCC_TREE"),
        ),
        ("Debian clang version 14.0.6", ("not GCC",)),
    ],
    ids=["old", "clang"],
)
def test_another_compiler(start: Any, cache: Path, tmp_path: Path, version: str, texts: tuple[str, ...]) -> None:
    """The compiler that jobs find first counts. An old one is a warning: it can still compile for older C++. Clang with
    the name g++ is one too: official judges do not use it.

    Both make the runner that this machine's compiler has made.
    """
    (runner,) = cache.glob(f"artifacts/*/{runner_key(detect('g++'))}.*")
    script = f"""
case "$*" in
--version) echo {shlex.quote(version)} ;;
*runner.cpp*) while [ "$1" != -o ]; do shift; done; cp {shlex.quote(str(runner))} "$2" ;;
*) exec /usr/bin/g++ "$@" ;;
esac"""
    tool(tmp_path, "g++", script)
    findings = examine(worker(start, "--tools", str(tmp_path)).urls[0], ArtifactStore(cache))
    require(findings, {"compiler": (Severity.WARNING, *texts)})


def test_a_compiler_that_cannot_build_the_runner(start: Any, artifacts: ArtifactStore, tmp_path: Path) -> None:
    """If the headers of an image are too old, the finding has the compiler's message."""
    script = """
case $1 in
--version) echo "g++ (Custom) 10.2.0" ;;
-dumpmachine) echo x86_64-linux-gnu ;;
-print-file-name*) echo "${1#*=}" ;;
*) echo "runner.cpp:1: fatal error: linux/landlock.h: No such file or directory" >&2; exit 1 ;;
esac"""
    tool(tmp_path, "g++", script)
    findings = examine(worker(start, "--tools", str(tmp_path)).urls[0], artifacts)
    bad = [finding for finding in findings.values() if finding.severity is Severity.BAD]
    assert any("landlock.h" in finding.detail for finding in bad)


@pytest.mark.usefixtures("short_requests")
@pytest.mark.parametrize(("shift", "words"), [(3600, "ahead of"), (-3600, "behind")])
def test_what_jobs_see(start: Any, artifacts: ArtifactStore, tmp_path: Path, shift: int, words: str) -> None:
    """Warnings: a clock that is one hour ahead or behind; more slots than processors, because programs would disturb
    each other's times; a CPU quota of a control group (Docker's `--cpus`), which stops programs while they run.
    """
    tool(tmp_path, "date", f"echo $(( $(/bin/date +%s) + {shift} ))")
    tool(tmp_path, "nproc", "echo 2")
    tool(tmp_path, "cat", '[ "$*" = /sys/fs/cgroup/cpu.max ] && echo "150000 100000" || exec /bin/cat "$@"')
    findings = examine(worker(start, "--tools", str(tmp_path)).urls[0], artifacts, slots=4)
    require(findings, {"clock": (Severity.WARNING, words, "NTP"), "CPU quota": (Severity.WARNING, "1.5 processors")})
    assert findings["slots"].severity is Severity.WARNING
    assert findings["slots"].advice == "PISTON_MAX_REQUESTS_PER_ENDPOINT=2"


def test_no_server_at_the_endpoint(artifacts: ArtifactStore) -> None:
    """There is one finding, which says what to check."""
    (finding,) = examine("http://127.0.0.1:9", artifacts).values()
    assert finding.severity is Severity.BAD
    assert "no connection" in finding.detail
    assert "that the worker runs" in finding.advice
