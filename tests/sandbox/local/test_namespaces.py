"""Why full isolation is missing: each cause is produced for real if possible, and reported with its own remedy."""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.sandbox.local.namespaces import why_no_box
from tests import unprivileged
from tests.full_isolation import require_full_isolation

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
"""As Docker's default does it. Source: moby, `profiles/seccomp/default.json`."""

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
    """The isolation that a sandbox finds, and why it is not full."""
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
    if done.returncode != 0:
        pytest.skip(f"cannot be tried here: {done.stderr.strip()[-300:]}")
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
    """As a container's default has it: no sysctl is told, and nothing of other documents."""
    if rules is NO_PIVOT_ROOT:
        require_full_isolation()  # else another filter, around these tests, forbids more than this one
    said = _entered([sys.executable, "-c", WHY], rules)
    assert said.startswith(f"reduced {words}"), said
    assert BOTH in said
    assert "sysctl" not in said
    assert "http" not in said
    assert "docs/" not in said


@pytest.mark.root
def test_a_proc_of_which_parts_are_hidden() -> None:
    """As containers hide them, also where no filter is left: the kernel gives no other view of it to anybody."""
    script = 'mount -t tmpfs none /proc/acpi; exec "$@"'
    said = _entered(["unshare", "--mount", "sh", "-ec", script, "sh", sys.executable, "-c", WHY])
    assert said.startswith("reduced this container hides parts of /proc (/proc/acpi"), said
    assert BOTH in said


def _why_after(*commands: str) -> str:
    """Within a user namespace, whose settings are its own."""
    code = "from ioi_eval.sandbox.local.namespaces import why_no_box; print(why_no_box((), 'bwrap: words'))"
    script = f'{"; ".join(commands)}; exec "$@"'
    words = ["unshare", "--user", "--map-root-user", "sh", "-ec", script, "sh", sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot be tried here: {done.stderr.strip()[-300:]}")
    return done.stdout


def test_no_user_namespaces_left() -> None:
    """A real sysctl, and the only one that is told."""
    said = _why_after("echo 0 > /proc/sys/user/max_user_namespaces")
    assert "sysctl user.max_user_namespaces=10000" in said
    assert "unprivileged" not in said


def _kernel(root: Path, **files: str) -> dict[str, Path]:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {"sysctls": root / "sys", "itself": root / "self"}


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
        (FAILS, {"self__mountinfo": "1 2 0:1 / /home rw - ext4 x rw\n"}, "in a chroot the kernel makes no user"),
        (FAILS, {}, "the kernel makes no user namespace (exit code 1)"),
    ],
)
def test_what_the_kernel_tells_of_itself(
    tmp_path: Path, before: tuple[str, ...], files: dict[str, str], words: str
) -> None:
    """Causes that this machine does not have: its answers are files, the step that fails is a real one."""
    said = why_no_box(before, "bwrap: words", **_kernel(tmp_path, **files))
    assert words in said
    assert said.count("sysctl") <= 1


def test_other_words_are_bwraps_own(tmp_path: Path) -> None:
    """Where all steps can be taken, and without where else to read: that was never installed."""
    said = why_no_box(("true",), "bwrap: something. See <https://example.org> or <file:///x>.", **_kernel(tmp_path))
    assert said == "bwrap cannot make a box here: bwrap: something."


def _why_as_user() -> str:
    _filter_calls(NO_USER_NAMESPACES)
    return why_no_box((), "")


@pytest.mark.root
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the filter is written for x86-64")
def test_an_ordinary_user_is_told_the_same() -> None:
    """Who has no root in the container neither."""
    assert unprivileged.call(_why_as_user).startswith("a seccomp filter forbids user namespaces")
