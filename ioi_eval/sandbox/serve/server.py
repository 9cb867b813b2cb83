"""Serves the embedded sandbox as Piston API v2 over HTTP, so that any Piston client can use it.

    POST   /api/v2/execute     answers like Piston since isolate (`request.py`, `served_runtimes.py`)
    GET    /api/v2/runtimes    the runtimes
    GET    /api/v2/packages    the runtimes, and packages of the repository; POST and DELETE change problems' packages

Four things are better than in Piston:

- Bodies, the queue and the memory for requests are limited, with clear refusals (400 like Piston, 503).
- Clients have deadlines, and are in the queue only when their request is complete (`connections.py`).
- A job whose client has disconnected is not started, or is killed.
- Failures of ours have a message.

There is no authentication: every client that reaches the port can run programs here, confined by the sandbox. Only
requests of web pages in a browser are refused (`request.refuse_foreign_pages`).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from ioi_eval import boxfiles
from ioi_eval.concurrency import in_thread
from ioi_eval.errors import IsolationError, OverloadError, RejectedError, SetupError, TransientError
from ioi_eval.model import Content, Execution, Isolation, Job
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston.endpoints import API
from ioi_eval.sandbox.piston.wire import Runtime, is_problems
from ioi_eval.sandbox.process import run_process
from ioi_eval.sandbox.serve import json_bodies, request, served_runtimes
from ioi_eval.sandbox.serve.connections import Connections, HeldBytes, RequestBytes, log_of_server
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages, NotStored, ServedPackages
from ioi_eval.sandbox.serve.request import Refusal, Request, refuse_foreign_pages
from ioi_eval.version import __version__

_WORTH_A_THREAD = 64 * 1024  # below this, parsing takes less time than passing the data to a thread
_CHANGE_BYTES = 64 * 1024  # a request to install a package contains its name and version only


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The limits of a server.

    Args:
        queue: how many jobs may wait, besides those that run.
        body_bytes: the largest request, unpacked. Source: the reference's setting for its workers, 512 MB.
        held_bytes: the most memory for all requests that are being read, wait or run.
        silent_s: how long a connection may wait for the head of a request. Source: httpx keeps idle ones for 5 s, as
            Piston does.
        transfer_s: how long a client may take to send a body, or to receive an answer, besides size / `least_rate`.
        least_rate: bytes a second that a client must send or receive: 1 Mbit/s.
        unserved: how many connections without a complete request may be open.
        names: allowed in the header `Host`, besides addresses, `localhost` and this machine's name; `*` for any.
    """

    queue: int = 1024
    body_bytes: int = 512 << 20
    held_bytes: int = 4 << 30
    silent_s: float = 10.0
    transfer_s: float = 30.0
    least_rate: int = 128 * 1024
    unserved: int = 512
    names: frozenset[str] = frozenset()


@contextlib.asynccontextmanager
async def serving(
    sandbox: LocalSandbox,
    *,
    runner: Content,
    host: str = "127.0.0.1",
    port: int = 2000,
    settings: ServerSettings | None = None,
    packages: InstalledPackages | None = None,
) -> AsyncIterator[str]:
    """Serve an entered sandbox, with the runner that was compiled for it; yields the server's address.

    Args:
        port: 0 for any that is free.

    Raises:
        IsolationError: the sandbox cannot run clients' scripts.
        SetupError: the address cannot be bound, or bash fails.
        TransientError: bash cannot be started.
    """
    (target,) = sandbox.targets()
    if target.isolation is not Isolation.FULL:
        raise IsolationError(
            f"serving runs scripts of others, which needs isolation 'full'; here is {target.isolation.value!r}: "
            f"{sandbox.why_not_full}"
        )
    settings = settings or ServerSettings()
    server = _Server(sandbox, runner, settings, bash_version=await _bash_version(), packages=packages)
    app_runner = web.ServerRunner(server.connections, shutdown_timeout=2.0)
    await app_runner.setup()
    try:
        try:
            listening = await asyncio.get_running_loop().create_server(server.connections, host, port, backlog=1024)
        except (OSError, UnicodeError) as error:  # the second for a name with a part that is empty or too long
            reason = getattr(error, "strerror", None) or error
            advice = "; choose another --port" if getattr(error, "errno", None) == errno.EADDRINUSE else ""
            raise SetupError(f"cannot listen on {host}:{port}: {reason}{advice}") from error
        with contextlib.closing(listening):
            bound = listening.sockets[0].getsockname()
            yield f"http://{f'[{host}]' if ':' in host else host}:{bound[1]}"
    finally:
        await app_runner.cleanup()
        server.close()


class _Server:
    def __init__(
        self,
        sandbox: LocalSandbox,
        runner: Content,
        settings: ServerSettings,
        *,
        bash_version: str,
        packages: InstalledPackages | None,
    ) -> None:
        self._sandbox = sandbox
        self._settings = settings
        self.connections = Connections(
            self._answer,
            silent_s=settings.silent_s,
            max_unserved=settings.unserved,
            # the handler of a client that has disconnected is cancelled: its job leaves the queue, or is killed
            handler_cancellation=True,
            auto_decompress=False,
            access_log=None,
            logger=log_of_server(),
        )
        own = socket.gethostname().lower()
        self._names = settings.names | {own, own.partition(".")[0]}
        self._own = served_runtimes.runtimes(bash_version)
        self._packages = ServedPackages(packages) if packages else None
        self._runtimes = self._own + (packages.runtimes() if packages else ())
        self._own_files = {**boxfiles.classic_scripts(), "runner": runner}
        self._max_jobs = sandbox.targets()[0].slots + settings.queue
        self._unpacking = asyncio.Semaphore(1)  # what a body becomes is counted afterwards
        self._jobs = 0
        self._memory = HeldBytes(settings.held_bytes)

    async def _answer(self, http_request: web.BaseRequest) -> web.StreamResponse:
        """Answer any request, and wait until its client has received the answer."""
        with self.connections.busy(http_request.protocol), RequestBytes(self._memory) as held:
            status, answer = await self._status_and_answer(http_request, held)
            response = web.StreamResponse(status=status)
            pieces: list[bytes] = []
            if answer is not None:
                pieces = await _in_thread_if_large(json_bodies.pieces_of, answer, size=json_bodies.size_of(answer))
                response.content_type, response.charset = "application/json", "utf-8"
            del answer
            response.content_length = size = sum(map(len, pieces))
            held.set_size(size)
            if status == 503:
                response.headers["Retry-After"] = "1"
            await self._send(response, pieces, http_request, size)
            return response

    async def _status_and_answer(self, http_request: web.BaseRequest, held: RequestBytes) -> tuple[int, Any]:
        """Status and body. As in Express, paths match in any case, with or without a slash at the end, and HEAD is
        answered like GET."""
        routes: Mapping[tuple[str, str], Callable[[web.BaseRequest, RequestBytes], Awaitable[Any]]] = {
            ("GET", ""): self._about,
            ("GET", f"{API}/runtimes"): self._list_runtimes,
            ("GET", f"{API}/packages"): self._list_packages,
            ("POST", f"{API}/packages"): self._change_package,
            ("DELETE", f"{API}/packages"): self._change_package,
            ("POST", f"{API}/execute"): self._execute,
        }
        method = "GET" if http_request.method == "HEAD" else http_request.method
        route = routes.get((method, http_request.path.lower().rstrip("/")))
        try:
            refuse_foreign_pages(http_request.headers.get("Host"), http_request.headers.get("Origin"), self._names)
            if route is None:
                raise Refusal(404, "Not Found")
            return 200, await route(http_request, held)
        except Refusal as refusal:
            return refusal.status, refusal.answer

    async def _send(
        self, response: web.StreamResponse, pieces: Sequence[bytes], http_request: web.BaseRequest, size: int
    ) -> None:
        """Send an answer; close the connection if the client does not receive it in time."""
        try:
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(self._settings.transfer_s + size / self._settings.least_rate):
                    await response.prepare(http_request)
                    for piece in pieces if http_request.method != "HEAD" else ():
                        await response.write(piece)
                    await response.write_eof()
        except TimeoutError:
            if http_request.transport is not None:
                http_request.transport.abort()

    # ------------------------------------------------------------------ requests that start no job

    async def _about(self, _: web.BaseRequest, __: RequestBytes) -> Any:
        return {"message": f"ioi-eval {__version__}, speaking Piston API v2"}

    async def _list_runtimes(self, _: web.BaseRequest, __: RequestBytes) -> Any:
        await self._refresh_runtimes()  # another server that shares the directory may have changed them
        return [
            {"language": each.language, "version": each.version, "aliases": list(each.aliases)}
            | ({"runtime": each.package} if each.package else {})
            for each in self._runtimes
        ]

    async def _list_packages(self, _: web.BaseRequest, __: RequestBytes) -> Any:
        await self._refresh_runtimes()
        in_repository = await self._packages.list_repository() if self._packages else []
        every = dict.fromkeys((*self._runtimes, *in_repository))
        return [
            {"language": _package(each), "language_version": each.version, "installed": each in self._runtimes}
            for each in every
        ]

    async def _change_package(self, http_request: web.BaseRequest, held: RequestBytes) -> Any:
        body = await self._body(http_request, held, _CHANGE_BYTES)
        wanted = json_bodies.parse(body, http_request.headers.get("Content-Type", ""))
        named = wanted if isinstance(wanted, dict) else {}
        language, version = (_word(named.get(field)) for field in ("language", "version"))
        if self._packages is not None and is_problems(language):
            changed = await self._packages.change(language, version, is_wanted=http_request.method == "POST")
            await self._refresh_runtimes()
            return {"language": changed.language, "version": changed.version}
        is_own = any(_package(each) == language and request.satisfies(each.version, version) for each in self._own)
        if not is_own:
            raise Refusal(404, f"Requested package {language}-{version} does not exist")
        if http_request.method == "POST":
            raise Refusal(500, "Already installed")
        raise Refusal(500, f"{language}-{version} is part of ioi-eval serve and cannot be removed")

    async def _refresh_runtimes(self) -> None:
        if self._packages is not None:
            self._runtimes = self._own + await self._packages.runtimes()

    def close(self) -> None:
        """Change no more packages."""
        if self._packages is not None:
            self._packages.close()

    # ------------------------------------------------------------------ requests that start a job

    async def _execute(self, http_request: web.BaseRequest, held: RequestBytes) -> Any:
        self._require_room_in_queue()
        body = await self._body(http_request, held, self._settings.body_bytes)
        self._require_room_in_queue()
        self._jobs += 1  # those that run or wait: with a complete request
        try:
            self.connections.mark_served(http_request.protocol)
            # strings, and the files made from them; a character takes up to four bytes if one of them is not ASCII
            held.grow((2 if body.isascii() and b"\\u" not in body else 5) * len(body))
            content_type = http_request.headers.get("Content-Type", "")
            wanted, work = await _in_thread_if_large(self._read, body, content_type, size=len(body))
            del body
            held.set_size(sum(map(len, wanted.files.values())) + len(wanted.stdin))
            execution = await (self._run_stored(wanted) if work is None else self._run(work))
        finally:
            self._jobs -= 1
        runtime = wanted.runtime
        answer = served_runtimes.answer_of(execution) | {"language": runtime.language, "version": runtime.version}
        held.grow(json_bodies.size_of(answer))  # refused now: it may wait long for a client that does not read it
        return answer

    def _read(self, body: bytes, content_type: str) -> tuple[Request, Job | served_runtimes.Scripts | None]:
        """A request, and the work that it starts; `None` for a problem's package, whose files must be read first."""
        wanted = request.checked_request(json_bodies.parse(body, content_type), self._runtimes)
        if wanted.runtime not in self._own:
            return wanted, None
        return wanted, served_runtimes.work(wanted, self._own_files)

    async def _run_stored(self, wanted: Request) -> Execution:
        assert self._packages is not None, "it was listed"
        try:
            files = await in_thread(self._packages.packages.files, wanted.runtime, wanted.files)
            try:
                return await self._run(served_runtimes.stored_work(wanted, files, self._own_files))
            except Refusal:  # its files may have been removed while it waited; then the client must send them
                await in_thread(self._packages.packages.files, wanted.runtime, wanted.files)
                raise
        except NotStored as missing:
            return missing.execution()

    async def _run(self, work: Job | served_runtimes.Scripts) -> Execution:
        try:
            if isinstance(work, Job):
                return await self._sandbox.execute(work, self._sandbox.targets()[0])
            execution = await self._sandbox.run_commands(work.commands, work.files)
        except OverloadError as error:
            raise Refusal(503, str(error)) from error
        except (TransientError, RejectedError, SetupError) as error:
            raise Refusal(500, str(error)) from error
        served_runtimes.refuse_unjudged(work, execution)
        return execution

    def _require_room_in_queue(self) -> None:
        if self._jobs >= self._max_jobs:
            raise Refusal(503, f"the queue is full: {self._jobs} jobs run or wait")

    async def _body(self, http_request: web.BaseRequest, held: RequestBytes, most: int) -> bytes:
        """Read and unpack the body; it must arrive in time."""
        if (http_request.content_length or 0) > most:
            raise json_bodies.too_large(most)
        if http_request.version >= (1, 1) and http_request.headers.get("Expect", "").lower() == "100-continue":
            await http_request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            http_request.writer.output_size = 0  # as the answer has not begun
        body = bytearray()
        loop, settings = asyncio.get_running_loop(), self._settings
        start = loop.time() + settings.transfer_s
        try:
            async with asyncio.timeout_at(start) as deadline:
                async for chunk in http_request.content.iter_any():
                    held.grow(len(chunk))
                    body += chunk
                    if len(body) > most:
                        raise json_bodies.too_large(most)
                    deadline.reschedule(start + len(body) / settings.least_rate)
        except TimeoutError:
            message = f"only {len(body)} bytes of the request came in {loop.time() - start + settings.transfer_s:.0f} s"
            raise Refusal(408, f"{message}; send it in one go") from None
        packed = bytes(body)
        del body
        encoding = http_request.headers.get("Content-Encoding", "")
        if not encoding:
            return packed
        async with self._unpacking:
            # In a thread, because a small body may become a large one.
            unpacked = await in_thread(json_bodies.unpack, packed, encoding, most)
            held.grow(len(unpacked) - len(packed))
        return unpacked


def _package(runtime: Runtime) -> str:
    return runtime.package or runtime.language


def _word(value: Any) -> str:
    """A field of a request as JavaScript would print it in a message."""
    return value if isinstance(value, str) else "undefined"


async def _in_thread_if_large(function: Callable[..., Any], *arguments: Any, size: int) -> Any:
    """Call a function, in a thread if its data is large, as it would block the event loop.

    (While it parses JSON, Python runs no other thread, so a request of 140 MB still stops the event loop for 0.2 s.)
    """
    if size < _WORTH_A_THREAD:
        return function(*arguments)
    return await in_thread(function, *arguments)


async def _bash_version() -> str:
    script = "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}.${BASH_VERSINFO[2]}"
    end = await run_process(("bash", "-c", script), environment=os.environ, wall_ms=60_000, output_bytes=100)
    if end.returncode != 0:
        raise SetupError(
            f"bash fails with exit code {end.returncode}: {end.stderr[-300:].decode('utf-8', 'replace')!r}"
        )
    return end.stdout.decode().strip()
