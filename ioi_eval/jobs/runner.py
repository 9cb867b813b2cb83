"""The job that compiles the runner itself, and its answer. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import shlex

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError, TransientError, TransportError
from ioi_eval.jobs.compile import blames_the_machine
from ioi_eval.model import Execution, Job, JobFile, JobKind, StageLimits
from ioi_eval.toolchain import Toolchain

RUNNER_STD = "c++17"
_BUILD_LIMITS = StageLimits(wall_ms=300_000, cpu_ms=120_000, output_bytes=64 * 1024 * 1024)

_RUNNER_SCRIPT = """set -e
runner=$IOI_EVAL_JUDGE/runner
if [ "$(cat "$runner.digest" 2> /dev/null)" != {digest} ] || ! "$runner" --version > /dev/null 2>&1; then
  {compile}
  runner=runner
fi
printf '%s\\n' {nonce}
base64 -w 0 "$runner"
printf '\\n%s\\n' {nonce}
"""


def runner_job(toolchain: Toolchain, *, nonce: str) -> Job:
    """The job that compiles the runner itself, on a target that has none yet.

    Our Piston package carries one (it says where: IOI_EVAL_JUDGE): if that was made from the same sources and can be
    started, it is taken as it is. Nothing hostile is in the box, so plain scripts do.
    """
    argv = [toolchain.command, f"-std={RUNNER_STD}", "-O2", "-pipe", "-s", "runner.cpp", "-o", "runner"]
    if toolchain.static:
        argv.insert(-3, "-static")
    script = _RUNNER_SCRIPT.format(digest=boxfiles.runner_digest(), compile=shlex.join(argv), nonce=nonce)
    return Job(
        kind=JobKind.SCRIPTS,
        files=(
            JobFile(name="run", content=script.encode()),
            JobFile(name="runner.cpp", content=boxfiles.runner_source()),
        ),
        run_limits=_BUILD_LIMITS,
        trusted=True,
    )


def runner_key(toolchain: Toolchain) -> str:
    """The runner's name in the artifact store."""
    source = hashlib.sha256(boxfiles.runner_source()).hexdigest()
    return hashlib.sha256(f"runner\0{RUNNER_STD}\0{source}\0{toolchain.fingerprint}".encode()).hexdigest()


def runner_binary(execution: Execution, nonce: str) -> bytes:
    """The runner from the answer to `runner_job`.

    Raises:
        SetupError: it does not compile there; with the compiler's words.
        TransientError: the machine lacked something; `TransportError` if the answer was cut off.
    """
    stage = execution.run
    if stage.code not in (0, None):
        words = (stage.stderr or stage.stdout).strip()[-2000:]
        if blames_the_machine(stage.stderr):
            raise TransientError(f"the runner could not be compiled to its end on this target: {words}")
        raise SetupError(f"the runner does not compile on this target: {words}")
    lines = stage.stdout.splitlines()
    if len(lines) < 3 or lines[-3] != nonce or lines[-1] != nonce:
        raise TransportError(f"the compiled runner did not arrive whole (exit code {stage.code}, {stage.signal})")
    try:
        return base64.b64decode(lines[-2], validate=True)
    except binascii.Error as error:
        raise TransportError(f"the compiled runner arrived damaged: {error}") from error
