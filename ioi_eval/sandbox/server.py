"""The embedded sandbox, served as Piston API v2 over HTTP, so that any Piston client can use it.

    POST   /api/v2/execute     as the real server since isolate answers it (`request.py`, `languages.py`)
    GET    /api/v2/runtimes    what can be asked for
    GET    /api/v2/packages    the same, all installed; POST and DELETE change nothing and say so

Three things are better than on a real server: the body, the queue and what is held in memory are bounded, and say so
(400 as Piston, 503); a job whose client has gone is not started, or killed; and a failure of ours comes with words.

There is no authentication: whoever reaches the port runs programs here, confined as the sandbox confines them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from ioi_eval import boxfiles
from ioi_eval.errors import IsolationError, OverloadError, RejectedError, SetupError, TransientError
from ioi_eval.model import Content, Execution, Isolation, Job, Stage
from ioi_eval.sandbox import languages, request
from ioi_eval.sandbox.local import LocalSandbox
from ioi_eval.sandbox.request import Refusal, Request, StageBounds
from ioi_eval.sandbox.wire import Runtime
from ioi_eval.version import __version__

if TYPE_CHECKING:
    from aiohttp import web

_PREFIX = "/api/v2"
_WORTH_A_THREAD = 64 * 1024  # below this, parsing takes less than handing over
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What a server accepts.

    Args:
        queue: how many jobs may wait beyond those that run.
        body_bytes: the largest request, unpacked. Source: the reference's setting for its workers, 512 MB.
        held_bytes: all requests together that are read, wait or run.
        output_bytes: most of each stream that an answer returns.
        compile, run: what stages get. Source: the reference's settings, 60 s; the most is ours.
    """

    queue: int = 1024
    body_bytes: int = 512 << 20
    held_bytes: int = 4 << 30
    output_bytes: int = 128 << 20
    compile: StageBounds = field(default_factory=lambda: StageBounds(timeout_ms=60_000, most_ms=_HOUR_MS))
    run: StageBounds = field(default_factory=lambda: StageBounds(timeout_ms=60_000, most_ms=_HOUR_MS))


@contextlib.asynccontextmanager
async def serving(
    sandbox: LocalSandbox,
    *,
    runner: Content,
    host: str = "127.0.0.1",
    port: int = 2000,
    settings: ServerSettings | None = None,
) -> AsyncIterator[str]:
    """Serve an entered sandbox; gives the server's address.

    Args:
        sandbox: runs the jobs; its slots are how many at once.
        runner: compiled there, for the classic contract.
        host: the address to bind.
        port: the port; 0 for any that is free.
        settings: what it accepts.

    Raises:
        IsolationError: the sandbox cannot run scripts of others.
        SetupError: the address cannot be bound.
    """
    from aiohttp import web

    (target,) = sandbox.targets()
    if target.isolation is not Isolation.FULL:
        raise IsolationError(
            f"serving runs scripts of others, which needs isolation 'full'; here is {target.isolation.value!r}: "
            f"{sandbox.why_not_full}"
        )
    server = _Server(sandbox, await _bash_version(), runner, settings or ServerSettings())
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    # a handler whose client has gone is cancelled: its job leaves the queue, or is killed
    apparatus = web.AppRunner(
        app, handler_cancellation=True, auto_decompress=False, access_log=None, shutdown_timeout=2.0
    )
    await apparatus.setup()
    try:
        site = web.TCPSite(apparatus, host, port, backlog=1024)
        try:
            await site.start()
        except OSError as error:
            raise SetupError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
        bound = apparatus.addresses[0]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound[1]}"
    finally:
        await apparatus.cleanup()


class _Server:
    def __init__(self, sandbox: LocalSandbox, bash_version: str, runner: Content, settings: ServerSettings) -> None:
        self._sandbox = sandbox
        self._settings = settings
        self._runtimes = languages.runtimes(bash_version)
        self._pair = {"compile": boxfiles.read("compile"), "run": boxfiles.read("run"), "runner": runner}
        self._most_jobs = sandbox.targets()[0].slots + settings.queue
        self._jobs = 0
        self._held = 0

    async def answer(self, asked: web.Request) -> web.Response:
        """Answer any request; paths are as Express takes them: in any case, with a slash at the end or without."""
        from aiohttp import web

        routes: Mapping[tuple[str, str], Callable[[web.Request], Awaitable[Any]]] = {
            ("GET", ""): self._about,
            ("GET", f"{_PREFIX}/runtimes"): self._list_runtimes,
            ("GET", f"{_PREFIX}/packages"): self._list_packages,
            ("POST", f"{_PREFIX}/packages"): self._change_package,
            ("DELETE", f"{_PREFIX}/packages"): self._change_package,
            ("POST", f"{_PREFIX}/execute"): self._execute,
        }
        route = routes.get((asked.method, asked.path.lower().rstrip("/")))
        try:
            if route is None:
                raise Refusal(404, {"message": "Not Found"})
            body = await route(asked)
            status, headers = 200, {}
        except Refusal as refusal:
            body, status = refusal.answer, refusal.status
            headers = {"Retry-After": "1"} if status == 503 else {}
        if body is None:
            return web.Response(status=status)
        content = await _in_thread(orjson.dumps, body, size=_size_of(body))
        return web.Response(
            body=content, status=status, headers=headers, content_type="application/json", charset="utf-8"
        )

    # ------------------------------------------------------------------ what costs nothing

    async def _about(self, _: web.Request) -> Any:
        return {"message": f"ioi-eval {__version__}, speaking Piston API v2"}

    async def _list_runtimes(self, _: web.Request) -> Any:
        return [
            {"language": each.language, "version": each.version, "aliases": list(each.aliases)}
            | ({"runtime": each.package} if each.package else {})
            for each in self._runtimes
        ]

    async def _list_packages(self, _: web.Request) -> Any:
        return [
            {"language": _package(each), "language_version": each.version, "installed": True} for each in self._runtimes
        ]

    async def _change_package(self, asked: web.Request) -> Any:
        async with self._body(asked) as body:
            wanted = request.parse(body, asked.headers.get("Content-Type", ""))
        wanted = wanted if isinstance(wanted, dict) else {}
        language, version = wanted.get("language"), wanted.get("version")
        here = any(
            _package(each) == language and request.satisfies(each.version, str(version)) for each in self._runtimes
        )
        if not here:
            language, version = ("undefined" if word is None else word for word in (language, version))
            raise Refusal(404, {"message": f"Requested package {language}-{version} does not exist"})
        if asked.method == "POST":
            raise Refusal(500, {"message": "Already installed"})
        raise Refusal(500, {"message": f"{language}-{version} is part of ioi-eval serve and cannot be removed"})

    # ------------------------------------------------------------------ what costs something

    async def _execute(self, asked: web.Request) -> Any:
        with self._place():
            async with self._body(asked) as body:
                content_type = asked.headers.get("Content-Type", "")
                wanted, work = await _in_thread(self._read, body, content_type, size=len(body))
                execution = await self._run(work)
        runtime = wanted.runtime
        return _execution(execution) | {"language": runtime.language, "version": runtime.version}

    def _read(self, body: bytes, content_type: str) -> tuple[Request, Job | languages.Scripts]:
        settings = self._settings
        wanted = request.request(
            request.parse(body, content_type), self._runtimes, compile=settings.compile, run=settings.run
        )
        return wanted, languages.work(wanted, self._pair, output_bytes=settings.output_bytes)

    async def _run(self, work: Job | languages.Scripts) -> Execution:
        try:
            if isinstance(work, Job):
                return await self._sandbox.execute(work, self._sandbox.targets()[0])
            return await self._sandbox.run_commands(work.commands, work.files)
        except OverloadError as error:
            raise Refusal(503, {"message": str(error)}) from error
        except (TransientError, RejectedError, SetupError) as error:
            raise Refusal(500, {"message": str(error)}) from error

    @contextlib.contextmanager
    def _place(self) -> Iterator[None]:
        """A place among the jobs that run or wait, from before the body is read."""
        if self._jobs >= self._most_jobs:
            raise Refusal(503, {"message": f"the queue is full: {self._jobs} jobs run or wait"})
        self._jobs += 1
        try:
            yield
        finally:
            self._jobs -= 1

    @contextlib.asynccontextmanager
    async def _body(self, asked: web.Request) -> AsyncIterator[bytes]:
        """The whole body, unpacked; counted among what is held for as long as it is used."""
        most = self._settings.body_bytes
        body = bytearray()
        held = 0
        try:
            async for chunk in asked.content.iter_any():
                body += chunk
                held += len(chunk)
                self._hold(len(chunk))
                if len(body) > most:
                    raise request.too_large(most)
            unpacked = await _in_thread(
                request.unpack, bytes(body), asked.headers.get("Content-Encoding", ""), most, size=len(body)
            )
            held += len(unpacked)
            self._hold(len(unpacked))
            body.clear()
            yield unpacked
        finally:
            self._held -= held

    def _hold(self, size: int) -> None:
        self._held += size
        if self._held > self._settings.held_bytes:
            raise Refusal(503, {"message": "the queue is full: too many bytes are waiting"})


def _package(runtime: Runtime) -> str:
    return runtime.package or runtime.language


def _size_of(body: Any) -> int:
    """About how large an answer will be; only executions can be large."""
    run = body.get("run") if isinstance(body, dict) else None
    return 4 * len(run["output"]) if isinstance(run, dict) else 0


async def _in_thread(function: Callable[..., Any], *arguments: Any, size: int) -> Any:
    """Large requests and answers are not parsed and written on the event loop."""
    if size < _WORTH_A_THREAD:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


async def _bash_version() -> str:
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}.${BASH_VERSINFO[2]}", stdout=asyncio.subprocess.PIPE
    )
    stdout, _ = await process.communicate()
    return stdout.decode().strip()


# ---------------------------------------------------------------------- answers


def _execution(execution: Execution) -> dict[str, Any]:
    stages = {"compile": execution.compile, "run": execution.run}
    return {name: _stage(stage) for name, stage in stages.items() if stage is not None}


def _stage(stage: Stage) -> dict[str, Any]:
    """The fields of a stage since isolate."""
    return {
        "signal": stage.signal,
        "stdout": stage.stdout,
        "stderr": stage.stderr,
        "code": stage.code,
        "output": stage.stdout + stage.stderr,
        "memory": stage.memory_bytes,
        "message": stage.message,
        "status": stage.status,
        "cpu_time": stage.cpu_ms,
        "wall_time": stage.wall_ms,
    }
