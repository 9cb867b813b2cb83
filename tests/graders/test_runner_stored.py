"""Jobs that take files from a problem's package: its script and the runner use no file that is missing or damaged."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ioi_eval.model import Execution, Job, JobFile, JobKind, Problem, Stage
from ioi_eval.sandbox.piston.problem_packages import data_of, make_package, package_of
from ioi_eval.sandbox.piston.stored_files import digest, missing_files, without_stored_files
from tests.graders.runner_box import LIMITS, WHITE_DIFF, line, plan
from tests.sandbox.packaged import LARGE, LIMIT, some_problem, unpacked

TEXTS = (b"a b" * LARGE, bytes(range(256)) * 2, b"small")


@dataclass(frozen=True)
class Server:
    """The package of a problem, unpacked as Piston does it, and a directory for jobs."""

    package: Path
    jobs: Path

    def start(self, job: Job) -> Execution:
        """Start a job that names files of the package."""
        directory = self.jobs / str(len(list(self.jobs.iterdir())))
        directory.mkdir()
        for file in job.files:
            assert isinstance(file.content, bytes)
            (directory / file.name).write_bytes(file.content)
        done = subprocess.run(
            ["bash", self.package / "run", job.files[0].name],
            cwd=directory, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.stderr == ""
        return Execution(run=Stage(stdout=done.stdout, stderr="", code=done.returncode))


def judging_job(problem: Problem, runner: bytes) -> Job:
    """A job that compares each input and answer of a problem with the same text, which is sent."""
    contents = {f"t{number}.in": case.input for number, case in enumerate(problem.tests.values())}
    contents |= {f"t{number}.ans": case.answer or b"" for number, case in enumerate(problem.tests.values())}
    files = [JobFile(name="none", content=b""), JobFile(name="runner", content=runner, executable=True)]
    tests = []
    for number, (name, content) in enumerate(contents.items()):
        assert isinstance(content, bytes)
        files += [JobFile(name=name, content=content), JobFile(name=f"{name}.sent", content=content + b"\n")]
        tests.append(f"test id={number} input=none answer={name} output={name}.sent")
    text = plan("run", line("limits", **LIMITS), "task kind=batch", WHITE_DIFF, "order run=all", *tests)
    files.append(JobFile(name="plan", content=text))
    return Job(kind=JobKind.RUNNER, files=tuple(files), run_limits=LIMIT, package=package_of(problem))


@pytest.fixture
def server(tmp_path: Path, runner: Path) -> Server:
    """A server that has the package of the problem, with the runner."""
    problem = some_problem(*TEXTS)
    content = runner.read_bytes()
    made = make_package(tmp_path / "repository", package_of(problem), data_of(problem) | {digest(content): content})
    (tmp_path / "jobs").mkdir()
    return Server(unpacked(tmp_path / "repository" / made.file, tmp_path / "package"), tmp_path / "jobs")


def judged(server: Server, job: Job) -> tuple[list[str], list[Job]]:
    """Send a job as a cluster does, until it is accepted. Returns the verdicts, and the jobs that were sent."""
    absent: set[str] = set()
    sent: list[Job] = []
    while (variant := without_stored_files(job, absent)) is not None:
        sent.append(variant.job)
        answer = server.start(variant.job)
        reasons = variant.missing(answer)
        if not reasons:
            assert answer.run.code == 0
            *lines, last = map(json.loads, answer.run.stdout.splitlines())
            assert last["end"]
            return [each["verdict"] for each in lines], sent
        assert reasons.keys() - absent, "each refusal names another file"
        absent |= reasons.keys()
    return [], sent


def change(path: Path, how: str) -> None:
    """Damage a file of a package."""
    content = path.read_bytes()
    path.chmod(0o755)
    if how == "gone":
        path.unlink()
    elif how != "kept":
        path.write_bytes({"other": content[:-1] + b"!", "longer": content + b"!", "empty": b""}[how])


def blobs(server: Server, runner: Path) -> tuple[Path, Sequence[Path]]:
    """The runner of a package, and its test data."""
    size = runner.stat().st_size
    paths = sorted((server.package / "blobs").iterdir(), key=lambda path: path.stat().st_size != size)
    return paths[0], paths[1:]


@pytest.mark.parametrize("how", ["kept", "gone", "other", "longer", "empty"])
@pytest.mark.parametrize("which", ["the runner", "a test", "all"])
def test_damaged_files_are_sent(server: Server, runner: Path, which: str, how: str) -> None:
    """Files of the package that are missing or changed are sent, after at most two refusals; the others are not."""
    job = judging_job(some_problem(*TEXTS), runner.read_bytes())
    packaged_runner, data = blobs(server, runner)
    changed = {"the runner": [packaged_runner], "a test": data[:1], "all": [packaged_runner, *data]}[which]
    for path in changed:
        change(path, how)
    verdicts, sent = judged(server, job)
    if which == "all" and how != "kept":
        assert len(sent) == 2
        return
    assert verdicts == ["AC"] * 2 * len(TEXTS)
    assert len(sent) == (1 if how == "kept" else 2)
    names = {file.name for file in sent[-1].files}
    assert ("runner" in names) == (which == "the runner" and how != "kept")
    assert "t2.in" in names, "small files are always sent"
    assert len({"t0.in", "t0.ans", "t1.in", "t1.ans"} & names) == (which == "a test" and how != "kept")


def test_swapped_files_are_sent(server: Server, runner: Path) -> None:
    """Two files of the package that have each other's name are not used."""
    _, (first, second, *_) = blobs(server, runner)
    content = first.read_bytes()
    for path, text in ((first, second.read_bytes()), (second, content)):
        path.chmod(0o755)
        path.write_bytes(text)
    verdicts, sent = judged(server, judging_job(some_problem(*TEXTS), runner.read_bytes()))
    assert verdicts == ["AC"] * 2 * len(TEXTS)
    assert len({"t0.in", "t0.ans", "t1.in", "t1.ans"} & {file.name for file in sent[-1].files}) == 2


def test_without_checksums_all_files_are_sent(server: Server, runner: Path) -> None:
    """If the package's checksums are gone, its test data is not used."""
    (server.package / "sums").unlink()
    verdicts, sent = judged(server, judging_job(some_problem(*TEXTS), runner.read_bytes()))
    assert verdicts == ["AC"] * 2 * len(TEXTS)
    assert {"t0.in", "t0.ans", "t1.in", "t1.ans"} <= {file.name for file in sent[-1].files}


def test_a_job_leaves_no_file_in_its_directory(server: Server, runner: Path) -> None:
    """Before anything else starts, the runner has removed the list of files and the tests that were sent."""
    job = judging_job(some_problem(*TEXTS), runner.read_bytes())
    variant = without_stored_files(job, set())
    assert variant is not None
    assert not missing_files(server.start(replace(variant.job)))
    assert list((server.jobs / "0").iterdir()) == []
