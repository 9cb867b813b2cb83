"""Reads the user's list of endpoints, and finds the servers that it means now.

    http://worker-7:2000     a server; the scheme and `/api/v2` may be left out
    file:workers.txt         a file with such lines; read again whenever the cluster refreshes its workers
    slurm                    the running Slurm jobs named `piston-worker-<port>`; each serves that port on its node

Several can be combined, separated by commas. Source: the reference accepts a list of URLs, or `slurm`.

Slurm's jobs are found with `squeue`. Its environment variables apply (`SQUEUE_USERS`, `SQUEUE_PARTITION`, …): on a
cluster that several people share they select the jobs.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from ioi_eval.errors import InputError, SetupError, TransientError
from ioi_eval.sandbox.process import run_process

EndpointSource = Sequence[str] | Callable[[], Awaitable[Sequence[str]]]
"""The endpoints' URLs; or a function that returns them, called repeatedly. If it raises an IoiEvalError during a run,
they stay as they were; any other error ends the run."""

API = "/api/v2"
_LOGIN = re.compile(r"(?<=//)[^/]*@|^[^/]*@")
_FILE = "file:"
_SLURM = "slurm"

_JOB_NAME = "piston-worker-"
"""Source: the reference's launcher of workers."""

_SQUEUE_S = 30.0  # a busy controller may take seconds; squeue itself gives up after a few tries
_SQUEUE_BYTES = 256 << 20  # a line for each running job of the cluster
_SQUEUE = ("squeue", "--noheader", "--array", "--states=RUNNING", "--format=%N %j")
_MAX_PORT = 65_535


def endpoint_source(text: str) -> EndpointSource:
    """The source of the endpoints that a user named in a text; see the module's docstring. If only URLs are named, they
    are the source; else it is a function, as its result may change: files and Slurm are not read yet. InputError if the
    text is empty, or a part of it is not an endpoint."""
    terms = tuple(filter(None, (term.strip() for term in text.replace("\n", ",").split(","))))
    if not terms:
        raise InputError("no Piston endpoint is named; write http://host:port, file:PATH or slurm")
    fixed = tuple(endpoint_url(term) for term in terms if not _is_asked(term))
    if len(fixed) == len(terms):
        return fixed

    async def ask() -> Sequence[str]:
        endpoints = list(fixed)
        for term in filter(_is_asked, terms):
            endpoints += await (_slurm_endpoints() if term == _SLURM else asyncio.to_thread(_read, term))
        if not endpoints:
            no_job = f"Slurm has no running job named {_JOB_NAME}<port>"
            reasons = (no_job if term == _SLURM else f"{term} names none" for term in terms)
            raise SetupError(f"no Piston worker is there now: {' and '.join(reasons)}")
        return endpoints

    return ask


async def endpoints_now(source: EndpointSource) -> tuple[str, ...]:
    """The endpoints that a source has now, each once, as the base URLs of their API. InputError or SetupError if that
    cannot be found out."""
    listed = source if isinstance(source, Sequence) else await source()
    return tuple(dict.fromkeys(map(endpoint_url, listed)))


def endpoint_url(text: str) -> str:
    """The base URL of a server's API, from what a user writes: `host:2000`, `http://host:2000/`, `…/api/v2`.

    It is the same for all spellings of one URL (`HTTP://Host:80`), as workers are told apart by it. InputError if it is
    not the URL of a server.
    """
    from yarl import URL

    written = text.strip()
    is_plain = written.isprintable() and " " not in written
    try:
        parts = urlsplit(written if "://" in written else f"http://{written}")
        url = URL(urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") or API, "", "")))
        (url.raw_host or "").encode("idna")  # as is done to look it up: a part of a name has 1 to 63 characters
        is_valid = url.scheme in {"http", "https"} and bool(url.raw_host) and parts.port != 0
    except ValueError:
        is_valid = False
    if not (is_valid and is_plain) or parts.netloc.endswith(":") or parts.query or parts.fragment:
        login, _, rest = written.rpartition("@")
        shown, advice = (f"…@{rest}", " (in passwords %23 for #, %2F for /)") if login else (written, "")
        advice += " (several with commas between them)" if len(written.split()) > 1 else ""
        raise InputError(f"endpoint {shown!r} is not the URL of a server; write http://host:port{advice}")
    return str(url)


def without_login(url: str) -> str:
    """A URL without the user and password that it may contain: for everything that is shown or stored."""
    return _LOGIN.sub("", url)


def without_logins(text: str) -> str:
    """The text that names a cluster, without the users and passwords that its URLs may contain."""
    terms = [term.strip() for term in text.replace("\n", ",").split(",")]
    return ",".join(term if _is_asked(term) else without_login(term) for term in terms)


def _is_asked(term: str) -> bool:
    return term == _SLURM or term.startswith(_FILE)


def _read(term: str) -> list[str]:
    """The endpoints in a file: one per line, or several with commas; `#` begins a comment."""
    path = Path(os.path.expanduser(term.removeprefix(_FILE)))  # no shell has replaced `~`
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"cannot read the endpoints in {path} (a URL on each line): {why}") from error
    endpoints = []
    for number, line in enumerate(lines, 1):
        for endpoint in filter(None, map(str.strip, line.partition("#")[0].split(","))):
            try:
                endpoints.append(endpoint_url(endpoint))
            except InputError as error:
                raise InputError(f"{path}, line {number}: {error}") from error
    return endpoints


# ---------------------------------------------------------------------- workers that run as Slurm jobs


async def _slurm_endpoints() -> list[str]:
    """The endpoints of all workers that run now, in the order of Slurm's answer."""
    if shutil.which(_SQUEUE[0]) is None:
        raise SetupError("endpoints 'slurm': there is no squeue on the PATH; run this where Slurm's commands are")
    try:
        end = await run_process(
            _SQUEUE, environment=os.environ, wall_ms=round(_SQUEUE_S * 1000), output_bytes=_SQUEUE_BYTES
        )
    except TransientError as error:
        raise SetupError(f"endpoints 'slurm': {error}") from error
    if end.timed_out:
        raise SetupError(f"endpoints 'slurm': squeue did not answer within {_SQUEUE_S:g} s")
    if end.overflowed or end.returncode != 0:
        message = end.stderr.decode("utf-8", "replace").strip() or f"exit code {end.returncode}"
        raise SetupError(f"endpoints 'slurm': squeue failed: {message}")
    return list(slurm_workers(end.stdout.decode("utf-8", "replace")))


def slurm_workers(answer: str) -> Iterator[str]:
    """The endpoints in squeue's output: lines of a node list, a blank, and a job's name.

    Other jobs are skipped, and so are jobs without nodes, which are just starting or ending.
    """
    for line in answer.splitlines():
        nodes, _, name = line.strip().partition(" ")
        port = name.removeprefix(_JOB_NAME)
        if nodes and port != name and port.isdecimal() and 0 < int(port) <= _MAX_PORT:
            if "[" in nodes or "," in nodes:
                several = f"the job {name} has the nodes {nodes}"
                raise SetupError(f"endpoints 'slurm': {several}; start a job for each worker")
            yield f"http://{nodes}:{int(port)}"
