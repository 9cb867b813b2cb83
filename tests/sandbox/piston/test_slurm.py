"""Workers found with the real `squeue`, in a Slurm cluster that runs for these tests."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.piston import workers
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.endpoints import endpoint_source, endpoints_now
from tests.sandbox import slurm_cluster
from tests.sandbox.slurm_cluster import Slurm, free_ports

STUB = Path(__file__).parents[2] / "faults/stub_piston.py"
LAUNCHER = Path(__file__).parents[3] / "piston/slurm/launch-workers"
SLEEP = "sleep 600"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """The Slurm cluster, started once, because that takes seconds."""
    if why := slurm_cluster.missing():
        pytest.skip(why)
    with slurm_cluster.slurm(tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture(autouse=True)
def _its_environment(cluster: Slurm, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    yield
    for number in cluster.ask("squeue", "--noheader", "--format=%i").split():
        cluster.ask("scancel", number)
    while cluster.ask("squeue", "--noheader").strip():
        pass


def slurm_endpoints() -> tuple[str, ...]:
    """The present endpoints of the source `slurm`."""
    return asyncio.run(endpoints_now(endpoint_source("slurm")))


def test_no_running_jobs() -> None:
    """Without running Slurm jobs there is an error that says so."""
    with pytest.raises(SetupError, match="no running job named piston-worker-<port>"):
        slurm_endpoints()


def test_jobs_that_run(cluster: Slurm) -> None:
    """Workers are running jobs with the right name; other jobs and waiting jobs are not."""
    runs = cluster.submit("piston-worker-20001", SLEEP)
    other = cluster.submit("train", SLEEP)
    waits = cluster.submit("piston-worker-20002", SLEEP, "--hold")
    for number, state in ((runs, "RUNNING"), (other, "RUNNING"), (waits, "PENDING")):
        cluster.wait_until(number, state)
    assert slurm_endpoints() == ("http://localhost:20001/api/v2",)


def test_an_array_of_jobs_is_one_endpoint(cluster: Slurm) -> None:
    """The tasks of an array share a name and so a port. On one node, only one of them can listen on it."""
    number = cluster.submit("piston-worker-20003", SLEEP, "--array=1-2")
    while cluster.ask("squeue", "--noheader", "--states=RUNNING", f"--jobs={number}").count("\n") < 2:
        pass
    assert slurm_endpoints() == ("http://localhost:20003/api/v2",)


def test_squeue_s_own_environment(cluster: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    """`SQUEUE_USERS` selects jobs. `SQUEUE_FORMAT` and `SQUEUE_STATES` have no effect."""
    number = cluster.submit("piston-worker-20004", SLEEP)
    cluster.wait_until(number, "RUNNING")
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    monkeypatch.setenv("SQUEUE_STATES", "PENDING")
    assert slurm_endpoints() == ("http://localhost:20004/api/v2",)
    monkeypatch.setenv("SQUEUE_USERS", "nobody")
    with pytest.raises(SetupError, match="no running job"):
        slurm_endpoints()


def test_the_launcher_s_jobs_are_found(cluster: Slurm, tmp_path: Path) -> None:
    """Clients find the jobs that `piston/slurm/launch-workers` submits, by name and port."""
    (tmp_path / "ioi-eval").write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    (tmp_path / "ioi-eval").chmod(0o755)
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    subprocess.run(
        [LAUNCHER, "2", "--partition=main", "--cpus-per-task=1"],
        env=cluster.environment | {"PATH": path, "FIRST_PORT": "21500", "LOGS": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    for number in cluster.ask("squeue", "--noheader", "--format=%i").split():
        cluster.wait_until(number, "RUNNING")
    assert sorted(slurm_endpoints()) == ["http://localhost:21500/api/v2", "http://localhost:21501/api/v2"]


@pytest.mark.parametrize(
    ("options", "memory"),
    [([], "MinMemoryCPU=4G"), (["--mem=2G"], "MinMemoryNode=2G"), (["--mem-per-cpu=3G"], "MinMemoryCPU=3G")],
)
def test_memory_of_the_launcher_s_jobs(cluster: Slurm, tmp_path: Path, options: list[str], memory: str) -> None:
    """A worker has 4 GB for each processor, unless an option of sbatch says how much."""
    subprocess.run(
        [LAUNCHER, "1", "--hold", *options],
        env=cluster.environment | {"LOGS": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    (number,) = cluster.ask("squeue", "--noheader", "--format=%i").split()
    assert memory in cluster.ask("scontrol", "show", "job", number).split()


def test_an_unreachable_controller(cluster: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has squeue's message and names the source `slurm`."""
    text = cluster.conf.read_text(encoding="utf-8")
    port = next(line for line in text.splitlines() if line.startswith("SlurmctldPort="))
    broken = text.replace(port, f"SlurmctldPort={free_ports(1)[0]}").replace("MessageTimeout=10", "MessageTimeout=5")
    (tmp_path / "slurm.conf").write_text(broken, encoding="utf-8")
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    with pytest.raises(SetupError, match="endpoints 'slurm': squeue"):
        slurm_endpoints()


def test_workers_appear_and_disappear_during_a_run(cluster: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run continues on three Slurm jobs, of which each replaces the one before."""
    monkeypatch.setattr(workers, "REDISCOVER_S", 0.5)
    ports = free_ports(3)

    def launch(port: int) -> str:
        return cluster.submit(f"piston-worker-{port}", f"{SLEEP} | {sys.executable} {STUB} --port {port}")

    async def run() -> list[str]:
        answers: list[str] = []
        numbers = [launch(ports[0])]
        await asyncio.to_thread(cluster.wait_until, numbers[0], "RUNNING")
        await wait_for_port(ports[0])
        async with PistonCluster(endpoint_source("slurm")) as piston:
            target = piston.targets()[0]
            for port in (*ports[1:], None):
                answers.append((await piston.execute(echo(len(answers)), target)).run.stdout)
                if port is None:
                    break
                numbers.append(launch(port))
                await wait_for_port(port)
                await wait_for_worker(piston, f"http://localhost:{port}/api/v2")
                await asyncio.to_thread(cluster.ask, "scancel", numbers[-2])
                await asyncio.to_thread(cluster.wait_until_gone, numbers[-2])
        return answers

    assert asyncio.run(run()) == ["0", "1", "2"]


async def wait_for_worker(piston: PistonCluster, url: str) -> None:
    """Wait until the cluster has found this worker."""
    while url not in {str(worker.url) for worker in piston.workers}:  # noqa: ASYNC110 (found by polling, no event)
        await asyncio.sleep(0.05)


async def wait_for_port(port: int) -> None:
    """Wait until a server listens on this port."""
    while True:
        try:
            _, writer = await asyncio.open_connection("localhost", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return


def echo(number: int) -> Job:
    """A job that the stub server answers with this number."""
    files = (JobFile(name="run", content=b":\n"), JobFile(name="echo", content=str(number).encode()))
    return Job(kind=JobKind.SCRIPTS, files=files, run_limits=StageLimits(wall_ms=5_000, cpu_ms=5_000))
