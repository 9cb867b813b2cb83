"""A sandbox that runs nothing: it answers each job in the runner's protocol, always the same for one program and test.

In place of a compiled program it uses the hash of its sources. A test's verdict is computed from that hash and the
test's position. So a dump of 100,000 rows measures all of `ioi-eval score` except compilers and programs, and two runs
are equal byte by byte.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any

import orjson

from ioi_eval.model import Blob, Content, Execution, Isolation, Job, JobKind, Profile, Stage
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain

SLOTS = 2
_STEP = {"code": 0, "signal": 0, "limit": None, "cpu_us": 1000, "wall_us": 1000, "memory_bytes": 1 << 20, "output": ""}
_TEST: dict[str, Any] = {
    "message": "", "cpu_us": 10_000, "wall_us": 12_000, "idle_us": 0, "memory_bytes": 1 << 22, "code": 0, "signal": 0,
    "limit": None, "attempted": {}, "stderr": "", "judge": {"cpu_us": 0, "wall_us": 0},
}  # fmt: skip


class FastSandbox:
    """One target that answers at once."""

    def targets(self) -> Sequence[Target]:
        """One target."""
        toolchain = Toolchain(command="g++", version="12", machine="x86_64", static=True)
        return (
            Target(name="fast", profile=Profile.BUNDLED, toolchain=toolchain, slots=SLOTS, isolation=Isolation.FULL),
        )

    async def execute(self, job: Job, target: Target) -> Execution:  # noqa: ARG002 - the only one
        """Answer a script that compiles the runner, or a plan."""
        files = {file.name: file.content for file in job.files}
        script = files["run" if job.kind is JobKind.SCRIPTS else "plan"]
        assert isinstance(script, bytes)
        if job.kind is JobKind.SCRIPTS:
            nonce = script.decode().split()[-1]
            binary, digest = base64.b64encode(b"runner").decode(), hashlib.sha256(b"runner").hexdigest()
            return _execution(f"{nonce}\n{binary}\n{digest}  -\n{nonce}\n")
        plan = script.decode().splitlines()
        nonce = next(line.split()[1] for line in plan if line.startswith("nonce "))
        lines = list(_compile_lines(plan, files) if "mode compile" in plan else _test_lines(plan, files))
        text = "".join(f"{orjson.dumps(line).decode()}\n" for line in lines)
        end = {"end": True, "nonce": nonce, "lines": len(lines), "sum": f"{zlib.crc32(text.encode()):08x}"}
        return _execution(f"{text}{orjson.dumps({**end, 'isolation': 'full', 'runner': 1}).decode()}\n")


def _compile_lines(plan: Sequence[str], files: dict[str, Content]) -> Iterator[dict[str, Any]]:
    yield from ({"step": n, **_STEP} for n in range(sum(line.startswith("step ") for line in plan)))
    content = _hash(*(_bytes_of(files[name]) for name in sorted(files) if name != "plan"))
    for line in plan:
        if line.startswith("artifact "):
            keys = _keys(line)
            name = keys.get("as", keys["path"])
            yield {"artifact": name, "base64": base64.b64encode(content).decode(), "bytes": len(content)}


def _test_lines(plan: Sequence[str], files: dict[str, Content]) -> Iterator[dict[str, Any]]:
    program = next(_keys(line)["file"] for line in plan if line.startswith("program "))
    for keys in (_keys(line) for line in plan if line.startswith("test ")):
        is_right = _hash(_bytes_of(files[program]), _bytes_of(files[keys["input"]]))[0] < 200
        verdict, score = ("AC", "1") if is_right else ("WA", "0")
        yield {"test": int(keys["id"]), "verdict": verdict, "score": score, **_TEST}


def _bytes_of(content: Content) -> bytes:
    return content.sha256.encode() if isinstance(content, Blob) else content


def _keys(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)


def _hash(*parts: bytes) -> bytes:
    return blake2b(b"\0".join(parts), digest_size=16).digest()


def _execution(stdout: str) -> Execution:
    return Execution(run=Stage(stdout=stdout, stderr="", code=0))


@asynccontextmanager
async def open_fast() -> AsyncIterator[FastSandbox]:
    """The function of the entry point."""
    yield FastSandbox()
