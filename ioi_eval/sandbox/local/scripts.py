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
import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ioi_eval import boxfiles, shipped
from ioi_eval.errors import RejectedError, SetupError, TransientError
from ioi_eval.model import Execution, Job, JobFile, Stage, StageLimits, signal_name
from ioi_eval.sandbox import DEFAULT_MEMORY_BYTES
from ioi_eval.sandbox.local.confinement import PATH, as_user, in_namespaces
from ioi_eval.sandbox.local.descriptors import descriptors, sealed
from ioi_eval.sandbox.local.work_directories import work_directory
from ioi_eval.sandbox.process import run_process
from ioi_eval.slots import TaskLock, in_new_thread
from ioi_eval.toolchain import Toolchain

_BUILD_WALL_MS = 120_000
_START_MS = 10_000  # for starting the box and placing the files, on a loaded machine
_HEADER_BYTES = 4096
_PIECE = 1 << 20  # bytes of output that are decoded at once; a longer answer is read in a thread
_NOTHING = -1  # the stage runner reads this as /dev/null
_NOT_PID_1 = 2  # the stage runner's exit code outside of a box. Source: graders/stages.cpp

_compiled: dict[Toolchain, bytes] = {}
"""The stage runner by the compiler that has made it in this process. Later sandboxes do not compile it again."""


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


class ScriptBoxes:
    """Runs script jobs, each in its own box. The stage runner is made for the first job of the process, and then kept.
    `has_size_option`: whether this machine's bwrap has `--size`."""

    def __init__(self, toolchain: Toolchain, *, has_size_option: bool = True) -> None:
        self._toolchain = toolchain
        self._has_size_option = has_size_option
        self._stage_runner: int | None = None
        self._building = TaskLock()

    def close(self) -> None:
        """Release the stage runner."""
        if self._stage_runner is not None:
            os.close(self._stage_runner)
            self._stage_runner = None

    async def run(self, stages: Sequence[Command], files: Sequence[JobFile], *, uid: int | None) -> Execution:
        """Put files into a fresh box, run the stages (`run`, or `compile` and `run`), and return how they ended. `uid`:
        the user who starts the box, if we are root."""
        for file in files:
            if any(part in {"", ".", ".."} for part in file.name.split("/")) or "\0" in file.name:
                raise RejectedError(f"{file.name!r} cannot be the name of a file in a box")
        stage_runner = await self._open_stage_runner(uid)
        argv = [*as_user(uid), *in_namespaces(is_root_inside=False, has_size_option=self._has_size_option)]
        argv += ["--setenv", "HOME", "/tmp"]  # besides PATH. Source: Piston's `api/src/job.js` since isolate
        given = [JobFile(name=stage.stage, content=stage.stdin) for stage in stages if stage.stdin]
        with descriptors(files) as opened, descriptors(given) as inputs:
            for file in files:
                permissions = "0755" if file.executable else "0644"  # Piston's mode is 644
                argv += ["--perms", permissions, "--file", str(opened[file.name]), f"/box/{file.name}"]
            argv += ["--", f"/proc/self/fd/{stage_runner}"]
            for stage in stages:
                limits = stage.limits
                memory = DEFAULT_MEMORY_BYTES if limits.memory_bytes is None else limits.memory_bytes
                stdin = inputs.get(stage.stage, _NOTHING)
                numbers = (limits.wall_ms, limits.cpu_ms, memory, limits.output_bytes, stdin, len(stage.argv))
                argv += (stage.stage, *map(str, numbers), *stage.argv)
            end = await run_process(
                argv,
                descriptors=(stage_runner, *opened.values(), *inputs.values()),
                environment={"PATH": PATH},
                wall_ms=_START_MS + sum(stage.limits.wall_ms for stage in stages),
                output_bytes=sum(2 * stage.limits.output_bytes + _HEADER_BYTES for stage in stages),
            )
        if end.returncode != 0:
            raise _no_answer(end.returncode, end.timed_out, end.stderr.decode("utf-8", "replace").strip())
        if len(end.stdout) <= _PIECE:
            return _execution(end.stdout)
        return await in_new_thread(lambda: _execution(end.stdout))

    async def _open_stage_runner(self, uid: int | None) -> int:
        async with self._building.take():
            if self._stage_runner is None:
                self._stage_runner = await self._shipped_stage_runner(uid)
            if self._stage_runner is None:
                if self._toolchain not in _compiled:
                    _compiled[self._toolchain] = await build(self._toolchain, "stages.cpp", uid=uid)
                self._stage_runner = sealed(_compiled[self._toolchain], executable=True)
            return self._stage_runner

    async def _shipped_stage_runner(self, uid: int | None) -> int | None:
        """The stage runner that is shipped with this package, if it can be started here."""
        content = shipped.content_for(shipped.STAGE_RUNNER, self._toolchain.machine)
        if content is None:
            return None
        stage_runner = sealed(content, executable=True)
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, stage_runner)
            end = await run_process(
                (*as_user(uid), f"/proc/self/fd/{stage_runner}"),
                descriptors=(stage_runner,),
                environment={"PATH": PATH},
                wall_ms=_START_MS,
                output_bytes=_HEADER_BYTES,
            )
            if end.returncode == _NOT_PID_1:
                stack.pop_all()
                return stage_runner
        return None


async def build(toolchain: Toolchain, source: str, *, uid: int | None) -> bytes:
    """Compile one of our own in-box programs, `source` in `graders/`; as the user `uid` if we are root. SetupError,
    with the compiler's message, if that fails."""
    with work_directory(uid) as directory:
        (directory / source).write_bytes(boxfiles.source_of(source))
        flags = boxfiles.STATIC_FLAGS if toolchain.static else boxfiles.FLAGS
        end = await run_process(
            (*as_user(uid), toolchain.command, *flags, source, "-o", "program"),
            cwd=directory,
            environment={"PATH": PATH, "TMPDIR": str(directory)},
            wall_ms=_BUILD_WALL_MS,
            output_bytes=1 << 20,
        )
        if end.returncode != 0:
            stderr = end.stderr.decode("utf-8", "replace").strip()[-2000:]
            raise SetupError(f"{source} does not compile with {toolchain.command}: {stderr}")
        return (directory / "program").read_bytes()


def _no_answer(code: int, timed_out: bool, stderr: str) -> Exception:
    if timed_out:
        return TransientError("the box gave no answer in time")
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
