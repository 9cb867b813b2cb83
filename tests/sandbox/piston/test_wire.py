"""Requests to a server: bodies, names, limits. Scripts that are added to jobs run in a real shell."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.errors import RejectedError
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox import DEFAULT_MEMORY_BYTES
from ioi_eval.sandbox.piston import literals, wire
from ioi_eval.sandbox.piston.two_stages import as_one_stage
from ioi_eval.sandbox.piston.wire import Ceilings, InstalledStarter, Starter
from tests.sandbox.arrived_files import arrived, content

LIMITS = StageLimits(wall_ms=4_000, cpu_ms=3_000, memory_bytes=1 << 28)
OURS = InstalledStarter(starter=Starter.IOI_EVAL, version="1.0.0")
BASH = InstalledStarter(starter=Starter.BASH, version="5.2.0")
CMS = InstalledStarter(starter=Starter.CMS_IOI, version="1.0.0")


def scripts(*files: JobFile, **changes: Any) -> Job:
    """A job of scripts."""
    return Job(kind=JobKind.SCRIPTS, files=files, run_limits=LIMITS, **changes)


def runner(*files: JobFile, **changes: Any) -> Job:
    """A job for the runner."""
    fixed = (JobFile(name="plan", content=b"end\n"), JobFile(name="runner", content=b"\x7fELF", executable=True))
    return Job(kind=JobKind.RUNNER, files=(*fixed, *files), run_limits=LIMITS, **changes)


def literal_of(file: JobFile) -> literals.Literal:
    """A file's literal."""
    assert isinstance(file.content, bytes)
    return literals.literal(file.content)


def encode(job: Job, installed: InstalledStarter, *, package: str = "") -> dict[str, Any]:
    """The parsed request, as a server reads it."""
    files = wire.sent_files(job, installed.starter, package=package)
    body = wire.body(job, installed, files, [literal_of(file) for file in files], package=package)
    assert all(isinstance(segment, bytes) for segment in body.segments)
    raw = b"".join(segment for segment in body.segments if isinstance(segment, bytes))
    assert len(raw) == body.size
    request: dict[str, Any] = json.loads(raw)
    return request


def max_run_s(job: Job, installed: InstalledStarter) -> float:
    """The maximum time of a job on a server, in seconds."""
    files = wire.sent_files(job, installed.starter)
    return wire.body(job, installed, files, [literal_of(file) for file in files]).max_run_s


def unpack(request: dict[str, Any], directory: Path) -> None:
    """Write the files of a request as a server does, with mode 644."""
    for file in request["files"]:
        path = directory / file["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(file))


@given(st.binary())
def test_literals_are_exact(data: bytes) -> None:
    """All byte strings are the same after a server has decoded the literal."""
    literal = literals.literal(data)
    assert content({"encoding": literal.encoding, "content": json.loads(literal.whole())}) == data


@given(st.text())
def test_text_is_never_longer_than_base64(text: str) -> None:
    """The literal of a text is at most as long as its base64."""
    data = text.encode("utf-8", "surrogatepass")
    assert literals.literal(data).size <= (len(data) + 2) // 3 * 4 + 2


def test_test_data_is_sent_as_text() -> None:
    """Numbers and line ends are shorter as JSON text than as base64; control characters are shorter as base64."""
    assert literals.literal(b"1 2 3\n" * 1000).encoding == "utf8"
    assert literals.literal(bytes(range(32)) * 100).encoding == "base64"
    assert literals.literal(b"\xff").encoding == "base64"


def test_large_contents_are_separate_segments() -> None:
    """A large content is a segment of the body and is not copied. Small contents are in the segments between."""
    large = b"7 " * 100_000
    job = scripts(*(JobFile(name=f"t{i}.in", content=large) for i in range(3)), JobFile(name="run", content=b"true\n"))
    files = wire.sent_files(job, Starter.BASH)
    literal = literals.literal(large)
    body = wire.body(job, BASH, files, [literal if file.content is large else literal_of(file) for file in files])
    assert sum(segment is literal.data for segment in body.segments) == 3
    assert len(body.segments) == 7


CHARACTERS = st.characters(min_codepoint=32, exclude_categories=["Cs"], exclude_characters='"\\')
"""Without those that JSON escapes: a text that is mostly these is shorter in base64, which is not a small text."""

TEXTS = st.lists(st.text(CHARACTERS, max_size=40).map(str.encode), max_size=6)


@given(texts=TEXTS, binaries=st.lists(st.binary(max_size=60), max_size=3), large=st.integers(16_000, 17_000))
def test_small_texts_for_the_runner_are_sent_as_one_file(texts: list[bytes], binaries: list[bytes], large: int) -> None:
    """The runner finds all files unchanged. Plans, and what others read, are sent as they are."""
    names = {f"t {number}": text for number, text in enumerate((*texts, *binaries, b"1" * large))}
    names |= {"steps": b"ioi-eval-runner 1\n", "stored": b"stored runner 12\n", "sums": b"12345678 plan\n"}
    request = encode(runner(*(JobFile(name=name, content=text) for name, text in names.items())), OURS)
    files = arrived(request)
    assert {name: files[name] for name in names} == names
    sent = {file["name"] for file in request["files"]}
    assert {"run", "runner", "steps", "stored", "sums"} <= sent
    assert not any(f"t {number}" in sent for number in range(len(texts)))


def test_programs_for_the_runner_are_deflated() -> None:
    """A program is sent in two fifths of its size. Text, and what does not get smaller, is not deflated."""
    program, noise = Path(sys.executable).resolve().read_bytes()[:200_000], random.Random(1).randbytes(5_000)
    job = runner(JobFile(name="checker", content=program, executable=True), JobFile(name="noise", content=noise))
    files = wire.sent_files(job, Starter.IOI_EVAL)
    contents = [literals.deflated(bytes(file.content)) for file in files]  # type: ignore[arg-type]
    body = wire.body(job, OURS, files, contents)
    request = json.loads(b"".join(segment for segment in body.segments if isinstance(segment, bytes)))
    assert {"checker.deflated", "noise"} <= {file["name"] for file in request["files"]}
    assert arrived(request)["checker"] == program
    assert body.size < len(program)
    assert not literals.deflated(b"1 2 3\n" * 10_000).deflated
    assert not literals.deflated(bytes(1 << 20)).deflated, "the runner refuses what becomes more than 32 times as long"


def test_files_of_scripts_are_not_packed() -> None:
    """Scripts find each file under its name."""
    job = scripts(*(JobFile(name=name, content=b"1") for name in ("run", "0.in", "1.in")))
    assert [file["name"] for file in encode(job, BASH)["files"]][1:] == ["0.in", "1.in"]


def test_small_files_beside_a_problem_s_package_are_sent_as_one() -> None:
    """The package's script gets the list of its own files, and all others for the runner."""
    tests = [JobFile(name=f"{number}.in", content=b"1 2") for number in range(30)]
    job = runner(*tests)
    job = replace(job, files=(JobFile(name="stored", content=b"stored runner 0 0\n"), *job.files))
    request = encode(job, OURS, package="ioi_eval_problem_1")
    assert [file["name"] for file in request["files"]] == ["stored", "runner", "packed"]
    assert arrived(request)["7.in"] == b"1 2"


def test_all_limits_are_always_sent() -> None:
    """A request has all limits, also for a stage that does not exist, or without a memory limit."""
    request = encode(scripts(JobFile(name="run", content=b"true\n")), BASH)
    assert (request["run_timeout"], request["run_cpu_time"], request["run_memory_limit"]) == (4_000, 3_000, 1 << 28)
    assert (request["compile_timeout"], request["compile_cpu_time"]) == (10_000, 10_000)
    assert request["compile_memory_limit"] == DEFAULT_MEMORY_BYTES


def test_the_runners_hard_limits_are_lowered_to_the_servers() -> None:
    """The runner enforces the real limits, so its job's limits are lowered to the server's. Scripts keep theirs."""
    ceilings = Ceilings(run_timeout=3_000, run_cpu_time=2_000, compile_timeout=5_000)
    installed = replace(BASH, ceilings=ceilings)
    lowered = encode(runner(), installed)
    assert (lowered["run_timeout"], lowered["run_cpu_time"], lowered["compile_timeout"]) == (3_000, 2_000, 5_000)
    kept = encode(scripts(JobFile(name="run", content=b"true\n")), installed)
    assert (kept["run_timeout"], kept["run_cpu_time"]) == (4_000, 3_000)
    script = JobFile(name="run", content=b"true\n")
    assert max_run_s(runner(), installed) == 3.0
    assert max_run_s(scripts(script), OURS) == 4.0
    assert max_run_s(scripts(script, compile_limits=LIMITS), OURS) == 8.0


@pytest.mark.parametrize(
    ("stages_ms", "queue_s"),
    [
        ((10_000, 3_000), 60),
        ((300_000, 600_000), 900),
        ((60_000, 120_000), 180),
        ((None, 3_000), 900),
        ((None, None), 900),
        ((1 << 31, 0), 900),
    ],
)
def test_job_may_wait_as_long_as_the_server_lets_another_run(
    stages_ms: tuple[int | None, int | None], queue_s: float
) -> None:
    """A job may wait for the compile and run limits of the server; 1 to 15 minutes; 15 if they are unknown."""
    compiling, running = stages_ms
    assert Ceilings(compile_timeout=compiling, run_timeout=running).queue_s == queue_s


@given(
    times=st.lists(st.integers(min_value=-5, max_value=1 << 70), min_size=4, max_size=4),
    memories=st.lists(st.none() | st.integers(min_value=0, max_value=1 << 70), min_size=2, max_size=2),
    ceiling=st.none() | st.integers(min_value=0, max_value=1 << 70),
    is_runner=st.booleans(),
    compiles=st.booleans(),
)
def test_numbers_are_within_what_servers_can_represent(
    times: list[int], memories: list[int | None], ceiling: int | None, is_runner: bool, compiles: bool
) -> None:
    """A bundle may need 60 days by the runner's rules. Node's timers can represent 24 days, isolate 2 TB of memory.

    Over these numbers, Node's timer fires at once, and isolate refuses its arguments. For isolate, 0 is no limit.
    """
    run = StageLimits(wall_ms=times[0], cpu_ms=times[1], memory_bytes=memories[0])
    compiling = StageLimits(wall_ms=times[2], cpu_ms=times[3], memory_bytes=memories[1]) if compiles else None
    job = replace(runner() if is_runner else scripts(JobFile(name="run", content=b"true\n")), run_limits=run)
    bounded = Ceilings(**dict.fromkeys(Ceilings.__dataclass_fields__, ceiling))
    request = encode(replace(job, compile_limits=compiling), replace(OURS, ceilings=bounded))
    for stage in ("run", "compile"):
        assert 1 <= request[f"{stage}_timeout"] <= 2**31 - 1
        assert 1 <= request[f"{stage}_cpu_time"] <= 2**31 - 1
        assert 1_000 <= request[f"{stage}_memory_limit"] < 2**31 * 1_000


def test_a_memory_limit_is_never_lowered() -> None:
    """A job's memory limit is not lowered, because verdicts would change. Our default for other stages is lowered."""
    installed = replace(BASH, ceilings=Ceilings(run_memory_limit=1 << 20, compile_memory_limit=1 << 20))
    request = encode(runner(), installed)
    assert (request["run_memory_limit"], request["compile_memory_limit"]) == (1 << 28, 1 << 20)


@pytest.mark.parametrize("installed", [OURS, BASH], ids=["ioi_eval", "bash"])
def test_the_runner_is_started_by_a_script(installed: InstalledStarter, tmp_path: Path) -> None:
    """The first file of a runner job is a script that makes the runner executable and starts it with `exec`.

    The runner itself starts other programs, whatever their mode.
    """
    program = b'#!/bin/sh\necho "$@"; test -e other && test ! -x other && test -z "$(cat)"\n'
    job = Job(
        kind=JobKind.RUNNER,
        files=(
            JobFile(name="runner", content=program, executable=True),
            JobFile(name="other", content=b"\x00", executable=True),
            JobFile(name="data", content=b"1\n"),
        ),
        run_limits=LIMITS,
        args=("a b",),
    )
    request = encode(job, installed)
    assert (request["language"], request["files"][0]["name"]) == (installed.starter.value, "run")
    unpack(request, tmp_path)
    command = ["bash", request["files"][0]["name"], *request["args"]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, input="not this", check=True)
    assert done.stdout == "--dir . a b\n"


def test_standard_input_is_empty(tmp_path: Path) -> None:
    """Also if the server gives the script something to read."""
    job = scripts(JobFile(name="run", content=b"#!/bin/bash\ncat\necho $LINENO >&2\n"))
    request = encode(job, OURS)
    assert "stdin" not in request
    unpack(request, tmp_path)
    done = subprocess.run(["bash", "run"], cwd=tmp_path, capture_output=True, input=b"\n", check=True)
    assert done.stdout == b""
    assert done.stderr == b"3\n", "the script keeps its line numbers"


def test_modes_are_restored_before_the_first_script(tmp_path: Path) -> None:
    """Files that a job marks are executable when `compile` starts, also if their names have blanks or dashes."""
    job = scripts(
        JobFile(name="run", content=b"true\n"),
        JobFile(name="compile", content=b"./-a\\ tool && sub/b\n"),
        JobFile(name="-a tool", content=b"#!/bin/sh\necho 1\n", executable=True),
        JobFile(name="sub/b", content=b"#!/bin/sh\necho 2\n", executable=True),
    )
    request = encode(job, OURS)
    assert request["files"][0]["name"] == "run"
    unpack(request, tmp_path)
    assert subprocess.run(["bash", "compile"], cwd=tmp_path, capture_output=True, check=True).stdout == b"1\n2\n"


def test_cms_ioi_gets_files_only() -> None:
    """The `cms_ioi` package runs its own scripts: a job gets no additional script, and one with scripts is refused."""
    files = [("graders/a.cpp", b"int x;"), ("input.txt", b"1\n")]
    job = scripts(*(JobFile(name=name, content=data) for name, data in files))
    request = encode(job, CMS)
    assert request["language"] == "cms_ioi"
    assert {file["name"]: content(file) for file in request["files"]} == dict(files)
    others = tuple(JobFile(name=name, content=b"true") for name in ("compile", "run"))
    with pytest.raises(RejectedError, match="no scripts of others"):
        encode(replace(job, files=(*job.files, *others)), CMS)


def test_a_server_that_allows_less_than_both_stages_together() -> None:
    """A joined script enforces the limits of its stages, so its job requests the server's limit."""
    both = scripts(*(JobFile(name=name, content=b"true") for name in ("compile", "run")))
    allows = replace(BASH, ceilings=Ceilings(run_timeout=3000, run_cpu_time=3000))
    assert encode(as_one_stage(both), allows)["run_timeout"] == 3000
    assert encode(replace(both, files=both.files[1:]), allows)["run_timeout"] == LIMITS.wall_ms


@pytest.mark.parametrize(
    ("job", "installed", "words"),
    [
        (scripts(JobFile(name="compile", content=b""), JobFile(name="run", content=b"")), BASH, "no compile stage"),
        (scripts(JobFile(name="other", content=b"")), OURS, "needs a file 'run'"),
        (runner(), CMS, "own scripts only"),
        (runner(JobFile(name="packed", content=b"")), OURS, "the runner reads 'packed' itself"),
        (runner(JobFile(name="a.deflated", content=b"")), OURS, "the runner reads 'a.deflated' itself"),
        (scripts(JobFile(name="a.cpp", content=b""), args=("1",)), CMS, "no arguments"),
        (scripts(JobFile(name="a.cpp", content=b"\xff")), CMS, "must be text"),
        (scripts(JobFile(name="run", content=b"\xff")), BASH, "must be text"),
    ],
)
def test_jobs_that_a_package_cannot_run(job: Job, installed: InstalledStarter, words: str) -> None:
    """A job that a package cannot run correctly is refused with the reason, before it is sent."""
    with pytest.raises(RejectedError, match=words):
        encode(job, installed)


@pytest.mark.parametrize(
    "names",
    [
        ("../x",),
        ("/etc/x",),
        ("a//b",),
        ("a/./b",),
        ("",),
        ("nul\0",),
        ("x" * 256,),
        ("é" * 128,),
        ("a", "a/b"),
        ("a/b/c", "a/b"),
        ("same", "same"),
    ],
)
def test_names_that_break_servers(names: tuple[str, ...]) -> None:
    """File names for which servers answer with an empty 500, or which they silently change, are refused."""
    job = scripts(JobFile(name="run", content=b"true\n"), *(JobFile(name=name, content=b"") for name in names))
    with pytest.raises(RejectedError):
        wire.sent_files(job, Starter.BASH)


def test_ordinary_names_are_accepted() -> None:
    """Names with directories, blanks and other scripts of Unicode are accepted."""
    names = ("graders/nile.h", "graders/nile.cpp", "a b é.txt", "..x", "y" * 255)
    job = scripts(JobFile(name="run", content=b"true\n"), *(JobFile(name=name, content=b"") for name in names))
    assert [file.name for file in wire.sent_files(job, Starter.BASH)] == ["run", *names]
