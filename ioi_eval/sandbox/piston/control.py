"""A cluster's control plane: which servers are up, and which packages they have. Uses httpx; judges nothing.

    GET    /                    the server's name (`Piston v3.1.1`, for both generations)
    GET    /api/v2/runtimes     what is installed: a health check that costs nothing
    POST   /api/v2/packages     install; DELETE: uninstall

`/packages` is dangerous: a server that cannot reach its repository crashes on this request. So it is only sent to
change something, and to one worker first: if that one crashes, the others get no request.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ioi_eval.errors import SandboxError, TransportError
from ioi_eval.sandbox.piston import answer
from ioi_eval.sandbox.piston.endpoints import API
from ioi_eval.sandbox.piston.wire import Runtime

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

OnWait = Callable[[Sequence[str]], None]
"""A function that says which workers have not answered yet."""

_AT_ONCE = 64
_ALL_FAILED = "All connection attempts failed"  # httpx has this for a host with several addresses, without a reason
_OF_RESOLVER = "[Errno -"  # a code of `getaddrinfo`, as for an unknown host; those of other calls are positive
SILENT_S = 10.0
"""When some workers have not answered after so long, the caller may say so; again after each `_AGAIN_S`."""
_AGAIN_S = 60.0
_HEALTH_S = 10.0  # as many requests as `_AT_ONCE` share this process's time
_CHANGE_S = 900.0  # a compiler's package is hundreds of megabytes, from a repository that may be slow
_GENERATION_S = 3.0  # before isolate this request waits behind running jobs
_PISTON = "Piston v"
_EITHER = "Piston v3 or v4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """Whether a server is up, and what it has installed; `why_not`: why it cannot be used, empty if it can.

    Args:
        server: what it is: `Piston v3` before isolate, `Piston v4` since; the name that another server gives, if any.
        latency_ms: how long the request for runtimes took, on an open connection.
    """

    url: str
    server: str = ""
    runtimes: tuple[Runtime, ...] = ()
    latency_ms: float | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageChange:
    """The result of installing or removing a package: whether it is now installed, or removed, as requested, and
    whether the server crashed on the request."""

    url: str
    is_done: bool
    message: str
    is_dead: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageRequest:
    """A package to install if it `is_wanted`, or to remove; in a version, or a range as in npm (`*` for the latest)."""

    language: str
    version: str = "*"
    is_wanted: bool = True


async def presences(urls: Sequence[str]) -> list[Presence]:
    """Check all servers, many at once; the results are in the order given."""
    async with _client() as client:
        return await ask_each(urls, lambda url: _presence(client, url))


async def change(urls: Sequence[str], package: PackageRequest, *, on_wait: OnWait | None = None) -> list[PackageChange]:
    """Install or remove a package on all servers; the results are in the order given.

    Servers that are not up are skipped. The first of the others gets the request alone; if it crashes, no other one
    gets it.
    """
    async with _client() as client:
        present = await ask_each(urls, lambda url: _presence(client, url))
        why_not = {each.url: f"not asked: {each.why_not}" for each in present if each.why_not}
        up = [url for url in urls if url not in why_not]
        done = await ask_each(up[:1], lambda url: _change(client, url, package), on_wait=on_wait)
        if any(each.is_dead for each in done):
            why_not |= dict.fromkeys(up[1:], "not asked, as the first worker crashed on this request")
        else:
            done += await ask_each(up[1:], lambda url: _change(client, url, package), on_wait=on_wait)
    results = {each.url: each for each in done}
    results |= {url: PackageChange(url=url, is_done=False, message=message) for url, message in why_not.items()}
    return [results[url] for url in urls]


def _client() -> httpx.AsyncClient:
    import httpx

    issuers = ssl.create_default_context()  # as the client of jobs does, so that SSL_CERT_FILE counts for both
    limits = httpx.Limits(max_connections=_AT_ONCE)
    return httpx.AsyncClient(timeout=_HEALTH_S, limits=limits, trust_env=False, verify=issuers)


async def ask_each(
    urls: Sequence[str],
    ask: Callable[[str], Awaitable[T]],
    *,
    at_once: int = _AT_ONCE,
    on_wait: OnWait | None = None,
) -> list[T]:
    """Call `ask` for each worker, for `at_once` of them at the same time; the answers are in order."""
    limit = asyncio.Semaphore(at_once)

    async def work(url: str) -> T:
        async with limit:
            return await ask(url)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work(url)) for url in urls]
        if tasks and on_wait is not None:
            await asyncio.wait(tasks, timeout=SILENT_S)
            while silent := [url for url, task in zip(urls, tasks, strict=True) if not task.done()]:
                on_wait(silent)
                await asyncio.wait(tasks, timeout=_AGAIN_S)
    return [task.result() for task in tasks]


async def _presence(client: httpx.AsyncClient, url: str) -> Presence:
    import httpx

    server = ""
    try:
        reply = await client.get(url.removesuffix(API) + "/")
        greeting = answer.json_of(reply.content) if reply.status_code == 200 else None
        if isinstance(greeting, dict) and isinstance(message := greeting.get("message"), str):
            server = message
        began = time.perf_counter()
        reply = await client.get(f"{url}/runtimes")
        latency_ms = (time.perf_counter() - began) * 1000
        to = reply.headers.get("Location") if reply.is_redirect else None
        runtimes = answer.runtimes(reply.status_code, reply.content if to is None else answer.redirection(to))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:  # the last for a name that httpx cannot look up
        return Presence(url=url, server=server, why_not=_message_of(error))
    except SandboxError as error:
        return Presence(url=url, server=server, why_not=str(error))
    if server.startswith(_PISTON):
        server = await _generation(client, url, runtimes[0]) if runtimes else _EITHER
    return Presence(url=url, server=server, runtimes=runtimes, latency_ms=latency_ms)


async def _generation(client: httpx.AsyncClient, url: str, runtime: Runtime) -> str:
    """The generation of a server. (Both report the version 3.1.1.)

    It is sent a request that neither runs. Servers since isolate refuse a `run_cpu_time` that is not a number, by name.
    Those before ignore that field, and answer an empty 500 if one file is the directory of another.
    """
    import httpx

    files = [{"name": name, "content": ""} for name in ("a", "a/b")]
    request = {"language": runtime.language, "version": runtime.version, "files": files, "run_cpu_time": "none"}
    try:
        reply = await client.post(f"{url}/execute", json=request, timeout=_GENERATION_S)
    except httpx.HTTPError:
        return _EITHER
    if reply.status_code == 400 and b"run_cpu_time" in reply.content:
        return f"{_PISTON}4"
    return f"{_PISTON}3" if (reply.status_code, reply.content) == (500, b"") else _EITHER


async def _change(client: httpx.AsyncClient, url: str, package: PackageRequest) -> PackageChange:
    import httpx

    method = "POST" if package.is_wanted else "DELETE"
    wanted = {"language": package.language, "version": package.version}
    try:
        reply = await client.request(method, f"{url}/packages", json=wanted, timeout=_CHANGE_S)
        language, version = answer.changed_package(reply.status_code, reply.content)
    except httpx.ConnectError as error:
        return PackageChange(url=url, is_done=False, message=_message_of(error))
    except (httpx.HTTPError, TransportError) as error:
        is_dead = bool((await _presence(client, url)).why_not)
        message = _message_of(error)
        if is_dead:
            causes = "it cannot reach its repository (set PISTON_REPO_URL there), or its disk is full"
            message = f"crashed on this request: {causes} ({message})"
        return PackageChange(url=url, is_done=False, message=message, is_dead=is_dead)
    except SandboxError as error:  # Source of the messages: Piston's `api/src/package.js`
        message = str(error)
        if message.endswith("Already installed" if package.is_wanted else "is not installed"):
            return PackageChange(url=url, is_done=True, message=message.removeprefix("HTTP 500: ").lower())
        if message.endswith("does not exist"):
            message += "; its repository (PISTON_REPO_URL, or --repository of `serve`) does not have it"
        return PackageChange(url=url, is_done=False, message=message)
    done = "installed" if package.is_wanted else "removed"
    return PackageChange(url=url, is_done=True, message=f"{done} {language} {version}")


def _message_of(error: Exception) -> str:
    import httpx

    if isinstance(error, httpx.ConnectError) and str(error) == _ALL_FAILED:
        return "no connection: is it started?"
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    message = str(error) or type(error).__name__
    if isinstance(error, httpx.ConnectError) and message.startswith(_OF_RESOLVER):
        return f"no connection: {message.partition('] ')[2]}"
    return message + answer.tls_advice(message)
