"""Which runner a target's first job uses: that of its package, the shipped one, or one that is compiled there."""

from __future__ import annotations

import hashlib
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError, TransportError
from ioi_eval.jobs.find_runner import find_runner_job, runner_binary
from ioi_eval.model import Execution, Stage
from ioi_eval.toolchain import Toolchain

SHIPPED = b'#!/bin/sh\n[ "$1" = --version ]\n'
BROKEN = b"#!/bin/sh\nexit 1\n"
COMPILED = b"compiled\n"


def answer(
    directory: Path, *, shipped: bytes | None, mode: int = 0o755, judge: Path | None = None, changes: str = ""
) -> bytes:
    """The output of the job in a directory, with a compiler that makes the same program of any source.

    `changes` simulates a network that changes one byte of the source, or of the returned program.
    """
    compiler = directory / "compiler"
    compiler.write_text("#!/bin/sh\nprintf 'compiled\\n' > runner\n")
    toolchain = Toolchain(command=f"sh {compiler}", version="", machine="x86_64-linux-gnu", static=True)
    nonce = secrets.token_hex(16)
    script = b""
    for file in find_runner_job(toolchain, nonce=nonce, shipped=shipped).files:
        assert isinstance(file.content, bytes)
        if file.name == "run":
            script = file.content.replace(f"'sh {compiler}'".encode(), f"sh {compiler}".encode())
            continue
        content = file.content.replace(b"int main(", b"int nain(") if changes == "source" else file.content
        (directory / file.name).write_bytes(content)
        (directory / file.name).chmod(mode if file.executable else 0o644)
    environment = {"PATH": "/usr/bin:/bin", "IOI_EVAL_JUDGE": str(judge or "")}
    done = subprocess.run(
        ["bash", "-s"],
        input=script.decode(),
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    stdout = done.stdout.replace("Y29t", "Y29s") if changes == "program" else done.stdout
    stage = Stage(stdout=stdout, stderr=done.stderr, code=done.returncode)
    return runner_binary(Execution(run=stage), nonce, shipped)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The directory of our Piston package with a runner."""
    judge = tmp_path / "judge"
    judge.mkdir()
    (judge / "runner").write_bytes(SHIPPED + b"# the package's\n")
    (judge / "runner").chmod(0o755)
    (judge / "runner.digest").write_text(f"{boxfiles.runner_files_digest()}\n")
    return judge


@pytest.fixture
def noexec(tmp_path: Path) -> Iterator[Path]:
    """A directory in which no program can be started."""
    directory = tmp_path / "noexec"
    directory.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", str(directory)], check=False).returncode:
        pytest.skip("may not mount a file system here")
    try:
        yield directory
    finally:
        subprocess.run(["umount", str(directory)], check=True)


@pytest.mark.parametrize("mode", [0o755, 0o644], ids=["as here", "as on Piston"])
def test_the_shipped_runner_is_used_if_it_can_be_started(tmp_path: Path, mode: int) -> None:
    """It is not sent back."""
    assert answer(tmp_path, shipped=SHIPPED, mode=mode) == SHIPPED


def test_otherwise_the_runner_is_compiled(tmp_path: Path) -> None:
    """By the target's compiler, if no runner is shipped or it cannot be started."""
    assert answer(tmp_path, shipped=None) == COMPILED
    assert answer(tmp_path, shipped=BROKEN) == COMPILED


def test_the_package_s_runner_has_precedence(tmp_path: Path, package: Path) -> None:
    """Only if it was built from the same sources."""
    assert answer(tmp_path, shipped=SHIPPED, judge=package).endswith(b"# the package's\n")
    (package / "runner.digest").write_text(hashlib.sha256(b"").hexdigest())
    assert answer(tmp_path, shipped=SHIPPED, judge=package) == SHIPPED


@pytest.mark.root
def test_the_shipped_runner_is_not_tried_in_a_noexec_directory(noexec: Path) -> None:
    """As with Docker's `--tmpfs /tmp`. A compiled runner is not tried there either."""
    assert answer(noexec, shipped=SHIPPED) == SHIPPED


@pytest.mark.parametrize("changes", ["source", "program"])
def test_a_runner_changed_in_transit_is_not_used(tmp_path: Path, changes: str) -> None:
    """The runner is stored, and judges all later submissions."""
    assert answer(tmp_path, shipped=None) == COMPILED
    with pytest.raises(TransportError, match=r"changed on the way|hash differs"):
        answer(tmp_path, shipped=None, changes=changes)


def test_the_answer_shipped_without_a_shipped_runner_is_refused() -> None:
    """Such an answer is damaged."""
    nonce = secrets.token_hex(16)
    stage = Stage(stdout=f"{nonce}\nshipped\n{'0' * 64}  -\n{nonce}\n", stderr="", code=0)
    with pytest.raises(TransportError, match="damaged"):
        runner_binary(Execution(run=stage), nonce)


def test_the_compiler_s_message_is_in_the_error(tmp_path: Path) -> None:
    """There is no runner in this case."""
    (tmp_path / "runner").mkdir()
    with pytest.raises(SetupError, match="does not compile on this target"):
        answer(tmp_path, shipped=None)
