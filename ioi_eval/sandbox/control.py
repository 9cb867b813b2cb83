"""A cluster's control plane: who is there, and which packages are installed. httpx; nothing is judged here.

    GET    /                    the server's own words (`Piston v3.1.1`, of either generation)
    GET    /api/v2/runtimes     what can be asked for: health, at no cost
    POST   /api/v2/packages     install; DELETE: uninstall

`/packages` is dangerous: a server that cannot reach its repository dies of the question. So it is asked only to change
something, and one worker is asked before all others: if that one dies, the others are spared.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ioi_eval.errors import SandboxError, TransportError
from ioi_eval.sandbox import answer
from ioi_eval.sandbox.endpoints import API
from ioi_eval.sandbox.wire import Runtime

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

_AT_ONCE = 64
_HEALTH_S = 10.0  # as many requests as `_AT_ONCE` share this process's time
_CHANGE_S = 900.0  # a compiler's package is hundreds of megabytes, from a repository that may be slow
_GENERATION_S = 3.0  # before isolate the question waits for a free place behind running jobs
_PISTON = "Piston v"
_EITHER = "Piston v3 or v4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """Whether a server is there.

    Args:
        url: the base of its API.
        server: what it is: `Piston v3` before isolate, `Piston v4` since; others in their own words, if any.
        runtimes: what it has installed.
        latency_ms: how long the question for runtimes took, on an open connection.
        why_not: why it cannot be used; empty if it can.
    """

    url: str
    server: str = ""
    runtimes: tuple[Runtime, ...] = ()
    latency_ms: float | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageChange:
    """What became of installing or removing a package.

    Args:
        url: the base of the server's API.
        is_done: the package is there, or gone, as was wanted.
        words: what happened.
        is_dead: the server did not survive the question.
    """

    url: str
    is_done: bool
    words: str
    is_dead: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageRequest:
    """A package as it is asked for.

    Args:
        language: its name.
        version: or a range as npm writes it; `*` for the latest.
        is_wanted: to be installed; else removed.
    """

    language: str
    version: str = "*"
    is_wanted: bool = field(default=True)


async def presences(urls: Sequence[str]) -> list[Presence]:
    """Look at all servers, many at once; in the order given."""
    async with _client() as client:
        return await _each(urls, lambda url: _presence(client, url))


async def change(urls: Sequence[str], package: PackageRequest) -> list[PackageChange]:
    """Install or remove a package on all servers; in the order given.

    Servers that do not answer at all are not asked. The first that does is asked alone; if it dies, no other is asked.
    """
    async with _client() as client:
        present = dict(zip(urls, await _each(urls, lambda url: _presence(client, url)), strict=True))
        done = {
            url: PackageChange(url=url, is_done=False, words=f"not asked: {it.why_not}") for url, it in present.items()
        }
        there = [url for url in urls if not present[url].why_not]
        for some in (there[:1], there[1:]):
            changes = await _each(some, lambda url: _change(client, url, package))
            done |= {each.url: each for each in changes}
            if some == there[:1] and any(each.is_dead for each in changes):
                spared = "not asked, as the first worker died of the question"
                done |= {url: PackageChange(url=url, is_done=False, words=spared) for url in there[1:]}
                break
        return [done[url] for url in urls]


def _client() -> httpx.AsyncClient:
    import httpx

    return httpx.AsyncClient(timeout=_HEALTH_S, limits=httpx.Limits(max_connections=_AT_ONCE), trust_env=False)


async def _each(urls: Sequence[str], ask: Callable[[str], Awaitable[T]]) -> list[T]:
    """Ask all of them, `_AT_ONCE` at once; the answers in order."""
    answers: dict[int, T] = {}
    rest = iter(enumerate(urls))

    async def work() -> None:
        for number, url in rest:
            answers[number] = await ask(url)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(_AT_ONCE, len(urls))):
            group.create_task(work())
    return [answers[number] for number in range(len(urls))]


async def _presence(client: httpx.AsyncClient, url: str) -> Presence:
    import httpx

    server = ""
    try:
        greeting = await client.get(url.removesuffix(API) + "/")
        server = _greeting(greeting)
        began = time.perf_counter()
        reply = await client.get(f"{url}/runtimes")
        latency_ms = (time.perf_counter() - began) * 1000
        runtimes = answer.runtimes(reply.status_code, reply.content)
    except httpx.HTTPError as error:
        return Presence(url=url, server=server, why_not=_words(error))
    except SandboxError as error:
        return Presence(url=url, server=server, why_not=str(error))
    if server.startswith(_PISTON):
        server = await _generation(client, url, runtimes[0]) if runtimes else _EITHER
    return Presence(url=url, server=server, runtimes=runtimes, latency_ms=latency_ms)


async def _generation(client: httpx.AsyncClient, url: str, runtime: Runtime) -> str:
    """Which generation a server is of, as both call themselves 3.1.1.

    It is asked for what neither runs: since isolate a CPU time that is no number is refused by its name; before it no
    CPU time is known, and two files of which one is the other's directory end in an empty 500.
    """
    import httpx

    files = [{"name": name, "content": ""} for name in ("a", "a/b")]
    asked = {"language": runtime.language, "version": runtime.version, "files": files, "run_cpu_time": "none"}
    try:
        reply = await client.post(f"{url}/execute", json=asked, timeout=_GENERATION_S)
    except httpx.HTTPError:
        return _EITHER
    if reply.status_code == 400 and b"run_cpu_time" in reply.content:
        return f"{_PISTON}4"
    return f"{_PISTON}3" if (reply.status_code, reply.content) == (500, b"") else _EITHER


def _greeting(reply: httpx.Response) -> str:
    try:
        said = reply.json()
    except ValueError:
        return ""
    message = said.get("message") if isinstance(said, dict) and reply.status_code == 200 else None
    return message if isinstance(message, str) else ""


async def _change(client: httpx.AsyncClient, url: str, package: PackageRequest) -> PackageChange:
    import httpx

    method = "POST" if package.is_wanted else "DELETE"
    wanted = {"language": package.language, "version": package.version}
    try:
        reply = await client.request(method, f"{url}/packages", json=wanted, timeout=_CHANGE_S)
        language, version = answer.changed_package(reply.status_code, reply.content)
    except httpx.ConnectError as error:
        return PackageChange(url=url, is_done=False, words=_words(error))
    except (httpx.TransportError, TransportError) as error:
        is_dead = bool((await _presence(client, url)).why_not)
        words = (
            f"died of the question: it cannot reach its repository (set PISTON_REPO_URL there), or its disk is full "
            f"({_words(error)})"
        )
        return PackageChange(url=url, is_done=False, words=words if is_dead else _words(error), is_dead=is_dead)
    except SandboxError as error:
        return _refused(url, package, str(error))
    return PackageChange(
        url=url, is_done=True, words=f"{'installed' if package.is_wanted else 'removed'} {language} {version}"
    )


def _refused(url: str, package: PackageRequest, words: str) -> PackageChange:
    """The server's refusal; it may say that all is already as was wanted. Source: Piston's `api/src/package.js`."""
    if words.endswith("Already installed" if package.is_wanted else "is not installed"):
        return PackageChange(url=url, is_done=True, words=words.removeprefix("HTTP 500: ").lower())
    if words.endswith("does not exist"):
        words += "; its repository (PISTON_REPO_URL, or --repository of `serve`) does not have it"
    return PackageChange(url=url, is_done=False, words=words)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
