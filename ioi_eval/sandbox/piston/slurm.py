"""Workers that run as Slurm jobs: a job named `piston-worker-<port>` serves that port on each of its nodes.

They are found with `squeue`. Its environment variables apply (`SQUEUE_USERS`, `SQUEUE_PARTITION`, …): on a cluster that
several people share they select the jobs.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator

from ioi_eval.errors import SetupError

JOB_NAME = "piston-worker-"
"""Source: the reference's launcher of workers."""

_WITHIN_S = 30.0  # a busy controller may take seconds; squeue itself gives up after a few tries
_COMMAND = ("squeue", "--noheader", "--array", "--states=RUNNING", "--format=%N %j")
_MAX_PORT = 65_535
_BRACKETS = re.compile(r"\[([^]]*)\]")


async def endpoints() -> list[str]:
    """The endpoints of all workers that run now, in the order of Slurm's answer.

    Raises:
        SetupError: there is no `squeue` here, or it failed; with its message.
    """
    if shutil.which(_COMMAND[0]) is None:
        raise SetupError("endpoints 'slurm': there is no squeue on the PATH; run this where Slurm's commands are")
    process = await asyncio.create_subprocess_exec(
        *_COMMAND, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(_WITHIN_S):
            stdout, stderr = await process.communicate()
    except TimeoutError:
        raise SetupError(f"endpoints 'slurm': squeue did not answer within {_WITHIN_S:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        message = stderr.decode("utf-8", "replace").strip() or f"exit code {process.returncode}"
        raise SetupError(f"endpoints 'slurm': squeue failed: {message}")
    return list(workers(stdout.decode("utf-8", "replace")))


def workers(answer: str) -> Iterator[str]:
    """The endpoints in squeue's output: lines of a node list, a blank, and a job's name.

    Other jobs are skipped, and so are jobs without nodes, which are just starting or ending.
    """
    for line in answer.splitlines():
        nodes, _, name = line.strip().partition(" ")
        port = name.removeprefix(JOB_NAME)
        if port != name and port.isdecimal() and 0 < int(port) <= _MAX_PORT:
            for node in hosts(nodes):
                yield f"http://{node}:{int(port)}"


def hosts(nodes: str) -> Iterator[str]:
    """The hosts of a Slurm node list, in order: `gpu[08-10,12],login1` are five; several brackets multiply.

    Source: `scontrol show hostnames`; a test compares with its output.
    """
    for term in re.findall(r"(?:[^,\[]|\[[^]]*\])+", nodes):
        yield from _hosts_of(term)


def _hosts_of(term: str) -> Iterator[str]:
    brackets = _BRACKETS.search(term)
    if brackets is None:
        yield term
        return
    before, after = term[: brackets.start()], term[brackets.end() :]
    for number in _numbers(brackets[1]):
        for rest in _hosts_of(after):
            yield before + number + rest


def _numbers(ranges: str) -> Iterator[str]:
    """`08-10,12`: 08, 09, 10, 12. Leading zeros are kept."""
    for part in ranges.split(","):
        first, dash, last = part.partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            yield from (str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))
        else:
            yield part
