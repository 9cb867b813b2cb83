"""Runs a job of two stages in one: the stock `bash` package has no compile stage. Pure.

One script starts `compile` and `run` one after the other, each with its own time limit and output, and both stages are
read from its output. The server limits memory, with one limit for both stages.

Each stage prints three lines: its name with its exit code, or `killed`; its stdout in base64; its stderr.
"""

from __future__ import annotations

import base64
from dataclasses import replace

from ioi_eval.errors import TransportError
from ioi_eval.model import Execution, Job, JobFile, JobKind, Stage, StageLimits

_SCRIPTS = {"compile": "compile.stage", "run": "run.stage"}  # new names; a new `run` starts both
_SLACK_MS = 10_000  # so that the stages reach their limits before the server's

_BOTH = """stage() {
    local name=$1 script=$2 ms=$3 most=$4 code began=${EPOCHREALTIME/[^0-9]/}
    shift 4
    timeout -s KILL "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))" bash "$script" "$@" > ".$name.1" 2> ".$name.2"
    code=$?  # 137, or 124 where timeout is that of uutils
    (((code == 137 || code == 124) && (${EPOCHREALTIME/[^0-9]/} - began) / 1000 >= ms)) && code=killed
    [ "$(stat -c %s ".$name.1")" -gt "$most" ] || [ "$(stat -c %s ".$name.2")" -gt "$most" ] && code=killed
    printf '%s %s\\n' "$name" "$code"
    head -c "$most" ".$name.1" | base64 -w 0 && echo && head -c "$most" ".$name.2" | base64 -w 0 && echo
    [ "$code" = 0 ]
}
"""


def has_two_stages(job: Job) -> bool:
    """Whether a job has scripts for both stages."""
    return job.kind is JobKind.SCRIPTS and {"compile", "run"} <= {file.name for file in job.files}


def was_joined(job: Job) -> bool:
    """Whether `as_one_stage` made this job."""
    return any(file.name == _SCRIPTS["run"] for file in job.files)


def as_one_stage(job: Job) -> Job:
    """The job with one stage that does the same as this job with two."""
    compiling, running = job.compile_limits or job.run_limits, job.run_limits
    bounds = [f"{limits.wall_ms} {limits.output_bytes}" for limits in (compiling, running)]
    script = (
        f"{_BOTH}stage compile {_SCRIPTS['compile']} {bounds[0]} < /dev/null &&"
        f' stage run {_SCRIPTS["run"]} {bounds[1]} "$@"\nexit 0\n'
    )
    files = [replace(file, name=_SCRIPTS.get(file.name, file.name)) for file in job.files]
    memories = [limits.memory_bytes for limits in (compiling, running)]
    named = [memory for memory in memories if memory is not None]
    return replace(
        job,
        files=(JobFile(name="run", content=script.encode()), *files),
        compile_limits=None,
        run_limits=StageLimits(
            wall_ms=compiling.wall_ms + running.wall_ms + _SLACK_MS,
            cpu_ms=compiling.cpu_ms + running.cpu_ms + _SLACK_MS,
            memory_bytes=max(named) if len(named) == len(memories) else None,
            output_bytes=3 * (compiling.output_bytes + running.output_bytes),
        ),
    )


def split_stages(execution: Execution) -> Execution:
    """The two stages from the answer to a job that `as_one_stage` made; TransportError if it is not complete."""
    lines = execution.run.stdout.splitlines()
    stages: dict[str, Stage] = {}
    try:
        for start in range(0, len(lines), 3):
            head, stdout, stderr = lines[start : start + 3]
            name, code = head.split(" ")
            stages[name] = _stage(code, *(base64.b64decode(text, validate=True) for text in (stdout, stderr)))
        compiled = stages.pop("compile")
        run = compiled if compiled.code != 0 else stages.pop("run")
    except (ValueError, KeyError):
        output = (execution.run.stderr.strip() or execution.run.stdout)[-200:]
        raise TransportError(f"the answer lacks a part of the job's two stages: {output!r}") from None
    if stages:
        raise TransportError(f"a job's answer names other stages: {', '.join(stages)}")
    return Execution(compile=compiled, run=run)


def _stage(code: str, stdout: bytes, stderr: bytes) -> Stage:
    killed = code == "killed"
    return Stage(
        stdout=stdout.decode("utf-8", "replace"),
        stderr=stderr.decode("utf-8", "replace"),
        code=None if killed else int(code),
        signal="SIGKILL" if killed else None,
    )
