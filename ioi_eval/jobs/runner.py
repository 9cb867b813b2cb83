"""Makes the job that compiles the runner itself, and reads its answer. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import shlex

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError, TransientError, TransportError
from ioi_eval.jobs.compile import is_machine_failure
from ioi_eval.model import Execution, Job, JobFile, JobKind, StageLimits
from ioi_eval.toolchain import Toolchain

_BUILD_LIMITS = StageLimits(wall_ms=300_000, cpu_ms=120_000, output_bytes=64 * 1024 * 1024)

_SHIPPED = "shipped"
"""The name of a file of the job. It is also the answer if that file is the runner: base64 never has seven characters.
"""

_CHANGED = "the runner's source was changed on the way"

_RUNNER_SCRIPT = """set -e
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


def runner_job(toolchain: Toolchain, *, nonce: str, shipped: bytes | None = None) -> Job:
    """The job that compiles the runner itself, on a target that has none yet.

    Our Piston package contains a runner, in the folder IOI_EVAL_JUDGE: if it was made from the same sources and can be
    started, it is used; else the shipped one is used, if it can be started. On a file system that is mounted noexec the
    shipped one is used without a trial, because a compiled one could not be tried there either. The box contains
    nothing hostile, so plain scripts are enough.

    Args:
        toolchain: the target's.
        nonce: 32 hexadecimal digits.
        shipped: the runner that our own package contains, if it has one.
    """
    flags = boxfiles.STATIC_FLAGS if toolchain.static else boxfiles.FLAGS
    argv = [toolchain.command, *flags, "runner.cpp", "-o", "runner"]
    script = _RUNNER_SCRIPT.format(
        digest=boxfiles.runner_digest(),
        compile=shlex.join(argv),
        nonce=nonce,
        shipped=_SHIPPED,
        source=hashlib.sha256(boxfiles.runner_source()).hexdigest(),
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
        run_limits=_BUILD_LIMITS,
        trusted=True,
    )


def runner_key(toolchain: Toolchain) -> str:
    """The runner's name in the artifact store."""
    source = hashlib.sha256(boxfiles.runner_source()).hexdigest()
    flags = " ".join(boxfiles.FLAGS)
    return hashlib.sha256(f"runner\0{flags}\0{source}\0{toolchain.fingerprint}".encode()).hexdigest()


def runner_binary(execution: Execution, nonce: str, shipped: bytes | None = None) -> bytes:
    """The runner from the answer to `runner_job`.

    Args:
        execution, nonce: of the job.
        shipped: as given to the job.

    Raises:
        SetupError: it does not compile there; quotes the compiler's message.
        TransientError: the machine lacked something; `TransportError` if the answer was cut off.
    """
    stage = execution.run
    if stage.code not in (0, None):
        output = (stage.stderr or stage.stdout).strip()[-2000:]
        if _CHANGED in stage.stderr:
            raise TransportError(_CHANGED)
        if is_machine_failure(stage.stderr):
            raise TransientError(f"the machine could not finish compiling the runner on this target: {output}")
        raise SetupError(f"the runner does not compile on this target: {output}")
    lines = stage.stdout.splitlines()
    if len(lines) < 4 or lines[-4] != nonce or lines[-1] != nonce:
        raise TransportError(f"the compiled runner did not arrive whole (exit code {stage.code}, {stage.signal})")
    if shipped is not None and lines[-3] == _SHIPPED:
        return shipped
    try:
        runner = base64.b64decode(lines[-3], validate=True)
    except binascii.Error as error:
        raise TransportError(f"the compiled runner arrived damaged: {error}") from error
    if lines[-2].split(" ")[0] != hashlib.sha256(runner).hexdigest():
        raise TransportError("the compiled runner arrived damaged: its hash differs")
    return runner
