"""The scripts that start workers: limits, the size of requests, the package, Slurm jobs."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

PISTON = Path(__file__).resolve().parents[2] / "piston"

INDEX = """\
    app.use(body_parser.urlencoded({ extended: true }));
    app.use(body_parser.json());
"""


@pytest.fixture
def api(tmp_path: Path) -> Path:
    """What start-worker changes of Piston: the two lines of its src/index.js."""
    directory = tmp_path / "piston_api"
    (directory / "src").mkdir(parents=True)
    (directory / "src/index.js").write_text(INDEX)
    return directory


def start(api: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Start a worker whose server is another command."""
    own = {"PATH": os.environ["PATH"], "PISTON_API": str(api), "PISTON_DATA_DIRECTORY": str(api.parent / "data")}
    return subprocess.run(
        [PISTON / "start-worker", *(command or ("env",))],
        env=own | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def environment_of(completed: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What the server found in its environment."""
    assert completed.returncode == 0, completed.stderr
    return dict(line.split("=", 1) for line in completed.stdout.splitlines())


def test_limits_are_raised(api: Path) -> None:
    """Every limit under which Piston's default would spoil a verdict."""
    found = environment_of(start(api))
    for name in ("COMPILE_TIMEOUT", "RUN_TIMEOUT", "COMPILE_CPU_TIME", "RUN_CPU_TIME"):
        assert int(found[f"PISTON_{name}"]) >= 60_000, name
    assert int(found["PISTON_OUTPUT_MAX_SIZE"]) >= 64 << 20
    assert int(found["PISTON_MAX_FILE_SIZE"]) >= 256 << 20
    assert int(found["PISTON_MAX_PROCESS_COUNT"]) >= 256
    assert found["PISTON_DISABLE_NETWORKING"] == "true"
    assert found["PISTON_BIND_ADDRESS"] == "0.0.0.0:2000"


def test_the_environment_holds(api: Path) -> None:
    """What was set is not touched; the address follows the port."""
    found = environment_of(start(api, PORT="2345", PISTON_RUN_TIMEOUT="1000", PISTON_MAX_CONCURRENT_JOBS="3"))
    assert (found["PISTON_RUN_TIMEOUT"], found["PISTON_MAX_CONCURRENT_JOBS"]) == ("1000", "3")
    assert (found["PORT"], found["PISTON_BIND_ADDRESS"]) == ("2345", "0.0.0.0:2345")


def test_the_size_of_requests_is_raised_once_and_again(api: Path) -> None:
    """Both lines; a second start, as of a container that is started again, may raise it further."""
    for limit in ("512mb", "1gb"):
        environment_of(start(api, BODY_LIMIT=limit))
        assert (api / "src/index.js").read_text() == (
            f"    app.use(body_parser.urlencoded({{ extended: true, limit: '{limit}' }}));\n"
            f"    app.use(body_parser.json({{ limit: '{limit}' }}));\n"
        )


def test_another_piston_is_not_started_with_small_requests(api: Path) -> None:
    """If the lines are not there, that is said: requests of 100 kB would fail one by one later."""
    (api / "src/index.js").write_text("app.use(express.json());\n")
    failed = start(api)
    assert failed.returncode == 1
    assert "was not raised" in failed.stderr


def tarball(path: Path, runner: bytes) -> Path:
    """A package, as far as it is installed."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in (("./environment", b"export PATH=$PWD/bin:/bin\n"), ("./judge/runner", runner)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_the_package_is_installed(api: Path, tmp_path: Path) -> None:
    """As Piston does it: unpacked, its environment kept, marked; a newer one replaces it, the same is left alone."""
    installed = tmp_path / "data/packages/ioi_eval/1.0.0"
    archive = tmp_path / "ioi_eval-1.0.0.pkg.tar.gz"
    environment_of(start(api, PACKAGE=str(tarball(archive, b"one"))))
    assert (installed / ".env").read_text() == f"PATH={installed}/bin:/bin\nIOI_EVAL_COMPILE_S=240\n"
    mark = (installed / ".ppman-installed").stat().st_ino
    environment_of(start(api, PACKAGE=str(archive)))
    assert (installed / ".ppman-installed").stat().st_ino == mark
    environment_of(start(api, PACKAGE=str(tarball(archive, b"two"))))
    assert (installed / "judge/runner").read_bytes() == b"two"
    assert list(installed.parent.iterdir()) == [installed]


def test_the_package_s_compilers_end_before_the_server_ends_their_stage(api: Path, tmp_path: Path) -> None:
    """What the package is told follows the server's setting, also where the package is installed already."""
    archive = tarball(tmp_path / "ioi_eval-1.0.0.pkg.tar.gz", b"one")
    for timeout_ms, told in (("60000", "48"), ("100000", "80")):
        environment_of(start(api, PACKAGE=str(archive), PISTON_COMPILE_TIMEOUT=timeout_ms))
        lines = (tmp_path / "data/packages/ioi_eval/1.0.0/.env").read_text().splitlines()
        assert lines[-1] == f"IOI_EVAL_COMPILE_S={told}"


def test_workers_that_start_at_once_share_a_directory(api: Path, tmp_path: Path) -> None:
    """One installs, as a slow `tar` shows; the others wait for it, and nobody finds half a package."""
    (tmp_path / "tar").write_text(
        f'#!/bin/sh\necho x >> {tmp_path}/unpacked; sleep 0.3\nexec {shutil.which("tar")} "$@"\n'
    )
    (tmp_path / "tar").chmod(0o755)
    archive = tarball(tmp_path / "ioi_eval-1.0.0.pkg.tar.gz", b"one")
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PISTON_API": str(api),
        "PISTON_DATA_DIRECTORY": str(tmp_path / "data"),
        "PACKAGE": str(archive),
    }
    installed = tmp_path / "data/packages/ioi_eval/1.0.0"
    command: list[str | Path] = [PISTON / "start-worker", "cat"]
    command += [installed / ".ppman-installed", installed / "judge/runner"]
    workers = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {worker.communicate()[0] for worker in workers}
    assert [worker.returncode for worker in workers] == [0] * 4
    (words,) = said
    assert words.endswith("\none")
    assert (tmp_path / "unpacked").read_text() == "x\n"
    assert list(installed.parent.iterdir()) == [installed]


def double(directory: Path, name: str) -> dict[str, str]:
    """A program of that name that writes its arguments into `calls`, and the PATH to find it."""
    program = directory / name
    program.write_text(f'#!/bin/sh\nprintf "<%s>" "$@" >> {directory}/calls\necho >> {directory}/calls\n')
    program.chmod(0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


def test_slurm_jobs_are_named_by_their_ports(tmp_path: Path) -> None:
    """`piston-worker-<port>`, a port each; what else is said goes to sbatch."""
    environment = double(tmp_path, "sbatch") | {"FIRST_PORT": "25000", "LOGS": "/logs"}
    subprocess.run([PISTON / "slurm/launch-workers", "2", "--mem=2G"], env=environment, check=True)
    script = PISTON / "slurm/worker.sbatch"
    assert (tmp_path / "calls").read_text() == "".join(
        f"<--job-name=piston-worker-{port}><--output=/logs/%x-%j.log><--mem=2G><{script}>\n" for port in (25000, 25001)
    )


def test_a_slurm_worker_serves_on_the_port_of_its_name(tmp_path: Path) -> None:
    """Whatever the job's name begins with; a name without a port is refused."""
    slurm = {"SLURM_JOB_NAME": "piston-worker-25001", "SLURM_CPUS_PER_TASK": "3", "SLURMD_NODENAME": "node7"}
    environment = double(tmp_path, "ioi-eval") | slurm
    command = ["bash", str(PISTON / "slurm/worker.sbatch")]
    subprocess.run(command, env=environment, check=True)
    assert (tmp_path / "calls").read_text() == (
        "<serve><--host><0.0.0.0><--public><--allow-host><node7><--port><25001><--workers><3>\n"
    )
    failed = subprocess.run(command, env=environment | {"SLURM_JOB_NAME": "x"}, capture_output=True, check=False)
    assert (failed.returncode, b"does not end in a port" in failed.stderr) == (2, True)


def test_a_number_is_asked_for(tmp_path: Path) -> None:
    """Nothing is submitted for what is not a number."""
    environment = double(tmp_path, "sbatch")
    done = subprocess.run([PISTON / "slurm/launch-workers", "many"], env=environment, capture_output=True, check=False)
    assert done.returncode == 2
    assert not (tmp_path / "calls").exists()
