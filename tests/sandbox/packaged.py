"""Problems with test data, and their packages in a repository or on a server, for tests."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from ioi_eval.model import Blob, Content, Job, JobFile, JobKind, Problem, StageLimits, Subtask
from ioi_eval.model import TestCase as Case
from ioi_eval.sandbox.piston.problem_packages import MadePackage, data_of, list_packages, make_package, package_of
from ioi_eval.sandbox.piston.stored_files import digest
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages
from tests.small_problems import small_problem

RUNNER = rb"""#!/bin/bash
# Replaces the runner: prints the hashes of the files that it gets, by name.
IFS=, read -ra table <<< "$2"
for entry in "${table[@]}"; do
    printf '%s=%s\n' "${entry%=*}" "$(sha256sum < "/proc/self/fd/${entry##*=}")"
done
ls
"""
LIMIT = StageLimits(wall_ms=1000, cpu_ms=1000)
LARGE = 300


def sha256(content: Content) -> str:
    """The hash of a content."""
    return content.sha256 if isinstance(content, Blob) else hashlib.sha256(content).hexdigest()


def some_problem(*texts: bytes, name: str = "Nile") -> Problem:
    """A problem with a test for each text: the text is the input, and reversed the answer."""
    tests = {f"t{n}": Case(name=f"t{n}", input=text, answer=text[::-1]) for n, text in enumerate(texts)}
    return small_problem(name=name, subtasks=(Subtask(name="all", points=100.0, tests=tuple(tests)),), tests=tests)


def a_job(problem: Problem, *more: JobFile) -> Job:
    """A job that runs a program on a problem's tests."""
    files = [JobFile(name="plan", content=b"the plan"), JobFile(name="runner", content=RUNNER, executable=True)]
    files.append(JobFile(name="program", content=b"x" * LARGE, executable=True))
    for number, case in enumerate(problem.tests.values()):
        files.append(JobFile(name=f"t{number}.in", content=case.input))
        if case.answer is not None:
            files.append(JobFile(name=f"t{number}.ans", content=case.answer))
    return Job(kind=JobKind.RUNNER, files=(*files, *more), run_limits=LIMIT, package=package_of(problem))


def made(repository: Path, problem: Problem, *more: bytes) -> MadePackage:
    """The problem's package, with runner and other files, in a repository that lists it."""
    contents = data_of(problem) | {digest(each): each for each in (RUNNER, *more)}
    package = make_package(repository, package_of(problem), contents)
    list_packages(repository, "http://nowhere", [package])
    return package


def installed(directory: Path, problem: Problem) -> InstalledPackages:
    """The installed packages of a server, with the problem's package."""
    package = made(directory / "repository", problem)
    packages = InstalledPackages(directory / "packages", str(directory / "repository"))
    packages.install(package.language, package.version)
    return packages


def blobs(packages: Path) -> list[Path]:
    """The files of all installed packages."""
    return sorted(packages.glob("*/*/blobs/*"))


def unpacked(tarball: Path, directory: Path) -> Path:
    """Unpack with tar, as Piston does."""
    directory.mkdir()
    subprocess.run(["tar", "-xzf", tarball, "--no-same-owner", "-C", directory], check=True)
    return directory
