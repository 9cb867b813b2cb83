"""Why no box can be made here: the cause, found by trying one step after the other, and what to do about it.

bwrap has the same message for many causes. So its steps are tried one by one, with `unshare`. The first that fails,
together with the state of the kernel, shows the cause: a sysctl, a seccomp filter, AppArmor, or a `/proc` of which a
container hides parts. Each cause has its own advice.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ioi_eval.sandbox.local.confinement import PATH

_DEADLINE_S = 20
_PROC = Path("/proc")

_USER = ("unshare", "--user", "true")
_MOUNTS = ("unshare", "--user", "--map-root-user", "--mount", "true")
_OWN_PROC = ("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "true")

_APPARMOR_ADVICE = (
    "AppArmor takes all rights from user namespaces of ordinary users (Ubuntu 23.10 and newer); as root: "
    "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or load an unconfined profile with `userns,` for bwrap"
)
_CONTAINER = (
    "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined (Docker, Podman; "
    "Kubernetes: seccompProfile Unconfined, procMount Unmasked); no capability is needed"
)
_NAMESPACES = {"user": 10, "pid": 100, "mnt": 10, "net": 10, "ipc": 10, "uts": 10}
"""How many namespaces of each kind one box may need. It has one, or three user namespaces with an old bwrap, and a PID
namespace for each of up to 64 contestants; the kernel counts those that have ended a little longer."""

_ALLOWED = 10_000  # of each kind, in the advice
_NO_MORE_NAMESPACES = (
    "no more namespaces are allowed here; as root: sysctl "
    f"user.max_user_namespaces={_ALLOWED} user.max_pid_namespaces={_ALLOWED} user.max_mnt_namespaces={_ALLOWED}"
)
_NO_BWRAP = "bwrap is missing (Debian, Ubuntu: apt install bubblewrap)"
_FILTER = "a seccomp filter forbids {what} (containers have one by default)"
_ONLY_IN_BWRAP = {"pivot_root": "pivot_root", "set hostname": "sethostname"}
"""Words of bwrap's messages about the calls that `unshare` does not make, and these calls."""
_APPARMOR = "kernel/apparmor_restrict_unprivileged_userns"


def why_no_box(before: Sequence[str], stderr: str | None, *, proc: Path = _PROC) -> str:
    """The cause, and what to do, in a sentence. `before` makes a command run as the user of boxes. `stderr` is what
    bwrap has printed; None if it is missing. Then another cause is named too: to install bwrap would not be enough.

    Source: Linux, user_namespaces(7), `fs/namespace.c` (mount_too_revealing); Docker, "Seccomp security profiles";
    Ubuntu 24.04 release notes, "Unprivileged user namespace restrictions".
    """
    if stderr is not None and is_out_of_namespaces(stderr):
        return _NO_MORE_NAMESPACES
    cause = _failed_step(before, proc)
    if stderr is None:
        return f"{_NO_BWRAP}, and {cause}" if cause else _NO_BWRAP
    if cause:
        return cause
    refused = next((call for words, call in _ONLY_IN_BWRAP.items() if words in stderr), None)
    if refused and is_filtered(proc):
        return f"{_FILTER.format(what=refused)}; {_CONTAINER}"
    failure = _failure((*before, *_OWN_PROC))
    return f"bwrap cannot make a box here: {_plain(stderr)}" + (f" ({failure})" if failure else "")


def _failed_step(before: Sequence[str], proc: Path) -> str:
    """Why one of bwrap's steps fails; empty if none does."""
    filtered = is_filtered(proc)
    if failure := _failure((*before, *_USER)):
        return _no_user_namespace(failure, filtered=filtered, proc=proc)
    if failure := _failure((*before, *_MOUNTS)):
        return _no_mounts(failure, filtered=filtered, proc=proc)
    hidden = [point for point in _mount_points(proc) if point.startswith("/proc/")]
    if hidden and _failure((*before, *_OWN_PROC)):
        cause = (
            f"this container hides parts of /proc ({', '.join(hidden[:2])}, …), so the kernel lets no box have its own"
        )
        return f"{cause}; {_CONTAINER}"
    return ""


def too_few_namespaces(boxes: int, *, proc: Path = _PROC) -> str:
    """Why this many boxes of one user cannot be made at once, and what to do; empty if the kernel allows enough
    namespaces. Source: Linux, namespaces(7), `/proc/sys/user`."""
    for kind, needed in _NAMESPACES.items():
        allowed = _sysctl(proc, name := f"user/max_{kind}_namespaces")
        if allowed.isdecimal() and int(allowed) < needed * boxes:
            sysctl = name.replace("/", ".")
            return (
                f"{sysctl} is {allowed}, and the jobs that run at once need up to {needed * boxes}; as root: sysctl "
                f"{sysctl}={max(needed * boxes, _ALLOWED)}"
            )
    return ""


def is_out_of_namespaces(stderr: str) -> bool:
    """Whether bwrap or `unshare` has failed because of the limits in `/proc/sys/user`."""
    return re.search(r"^unshare: .*No space left|namespaces exceeded", stderr, re.MULTILINE) is not None


def _no_user_namespace(failure: str, *, filtered: bool, proc: Path) -> str:
    if _sysctl(proc, "user/max_user_namespaces") == "0" or "No space left" in failure:
        return f"no more user namespaces are allowed here; as root: sysctl user.max_user_namespaces={_ALLOWED}"
    if _sysctl(proc, "kernel/unprivileged_userns_clone") == "0":
        return "ordinary users may not make user namespaces here; as root: sysctl kernel.unprivileged_userns_clone=1"
    if filtered:
        return f"{_FILTER.format(what='user namespaces')}; {_CONTAINER}"
    if _sysctl(proc, _APPARMOR) == "1":
        return _APPARMOR_ADVICE
    if (points := _mount_points(proc)) and "/" not in points:
        return "in a chroot the kernel makes no user namespaces; start it outside, or in a container"
    return f"the kernel makes no user namespace ({failure})"


def _no_mounts(failure: str, *, filtered: bool, proc: Path) -> str:
    if _sysctl(proc, _APPARMOR) == "1":
        return _APPARMOR_ADVICE
    if profile := _profile(proc):
        advice = "start the container with --security-opt apparmor=unconfined"
        return f"the AppArmor profile {profile} forbids mounts; {advice}"
    if filtered:
        return f"{_FILTER.format(what='mounts')}; {_CONTAINER}"
    return f"a user namespace can be made here, but nothing can be mounted in it ({failure})"


def _failure(command: Sequence[str]) -> str:
    """A command's message if it fails; empty if it succeeds, or cannot be tried."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env={"PATH": PATH}, timeout=_DEADLINE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode == 0 else _plain(done.stderr) or f"exit code {done.returncode}"


def _plain(stderr: str) -> str:
    """Without bwrap's "See <…>": that page may not be on this machine."""
    return stderr.partition(" See <")[0].strip()


def _sysctl(proc: Path, name: str) -> str:
    return _read(proc / "sys" / name).strip()


def is_filtered(proc: Path = _PROC) -> bool:
    """Whether this process has a system call filter, as in most containers. Source: proc_pid_status(5), `Seccomp`."""
    return re.search(r"^Seccomp:\s*[12]$", _read(proc / "self/status"), re.MULTILINE) is not None


def _profile(proc: Path) -> str:
    profile = (_read(proc / "self/attr/apparmor/current") or _read(proc / "self/attr/current")).strip("\n\0 ")
    return "" if profile.startswith("unconfined") or "(" not in profile else profile


def _mount_points(proc: Path) -> list[str]:
    """Source: proc_pid_mountinfo(5)."""
    return [line.split(" ")[4] for line in _read(proc / "self/mountinfo").splitlines() if line.count(" ") > 4]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
