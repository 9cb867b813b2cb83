"""What jobs take from problems' packages, by our server and by the script for Piston's; and from our own package."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioi_eval.model import Execution, Job, JobFile, JobKind, Stage
from ioi_eval.sandbox.piston import wire
from ioi_eval.sandbox.piston.stored_files import (
    LIST,
    digest,
    refused,
    without_runner,
    without_stored_files,
)
from ioi_eval.sandbox.piston.wire import Runtime
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages, NotStored
from ioi_eval.sandbox.serve.request import Refusal
from tests.sandbox.packaged import LARGE, LIMIT, RUNNER, a_job, blobs, installed, made, sha256, some_problem, unpacked

Given = Callable[[Job], Mapping[str, str] | Execution]
"""What a runner was given for a job, each file's hash by its name; or that the job was refused."""


def by_server(packages: InstalledPackages, runtime: Runtime) -> Given:
    """As `ioi-eval serve` does it."""

    def given_by(job: Job) -> Mapping[str, str] | Execution:
        try:
            files = packages.files(runtime, {file.name: bytes(file.content) for file in job.files})  # type: ignore[arg-type]
        except NotStored as missing:
            return missing.execution()
        return {name: sha256(content) for name, content in files.items()}

    return given_by


def by_script(package: Path, box: Path) -> Given:
    """As Piston has the package's own script do it."""

    def given_by(job: Job) -> Mapping[str, str] | Execution:
        directory = box / secrets.token_hex(4)
        directory.mkdir()
        for file in job.files:
            assert isinstance(file.content, bytes)
            (directory / file.name).write_bytes(file.content)
        done = subprocess.run(
            ["bash", package / "run", job.files[0].name],
            cwd=directory, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.stderr == ""
        if done.returncode:
            return Execution(run=Stage(stdout=done.stdout, stderr="", code=done.returncode))
        given = dict(line.rstrip(" -").split("=") for line in done.stdout.splitlines() if "=" in line)
        assert len(given) == len(done.stdout.splitlines()), "the job's files are no longer there"
        return given | {"runner": sha256(RUNNER)}

    return given_by


def taken(job: Job, given_by: Given) -> tuple[Mapping[str, str], list[int]]:
    """What a runner is given in the end, as a cluster asks for it, and how much each request sends of it."""
    absent: set[str] = set()
    sizes: list[int] = []
    while (variant := without_stored_files(job, absent)) is not None:
        asked = variant.job
        sizes.append(sum(len(file.content) for file in asked.files if isinstance(file.content, bytes)))
        sums = JobFile(name=wire.SUMS, content=b"of the other files\n")
        answer = given_by(replace(asked, files=(*asked.files, sums)))
        if not isinstance(answer, Execution):
            assert answer[wire.SUMS] == sha256(b"of the other files\n")
            return {name: digest for name, digest in answer.items() if name != wire.SUMS}, sizes
        found = refused(answer)
        assert found.keys() - absent, "each refusal says something new"
        absent |= found.keys()
    return {file.name: sha256(file.content) for file in job.files}, sizes


CHANGES = ("kept", "gone", "other", "longer", "empty")


def change(path: Path, how: str) -> None:
    """Damage a file of a package."""
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how != "kept":
        path.chmod(0o755)
        path.write_bytes({"other": content[:-1] + b"!", "longer": content + b"!", "empty": b""}[how])


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.binary(min_size=1, max_size=400), min_size=1, max_size=5),
    changes=st.lists(st.sampled_from(CHANGES), min_size=1, max_size=11),
    extra=st.binary(max_size=300),
)
def test_stored_or_sent_a_runner_is_given_the_same(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], changes: list[str], extra: bytes
) -> None:
    """Whatever became of the files of a package: a job gets those that it means, or they are sent."""
    directory = tmp_path_factory.mktemp("stored")
    problem = some_problem(*texts)
    packages = installed(directory, problem)
    for number, path in enumerate(blobs(directory / "packages")):
        change(path, changes[number % len(changes)])
    job = a_job(problem, JobFile(name="checker", content=extra, executable=True))
    found, _ = taken(job, by_server(packages, packages.runtimes()[0]))
    assert found == {file.name: sha256(file.content) for file in job.files}


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("which", ["all", "one"])
def test_the_package_s_script_does_the_same(tmp_path: Path, how: str, which: str) -> None:
    """In at most three requests, of which the last is whole."""
    problem = some_problem(b"a b" * LARGE, bytes(range(256)) * 2, b"small")
    tarball = made(tmp_path / "repository", problem)
    package = unpacked(tmp_path / "repository" / tarball.file, tmp_path / "package")
    (tmp_path / "box").mkdir()
    paths = sorted((package / "blobs").iterdir())
    for path in paths if which == "all" else paths[:1]:
        change(path, how)
    job = a_job(problem)
    found, sizes = taken(job, by_script(package, tmp_path / "box"))
    assert found == {file.name: sha256(file.content) for file in job.files}
    assert len(sizes) <= 2, sizes
    if how == "kept":
        (size,) = sizes
        assert size < 1500, "a list, the program, the plan, and what is small"


def test_what_is_small_is_sent(tmp_path: Path) -> None:
    """Naming it takes as many bytes; and a job of which nothing is stored is the usual one."""
    problem = some_problem(b"small", b"a" * LARGE)
    asked = without_stored_files(a_job(problem), set())
    assert asked is not None
    assert [file.name for file in asked.job.files] == [LIST, "plan", "program", "t0.in", "t0.ans"]
    job = a_job(problem)
    assert without_stored_files(job, {digest(file.content) for file in job.files}) is None
    assert without_stored_files(job, {"*"}) is None


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    """A path is not a name."""
    packages = installed(tmp_path, some_problem(b"a" * LARGE))
    for line in (b"stored x ../../etc/passwd y", f"stored x {'0' * 32} ../../../x".encode(), b"sent /etc/passwd", b"x"):
        with pytest.raises(Refusal, match="names no file"):
            packages.files(packages.runtimes()[0], {LIST: line})


ECHO = b'#!/bin/sh\necho "$@"\n'
PLAN = (JobFile(name="plan", content=b"the plan"),)


@pytest.mark.parametrize(("there", "is_found"), [(ECHO, True), (ECHO + b"#", False), (None, False)])
def test_the_runner_of_our_package_is_taken_if_it_is_the_same(
    tmp_path: Path, there: bytes | None, is_found: bool
) -> None:
    """Else the worker says so, and the client sends its own."""
    job = Job(kind=JobKind.RUNNER, files=(JobFile(name="runner", content=ECHO), *PLAN), run_limits=LIMIT)
    asked = without_runner(job)
    assert asked is not None
    box, judge = tmp_path / "box", tmp_path / "judge"
    for directory in (box, judge):
        directory.mkdir()
    if there is not None:
        (judge / "runner").write_bytes(there)
        (judge / "runner").chmod(0o755)
    for file in wire.sent_files(asked.job, wire.Starter.IOI_EVAL):
        assert file.name != "runner"
        assert isinstance(file.content, bytes)
        (box / file.name).write_bytes(file.content)
    done = subprocess.run(
        ["bash", "run"], cwd=box, env={"PATH": "/usr/bin:/bin", "IOI_EVAL_JUDGE": str(judge)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    answer = Execution(run=Stage(stdout=done.stdout, stderr=done.stderr, code=done.returncode))
    if is_found:
        assert (done.returncode, done.stdout, done.stderr) == (0, "--dir .\n", "")
    else:
        assert refused(answer) == {digest(ECHO): "is missing"}
