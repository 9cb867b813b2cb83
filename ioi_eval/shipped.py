"""Our own programs that the wheel contains in compiled form, so that a new machine need not compile them first.

    hatch_build.py ── build ── built/{runner, stages, record.json} in the wheel ── content_for ── its callers

For each program, the record has the machine, the source and the flags that it was built for, and its hash. Before a
program is used, these are compared with the source in this package, with the flags that we would use, and with the
file. The caller also tries once to start it. If anything differs, or there is no compiled program (in a checkout, on
another processor, in a wheel that was built without a compiler), the program is compiled from its source. It is linked
statically and needs only the machine's kernel: system call numbers are fixed, and definitions that older headers lack
are in the source (`graders/runner/system.h`).
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError

MACHINE = "x86_64"
"""The machine, as `uname -m` and compilers name it. Source: graders/runner/system.h supports no other."""

RUNNER, STAGE_RUNNER = "runner", "stages"
_DEADLINE_S = 300
_RECORD = "record.json"
_BUILT = Path(__file__).resolve().parent / "built"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedProgram:
    """A compiled program in this package."""

    content: bytes | None = None  # of the file; `None` if the program must be compiled
    why_not: str = ""  # why an existing file cannot be used, and what to do


def content_for(name: str, machine: str) -> bytes | None:
    """The content of a program for a machine, by its compiler's target triple; `None` if it must be compiled."""
    return checked_program(name).content if machine.startswith(f"{MACHINE}-") else None


def require_machine(compiler: str, machine: str, what_to_do: str = "") -> None:
    """Refuse a compiler that makes programs for another machine, by its target triple (`aarch64-linux-gnu`), with a
    SetupError. `compiler` and `what_to_do` are for its message."""
    if not machine.startswith(MACHINE):
        raise SetupError(f"{compiler} makes programs for {machine}, and the runner is made for x86-64{what_to_do}")


@cache
def checked_program(name: str, directory: Path = _BUILT) -> ShippedProgram:
    """A compiled program, in a directory that `build` has filled, compared with its record and its source."""
    try:
        record = json.loads((directory / _RECORD).read_bytes())[name]
    except FileNotFoundError:
        return ShippedProgram()
    except (OSError, ValueError, KeyError, TypeError) as error:
        return _unusable(name, f"has a record that cannot be read ({error!r})")
    try:
        content = (directory / name).read_bytes()
        if record["built_from"] != _built_from(name):
            return _unusable(name, "was built from another source")
        if record["sha256"] != hashlib.sha256(content).hexdigest():
            return _unusable(name, "does not match its hash: it was damaged or replaced")
    except (OSError, ValueError, KeyError, TypeError) as error:
        return _unusable(name, f"cannot be read ({error!r})")
    return ShippedProgram(content=content)


def build(directory: Path, compiler: str) -> None:
    """Fill an existing directory with the programs and their record. SetupError if they do not compile, cannot be
    linked statically, or cannot be started here."""
    record: dict[str, Mapping[str, Any]] = {}
    version = _run([compiler, "--version"]).splitlines()[0]
    for name in (RUNNER, STAGE_RUNNER):
        path = directory / name
        with tempfile.TemporaryDirectory() as sources:
            source = Path(sources) / f"{name}.cpp"
            source.write_bytes(boxfiles.source_of(f"{name}.cpp"))
            _run([compiler, *boxfiles.STATIC_FLAGS, str(source), "-o", str(path)])
        path.chmod(0o755)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        record[name] = {"built_from": _built_from(name), "compiler": version, "sha256": digest}
    if not _run([str(directory / RUNNER), "--version"]).startswith("ioi-eval-runner "):
        raise SetupError("the runner does not say its version")
    (directory / _RECORD).write_text(json.dumps(record, indent=1) + "\n")


def _built_from(name: str) -> Mapping[str, object]:
    """The inputs of a program's build."""
    source = hashlib.sha256(boxfiles.source_of(f"{name}.cpp")).hexdigest()
    return {"machine": MACHINE, "source": source, "flags": list(boxfiles.STATIC_FLAGS)}


def _unusable(name: str, problem: str) -> ShippedProgram:
    return ShippedProgram(why_not=f"the program {name} of this package {problem}; install ioi-eval again")


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_DEADLINE_S, check=True)
    except subprocess.CalledProcessError as error:
        raise SetupError(f"{command[0]} failed: {str(error.stderr).strip()[-2000:]}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError(f"{command[0]} cannot be started: {error}") from error
    return done.stdout
