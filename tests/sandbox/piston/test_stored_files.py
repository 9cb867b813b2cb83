"""Which files jobs get from packages of problems, on our server and on Piston; and the runner of our package."""

from __future__ import annotations

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
    missing_files,
    without_runner,
    without_stored_files,
)
from ioi_eval.sandbox.piston.wire import Runtime
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages, NotStored
from ioi_eval.sandbox.serve.request import Refusal
from tests.sandbox.packaged import LARGE, LIMIT, a_job, blobs, installed, sha256, some_problem

Given = Callable[[Job], Mapping[str, str] | Execution]
"""Returns the hashes of the files that the runner gets, by name; or the refusal of the job."""


def by_server(packages: InstalledPackages, runtime: Runtime) -> Given:
    """The files as `ioi-eval serve` gives them."""

    def given_by(job: Job) -> Mapping[str, str] | Execution:
        try:
            files = packages.files(runtime, {file.name: bytes(file.content) for file in job.files})  # type: ignore[arg-type]
        except NotStored as missing:
            return missing.execution()
        return {name: sha256(content) for name, content in files.items()}

    return given_by


def files_and_sizes(job: Job, given_by: Given) -> tuple[Mapping[str, str], list[int]]:
    """Send a job as a cluster does, until it is accepted. Returns the runner's files and the sizes of the requests."""
    absent: set[str] = set()
    sizes: list[int] = []
    while (variant := without_stored_files(job, absent)) is not None:
        sent_job = variant.job
        sizes.append(sum(len(file.content) for file in sent_job.files if isinstance(file.content, bytes)))
        sums = JobFile(name=wire.SUMS, content=b"of the other files\n")
        answer = given_by(replace(sent_job, files=(*sent_job.files, sums)))
        if not isinstance(answer, Execution):
            assert answer[wire.SUMS] == sha256(b"of the other files\n")
            return {name: digest for name, digest in answer.items() if name != wire.SUMS}, sizes
        found = missing_files(answer)
        assert found.keys() - absent, "each refusal names another file"
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
def test_the_runner_gets_the_right_files(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], changes: list[str], extra: bytes
) -> None:
    """If files of a package are missing or changed, the job still gets the right files: they are sent."""
    directory = tmp_path_factory.mktemp("stored")
    problem = some_problem(*texts)
    packages = installed(directory, problem)
    for number, path in enumerate(blobs(directory / "packages")):
        change(path, changes[number % len(changes)])
    job = a_job(problem, JobFile(name="checker", content=extra, executable=True))
    found, _ = files_and_sizes(job, by_server(packages, packages.runtimes()[0]))
    assert found == {file.name: sha256(file.content) for file in job.files}


def test_small_files_are_sent(tmp_path: Path) -> None:
    """Small files are sent, because their name takes as many bytes. If no file is stored, the job is sent as usual."""
    problem = some_problem(b"small", b"a" * LARGE)
    sent_job = without_stored_files(a_job(problem), set())
    assert sent_job is not None
    assert [file.name for file in sent_job.job.files] == [LIST, "plan", "program", "t0.in", "t0.ans"]
    job = a_job(problem)
    assert without_stored_files(job, {digest(file.content) for file in job.files}) is None
    assert without_stored_files(job, {"*"}) is None


def test_an_invalid_list_is_refused(tmp_path: Path) -> None:
    """A list with a path instead of a name is refused."""
    packages = installed(tmp_path, some_problem(b"a" * LARGE))
    for line in (b"stored x ../../etc/passwd y", f"stored x {'0' * 32} ../../../x".encode(), b"sent x", b"x"):
        with pytest.raises(Refusal, match="names no file"):
            packages.files(packages.runtimes()[0], {LIST: line})


ECHO = b'#!/bin/sh\necho "$@"\n'
PLAN = (JobFile(name="plan", content=b"the plan"),)


def written_sums(runner: bytes) -> bytes:
    """The package's file `runner.sums` for a runner."""
    sums = [
        subprocess.run([sum_], input=runner, capture_output=True, check=True).stdout for sum_ in ("sha256sum", "cksum")
    ]
    return sums[0].split()[0] + b" " + sums[1]


@pytest.mark.parametrize(
    ("packaged_runner", "summed_runner", "is_found"),
    [
        (ECHO, None, False),
        (None, None, False),
        (ECHO, ECHO, True),
        (ECHO + b"#", ECHO + b"#", False),
        (ECHO.swapcase(), ECHO, False),
        (ECHO + b"#", ECHO, False),
        (None, ECHO, False),
    ],
)
def test_the_runner_of_our_package_is_used_if_it_is_the_same(
    tmp_path: Path, packaged_runner: bytes | None, summed_runner: bytes | None, is_found: bool
) -> None:
    """If the package's runner is missing, damaged or another one, the worker refuses, so that the client sends it."""
    job = Job(kind=JobKind.RUNNER, files=(JobFile(name="runner", content=ECHO), *PLAN), run_limits=LIMIT)
    sent_job = without_runner(job)
    assert sent_job is not None
    box, judge = tmp_path / "box", tmp_path / "judge"
    for directory in (box, judge):
        directory.mkdir()
    if packaged_runner is not None:
        (judge / "runner").write_bytes(packaged_runner)
        (judge / "runner").chmod(0o755)
    if summed_runner is not None:
        (judge / "runner.sums").write_bytes(written_sums(summed_runner))
    for file in wire.sent_files(sent_job.job, wire.Starter.IOI_EVAL):
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
        assert missing_files(answer) == {digest(ECHO): "is missing"}
