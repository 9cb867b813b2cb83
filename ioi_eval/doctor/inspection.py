"""What a job can see of its worker: limits, network and system. Makes the job's script, and reads its answer."""

from __future__ import annotations

from dataclasses import dataclass

from ioi_eval.model import Execution, Job, JobFile, JobKind, StageLimits

_SCRIPT = r"""
tell() { printf '%s\t' "$@"; echo; }
tell begin NONCE
tell processes "$(ulimit -u)"
tell file_kib "$(ulimit -f)"
tell open_files "$(ulimit -n)"
tell processors "$(nproc)"
tell quota "$(cat /sys/fs/cgroup/cpu.max 2>/dev/null)"
tell system "$( (. /etc/os-release && echo "$PRETTY_NAME") 2>/dev/null)"
tell user "$(id -u)"
(exec 3<> /dev/udp/192.0.2.1/9) 2>/dev/null && tell network on || tell network off
tell end NONCE
"""

_LIMITS = StageLimits(wall_ms=10_000, cpu_ms=3_000, memory_bytes=256 << 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What a job saw. `None` means no limit, or none that can be seen.

    Args:
        processes: most processes and threads of a job.
        file_bytes: the largest file that a job may write.
        open_files: most descriptors of a process.
        processors: how many it may use.
        quota: how many processors its control group may use.
        system: the name of the image's system.
        is_root: whether jobs run as root.
        has_network: whether a socket can be opened for an address on the internet, which has a route. (Connecting by
            UDP sends nothing; the address is one for documentation, RFC 5737.)
        measures: whether the server reports CPU time: Piston since isolate, or `ioi-eval serve`.
    """

    processes: int | None
    file_bytes: int | None
    open_files: int | None
    processors: int
    quota: float | None
    system: str
    is_root: bool
    has_network: bool
    measures: bool


def inspection_job(nonce: str) -> Job:
    """The job that inspects a worker; for packages that start a job's own `run`."""
    script = _SCRIPT.replace("NONCE", nonce)
    return Job(
        kind=JobKind.SCRIPTS,
        files=(JobFile(name="run", content=script.encode()),),
        run_limits=_LIMITS,
        trusted=True,
    )


def read_inspection(execution: Execution, nonce: str) -> Inspection | None:
    """Read the job's answer; `None` if it is not complete."""
    lines = [line.rstrip("\t").split("\t") for line in execution.run.stdout.splitlines()]
    if len(lines) < 2 or lines[0] != ["begin", nonce] or lines[-1] != ["end", nonce]:
        return None
    values = {line[0]: line[1] if len(line) > 1 else "" for line in lines}
    file_kib = _number(values.get("file_kib", ""))
    return Inspection(
        processes=_number(values.get("processes", "")),
        file_bytes=None if file_kib is None else file_kib * 1024,
        open_files=_number(values.get("open_files", "")),
        processors=_number(values.get("processors", "")) or 1,
        quota=_quota(values.get("quota", "")),
        system=values.get("system", ""),
        is_root=values.get("user") == "0",
        has_network=values.get("network") == "on",
        measures=execution.run.cpu_ms is not None,
    )


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _quota(text: str) -> float | None:
    """`200000 100000`: two processors. `max 100000`: no quota. Source: Linux, cgroup-v2, `cpu.max`."""
    share, _, period = text.partition(" ")
    return int(share) / int(period) if share.isdecimal() and period.isdecimal() and int(period) else None
