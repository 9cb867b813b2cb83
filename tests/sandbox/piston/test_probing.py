"""Probes of a worker: the probe script runs here in a real shell, and as a real program."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.model import Execution, Profile, Stage
from ioi_eval.sandbox.piston import probing, wire
from ioi_eval.sandbox.piston.wire import Ceilings, InstalledStarter, Runtime, Starter

NONCE = "ab" * 16
BASH = InstalledStarter(starter=Starter.BASH, version="5.2.0")
STOCK = InstalledStarter(starter=Starter.CMS_IOI, version="1.0.0")


def run_probe(directory: Path, padding: int, **environment: str) -> Execution:
    """Run the script as a server does, with these changes to its environment."""
    job = probing.probe_job(BASH, NONCE, padding)
    for file in wire.sent_files(job, Starter.BASH):
        assert isinstance(file.content, bytes)
        (directory / file.name).write_bytes(file.content)
    done = subprocess.run(
        ["bash", "run", *job.args],
        cwd=directory,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return Execution(run=Stage(stdout=done.stdout, stderr=done.stderr, code=done.returncode))


def test_report_of_this_machine(tmp_path: Path) -> None:
    """The script reports the compiler of this machine, and its Python."""
    report = probing.read_probe(run_probe(tmp_path, probing.PADDING), NONCE, probing.PADDING)
    assert report is not None
    version = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    machine = subprocess.run(["g++", "-dumpmachine"], capture_output=True, text=True, check=True).stdout.strip()
    compiler = report.compilers[0]
    assert (compiler.version, compiler.machine) == (version, machine)
    assert Path(compiler.command).name == "g++"
    assert report.processors >= 1
    assert report.clock_s > 1_700_000_000
    assert report.kernel
    python = subprocess.run(["python3", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    assert re.fullmatch(rf"{re.escape(python)} [0-9a-f]{{8}}", report.python)


def test_report_of_a_machine_without_python(tmp_path: Path) -> None:
    """The rest of the report is complete."""
    (tmp_path / "python3").write_text("#!/bin/sh\necho missing >&2\nexit 127\n")
    (tmp_path / "python3").chmod(0o755)
    done = run_probe(tmp_path, probing.PADDING, PATH=f"{tmp_path}:{os.environ['PATH']}")
    report = probing.read_probe(done, NONCE, probing.PADDING)
    assert report is not None
    assert (report.python, bool(report.kernel)) == ("", True)


def test_report_of_a_machine_without_a_compiler(tmp_path: Path) -> None:
    """The rest of the report is complete. A worker that allows a job too few processes or files answers so too."""
    done = run_probe(tmp_path, 50)
    printed = re.sub(r"^compiler\t.*\n", "", done.run.stdout, flags=re.M)
    report = probing.read_probe(Execution(run=replace(done.run, stdout=printed)), NONCE, 50)
    assert report is not None
    assert (report.compilers, bool(report.kernel)) == ((), True)


@pytest.mark.parametrize("padding", [0, probing.OUTPUT_LADDER[-1]])
def test_measurements_of_sizes_look_for_no_files(tmp_path: Path, padding: int) -> None:
    """The files of the compiler and of Python are looked for once, in the probe itself."""
    report = probing.read_probe(run_probe(tmp_path, padding), NONCE, padding)
    assert report is not None
    assert report.compilers[0].sees == ()
    assert report.python == ""


def test_report_by_the_scripts_of_cms_ioi(tmp_path: Path) -> None:
    """The probe program for the scripts of `cms_ioi` compiles, and reports the same."""
    job = probing.probe_job(STOCK, NONCE, 10)
    for file in job.files:
        path = tmp_path / file.name
        path.parent.mkdir(exist_ok=True)
        assert isinstance(file.content, bytes)
        path.write_bytes(file.content)
    assert all(file.name not in {"correct_output.txt", "run"} for file in job.files)
    sources = ["graders/probe.cpp", "graders/grader.cpp"]
    subprocess.run(["g++", "-std=gnu++17", "-O2", "-o", "graders/probe", *sources], cwd=tmp_path, check=True)
    with (tmp_path / "input.txt").open() as given:
        done = subprocess.run([tmp_path / "graders/probe"], stdin=given, capture_output=True, text=True, check=True)
    report = probing.read_probe(Execution(run=Stage(stdout=done.stdout, stderr="", code=0)), NONCE, 10)
    assert report is not None
    assert report.compilers[0].version.startswith("g++ ")
    assert report.clock_s > 1_700_000_000


@pytest.mark.parametrize("damage", ["", "begin", "padding", "end", "code"])
def test_a_damaged_report_is_refused(tmp_path: Path, damage: str) -> None:
    """A report with a missing part is refused: over its output limit, a server may drop the middle of the output."""
    whole = run_probe(tmp_path, 50)
    changed = {
        "": whole.run,
        "begin": replace(whole.run, stdout=whole.run.stdout.split("\n", 1)[1]),
        "padding": replace(whole.run, stdout=whole.run.stdout.replace("x" * 50, "")),
        "end": replace(whole.run, stdout=whole.run.stdout.rsplit("\n", 2)[0]),
        "code": replace(whole.run, code=None, signal="SIGKILL"),
    }[damage]
    assert (probing.read_probe(Execution(run=changed), NONCE, 50) is None) == bool(damage)


def test_ceilings_are_learned_one_by_one() -> None:
    """Each refusal lowers one limit of the next request. A refusal without a new limit ends the exploration."""
    first = probing.probe_job(BASH, NONCE, 0)
    assert first.run_limits.wall_ms == wire.LONGEST_ON_SERVER_MS
    assert first.run_limits.memory_bytes == wire.MAX_MEMORY_BYTES
    learned = probing.with_ceiling(BASH, ("run_timeout", 3_000))
    assert learned is not None
    assert learned.ceilings == Ceilings(run_timeout=3_000)
    assert probing.probe_job(learned, NONCE, 0).run_limits.wall_ms == 3_000
    assert probing.with_ceiling(learned, ("run_timeout", 2_000)) is None
    assert probing.with_ceiling(BASH, ("unknown_limit", 1)) is None


def test_the_best_package_of_a_profile() -> None:
    """Our package comes before others. The latest version counts, compared by numbers; each must fit the profile."""
    names = ("bash", "5.2.0"), ("cms", "1.0.0"), ("ioi_eval", "1.9.0"), ("ioi_eval", "1.10.0"), ("python", "3.11.2")
    runtimes = tuple(
        Runtime(language=name, version=version, aliases=("cms_ioi",) if name == "cms" else ())
        for name, version in names
    )
    assert [(each.starter, each.version) for each in probing.starters(runtimes, None)] == [
        (Starter.IOI_EVAL, "1.10.0"),
        (Starter.BASH, "5.2.0"),
        (Starter.CMS_IOI, "1.0.0"),
    ]
    assert [each.starter for each in probing.starters(runtimes, Profile.CLASSIC)] == [
        Starter.IOI_EVAL,
        Starter.CMS_IOI,
    ]
    assert [each.starter for each in probing.starters(runtimes[:1], Profile.CLASSIC)] == []


def test_our_package_with_the_alias_cms_ioi() -> None:
    """Our package has the alias `cms_ioi` for the reference's clients, and is still recognised as ours."""
    ours = Runtime(language="ioi_eval", version="1.0.0", aliases=("cms_ioi",))
    assert [each.starter for each in probing.starters((ours,), Profile.CLASSIC)] == [Starter.IOI_EVAL]
    theirs = Runtime(language="cms", version="1.0.0", aliases=("cms_ioi",))
    assert [each.starter for each in probing.starters((ours, theirs), None)] == [
        Starter.IOI_EVAL,
        Starter.CMS_IOI,
    ]


@pytest.mark.parametrize("size", [50, 100, 5_000_000])
def test_padded_requests(size: int) -> None:
    """A padded request, when unpacked, has the required length and the same JSON."""
    body = b'{"language": "bash", "version": "*", "files": []}'
    packed = probing.padded(body, size)
    unpacked = gzip.decompress(packed)
    assert len(unpacked) == size
    assert unpacked.rstrip() == body
    assert len(packed) < 100 + size // 100


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_many_digits_is_no_number(digits: int) -> None:
    """Whatever a worker prints, it is never an exception: that would end the run for all workers."""
    long = "9" * digits
    facts = "".join(f"{name}\t{long}\t\n" for name in ("clock", "processors", "file_kib"))
    printed = f"begin\t{NONCE}\t\n{facts}x\nend\t{NONCE}\t\n"
    report = probing.read_probe(Execution(run=Stage(stdout=printed, stderr="", code=0)), NONCE, 1)
    assert report is not None
    assert (report.clock_s, report.processors, report.file_kib) == (0, 0, None)
    listed = tuple(Runtime(language="bash", version=version) for version in (f"5.{long}.0", "5.2.0"))
    assert [starter.version for starter in probing.starters(listed, None)] == ["5.2.0"]
