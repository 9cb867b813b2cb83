"""Recorded answers of a box to compile jobs, so that tests need no compiler."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from ioi_eval.model import Job, Stage


def plan_of(job: Job) -> str:
    """The runner's plan in a job; if the job also compiles, the compile plan is included."""
    plans = [file.content for file in job.files if file.name in ("plan", "steps")]
    return b"".join(plan for plan in plans if isinstance(plan, bytes)).decode()


def built(job: Job) -> Stage:
    """The answer to a job that compiles the runner, with a program as its result."""
    script = next(file.content for file in job.files if file.name == "run")
    assert isinstance(script, bytes)
    nonce = script.decode().split()[-1]
    binary, digest = base64.b64encode(b"runner").decode(), hashlib.sha256(b"runner").hexdigest()
    return Stage(
        stdout=f"{nonce}\n{binary}\n{digest}  -\n{nonce}\n",
        stderr="",
        code=0,
    )


def answer_text(lines: Sequence[Mapping[str, Any]], nonce: str, /, **end: object) -> str:
    """The runner's output: these lines, and the end line with their checksum. `end` replaces fields of the end line."""
    text = "".join(f"{orjson.dumps(line).decode()}\n" for line in lines)
    closing = {"end": True, "nonce": nonce, "lines": len(lines), "sum": f"{zlib.crc32(text.encode()):08x}"}
    return f"{text}{orjson.dumps({**closing, 'isolation': 'full', 'runner': 1, **end}).decode()}\n"


def step_answer(artifact: str | None = None, **changes: object) -> Callable[[Job], Stage]:
    """The runner's answer to a compile job: one step, its line with these changes, and the artifact if one is named."""

    def answer(job: Job) -> Stage:
        step: dict[str, object] = {"step": 0, "code": 0, "signal": 0, "limit": None, "killed": 0}
        step |= {"cpu_us": 1, "wall_us": 1, "memory_bytes": 1, "output": ""}
        lines: list[dict[str, object]] = [{**step, **changes}]
        if artifact is not None:
            lines.append({"artifact": artifact, "base64": base64.b64encode(b"x").decode(), "bytes": 1})
        nonce = plan_of(job).split("\n")[1].split()[1]
        return Stage(stdout=answer_text(lines, nonce), stderr="", code=0)

    return answer


def not_started(words: str) -> Stage:
    """The answer of a runner that could not start a step because the box lacks something."""
    line = {"fault": "system", "explanation": f"step 0 was not started: execute /opt/g++: {words}", "nonce": ""}
    return Stage(stdout=f"{orjson.dumps(line).decode()}\n", stderr="", code=1)
