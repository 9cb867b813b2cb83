"""Script jobs in the embedded sandbox: `bash compile`, then `bash run`, in one box that is removed afterwards.

    files ── bwrap --file ── /box ── stages (PID 1) ── bash compile ── bash run ── frames ── Execution

The files are copied into a tmpfs of the box's own mount namespace, so of this machine the scripts can only read the
system's programs and libraries. `graders/stages.cpp` (the stage runner) is the box's PID 1: it enforces the limits,
reports how each stage ended, and kills all processes that remain after a stage.

How exact the limits are:
- Wall clock and CPU time apply to the stage as a whole, within about 10 ms; only children of processes that ignore
  SIGCHLD are missing in the sum of CPU time (they count for the wall clock).
- Memory is the resident memory of all processes together, measured every 10 ms; shared memory counts for each process.
  Over the limit, the largest process is killed. Files in `/box` and `/tmp` (1 GiB each) are not counted, nor is memory
  that no process maps (memory files, SysV shared memory): nothing limits that.
- Output is cut at the limit and the stage killed.

A script can destroy its own job's answer (a `TransientError`), but it cannot forge a status.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ioi_eval import boxfiles, shipped
from ioi_eval.concurrency import in_new_thread
from ioi_eval.errors import RejectedError, SandboxError, SetupError, TransientError
from ioi_eval.model import Execution, Job, JobFile, Stage, StageLimits, signal_name
from ioi_eval.sandbox import DEFAULT_MEMORY_BYTES
from ioi_eval.sandbox.local.confinement import PATH, as_user, in_namespaces
from ioi_eval.sandbox.local.descriptors import descriptors
from ioi_eval.sandbox.local.work_directories import work_directory
from ioi_eval.sandbox.process import ProcessEnd, run_process
from ioi_eval.slots import Once
from ioi_eval.toolchain import Toolchain

_BUILD_WALL_MS = 120_000
_START_MS = 10_000  # for starting the box and placing the files, on a loaded machine
_HEADER_BYTES = 4096
_PIECE = 1 << 20  # bytes of output that are decoded at once; a longer answer is read in a thread
_NOTHING = -1  # the stage runner reads this as /dev/null
_NOT_PID_1 = 2  # the stage runner's exit code outside of a box. Source: graders/stages.cpp

_stage_runners: Once[Toolchain, JobFile] = Once()
"""The stage runner for each compiler: it is found or compiled for the first job of the process that needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The command of one stage, `compile` or `run`."""

    stage: str
    argv: tuple[str, ...]
    limits: StageLimits
    stdin: bytes = b""


def commands(job: Job) -> tuple[Command, ...]:
    """The commands of a job of kind SCRIPTS."""
    run = Command(stage="run", argv=("bash", "run", *job.args), limits=job.run_limits)
    if not any(file.name == "compile" for file in job.files):
        return (run,)
    limits = job.compile_limits or job.run_limits
    return (Command(stage="compile", argv=("bash", "compile"), limits=limits), run)


async def run_in_box(
    stages: Sequence[Command],
    files: Sequence[JobFile],
    toolchain: Toolchain,
    *,
    uid: int | None,
    has_size_option: bool = True,
) -> Execution:
    """Put files into a fresh box, run the stages (`run`, or `compile` and `run`), and return how they ended.

    `toolchain` compiles the stage runner, once in a process. `uid` is the user who starts the box, if we are root;
    `has_size_option` is as of `in_namespaces`.
    """
    for file in files:
        if any(part in {"", ".", ".."} for part in file.name.split("/")) or "\0" in file.name:
            raise RejectedError(f"{file.name!r} cannot be the name of a file in a box")
    stage_runner = await _stage_runners.get(toolchain, lambda: _find_stage_runner(toolchain, uid))
    argv = [*as_user(uid), *in_namespaces(is_root_inside=False, has_size_option=has_size_option)]
    argv += ["--setenv", "HOME", "/tmp"]  # besides PATH. Source: Piston's `api/src/job.js` since isolate
    inputs = [JobFile(name=stage.stage, content=stage.stdin) for stage in stages if stage.stdin]
    with descriptors(files) as opened, descriptors([stage_runner, *inputs]) as ours:
        for file in files:
            permissions = "0755" if file.executable else "0644"  # Piston's mode is 644
            argv += ["--perms", permissions, "--file", str(opened[file.name]), f"/box/{file.name}"]
        argv += ["--", f"/proc/self/fd/{ours[stage_runner.name]}"]
        for stage in stages:
            limits = stage.limits
            memory = DEFAULT_MEMORY_BYTES if limits.memory_bytes is None else limits.memory_bytes
            stdin = ours.get(stage.stage, _NOTHING)
            numbers = (limits.wall_ms, limits.cpu_ms, memory, limits.output_bytes, stdin, len(stage.argv))
            argv += (stage.stage, *map(str, numbers), *stage.argv)
        end = await run_process(
            argv,
            descriptors=(*opened.values(), *ours.values()),
            environment={"PATH": PATH},
            wall_ms=_START_MS + sum(stage.limits.wall_ms for stage in stages),
            output_bytes=sum(2 * stage.limits.output_bytes + _HEADER_BYTES for stage in stages),
        )
    if end.returncode != 0:
        raise _no_answer(end)
    if len(end.stdout) <= _PIECE:
        return _execution(end.stdout)
    return await in_new_thread(lambda: _execution(end.stdout))


async def _find_stage_runner(toolchain: Toolchain, uid: int | None) -> JobFile:
    """The stage runner that is shipped with this package, if it can be started here; else a compiled one."""
    content = shipped.content_for(shipped.STAGE_RUNNER, toolchain.machine)
    if content is not None:
        stage_runner = JobFile(name=shipped.STAGE_RUNNER, content=content, executable=True)
        with descriptors([stage_runner]) as opened:
            end = await run_process(
                (*as_user(uid), f"/proc/self/fd/{opened[stage_runner.name]}"),
                descriptors=tuple(opened.values()),
                environment={"PATH": PATH},
                wall_ms=_START_MS,
                output_bytes=_HEADER_BYTES,
            )
        if end.returncode == _NOT_PID_1:
            return stage_runner
    content = await compile_stage_runner(toolchain, uid)
    return JobFile(name=shipped.STAGE_RUNNER, content=content, executable=True)


async def compile_stage_runner(toolchain: Toolchain, uid: int | None) -> bytes:
    """Compile the stage runner, as the user `uid` if we are root. SetupError, with the compiler's message, if that
    fails."""
    with work_directory(uid) as directory:
        (directory / "stages.cpp").write_bytes(boxfiles.source_of("stages.cpp"))
        flags = boxfiles.STATIC_FLAGS if toolchain.static else boxfiles.FLAGS
        end = await run_process(
            (*as_user(uid), toolchain.command, *flags, "stages.cpp", "-o", "program"),
            cwd=directory,
            environment={"PATH": PATH, "TMPDIR": str(directory)},
            wall_ms=_BUILD_WALL_MS,
            output_bytes=1 << 20,
        )
        if end.returncode != 0:
            stderr = end.stderr.decode("utf-8", "replace").strip()[-2000:]
            raise SetupError(f"stages.cpp does not compile with {toolchain.command}: {stderr}")
        return (directory / "program").read_bytes()


def _no_answer(end: ProcessEnd) -> SandboxError:
    if end.timed_out:
        return TransientError("the box gave no answer in time")
    code, stderr = end.returncode, end.stderr.decode("utf-8", "replace").strip()
    if stderr.startswith("bwrap:") and "/box/" in stderr:  # before anything of the job was started
        return RejectedError(f"the files of the job cannot be placed into a box: {stderr}")
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return TransientError(f"the box gave no answer ({how}): {stderr[-400:]}")


# ---------------------------------------------------------------------- the stage runner's answer


def _stages(answer: bytes) -> dict[str, Stage]:
    """The stages by name: each is a header line, which `stages.cpp` explains, and as many bytes as that says."""
    stages = {}
    at = 0
    try:
        while at < len(answer):
            end = answer.index(b"\n", at)
            header = orjson.loads(answer[at:end])
            middle = end + 1 + header["stdout"]
            at = middle + header["stderr"]
            if at > len(answer):
                raise ValueError("cut off")
            stages[header["stage"]] = _stage(header, answer[end + 1 : middle], answer[middle:at])
    except (ValueError, KeyError, TypeError) as error:
        raise TransientError(f"the box's answer is damaged: {error!r}") from error
    return stages


def _execution(answer: bytes) -> Execution:
    """The execution in Piston's form: if `compile` failed, `run` is a copy of it."""
    stages = _stages(answer)
    compiled, run = stages.get("compile"), stages.get("run")
    if run is None and compiled is not None and compiled.code != 0:
        run = compiled
    if run is None:
        raise TransientError("the box's answer stops before the run stage")
    return Execution(compile=compiled, run=run)


_LIMITS = {
    "cpu": ("TO", "Time limit exceeded"),
    "wall": ("TO", "Time limit exceeded (wall clock)"),
    "stdout": ("OL", "stdout length exceeded"),
    "stderr": ("EL", "stderr length exceeded"),
}
"""Status and message. Source: Piston since isolate (recorded: `cpu_time_limit`, `run_timeout_sleep`, `limit_*`)."""


def _text(output: bytes) -> str:
    """As text. Python runs no other thread while it decodes, so a long output is decoded in pieces."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pieces = [decoder.decode(output[start : start + _PIECE]) for start in range(0, len(output), _PIECE)]
    return "".join([*pieces, decoder.decode(b"", final=True)])


def _stage(header: Mapping[str, Any], stdout: bytes, stderr: bytes) -> Stage:
    code = None if header["limit"] or header["signal"] else header["code"]
    name = status = message = None
    if header["limit"] is not None:
        name = "SIGKILL"
        status, message = _LIMITS[header["limit"]]
    elif header["signal"]:
        name = signal_name(header["signal"])
        status, message = "SG", f"Caught fatal signal {header['signal']}"
    elif code:
        status, message = "RE", f"Exited with error status {code}"
    return Stage(
        stdout=_text(stdout),
        stderr=_text(stderr),
        code=code,
        signal=name,
        status=status,
        message=message,
        cpu_ms=header["cpu_us"] / 1000,
        wall_ms=header["wall_us"] / 1000,
        memory_bytes=header["memory_bytes"],
    )
