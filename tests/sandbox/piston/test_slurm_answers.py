"""Reading squeue's answers."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.sandbox.piston import endpoints
from ioi_eval.sandbox.piston.endpoints import endpoint_source, endpoints_now, slurm_workers


def test_jobs_by_their_names() -> None:
    """Only jobs with a port in their name are workers."""
    answer = """
w1 piston-worker-20000
w-2.site piston-worker-20001
w3 train
w3 piston-worker-
w3 piston-worker-http
w3 piston-worker-70000
w3 piston-worker-20002 old
w3 my piston-worker-20003
 piston-worker-20004
w4 piston-worker-8
"""
    assert list(slurm_workers(answer)) == [
        "http://w1:20000",
        "http://w-2.site:20001",
        "http://w4:8",
    ]


@pytest.mark.parametrize("nodes", ["w[1-2]", "w1,x"])
def test_a_job_on_several_nodes_is_refused(nodes: str) -> None:
    """The message says to start a job for each worker."""
    with pytest.raises(SetupError, match=r"piston-worker-8 has the nodes .*; start a job for each worker"):
        list(slurm_workers(f"w0 piston-worker-8\n{nodes} piston-worker-8\n"))


def test_an_empty_answer_gives_no_workers() -> None:
    """An empty answer gives no workers."""
    assert list(slurm_workers("")) == []


def squeue(directory: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Make a program the only `squeue`."""
    (directory / "squeue").write_text(program)
    (directory / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(directory))


def test_a_squeue_that_cannot_be_started_is_a_setup_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running cluster keeps its workers after such an error, and asks again. Any other one would end the run."""
    squeue(tmp_path, monkeypatch, "\x7fELF, but no program")
    with pytest.raises(SetupError, match="cannot start squeue: "):
        asyncio.run(endpoints_now(endpoint_source("slurm")))


def test_squeue_needs_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started, squeue is asked all the same."""
    squeue(tmp_path, monkeypatch, "#!/bin/sh\necho w1 piston-worker-8\n")
    usual = threading.stack_size(1 << 47)  # more than a process can have
    try:
        assert asyncio.run(endpoints_now(endpoint_source("slurm"))) == ("http://w1:8/api/v2",)
    finally:
        threading.stack_size(usual)


@pytest.mark.parametrize("turns", range(6))
def test_an_event_loop_that_ends_while_squeue_is_started(
    turns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`asyncio.run` returns if an exception leaves it. It waited for ever."""
    squeue(tmp_path, monkeypatch, "#!/bin/sh\nexec /bin/sleep 300\n")

    async def leave() -> None:
        task = asyncio.create_task(endpoints_now(endpoint_source("slurm")))
        for _ in range(turns):
            await asyncio.sleep(0)
        raise LookupError(task)

    with pytest.raises(LookupError):
        asyncio.run(leave())


def test_a_squeue_that_does_not_answer_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it is a script, its child holds the pipes, and waiting for their end would take as long as the child lives."""
    squeue(tmp_path, monkeypatch, "#!/bin/sh\n/bin/sleep 300 &\nwait\n")
    monkeypatch.setattr(endpoints, "_SQUEUE_S", 0.1)
    with pytest.raises(SetupError, match="squeue did not answer"):
        asyncio.run(asyncio.wait_for(endpoints_now(endpoint_source("slurm")), 60))
