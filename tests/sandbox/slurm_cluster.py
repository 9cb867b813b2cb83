"""A Slurm cluster for tests: real daemons and commands of Debian's `slurm-wlm`, with this machine as the only node.

It needs neither munge nor root: the daemons run as the user who runs the tests, with their own ports and directory.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMANDS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo")

_CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
CryptoType=crypto/none
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
MessageTimeout=10
MinJobAge=10
KillWait=5
NodeName=localhost NodeAddr=127.0.0.1 CPUs=64 RealMemory=999999 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """The reason why Slurm cannot run here; empty if it can."""
    absent = [command for command in COMMANDS if shutil.which(command) is None]
    return f"no {', '.join(absent)} here; apt install slurm-wlm" if absent else ""


class Slurm:
    """A running cluster.

    Args:
        directory: the directory of its files.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.conf = directory / "slurm.conf"

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables with which Slurm's commands use this cluster."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SQUEUE"))}
        return kept | {"SLURM_CONF": str(self.conf)}

    def ask(self, *command: str) -> str:
        """The stdout of a command."""
        return subprocess.run(
            command, env=self.environment, cwd=self.directory, capture_output=True, text=True, check=True
        ).stdout

    def submit(self, name: str, command: str, *options: str) -> str:
        """Submit a job. Returns its number."""
        words = ["sbatch", "--parsable", "--output=/dev/null", f"--job-name={name}", *options, f"--wrap={command}"]
        return self.ask(*words).strip()

    def wait_until(self, number: str, state: str) -> None:
        """Wait until a job is in this state, at most until the test's timeout."""
        while state not in self.ask("squeue", "--noheader", "--format=%T", f"--jobs={number}").split():
            time.sleep(0.2)

    def wait_until_gone(self, number: str) -> None:
        """Wait until a job does not run any more."""
        while self.ask("squeue", "--noheader", "--states=RUNNING,COMPLETING", "--format=%i").split().count(number):
            time.sleep(0.2)


@contextmanager
def slurm(directory: Path) -> Iterator[Slurm]:
    """Run a cluster, and end it and its jobs at the end of the block."""
    for name in ("state", "spool"):
        (directory / name).mkdir()
    ports = free_ports(2)
    cluster = Slurm(directory)
    host = socket.gethostname().split(".")[0]
    values = dict(zip(("controller", "daemon"), ports, strict=True))
    cluster.conf.write_text(
        _CONF.format(directory=directory, user=getpass.getuser(), host=host, **values), encoding="utf-8"
    )
    commands = (("slurmctld", "-D", "-c"), ("slurmd", "-D", "-N", "localhost"))
    daemons = [
        subprocess.Popen(
            [*command, "-f", str(cluster.conf)],
            env=cluster.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for command in commands
    ]
    try:
        _wait_for_the_node(cluster, daemons)
        yield cluster
        subprocess.run(["scancel", "--user", getpass.getuser()], env=cluster.environment, check=False)
        while cluster.ask("squeue", "--noheader").strip():
            time.sleep(0.2)
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()


def _wait_for_the_node(cluster: Slurm, daemons: list[subprocess.Popen[bytes]]) -> None:
    while True:
        if any(daemon.poll() is not None for daemon in daemons):
            logs = [path.read_text(errors="replace")[-2000:] for path in cluster.directory.glob("*.log")]
            raise RuntimeError("Slurm did not start:\n" + "\n".join(logs))
        seen = subprocess.run(
            ["sinfo", "--noheader", "--format=%T"], env=cluster.environment, capture_output=True, text=True, check=False
        )
        if "idle" in seen.stdout:
            return
        time.sleep(0.2)


def free_ports(number: int) -> list[int]:
    """Ports that are free now."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [server.getsockname()[1] for server in taken]
    for server in taken:
        server.close()
    return ports
