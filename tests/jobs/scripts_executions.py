"""Executions of classic jobs: recorded ones, and ones with chosen fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ioi_eval.errors import SandboxError
from ioi_eval.jobs import scripts_answer
from ioi_eval.jobs.scripts_answer import compile_outcome
from ioi_eval.model import Execution, Stage, Verdict
from ioi_eval.sandbox.piston import answer


def recorded(shared: Path, generation: str, name: str) -> Execution:
    """The recorded execution of a real server."""
    transcript = json.loads((shared / "piston-transcripts" / generation / f"{name}.json").read_bytes())
    return answer.execution(transcript["http_status"], json.dumps(transcript["response"]).encode())


def verdict_of(execution: Execution) -> str:
    """Our verdict in the notation of the table."""
    try:
        compiled = compile_outcome(execution, memory_limit_bytes=30_000_000)
        if compiled.verdict is not None:
            return compiled.verdict.value
        outcome = scripts_answer.test_outcome(execution, "t1")
    except SandboxError:
        return "JE!"
    assert (outcome.score is None) == (outcome.verdict is Verdict.JE)
    ended = outcome.signal or outcome.exit_code
    return outcome.verdict.value if ended is None else f"{outcome.verdict.value} {ended}"


def execution(**run: Any) -> Execution:
    """An execution whose run stage has these fields."""
    return Execution(run=Stage(**{"stdout": "1\n", "stderr": "", "code": 0, **run}))


def compilation(stderr: str, *, code: int | None = 1, stdout: str = "Problem name: x\n", **more: Any) -> Execution:
    """An execution whose compile stage failed with this stderr."""
    stage = Stage(stdout=stdout, stderr=stderr, code=code, **more)
    return Execution(run=stage, compile=stage)
