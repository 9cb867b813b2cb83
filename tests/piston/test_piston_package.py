"""Our Piston package, from its sources to a scored submission: built, installed and called as by Piston."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ioi_eval import boxfiles, sample
from ioi_eval.config import CompileLimits
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs import recipes
from ioi_eval.jobs.find_runner import find_runner_job, runner_binary
from ioi_eval.jobs.runner_answer import compile_answer
from ioi_eval.model import Execution, Isolation, JobFile, StageLimits
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.local.scripts import Command
from ioi_eval.toolchain import Toolchain
from tests.full_isolation import full_isolation
from tests.keeping_compiler import keeping_compiler

PISTON = Path(__file__).resolve().parents[2] / "piston"
LIMITS = StageLimits(wall_ms=120_000, cpu_ms=120_000)


def build(directory: Path, url: str, **environment: str) -> None:
    """Build a repository, by default of packages that precompile no header."""
    environment = {**os.environ, "PRECOMPILED_STANDARDS": "", **environment}
    subprocess.run([PISTON / "build-repository", directory, url], check=True, env=environment, capture_output=True)


def unpack(archive: Path, directory: Path) -> None:
    """Unpack with tar, as Piston does. (Python's tarfile needs a filter since 3.12, which 3.11.2 does not know.)"""
    subprocess.run(["tar", "-xzf", archive, "--no-same-owner", "-C", directory], check=True)


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), ([], 2), ([""], 2), (["--out"], 2)])
def test_a_wrong_call_prints_the_usage(words: list[str], code: int) -> None:
    """The usage is printed, and nothing is built."""
    done = subprocess.run([PISTON / "build-repository", *words], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stdout + done.stderr == "usage: build-repository DIRECTORY [URL]\n"


PROBLEM_LINE = f"ioi_eval_problem_{'a' * 24},1.2.0,4567,http://old/problem.pkg.tar.gz"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository built with the real compiler."""
    directory = tmp_path_factory.mktemp("repository")
    (directory / "index").write_text(f"{PROBLEM_LINE}\nioi_eval,1.0.0,0123,http://old/ioi_eval-1.0.0.pkg.tar.gz\n")
    build(directory, "http://here:8000/", CXX=str(keeping_compiler(tmp_path_factory.mktemp("compiler"))))
    return directory


@pytest.fixture(scope="module")
def package(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the unpacked package."""
    directory = tmp_path_factory.mktemp("package")
    unpack(repository / "ioi_eval-1.0.0.pkg.tar.gz", directory)
    return directory


def test_the_index_names_the_tarball_and_its_checksum(repository: Path) -> None:
    """Each package has a line: language, version, SHA-256, URL. Other lines are kept. Source: Piston's `package.js`."""
    tarball = (repository / "ioi_eval-1.0.0.pkg.tar.gz").read_bytes()
    kept, line, other = (repository / "index").read_text().splitlines()
    assert kept == PROBLEM_LINE
    assert line.split(",") == [
        "ioi_eval",
        "1.0.0",
        hashlib.sha256(tarball).hexdigest(),
        "http://here:8000/ioi_eval-1.0.0.pkg.tar.gz",
    ]
    tarball = (repository / "ioi_eval_run-1.0.0.pkg.tar.gz").read_bytes()
    address = "http://here:8000/ioi_eval_run-1.0.0.pkg.tar.gz"
    assert other.split(",") == ["ioi_eval_run", "1.0.0", hashlib.sha256(tarball).hexdigest(), address]


def test_equal_sources_make_an_equal_tarball(tmp_path: Path) -> None:
    """Equal sources give equal tarballs, so checksums can be compared between repositories."""
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nfor last; do :; done\nwhile [ "$1" != -o ]; do shift; done\ncp "$last" "$2"\n')
    compiler.chmod(0o755)
    for name in ("one", "two"):
        build(tmp_path / name, "http://here", CXX=str(compiler))
    assert (tmp_path / "one/index").read_bytes() == (tmp_path / "two/index").read_bytes()


def test_a_build_that_fails_changes_nothing(tmp_path: Path) -> None:
    """If the disk is full, the tarballs and the index of the last build stay."""
    compiler, gzip = tmp_path / "compiler", tmp_path / "bin/gzip"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')
    gzip.parent.mkdir()
    gzip.write_text("#!/bin/sh\necho the beginning\nexit 1\n")
    for program in (compiler, gzip):
        program.chmod(0o755)
    build(tmp_path / "made", "http://here", CXX=str(compiler))
    before = {path.name: path.read_bytes() for path in (tmp_path / "made").iterdir()}
    with pytest.raises(subprocess.CalledProcessError):
        build(tmp_path / "made", "http://new", CXX=str(compiler), PATH=f"{gzip.parent}:{os.environ['PATH']}")
    assert {path.name: path.read_bytes() for path in (tmp_path / "made").iterdir()} == before


def test_the_metadata_of_the_package(package: Path) -> None:
    """The metadata has the fields that Piston reads, and limits that override the defaults of a server."""
    metadata = json.loads((package / "pkg-info.json").read_text())
    assert (metadata["language"], metadata["version"], metadata["build_platform"]) == (
        "ioi_eval",
        "1.0.0",
        "docker-debian",
    )
    assert metadata["aliases"] == ["cms_ioi"], "the reference's clients request this name"
    limits = metadata["limit_overrides"]
    assert limits["output_max_size"] >= 64 << 20
    assert limits["run_timeout"] == limits["run_cpu_time"] >= 60_000
    assert all(type(limit) is int for limit in limits.values()), "Piston does not parse these: they must be numbers"


def test_a_compiler_can_be_part_of_the_package(tmp_path: Path, package: Path) -> None:
    """The GCC in the directory GCC_TREE becomes part of the package, and is first in the PATH of jobs."""
    gcc = tmp_path / "gcc"
    (gcc / "bin").mkdir(parents=True)
    (gcc / "bin/g++").write_text("#!/bin/sh\n")
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')
    compiler.chmod(0o755)
    build(tmp_path / "repository", "http://here", CXX=str(compiler), GCC_TREE=str(gcc))
    (tmp_path / "installed").mkdir()
    unpack(tmp_path / "repository/ioi_eval-1.0.0.pkg.tar.gz", tmp_path / "installed")
    assert path_of_jobs(tmp_path / "installed").startswith(f"{tmp_path}/installed/gcc/bin:")
    assert path_of_jobs(package) == "/usr/local/bin:/usr/bin:/bin"


def test_the_package_without_a_compile_stage(repository: Path, package: Path, tmp_path: Path) -> None:
    """It has our package's `run`, runner and limits, and neither `compile`, nor its alias, nor its compiler."""
    unpack(repository / "ioi_eval_run-1.0.0.pkg.tar.gz", tmp_path)
    files = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*") if path.is_file()}
    described = {Path("metadata.json"), Path("pkg-info.json")}
    names = {"run", "environment", "judge/runner", "judge/runner.digest", "judge/runner.sums"}
    assert files.keys() == {*map(Path, names), *described}
    for name in files.keys() - described:
        assert files[name].read_bytes() == (package / name).read_bytes()
        assert files[name].stat().st_mode == (package / name).stat().st_mode
    own, ours = (json.loads((directory / "pkg-info.json").read_text()) for directory in (tmp_path, package))
    assert own == {**ours, "language": "ioi_eval_run", "aliases": []}


def environment_of_jobs(package: Path) -> dict[str, str]:
    """The environment of an installed package, as Piston reads it."""
    command = ["env", "-i", "bash", "-c", f"cd {package}; source environment; env"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines)


def path_of_jobs(package: Path) -> str:
    """The PATH in the environment of an installed package."""
    return environment_of_jobs(package)["PATH"]


def test_standards_are_an_option(tmp_path: Path) -> None:
    """The package names the standards for which workers precompile the header."""
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')
    compiler.chmod(0o755)
    build(tmp_path / "repository", "http://here", CXX=str(compiler), PRECOMPILED_STANDARDS="gnu++23")
    unpack(tmp_path / "repository/ioi_eval-1.0.0.pkg.tar.gz", tmp_path)
    assert (tmp_path / "precompiled_standards").read_text() == "gnu++23\n"


class Installing:
    """A package with a small `<bits/stdc++.h>`, while Piston installs it. Its compiler records its calls."""

    def __init__(self, directory: Path) -> None:
        self.package = directory / "package"
        shutil.copytree(PISTON / "packages/ioi_eval/1.0.0", self.package)
        (self.package / "precompiled_standards").write_text("gnu++17 gnu++20\n")
        self.header = directory / "include/bits/stdc++.h"
        self.header.parent.mkdir(parents=True)
        self.header.write_text("#include <stddef.h>\nextern size_t small;\n")
        self.calls = directory / "calls"
        self.program(
            "g++",
            f'echo "$*" >> {self.calls}; exec {shutil.which("g++")} -nostdinc++ -idirafter {directory}/include "$@"',
        )

    def program(self, name: str, command: str) -> None:
        """Add a program that comes before that of the system."""
        path = self.package / "gcc/bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{command}\n")
        path.chmod(0o755)

    def precompiled(self) -> list[str]:
        """What the installed package has precompiled."""
        environment_of_jobs(self.package)
        return sorted(path.name for path in self.package.glob("precompiled/*"))


def test_the_header_is_precompiled_on_installation(tmp_path: Path) -> None:
    """Once for each standard, with the options with which programs are compiled. Jobs that come meanwhile find the
    environment.
    """
    installing = Installing(tmp_path)
    environment = environment_of_jobs(installing.package)
    before = dict(line.split("=", 1) for line in (installing.package / ".env").read_text().splitlines())
    assert before == {name: environment[name] for name in ("PATH", "LD_LIBRARY_PATH")}
    assert (installing.package / "precompile.log").read_text() == ""
    calls = installing.calls.read_text().splitlines()
    toolchain = Toolchain(command="", version="", machine="", static=True)
    for std in ("gnu++17", "gnu++20"):
        listed = (installing.package / f"precompiled/{std}.files").read_text().splitlines()
        paths = [line.split(" ", 2)[-1] for line in listed]
        compiler = installing.package / "gcc/bin/g++"
        assert {str(each) for each in (installing.header, installing.header.parent, compiler)} < {*paths}
        header = Path(paths[-1])
        assert (header.parent.name, header.suffix) == ("precompiled", ".gch")
        assert header.read_bytes().startswith(b"gpch")
        assert " ".join(toolchain.precompile_argv("all.h", str(header), std=std)).strip() in calls


def test_a_package_without_room_has_no_header(tmp_path: Path) -> None:
    """With less than 1 GiB of free disk."""
    installing = Installing(tmp_path)
    installing.program("stat", f'[ "$1" = -f ] && echo 262143 4096 || exec {shutil.which("stat")} "$@"')
    assert installing.precompiled() == []
    assert not installing.calls.exists()


@pytest.mark.parametrize(
    "fault",
    [
        "exit 1",
        '[[ "$*" != *c++-header* ]] || exit 1',
        '[[ "$*" != *c++-header* ]] || { echo x > "${@: -1}"; exit 0; }',
        '[[ "$*" != *Winvalid-pch* ]] || echo "// changed" >> HEADER',
    ],
)
def test_a_header_that_cannot_be_used_is_removed(tmp_path: Path, fault: str) -> None:
    """The compiler fails, makes something else, or a header changes meanwhile. The package is installed without it."""
    installing = Installing(tmp_path)
    compiler = installing.package / "gcc/bin/g++"
    script = compiler.read_text().replace("#!/bin/bash\n", f"#!/bin/bash\n{fault}\n")
    compiler.write_text(script.replace("HEADER", str(installing.header)))
    assert installing.precompiled() == []
    assert not (installing.package / "before").exists()


def test_a_machine_without_a_compiler(tmp_path: Path) -> None:
    """The package is installed."""
    installing = Installing(tmp_path)
    script = installing.package / "precompile"
    script.write_text(script.read_text().replace("type -P g++", "type -P no-compiler"))
    assert installing.precompiled() == []


class Worker:
    """Runs the package's scripts as Piston does, each job in a box of the embedded sandbox."""

    def __init__(self, loop: asyncio.Runner, sandbox: LocalSandbox, package: Path) -> None:
        self.loop = loop
        self.sandbox = sandbox
        self.package = tuple(
            JobFile(name=f"package/{path.relative_to(package)}", content=path.read_bytes(), executable=True)
            for path in package.rglob("*")
            if path.is_file()
        )

    def execute(self, files: dict[str, bytes], *args: str) -> Execution:
        """Run `compile` with the names of the files, and `run` with the first name and the arguments."""
        names = tuple(files)
        commands = (
            Command(stage="compile", argv=("bash", "/box/package/compile", *names), limits=LIMITS),
            Command(stage="run", argv=("bash", "/box/package/run", names[0], *args), limits=LIMITS),
        )
        job = tuple(JobFile(name=name, content=content) for name, content in files.items())
        return self.loop.run(self.sandbox.run_commands(commands, (*job, *self.package)))


@pytest.fixture(scope="module")
def worker(package: Path) -> Iterator[Worker]:
    """A worker with the package."""
    with full_isolation() as (loop, sandbox):
        yield Worker(loop, sandbox, package)


def test_a_job_s_own_scripts(worker: Worker) -> None:
    """A job's scripts run, with or without `compile`. They get the arguments, and their exit code is kept."""
    run = b'cat made 2> /dev/null; printf "<%s>" "$@"'
    both = worker.execute({"run": run, "compile": b"echo made > made"}, "a b", "")
    assert both.run.stdout == "made\n<a b><>"
    assert worker.execute({"run": run}, "x").run.stdout == "<x>"
    assert worker.execute({"run": run, "compile": b"exit 7"}).run.code == 7
    assert worker.execute({"run": b"exit 8"}).run.code == 8


def test_a_runner_with_a_plan(worker: Worker) -> None:
    """A bundled job needs no script; the answer is complete."""
    nonce = secrets.token_hex(16)
    recipe = recipes.Recipe(
        what="test",
        steps=(recipes.Step(argv=("g++", "x.cpp", "-o", "x"), files=(("x.cpp", b"int main() {}"),)),),
        artifacts=("x",),
        sees_system=True,
    )
    runner = next(file.content for file in worker.package if file.name.endswith("judge/runner"))
    job = compiling.compile_job(recipe, runner, CompileLimits(), Isolation.REDUCED, nonce=nonce)
    files = {file.name: file.content for file in job.files if isinstance(file.content, bytes)}
    answer = compile_answer(worker.execute(files).run, nonce, least=Isolation.NONE)
    assert answer.artifacts["x"].startswith(b"\x7fELF")


def test_the_package_s_runner_is_used(worker: Worker) -> None:
    """The job that compiles the runner returns the package's runner, if that has the same sources."""
    nonce = secrets.token_hex(16)
    toolchain = Toolchain(command="touch", version="", machine="", static=True)  # makes no valid runner
    files = {file.name: file.content for file in find_runner_job(toolchain, nonce=nonce).files}
    texts = {name: content for name, content in files.items() if isinstance(content, bytes)}
    runner = next(file.content for file in worker.package if file.name.endswith("judge/runner"))
    assert runner_binary(worker.execute(texts), nonce) == runner
    texts["run"] = texts["run"].replace(boxfiles.runner_files_digest().encode(), b"0" * 64)
    failed = worker.execute(texts).run
    assert (failed.code, "touch: " in failed.stderr) == (1, True)


def test_a_classic_job_is_judged_by_the_package_s_scripts(worker: Worker) -> None:
    """With only the files of the reference's protocol, the score is on stdout and the feedback on stderr."""
    problem = next(row for row in map(json.loads, sample.problems().open()) if row["id"] == "lamps")
    case = next(row for row in map(json.loads, sample.tests().open()) if row["problem_id"] == "lamps")
    solutions = [row for row in map(json.loads, sample.solutions().open()) if row["problem_id"] == "lamps"]
    judged = {}
    for label in ("model_solution/halving.cpp", "incorrect/empty-stretch.cpp", "compile_error/no-header.cpp"):
        code = next(row["code"] for row in solutions if row["label"] == label)
        texts = {"graders/lamps.cpp": code, "input.txt": case["test_input"], "correct_output.txt": case["test_output"]}
        texts |= {name: content for name, content in problem["grader_files"] if content}
        judged[label] = worker.execute({name: text.encode() for name, text in texts.items()})
    first, second, third = judged.values()
    assert (float(first.run.stdout), first.run.code) == (1.0, 0)
    assert (float(second.run.stdout), second.run.stderr.startswith("Output isn't correct")) == (0.0, True)
    assert third.compile is not None
    assert (third.compile.code, "graders/lamps.cpp" in third.compile.stderr) == (1, True)


def test_a_worker_without_room_reports_no_compile_error(tmp_path: Path) -> None:
    """If the runner cannot be copied, the compile stage succeeds, and the run stage fails without a score.

    Clients of huggingface/ioi take a compile stage that fails for a compile error, with the score 0.
    """
    shutil.copytree(PISTON / "packages/ioi_eval/1.0.0", tmp_path / "package")
    (tmp_path / "package/judge").mkdir()
    (tmp_path / "package/judge/run").write_bytes(boxfiles.read("run"))
    (tmp_path / "job/graders").mkdir(parents=True)
    (tmp_path / "job/graders/grader_config.json").touch()
    stages = [
        subprocess.run(
            ["bash", tmp_path / "package" / stage, "graders/grader_config.json"],
            cwd=tmp_path / "job",
            capture_output=True,
            check=False,
        )
        for stage in ("compile", "run")
    ]
    assert [(stage.returncode, stage.stdout) for stage in stages] == [(0, b""), (2, b"")]


def test_a_job_without_anything_to_run(worker: Worker) -> None:
    """The exit code is 1, and there is a message."""
    execution = worker.execute({"data.txt": b"1"})
    assert execution.run.code == 1
    assert "the job has neither" in execution.run.stderr
