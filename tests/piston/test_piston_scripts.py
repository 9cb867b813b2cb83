"""The scripts that start workers: limits, size of requests, installing the package, Slurm jobs."""

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
    """A directory with the file of Piston that start-worker changes: two lines in src/index.js."""
    directory = tmp_path / "piston_api"
    (directory / "src").mkdir(parents=True)
    (directory / "src/index.js").write_text(INDEX)
    return directory


def start(api: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run start-worker with another command (by default `env`) instead of the server."""
    own = {"PATH": os.environ["PATH"], "PISTON_API": str(api), "PISTON_DATA_DIRECTORY": str(api.parent / "data")}
    return subprocess.run(
        [PISTON / "start-worker", *(command or ("env",))],
        env=own | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def environment_of(completed: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The environment variables of the server."""
    assert completed.returncode == 0, completed.stderr
    return dict(line.split("=", 1) for line in completed.stdout.splitlines())


def test_limits_are_raised(api: Path) -> None:
    """Limits whose default in Piston could change a verdict are raised."""
    found = environment_of(start(api))
    for name in ("COMPILE_TIMEOUT", "RUN_TIMEOUT", "COMPILE_CPU_TIME", "RUN_CPU_TIME"):
        assert int(found[f"PISTON_{name}"]) >= 60_000, name
    assert int(found["PISTON_OUTPUT_MAX_SIZE"]) >= 64 << 20
    assert int(found["PISTON_MAX_FILE_SIZE"]) >= 256 << 20
    assert int(found["PISTON_MAX_PROCESS_COUNT"]) >= 256
    assert found["PISTON_DISABLE_NETWORKING"] == "true"
    assert found["PISTON_BIND_ADDRESS"] == "0.0.0.0:2000"


def test_environment_variables_have_priority(api: Path) -> None:
    """Variables that are set are kept; the address has the port."""
    found = environment_of(start(api, PORT="2345", PISTON_RUN_TIMEOUT="1000", PISTON_MAX_CONCURRENT_JOBS="3"))
    assert (found["PISTON_RUN_TIMEOUT"], found["PISTON_MAX_CONCURRENT_JOBS"]) == ("1000", "3")
    assert (found["PORT"], found["PISTON_BIND_ADDRESS"]) == ("2345", "0.0.0.0:2345")


def test_the_size_of_requests_can_be_raised_twice(api: Path) -> None:
    """Both lines are changed. A second start, for example of a container, can raise the size again."""
    for limit in ("512mb", "1gb"):
        environment_of(start(api, BODY_LIMIT=limit))
        assert (api / "src/index.js").read_text() == (
            f"    app.use(body_parser.urlencoded({{ extended: true, limit: '{limit}' }}));\n"
            f"    app.use(body_parser.json({{ limit: '{limit}' }}));\n"
        )


def test_a_piston_with_a_setting_for_the_size_of_requests_is_not_changed(api: Path) -> None:
    """Newer versions read the size from the environment; their `index.js` stays as it is."""
    newer = """\
    app.use(
        body_parser.urlencoded({
            extended: true,
            limit: config.request_body_limit,
        })
    );
    app.use(body_parser.json({ limit: config.request_body_limit }));
"""
    (api / "src/index.js").write_text(newer)
    assert environment_of(start(api, BODY_LIMIT="1gb"))["PISTON_REQUEST_BODY_LIMIT"] == "1gb"
    assert (api / "src/index.js").read_text() == newer


def test_another_piston_is_not_started_with_small_requests(api: Path) -> None:
    """If the lines are missing, the start fails with a message: later, requests over 100 kB would fail."""
    (api / "src/index.js").write_text("app.use(express.json());\n")
    failed = start(api)
    assert failed.returncode == 1
    assert "was not raised" in failed.stderr


def tarball(path: Path, runner: bytes) -> Path:
    """Write a small package with an environment and a runner."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in (("./environment", b"export PATH=$PWD/bin:/bin\n"), ("./judge/runner", runner)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_the_package_is_installed(api: Path, tmp_path: Path) -> None:
    """The package is unpacked with environment and mark, as by Piston. Only a different one replaces it later."""
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


def test_the_package_without_a_compile_stage_is_installed_too(api: Path, tmp_path: Path) -> None:
    """The tarball is found beside that of the package; other tarballs there are not installed."""
    for name, runner in (("ioi_eval", b"one"), ("ioi_eval_run", b"two"), ("ioi_eval_problem_x", b"three")):
        tarball(tmp_path / f"{name}-1.0.0.pkg.tar.gz", runner)
    environment_of(start(api, PACKAGE=str(tmp_path / "ioi_eval-1.0.0.pkg.tar.gz")))
    packages = tmp_path / "data/packages"
    runners = {path.parent.parent.parent.name: path.read_bytes() for path in packages.glob("*/1.0.0/judge/runner")}
    assert runners == {"ioi_eval": b"one", "ioi_eval_run": b"two"}
    assert all((packages / name / "1.0.0/.ppman-installed").exists() for name in runners)


def test_a_package_that_does_not_exist_is_an_error(api: Path, tmp_path: Path) -> None:
    """The worker does not start without it."""
    failed = start(api, PACKAGE=str(tmp_path / "ioi_eval-1.0.0.pkg.tar.gz"))
    assert failed.returncode != 0
    assert "ioi_eval-1.0.0.pkg.tar.gz" in failed.stderr


def test_the_package_s_compilers_end_before_the_server_ends_their_stage(api: Path, tmp_path: Path) -> None:
    """`IOI_EVAL_COMPILE_S` is less than the server's compile timeout, also if the package is installed already."""
    archive = tarball(tmp_path / "ioi_eval-1.0.0.pkg.tar.gz", b"one")
    for timeout_ms, compile_s in (("60000", "48"), ("100000", "80")):
        environment_of(start(api, PACKAGE=str(archive), PISTON_COMPILE_TIMEOUT=timeout_ms))
        lines = (tmp_path / "data/packages/ioi_eval/1.0.0/.env").read_text().splitlines()
        assert lines[-1] == f"IOI_EVAL_COMPILE_S={compile_s}"


def test_workers_that_start_at_once_share_a_directory(api: Path, tmp_path: Path) -> None:
    """Only one worker installs the package, with a slow `tar`. The others wait, and find the complete package."""
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
    outputs = {worker.communicate()[0] for worker in workers}
    assert [worker.returncode for worker in workers] == [0] * 4
    (words,) = outputs
    assert words.endswith("\none")
    assert (tmp_path / "unpacked").read_text() == "x\n"
    assert list(installed.parent.iterdir()) == [installed]


def fake_program(directory: Path, name: str) -> dict[str, str]:
    """Write a program with this name, which appends its arguments to `calls`. Returns the PATH that finds it."""
    program = directory / name
    program.write_text(f'#!/bin/sh\nprintf "<%s>" "$@" >> {directory}/calls\necho >> {directory}/calls\n')
    program.chmod(0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


def test_slurm_jobs_are_named_by_their_ports(tmp_path: Path) -> None:
    """Jobs have the name `piston-worker-<port>`, each with its own port. Other arguments are passed to sbatch."""
    environment = fake_program(tmp_path, "sbatch") | {"FIRST_PORT": "25000", "LOGS": "/logs"}
    subprocess.run([PISTON / "slurm/launch-workers", "2", "--mem=2G"], env=environment, check=True)
    script = PISTON / "slurm/worker.sbatch"
    assert (tmp_path / "calls").read_text() == "".join(
        f"<--job-name=piston-worker-{port}><--output=/logs/%x-%j.log><--mem=2G><{script}>\n" for port in (25000, 25001)
    )


@pytest.mark.parametrize("options", [[], ["--partition=cpu", "--mem=2G"]])
def test_there_are_four_slurm_workers_by_default(tmp_path: Path, options: list[str]) -> None:
    """The number may be left out, also before options."""
    environment = fake_program(tmp_path, "sbatch")
    subprocess.run([PISTON / "slurm/launch-workers", *options], env=environment, check=True)
    calls = (tmp_path / "calls").read_text().splitlines()
    script = PISTON / "slurm/worker.sbatch"
    passed = "".join(f"<{option}>" for option in options)
    assert calls == [
        f"<--job-name=piston-worker-{port}><--output=./%x-%j.log>{passed}<{script}>" for port in range(20000, 20004)
    ]


def test_a_slurm_worker_serves_on_the_port_of_its_name(tmp_path: Path) -> None:
    """The worker listens on the port in the job's name. A name without a port is refused."""
    slurm = {"SLURM_JOB_NAME": "piston-worker-25001", "SLURM_CPUS_PER_TASK": "3", "SLURMD_NODENAME": "node7"}
    environment = fake_program(tmp_path, "ioi-eval") | slurm
    command = ["bash", str(PISTON / "slurm/worker.sbatch")]
    subprocess.run(command, env=environment, check=True)
    assert (tmp_path / "calls").read_text() == (
        "<serve><--host><0.0.0.0><--public><--allow-host><node7><--port><25001><--workers><3>\n"
    )
    failed = subprocess.run(command, env=environment | {"SLURM_JOB_NAME": "x"}, capture_output=True, check=False)
    assert (failed.returncode, b"does not end in a port" in failed.stderr) == (2, True)


def test_a_slurm_worker_in_a_container_gets_the_job_s_processors(tmp_path: Path) -> None:
    """Since Slurm 22.05 a step does not inherit their number. If it is bound to one, its jobs share that."""
    slurm = {"SLURM_JOB_NAME": "piston-worker-25001", "SLURM_CPUS_PER_TASK": "3", "WORKER": "piston"}
    named = {"PISTON_IMAGE": "piston:4", "PACKAGE": "/shared/ioi_eval.pkg.tar.gz"}
    environment = fake_program(tmp_path, "srun") | slurm | named
    subprocess.run(["bash", PISTON / "slurm/worker.sbatch"], env=environment, check=True)
    calls = (tmp_path / "calls").read_text()
    assert calls.startswith("<--cpus-per-task><3><--container-image><piston:4>")
    assert calls.endswith("<bash></shared/start-worker>\n")


def test_the_number_of_workers_must_be_a_number(tmp_path: Path) -> None:
    """With an argument that is not a number, no job is submitted."""
    environment = fake_program(tmp_path, "sbatch")
    done = subprocess.run([PISTON / "slurm/launch-workers", "many"], env=environment, capture_output=True, check=False)
    assert done.returncode == 2
    assert not (tmp_path / "calls").exists()
