"""Makes jobs that refer to files on the worker instead of sending them. Pure; `cluster.py` sends the jobs.

A problem's files are on a worker as a Piston package, one for each problem (`problem_packages.py` makes it). A job that
uses them has this package as its runtime: since isolate a job sees its own package only. So jobs of other problems
cannot see these files. Programs and compilers in jobs of this problem cannot see them either, because the runner
confines them before they start. The package's `run` (`graders/stored/run`) compares the runner with its hash and starts
it; the runner opens the files that the job's file `stored` names, and compares them with the package's checksums. The
answer names files that are missing or damaged (`missing_files`), and the client sends these from then on: a package
that is outdated, foreign or damaged makes requests larger, but never changes a verdict.

The runner, which every job needs, is in our own packages too: a job is sent without it to a worker whose package has
the same runner (`without_runner`). If the worker also has `ioi_eval_run`, our package without a compile stage, that one
starts the job, unless the job uses a precompiled header.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ioi_eval.errors import RejectedError, SandboxError
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model import Blob, Content, Execution, Job, JobFile, JobKind, size_of
from ioi_eval.sandbox import Target, read_content
from ioi_eval.sandbox.piston import wire
from ioi_eval.sandbox.piston.wire import Starter

if TYPE_CHECKING:
    from ioi_eval.sandbox.piston.discovery import Worker

DIGITS = 32
"""The length of a hash in a job's list of files."""

LIST = "stored"
"""The name of a job's file that lists those of its files that are in the package."""

REFUSED_CODE = 66
"""The exit code of `graders/stored/run` and of the runner if files of the package are missing or damaged."""

_NO_PROCESS_CODE = 254
"""The exit code of bash if it cannot fork: the machine has reached a limit, so nothing is known about the package."""

ALL = "*"
"""Stands for all files: the package as a whole cannot be used."""

_ALSO_STORED = re.compile(r"runner|checker|manager|harness|object\d+")
"""Files that a package has if worker and client have the same compiler and version of ioi_eval."""

_LEAST_BYTES = 128
"""Smaller files are sent: a reference takes 32 digits of a hash, 24 of a name, and a few words."""

PACKAGE_LIMITS = {
    "compile_timeout": 300_000,
    "run_timeout": 600_000,
    "compile_cpu_time": 300_000,
    "run_cpu_time": 600_000,
    "compile_memory_limit": -1,
    "run_memory_limit": -1,
    "output_max_size": 134_217_728,
    "max_process_count": 512,
    "max_open_files": 4096,
    "max_file_size": 1_000_000_000,
}
"""The limits that jobs of a problem's package may request: those of our package `ioi_eval` in `piston/packages/`. A
server's other packages, such as `bash`, have the limits of its settings."""

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.]*")
_PACKAGES = "/packages/"
"""In the path of every file of a server's packages: under Piston v4 a job sees only its own package."""

_RUNNER_THERE = f"""runner=$IOI_EVAL_JUDGE/runner
read -r hash sum 2> /dev/null < "$runner.sums"
if [[ $hash = DIGEST* ]] && [ "$(cksum < "$runner")" = "$sum" ]; then exec "$runner" --dir .; fi
echo "not stored: DIGEST is missing"
exit {REFUSED_CODE}
"""
"""The package's `build.sh` wrote `runner.sums`: the runner's hash, and its CRC and size, which show damage. To hash the
runner in each job would take 5 ms of CPU time more."""

_NOT_STORED = re.compile(rf"not stored: ([0-9a-f]{{{DIGITS}}}|\*) (.*)")


def digest(content: Content) -> str:
    """The first 128 bits of a content's SHA-256, hexadecimal. Requests have one for each file, so it is short."""
    return (content.sha256 if isinstance(content, Blob) else hashlib.sha256(content).hexdigest())[:DIGITS]


@lru_cache(maxsize=8)
def _runner_sum(runner: Content) -> str:
    """What `b2sum -l 128` prints for a runner."""
    return hashlib.blake2b(read_content(runner), digest_size=16).hexdigest()


def is_worth_storing(content: Content) -> bool:
    """Whether a content is large enough to be taken from a package."""
    return size_of(content) >= _LEAST_BYTES


def missing_files(execution: Execution) -> dict[str, str]:
    """The files that a package does not have: reasons by hash; empty if it had all of them."""
    if execution.run.code != REFUSED_CODE:
        return {}
    matches = map(_NOT_STORED.fullmatch, execution.run.stdout.splitlines())
    return {match[1]: match[2] for match in matches if match}


@fast_dataclass
class Variant:
    """A job as it is sent to a worker that has some of its files: without those that have the hashes `left_out`. A
    package other than the usual one may run it."""

    job: Job
    left_out: frozenset[str]
    package: str = ""

    def missing(self, result: Execution | SandboxError) -> dict[str, str]:
        """Those of the files left out that a worker lacks, as `missing_files` does; empty if the runner was started."""
        if isinstance(result, RejectedError):
            return {ALL: f"is refused: {result}"}
        if not isinstance(result, Execution):
            return {}
        known = {ALL, *self.left_out}
        reasons = {file_hash: why for file_hash, why in missing_files(result).items() if file_hash in known}
        run = result.run
        has_runners_output = run.stdout.startswith("{")
        if not reasons and run.code not in (0, None, _NO_PROCESS_CODE) and not has_runners_output:
            reasons = {ALL: f"starts no runner: exit code {run.code}, {(run.stderr or run.stdout).strip()[-200:]!r}"}
        return reasons


def without_stored_files(job: Job, absent: Collection[str]) -> Variant | None:
    """The job, of kind RUNNER, that uses the files of its problem's package, except those with the hashes `absent`;
    `None` if it can use none."""
    package = job.package
    if package is None or ALL in absent:
        return None
    lines: list[str] = []
    left_out: set[str] = set()
    sent: list[JobFile] = []
    for file in job.files:
        if not _PLAIN.fullmatch(file.name):
            return None
        file_hash = digest(file.content) if is_worth_storing(file.content) else ""
        if file_hash and file_hash not in absent and (file_hash in package.held or _ALSO_STORED.fullmatch(file.name)):
            line = f"stored {file.name} {file_hash} {package.name_of(file_hash)}"
            if file.name == "runner":
                lines.insert(0, f"{line} {_runner_sum(file.content)}\n")
            else:
                lines.append(f"{line}\n")
            left_out.add(file_hash)
        else:
            sent.append(file)
    if not left_out:
        return None
    files = (JobFile(name=LIST, content="".join(lines).encode()), *sent)
    return Variant(job=replace(job, files=files), left_out=frozenset(left_out), package=package.language)


def without_runner(job: Job, package: str = "") -> Variant | None:
    """The job, of kind RUNNER, that uses the runner of our package, or of `wire.RUN_PACKAGE`; `None` if it has none.

    `ioi-eval serve` reads `stored`, and starts its own runner; on Piston the script finds the package's runner.
    """
    runner = next((file.content for file in job.files if file.name == "runner"), None)
    if runner is None:
        return None
    file_hash = digest(runner)
    others = [file for file in job.files if file.name != "runner"]
    script = JobFile(name=wire.MAIN, content=_RUNNER_THERE.replace("DIGEST", file_hash).encode())
    files = (*others, script, JobFile(name=LIST, content=runner_line(file_hash)))
    return Variant(job=replace(job, files=files), left_out=frozenset((file_hash,)), package=package)


def runner_line(file_hash: str) -> bytes:
    """The content of `stored` in a job that is sent without its runner."""
    return f"stored runner {file_hash}\n".encode()


@dataclass(slots=True)
class _KnownPackage:
    """What is known about a package on a worker: the hashes of files that it lacks, those of a problem's test data that
    are missing or damaged, and why all of it cannot be used, if it cannot."""

    absent: set[str] = field(default_factory=set)
    damaged: list[str] = field(default_factory=list)
    unusable: str = ""


class StoredFiles:
    """What is known about the files that each worker of a cluster has."""

    def __init__(self) -> None:
        self._known: defaultdict[tuple[str, str], _KnownPackage] = defaultdict(_KnownPackage)

    @property
    def faults(self) -> tuple[str, ...]:
        """What was wrong with problems' packages, one sentence for each worker and package."""
        faults: list[str] = []
        for (endpoint, package), known in self._known.items():
            of_package = f"{endpoint}: of the package {package}"
            if known.damaged:
                more = len(known.damaged) - 1
                others = f", and {more} more are missing or differ; they are" if more else "; it is"
                advice = "Uninstall that package, then install it again"
                faults.append(f"{of_package} {known.damaged[0]}{others} sent instead. {advice}")
            if known.unusable:
                faults.append(f"{of_package} all of it {known.unusable}; it is sent instead")
        return tuple(faults)

    def variant(self, job: Job, worker: Worker, target: Target) -> Variant | None:
        """The job without the files that a worker has; `None` if all files must be sent.

        Args:
            worker: the worker that will run it.
            target: the worker's. If its compiler or libraries are in a package, only the usual one can be used, as a
                job sees its own package only.
        """
        if job.kind is not JobKind.RUNNER:
            return None
        url, compiler = str(worker.url), target.toolchain
        needed = (*job.sees, *(() if compiler.static else (compiler.command,)))
        others = set() if any(_PACKAGES in path for path in needed) else {each.language for each in worker.runtimes}
        run, is_ours = job.run_limits, worker.installed.starter is Starter.IOI_EVAL
        may_use = run.wall_ms <= PACKAGE_LIMITS["run_timeout"] and run.cpu_ms <= PACKAGE_LIMITS["run_cpu_time"]
        if job.package is not None and (package := job.package.language) in others and (is_ours or may_use):
            variant = without_stored_files(job, self._known[url, package].absent)
            if variant is not None:
                return variant
        if not is_ours:
            return None
        may_start = wire.RUN_PACKAGE in others and not job.has_header  # else our package does
        for package in (wire.RUN_PACKAGE, "") if may_start else ("",):
            if not self._known[url, package].absent:
                return without_runner(job, package)
        return None

    def note_missing(self, endpoint: str, variant: Variant, job: Job, result: Execution | SandboxError) -> bool:
        """Note which files a worker, named by its URL, turned out not to have. Returns whether there are any: then send
        the job again.

        After each call the job names fewer files, so it is sent at most once more for each file. That a file is missing
        may be known already, from another job that was sent at the same time.
        """
        reasons = variant.missing(result)
        if not reasons:
            return False
        known = self._known[endpoint, variant.package]
        news = {file_hash: reason for file_hash, reason in reasons.items() if file_hash not in known.absent}
        known.absent.update(reasons)
        held = job.package.held if job.package is not None else ()
        for file_hash, reason in news.items() if wire.is_problems(variant.package) else ():
            if file_hash == ALL:
                known.unusable = reason
            elif file_hash in held:
                known.damaged.append(f"the file {file_hash[:12]}… {reason}")
        return True
