"""Why full isolation is not available: each cause is really produced if possible, and the message has its remedy."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.model import Isolation, Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.local import sandbox as local
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.local.why_no_box import too_few_namespaces, why_no_box
from tests import unprivileged
from tests.full_isolation import full_isolation, reached, require_full_isolation

_CLONE, _CLONE3, _UNSHARE, _PIVOT_ROOT = 56, 435, 272, 155
_NEWUSER = 0x10000000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2
_ALLOW, _EPERM, _ENOSYS = 0x7FFF0000, 0x00050001, 0x00050026

NO_USER_NAMESPACES = (
    (0x20, 0, 0, 0),  # the call's number
    (0x15, 0, 1, _UNSHARE), (0x06, 0, 0, _EPERM),
    (0x15, 0, 1, _CLONE3), (0x06, 0, 0, _ENOSYS),
    (0x15, 0, 3, _CLONE),
    (0x20, 0, 0, 16), (0x45, 0, 1, _NEWUSER), (0x06, 0, 0, _EPERM),
    (0x06, 0, 0, _ALLOW),
)  # fmt: skip
"""Like Docker's default filter. Source: moby, `profiles/seccomp/default.json`."""

NO_PIVOT_ROOT = ((0x20, 0, 0, 0), (0x15, 0, 1, _PIVOT_ROOT), (0x06, 0, 0, _EPERM), (0x06, 0, 0, _ALLOW))

WHY = """
import asyncio, sys
from ioi_eval.sandbox.local.sandbox import LocalSandbox

async def enter():
    async with LocalSandbox(slots=1) as sandbox:
        print(sandbox.targets()[0].isolation, sandbox.why_not_full)

asyncio.run(enter())
"""


def _filter_calls(rules: tuple[tuple[int, int, int, int], ...]) -> None:
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, program, 0, 0) == 0, os.strerror(ctypes.get_errno())


def _entered(command: list[str], rules: tuple[tuple[int, int, int, int], ...] = ()) -> str:
    """The isolation level of a sandbox in a process started by this command, and why it is not full."""
    if shutil.which("bwrap") is None or shutil.which("unshare") is None:
        pytest.skip("no bwrap, or no unshare")
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=(lambda: _filter_calls(rules)) if rules else None,
    )
    assert "Traceback" not in done.stderr, done.stderr
    if done.returncode != 0:
        pytest.skip(f"cannot be tested here: {done.stderr.strip()[-300:]}")
    return done.stdout.strip()


BOTH = "--security-opt seccomp=unconfined --security-opt systempaths=unconfined"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter is written for x86-64")
@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (NO_USER_NAMESPACES, "a seccomp filter forbids user namespaces"),
        (NO_PIVOT_ROOT, "a seccomp filter forbids pivot_root"),
    ],
    ids=["user namespaces", "pivot_root"],
)
def test_a_seccomp_filter(rules: tuple[tuple[int, int, int, int], ...], words: str) -> None:
    """A filter like a container's default is named as the cause. The message names no sysctl and no document."""
    if rules is NO_PIVOT_ROOT:
        require_full_isolation()  # otherwise another filter around these tests refuses more calls
    message = _entered([sys.executable, "-c", WHY], rules)
    assert message.startswith(f"reduced {words}"), message
    assert BOTH in message
    assert "sysctl" not in message
    assert "http" not in message
    assert "docs/" not in message


@pytest.mark.root
def test_parts_of_proc_are_hidden() -> None:
    """If parts of /proc are hidden, as in containers, the kernel does not mount another /proc: this cause is named."""
    script = 'mount -t tmpfs none /proc/acpi; exec "$@"'
    message = _entered(["unshare", "--mount", "sh", "-ec", script, "sh", sys.executable, "-c", WHY])
    assert message.startswith("reduced this container hides parts of /proc (/proc/acpi"), message
    assert BOTH in message


def _why_after(*commands: str) -> str:
    """The reason for no box, after these commands have run in a new user namespace."""
    code = "from ioi_eval.sandbox.local.why_no_box import why_no_box; print(why_no_box((), 'bwrap: words'))"
    script = f'{"; ".join(commands)}; exec "$@"'
    words = ["unshare", "--user", "--map-root-user", "sh", "-ec", script, "sh", sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    if done.returncode != 0:
        pytest.skip(f"cannot be tested here: {done.stderr.strip()[-300:]}")
    return done.stdout


def test_no_user_namespaces_left() -> None:
    """With `user.max_user_namespaces=0`, the message names this sysctl and no other."""
    message = _why_after("echo 0 > /proc/sys/user/max_user_namespaces")
    assert "sysctl user.max_user_namespaces=10000" in message
    assert "unprivileged" not in message


@pytest.mark.parametrize("allowed", [1, 12])
def test_a_box_without_namespaces_of_its_own(allowed: int) -> None:
    """A box whose runner cannot make PID namespaces in it, or only few, is not full isolation. The limit of an outer
    container is not visible: it was full with 12, until the runner had no other for a test."""
    script = f"echo {allowed} > /proc/sys/user/max_pid_namespaces; "
    script += 'exec unshare --user --map-user=1000 --map-group=1000 "$@"'
    words = ["unshare", "--user", "--map-root-user", "sh", "-ec", script, "sh", sys.executable, "-c", WHY]
    assert "sysctl user.max_user_namespaces=10000 user.max_pid_namespaces=10000" in _entered(words)


@pytest.mark.parametrize(
    ("kind", "allowed", "boxes", "words"),
    [
        ("pid", "299", 3, "user.max_pid_namespaces is 299, and the jobs that run at once need up to 300; as root: "),
        ("pid", "300", 3, ""),
        ("user", "1", 3, "as root: sysctl user.max_user_namespaces=10000"),
        ("mnt", "2", 1, "as root: sysctl user.max_mnt_namespaces=10000"),
        ("pid", "10000", 144, "as root: sysctl user.max_pid_namespaces=14400"),
    ],
)
def test_too_few_namespaces(tmp_path: Path, kind: str, allowed: str, boxes: int, words: str) -> None:
    """All boxes of a user count together. On a kernel without the limits nothing is reported."""
    message = too_few_namespaces(boxes, proc=_kernel(tmp_path, **{f"sys__user__max_{kind}_namespaces": f"{allowed}\n"}))
    assert words in message
    assert bool(words) == bool(message)


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bwrap")
def test_too_few_namespaces_are_reduced_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    """This is known before a job runs. Each box of root has its own user; an ordinary user's boxes count together."""
    monkeypatch.setattr(local, "too_few_namespaces", lambda boxes: f"too few for {boxes}")
    boxes = 1 if os.geteuid() == 0 else 2
    assert reached(Isolation.FULL) == (Isolation.REDUCED, f"too few for {boxes}")


def test_no_namespaces_left_during_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """If others use them up meanwhile, or an outer container has fewer, the run ends with the reason. All was JE."""
    message = "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)"
    job = Job(
        kind=JobKind.RUNNER,
        files=(JobFile(name="runner", content=b""),),
        run_limits=StageLimits(wall_ms=10_000, cpu_ms=10_000),
    )
    with full_isolation() as (loop, sandbox):
        monkeypatch.setattr(local, "in_namespaces", lambda **_: ("sh", "-c", f"echo '{message}' >&2; exit 1"))
        with pytest.raises(SetupError, match=r"raise the user\.max_\*_namespaces"):
            loop.run(sandbox.execute(job, sandbox.targets()[0]))


def _kernel(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


FAILS, NO_MOUNTS = ("sh", "-c", "exit 1", "sh"), ("sh", "-c", 'case "$*" in *--mount*) exit 1;; esac', "sh")


@pytest.mark.parametrize(
    ("before", "files", "words"),
    [
        (FAILS, {"sys__kernel__unprivileged_userns_clone": "0\n"}, "sysctl kernel.unprivileged_userns_clone=1"),
        (FAILS, {"sys__user__max_user_namespaces": "0\n"}, "sysctl user.max_user_namespaces=10000"),
        (
            FAILS,
            {"sys__kernel__apparmor_restrict_unprivileged_userns": "1\n"},
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            NO_MOUNTS,
            {"sys__kernel__apparmor_restrict_unprivileged_userns": "1\n"},
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (NO_MOUNTS, {"self__attr__current": "docker-default (enforce)\n"}, "--security-opt apparmor=unconfined"),
        (NO_MOUNTS, {"self__attr__current": "unconfined\n"}, "nothing can be mounted in it (exit code 1)"),
        (NO_MOUNTS, {"self__attr__current": "system_u:system_r:container_t:s0\0"}, "nothing can be mounted in it"),
        (FAILS, {"self__mountinfo": "1 2 0:1 / /home rw - ext4 x rw\n"}, "in a chroot the kernel makes no user"),
        (FAILS, {}, "the kernel makes no user namespace (exit code 1)"),
    ],
)
def test_causes_from_files_of_the_kernel(
    tmp_path: Path, before: tuple[str, ...], files: dict[str, str], words: str
) -> None:
    """Causes that this machine does not have: files simulate the kernel's settings, and a real command fails."""
    message = why_no_box(before, "bwrap: words", proc=_kernel(tmp_path, **files))
    assert words in message
    assert message.count("sysctl") <= 1


def test_otherwise_the_message_is_bwraps(tmp_path: Path) -> None:
    """If no step fails, the message is bwrap's, without its references to documents that are not installed."""
    message = why_no_box(
        ("true",), "bwrap: something. See <https://example.org> or <file:///x>.", proc=_kernel(tmp_path)
    )
    assert message == "bwrap cannot make a box here: bwrap: something."


def test_a_filter_that_forbids_sethostname(tmp_path: Path) -> None:
    """As with rootless Podman and `unmask=ALL`: the message names the filter and the option, not only bwrap's words."""
    _kernel(tmp_path, self__status="Name:\tx\nSeccomp:\t2\n")
    stderr = "bwrap: Can't set hostname to box: Operation not permitted"
    message = why_no_box(("true",), stderr, proc=tmp_path)
    assert message.startswith("a seccomp filter forbids sethostname (")
    assert BOTH in message


def test_a_missing_bwrap_is_not_the_only_cause(tmp_path: Path) -> None:
    """In a container that forbids user namespaces, installing bwrap is not enough: both causes are named."""
    _kernel(tmp_path, self__status="Name:\tx\nSeccomp:\t2\n")
    missing = "bwrap is missing (Debian, Ubuntu: apt install bubblewrap)"
    message = why_no_box(FAILS, None, proc=tmp_path)
    assert message.startswith(f"{missing}, and a seccomp filter forbids user namespaces (")
    assert BOTH in message
    assert why_no_box(("true",), None, proc=tmp_path) == missing


def _why_as_user() -> str:
    _filter_calls(NO_USER_NAMESPACES)
    return why_no_box((), "")


@pytest.mark.root
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter is written for x86-64")
def test_an_ordinary_user_gets_the_same_message() -> None:
    """A user without root in the container gets the same reason."""
    assert unprivileged.call(_why_as_user).startswith("a seccomp filter forbids user namespaces")


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bwrap")
def test_a_bwrap_that_boxes_do_not_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bwrap that only the user's PATH has, as with conda, is named, and isolation is reduced."""
    for name in ("setpriv", "true"):
        if path := shutil.which(name):
            (tmp_path / name).symlink_to(path)
    monkeypatch.setattr(local, "PATH", str(tmp_path))

    async def enter() -> tuple[Isolation, str]:
        async with LocalSandbox(slots=1) as sandbox:
            return sandbox.targets()[0].isolation, sandbox.why_not_full

    why = f"{shutil.which('bwrap')} is not used, as it is not in {tmp_path}; link or install it there"
    assert asyncio.run(enter()) == (Isolation.REDUCED, why)
