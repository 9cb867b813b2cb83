"""A warm interpreter that fails, or that was stopped with the runner. (These are small programs in its place.)"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.graders.runner_box import Box, batch_plan, command_of, family, job_directory, line

PYTHON = "/usr/bin/python3"  # boxes show /usr

pytestmark = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"no {PYTHON}")

RECEIVE = """
import array, ctypes, json, os, signal, socket, time
libc = ctypes.CDLL(None)
control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, 3)
data, messages, _, _ = control.recvmsg(1 << 16, socket.CMSG_SPACE(64))
descriptors = dict(zip(json.loads(data)["descriptors"], array.array("i", messages[0][2])))
if "pid_namespace" in descriptors:
    assert libc.setns(descriptors["pid_namespace"], 0x20000000) == 0  # CLONE_NEWPID
def clone():
    flags = ctypes.c_long(0x8000 | signal.SIGCHLD)  # CLONE_PARENT
    return libc.syscall(ctypes.c_long(56), flags, None, None, None, None)
"""

DIES = f"""{RECEIVE}
if clone() == 0:
    control.close()
    while True:
        signal.pause()
os._exit(3)
"""

ANSWERS_LATE = f"""{RECEIVE}
for _ in range(20):
    time.sleep(0.1)
pid = clone()
if pid == 0:
    os._exit(0)
control.send(b'{{"pid": %d}}' % pid)
"""


def warm_plan(interpreter: str, *, tests: int) -> bytes:
    """A plan whose warm interpreter is a program of ours."""
    started = line(
        "program", file="program", interpreter=PYTHON, start="warm", argv=["-I", "-c", interpreter],
        sees=["/usr", "/lib", "/lib64", "/etc/ld.so.cache"],
    )  # fmt: skip
    plan = batch_plan([f"test id={number} input=in answer=in" for number in range(tests)])
    return plan.replace(b"program file=program static=1", started.encode())


FILES = {"program": b"", "in": b""}


def test_an_interpreter_that_dies_after_making_a_child(plain_box: Box) -> None:
    """If it is killed before it reports a child, as by a kernel without memory, the test is JE, and the child is ended.

    With full isolation the runner once waited for ever for the end of the child's PID namespace.
    """
    marker = f"# {os.urandom(8).hex()}"
    answer = plain_box.run(warm_plan(DIES + marker, tests=2), FILES)
    assert answer.verdicts == ["JE", "JE"]
    assert "the warm interpreter does not answer (exit code 3)" in answer.lines[0]["explanation"]
    assert not any(marker.encode() in command for command in commands())


def commands() -> list[bytes]:
    """The command lines of all processes."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            found.append(path.read_bytes())
    return found


@pytest.mark.full
def test_a_pause_is_not_the_interpreters_time(boxes: Callable[[str], Box]) -> None:
    """Runner and interpreter are stopped for longer than the interpreter may take: it is still waited for."""
    box = boxes("dir-reduced")
    work = job_directory(box, {"plan": warm_plan(ANSWERS_LATE, tests=1), **FILES})
    runner = subprocess.Popen(box.command(str(box.runner), "--dir", "."), cwd=work, stdout=subprocess.PIPE)
    processes: list[int] = []
    while not any(command_of(pid).startswith(PYTHON.encode()) for pid in processes):
        time.sleep(0.01)
        processes = family(runner.pid)
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(31)
    for pid in processes:  # the runner first
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        time.sleep(0.5)
    stdout, _ = runner.communicate(timeout=60)
    shutil.rmtree(work)
    assert b"it ended before the program began: exit code 0" in stdout  # the child that the interpreter has reported
