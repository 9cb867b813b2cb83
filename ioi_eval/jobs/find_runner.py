"""The job that finds or compiles the runner itself, and its answer. Pure."""

from __future__ import annotations

import base64
import hashlib
import shlex

from ioi_eval import boxfiles
from ioi_eval.errors import BrokenTargetError, TransientError, TransportError
from ioi_eval.jobs.compile import is_machine_failure
from ioi_eval.model import Execution, Job, JobFile, JobKind, StageLimits
from ioi_eval.toolchain import Toolchain

_LIMITS = StageLimits(wall_ms=300_000, cpu_ms=120_000, output_bytes=64 * 1024 * 1024)

_SHIPPED = "shipped"
"""The name of a file of the job, and the answer if that file is the runner: base64 never has seven characters."""

_CHANGED = "the runner's source was changed on the way"

_SCRIPT = """set -e
[ "$(sha256sum < runner.cpp)" = "{source}  -" ] || {{ echo {changed} >&2; exit 1; }}
runner=$IOI_EVAL_JUDGE/runner
works() {{ "$1" --version > /dev/null 2>&1; }}
if [ "$(cat "$runner.digest" 2> /dev/null)" != {digest} ] || ! works "$runner"; then
  [ -x {shipped} ] || chmod +x {shipped} 2> /dev/null || true
  if [ -f {shipped} ] && {{ [ ! -x {shipped} ] || works ./{shipped}; }}; then
    runner=
  else
    {compile}
    runner=runner
  fi
fi
printf '%s\\n' {nonce}
if [ -n "$runner" ]; then base64 -w 0 "$runner"; else printf {shipped}; fi
printf '\\n%s\\n%s\\n' "$(sha256sum < "${{runner:-{shipped}}}")" {nonce}
"""


def find_runner_job(toolchain: Toolchain, *, nonce: str, shipped: bytes | None = None) -> Job:
    """The job that finds or compiles the runner itself, on a target that has none yet.

    It uses the first of these that can be started: the runner of our Piston package (in the directory that the
    variable IOI_EVAL_JUDGE names), if it was made from the same sources; the runner of the wheel; one that the job
    compiles. On a file system that is mounted noexec that of the wheel is used without a trial, because a compiled one
    could not be tried there either.
    The box contains nothing hostile, so plain scripts are enough. `shipped` is the compiled runner of the wheel.
    """
    flags = boxfiles.STATIC_FLAGS if toolchain.static else boxfiles.FLAGS
    argv = [toolchain.command, *flags, "runner.cpp", "-o", "runner"]
    script = _SCRIPT.format(
        digest=boxfiles.runner_files_digest(),
        compile=shlex.join(argv),
        nonce=nonce,
        shipped=_SHIPPED,
        source=boxfiles.runner_source_digest(),
        changed=shlex.quote(_CHANGED),
    )
    ready = () if shipped is None else (JobFile(name=_SHIPPED, content=shipped, executable=True),)
    return Job(
        kind=JobKind.SCRIPTS,
        files=(
            JobFile(name="run", content=script.encode()),
            JobFile(name="runner.cpp", content=boxfiles.runner_source()),
            *ready,
        ),
        run_limits=_LIMITS,
        trusted=True,
    )


def runner_key(toolchain: Toolchain) -> str:
    """The runner's name in the artifact store."""
    flags, source = " ".join(boxfiles.FLAGS), boxfiles.runner_source_digest()
    return hashlib.sha256(f"runner\0{flags}\0{source}\0{toolchain.fingerprint}".encode()).hexdigest()


def runner_binary(execution: Execution, nonce: str, shipped: bytes | None = None) -> bytes:
    """The runner from the answer to `find_runner_job`. BrokenTargetError if it does not compile there;
    TransientError if the machine lacked something (`TransportError`: the answer was cut off)."""
    stage = execution.run
    if stage.code not in (0, None):
        output = (stage.stderr or stage.stdout).strip()[-2000:]
        if _CHANGED in stage.stderr:
            raise TransportError(_CHANGED)
        if is_machine_failure(stage.stderr):
            raise TransientError(f"the machine could not finish compiling the runner on this target: {output}")
        raise BrokenTargetError(f"the runner does not compile on this target: {output}")
    lines = stage.stdout.splitlines()
    if len(lines) < 4 or lines[-4] != nonce or lines[-1] != nonce:
        raise TransportError(f"the compiled runner did not arrive whole (exit code {stage.code}, {stage.signal})")
    if shipped is not None and lines[-3] == _SHIPPED:
        return shipped
    try:
        runner = base64.b64decode(lines[-3], validate=True)
    except ValueError as error:
        raise TransportError(f"the compiled runner arrived damaged: {error}") from error
    if lines[-2].split(" ")[0] != hashlib.sha256(runner).hexdigest():
        raise TransportError("the compiled runner arrived damaged: its hash differs")
    return runner
