"""`ioi-eval serve`."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ioi_eval.cli import options
from ioi_eval.cli.grouped import OptionGroup, option
from ioi_eval.cli.messages import tell
from ioi_eval.errors import InputError

if TYPE_CHECKING:
    from ioi_eval.sandbox.serve.server import ServerSettings

PACKAGES = "problem-packages"
"""Where, below the cache, problems' packages are installed."""

_COLLECT = (700, 10, 10)
"""How often the garbage collector searches for cycles: as by default in Python 3.11, and more often than in our other
commands. A request that is invalid HTTP leaves a cycle with all of its bytes that were read at once, up to 256 KiB."""

_KEYCTL, _JOIN_SESSION_KEYRING = 250, 1  # Source: Linux, x86-64: asm/unistd_64.h; linux/keyctl.h


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeCall:
    """What the user asks for: a group of options."""

    port: Annotated[int, option("--port P", "The port; 0 for any free port.", min=0, max=65535)] = 2000
    host: Annotated[str, option("--host H", "The address to bind.")] = "127.0.0.1"
    public: Annotated[bool, option("--public", "Allow an address H that other machines can reach.")] = False
    workers: options.WorkersHere = None
    queue: Annotated[int, option("--queue N", "How many jobs may wait; more are refused (503).", min=0)] = 1024
    max_body_mb: Annotated[int, option("--max-body-mb N", "The largest request in MiB, uncompressed.", min=1)] = 512
    allow_host: Annotated[
        list[str] | None,
        option(
            "--allow-host NAME",
            "Accept this host name in requests, besides IP addresses, localhost and this machine's name; may be "
            "repeated; * for any.",
        ),
    ] = None
    repository: Annotated[
        str,
        option(
            "--repository DIR|URL",
            "Where problems' packages are installed from: a directory that `cluster install --problems` has "
            "written, or the URL of its index.",
        ),
    ] = ""
    packages: Annotated[
        Path | None, option("--packages DIR", "Where these packages are installed; by default below the cache.")
    ] = None

    @property
    def is_public(self) -> bool:
        """Whether other machines can reach the address."""
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"

    @property
    def repository_here(self) -> str:
        """The repository. No shell replaces `~` in `--repository=~/x`, or in `ioi-eval.toml`."""
        return os.path.expanduser(self.repository)

    @property
    def is_repository_missing(self) -> bool:
        """Whether it is a directory, and does not exist (yet)."""
        return self.repository_here != "" and "://" not in self.repository and not os.path.isdir(self.repository_here)

    @property
    def settings(self) -> ServerSettings:
        """The settings of the server."""
        from ioi_eval.sandbox.serve.server import ServerSettings

        names = frozenset(name.lower() for name in (*(self.allow_host or ()), self.host))
        body_bytes = self.max_body_mb << 20
        held_bytes = max(4 << 30, 6 * body_bytes)  # a body needs five times its size more while it is parsed
        return ServerSettings(queue=self.queue, body_bytes=body_bytes, held_bytes=held_bytes, names=names)


def serve(call: Annotated[ServeCall, OptionGroup()]) -> int:
    """Make this machine a Piston worker.

    Serves the embedded sandbox under Piston's API v2, for any client. It offers the packages `ioi_eval` (our own jobs),
    `cms_ioi` (one test per job, as in huggingface/ioi) and `bash`. There is no authentication: whoever can reach the
    port can run programs here, confined. Ctrl-C or SIGTERM ends it.
    """
    import asyncio

    if call.is_public and not call.public:
        raise InputError(
            f"--host {call.host} can be reached from other machines, and there is no authentication: whoever reaches "
            "it can run programs here. If you want that, add --public"
        )
    _leave_keyring()
    gc.set_threshold(*_COLLECT)
    return asyncio.run(_serve(call))


def _leave_keyring() -> None:
    """Join an empty keyring of the kernel, if possible. (Each thread has one; children and later threads inherit it.)

    No namespace separates clients' scripts from the keyring of our login, where Kerberos can keep tickets.
    """
    import ctypes

    ctypes.CDLL(None).syscall(_KEYCTL, _JOIN_SESSION_KEYRING, None)


async def _serve(call: ServeCall) -> int:
    """Serve until the first signal, which ends the command also while the runner is still compiled."""
    import asyncio

    signalled = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, signalled.set)
    serving, waiting = asyncio.create_task(_serve_without_end(call)), asyncio.create_task(signalled.wait())
    await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving
    tell("ended")
    return 0


async def _serve_without_end(call: ServeCall) -> None:
    import asyncio

    from ioi_eval.artifacts import ArtifactStore
    from ioi_eval.cli.readiness import compile_runner, tell_limits
    from ioi_eval.config import Environment, Policy
    from ioi_eval.model.terms import Isolation
    from ioi_eval.programs import Builder
    from ioi_eval.report.texts import counted
    from ioi_eval.sandbox.local.sandbox import LocalSandbox
    from ioi_eval.sandbox.serve.installed_packages import InstalledPackages
    from ioi_eval.sandbox.serve.server import serving

    environment = Environment.read()
    async with LocalSandbox(
        slots=call.workers, least_isolation=Isolation.FULL, compiler=environment.compiler
    ) as sandbox:
        (target,) = sandbox.targets()
        artifacts = ArtifactStore(environment.cache)
        tell_limits(sandbox.limits)
        await compile_runner(sandbox, artifacts)
        runner = await Builder(sandbox, artifacts, Policy()).runner(target)
        installed = InstalledPackages(call.packages or environment.cache / PACKAGES, call.repository_here)
        async with serving(
            sandbox, runner=runner, host=call.host, port=call.port, settings=call.settings, packages=installed
        ) as address:
            if call.is_public:
                tell(f"{call.host} can be reached from other machines: whoever reaches it can run programs here")
            if call.is_repository_missing:
                tell(f"--repository {call.repository}: there is no such directory now, so nothing can be installed")
            tell(
                f"serving Piston API v2 at {address}/api/v2 ({target.toolchain.version}, "
                f"{counted(target.slots, 'job')} at once, {call.queue} may wait)"
            )
            await asyncio.Event().wait()
