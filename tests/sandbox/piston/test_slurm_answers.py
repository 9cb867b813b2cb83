"""Reading squeue's answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.sandbox.piston.endpoints import endpoint_source, endpoints_now, slurm_hosts, slurm_workers


@pytest.mark.parametrize(
    ("nodes", "expanded"),
    [
        ("w1", ["w1"]),
        ("w1,w3", ["w1", "w3"]),
        ("w[1-3]", ["w1", "w2", "w3"]),
        ("gpu[08-10,12],login1", ["gpu08", "gpu09", "gpu10", "gpu12", "login1"]),
        ("r[1-2]n[08,11]", ["r1n08", "r1n11", "r2n08", "r2n11"]),
        ("w[1-2]-ib,x", ["w1-ib", "w2-ib", "x"]),
        ("w[9-11]", ["w9", "w10", "w11"]),
        ("", []),
    ],
)
def test_node_lists(nodes: str, expanded: list[str]) -> None:
    """Ranges, leading zeros, several brackets and suffixes are expanded."""
    assert list(slurm_hosts(nodes)) == expanded


def test_jobs_by_their_names() -> None:
    """Only jobs with a port in their name are workers. A job on several nodes is one worker for each node."""
    answer = """
w1 piston-worker-20000
w[1-2] piston-worker-20001
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
        "http://w1:20001",
        "http://w2:20001",
        "http://w4:8",
    ]


def test_an_empty_answer_gives_no_workers() -> None:
    """An empty answer gives no workers."""
    assert list(slurm_workers("")) == []


def test_a_squeue_that_cannot_be_started_is_a_setup_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running cluster keeps its workers after such an error, and asks again. Any other one would end the run."""
    (tmp_path / "squeue").write_bytes(b"\x7fELF, but no program")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="squeue cannot be started: "):
        asyncio.run(endpoints_now(endpoint_source("slurm")))
