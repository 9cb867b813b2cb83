"""The CPU time of every task that ends on this machine, as the kernel reports it, with the task's name and parent.

Processes of a sandbox are often reaped by one another, and their CPU time is then part of their parent's sum. The
kernel's task statistics report each task separately, to the microsecond. Receiving them needs CAP_NET_ADMIN outside of
all containers, so root of the machine.

Source: the kernel's Documentation/accounting/taskstats.rst and include/uapi/linux/taskstats.h (version 12, Linux 5.18).
"""

from __future__ import annotations

import errno
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_NETLINK_GENERIC, _FIND_FAMILY, _CONTROL = 16, 3, 16
_REQUEST, _REGISTER, _FAMILY_ID, _FAMILY_NAME = 1, 3, 1, 2
_OF_TASK, _STATISTICS = 4, 3
_VERSION, _RUN_TIME, _NAME, _TASK, _PROCESS = (0, "H"), (72, "Q"), (80, "32s"), (128, "II"), (368, "I")
"""Where `struct taskstats` has them, and of which type: `cpu_run_virtual_total`, `ac_comm`, `ac_pid` and `ac_ppid`,
`ac_tgid`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """A task that has ended.

    Args:
        task: its id: that of a thread; for the first thread, that of the process.
        process, parent: the ids of its process and of that process's parent.
        name: its name when it ended: the program's file name, cut to 15 bytes.
        cpu_s: its CPU time, without that of its children.
    """

    task: int
    process: int
    parent: int
    name: str
    cpu_s: float


class Exits:
    """Receives the ends of tasks while it is entered.

    Raises:
        OSError: this process may not receive them, or the kernel does not support them.
    """

    def __init__(self) -> None:
        self.found: list[Exit] = []
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_GENERIC)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._is_over = threading.Event()

    def __enter__(self) -> Self:
        self._socket.bind((0, 0))
        self._socket.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE: no message is lost if we are late
        self._socket.settimeout(0.2)
        family = self._family()
        processors = Path("/sys/devices/system/cpu/possible").read_text(encoding="ascii").strip()
        self._send(family, _REQUEST, _attribute(_REGISTER, processors.encode() + b"\0"), acknowledge=True)
        _raise_error(self._socket.recv(1 << 16))
        self._listener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._listener.join()
        self._socket.close()

    def below(self, root: int) -> list[Exit]:
        """The ended tasks of the process with this id and of all its descendants.

        Children end before their parents, or get another parent that ends later. An id may have belonged to another
        process before; the end of its first thread shows whose child it was.
        """
        inside, result = {root}, []
        for each in reversed(self.found):
            if each.task == each.process != root:
                (inside.add if each.parent in inside else inside.discard)(each.process)
            if each.process in inside:
                result.append(each)
        return result

    def _family(self) -> int:
        """The number that the kernel assigned to task statistics."""
        self._send(_CONTROL, _FIND_FAMILY, _attribute(_FAMILY_NAME, b"TASKSTATS\0"))
        answer = self._socket.recv(1 << 16)
        _raise_error(answer)
        numbers = [struct.unpack("H", value[:2])[0] for kind, value in _attributes(answer[20:]) if kind == _FAMILY_ID]
        return int(numbers[0])

    def _send(self, family: int, command: int, attribute: bytes, *, acknowledge: bool = False) -> None:
        body = struct.pack("BBH", command, 1, 0) + attribute
        self._socket.send(struct.pack("IHHII", 16 + len(body), family, 1 | (4 if acknowledge else 0), 1, 0) + body)

    def _listen(self) -> None:
        """Receive until the end, and until no message has arrived for a moment."""
        while True:
            try:
                message = self._socket.recv(1 << 16)
            except TimeoutError:
                if self._is_over.is_set():
                    return
                continue
            for kind, value in _attributes(message[20:]):
                if kind == _OF_TASK:
                    self.found += [_read(inner) for which, inner in _attributes(value) if which == _STATISTICS]


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        size, kind = struct.unpack("HH", data[:4])
        yield kind & 0x3FFF, data[4:size]
        data = data[max(4, size + -size % 4) :]


def _raise_error(answer: bytes) -> None:
    """Raise the error that the kernel returned."""
    if struct.unpack_from("H", answer, 4)[0] == 2 and (code := struct.unpack_from("i", answer, 16)[0]):
        raise OSError(-code, "task statistics cannot be read: listen as root of the machine")


def _read(statistics: bytes) -> Exit:
    def at(field: tuple[int, str]) -> tuple[int, ...]:
        return struct.unpack_from(field[1], statistics, field[0])

    if at(_VERSION)[0] < 12:
        raise OSError(errno.ENOSYS, "Linux 5.18 or newer is needed")
    task, parent = at(_TASK)
    (name,) = struct.unpack_from(_NAME[1], statistics, _NAME[0])
    return Exit(
        task=task,
        process=at(_PROCESS)[0],
        parent=parent,
        name=name.partition(b"\0")[0].decode("utf-8", "replace"),
        cpu_s=at(_RUN_TIME)[0] / 1e9,
    )
