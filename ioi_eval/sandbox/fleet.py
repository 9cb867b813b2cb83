"""Which workers a cluster has, and which of them are alike: a group of these is a target. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from ioi_eval.errors import InputError
from ioi_eval.model import Isolation
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.discovery import Worker
from ioi_eval.sandbox.roster import Endpoint
from ioi_eval.sandbox.wire import Service, Starter

if TYPE_CHECKING:
    from yarl import URL

_API = "/api/v2"


@dataclass(slots=True)
class WorkerGroup:
    """Workers that are alike.

    Args:
        target: what they offer; its `slots` are not kept here.
        service: the package that starts jobs on each of them.
        members: their URLs.
    """

    target: Target
    service: Service
    members: set[str] = field(default_factory=set)


class Fleet:
    """The workers by URL, and their groups by the target's name.

    Args:
        slots: how many jobs each worker has at once.

    Attributes:
        unconfined: the URLs of those that were found unable to isolate programs.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.workers: dict[str, Worker] = {}
        self.groups: dict[str, WorkerGroup] = {}
        self.unconfined: set[str] = set()
        self.execute_urls: dict[str, URL] = {}  # also of workers that have left: a job may be on its way there
        self._names: dict[tuple[object, ...], str] = {}

    def enter(self, worker: Worker) -> Endpoint:
        """Take a worker in, or what is new of it; gives what the pool is to know."""
        url = str(worker.url)
        self.drop(url)
        self.unconfined.discard(url)
        self.workers[url] = worker
        self.execute_urls[url] = worker.url / "execute"
        group = self._group(worker)
        group.members.add(url)
        machine = worker.url.host or url
        return Endpoint(name=url, machine=machine, group=group.target.name, slots=self.slots)

    def drop(self, url: str) -> None:
        """Forget a worker. Its group stays: jobs may wait for it."""
        self.workers.pop(url, None)
        for group in self.groups.values():
            group.members.discard(url)

    def targets(self) -> Sequence[Target]:
        """One target a group, the largest first; groups that lost all their workers last."""
        groups = sorted(self.groups.values(), key=lambda group: -len(group.members))
        return [replace(group.target, slots=len(group.members) * self.slots) for group in groups]

    def _group(self, worker: Worker) -> WorkerGroup:
        kind = (worker.profile, worker.service, worker.toolchain, worker.max_output_bytes, worker.max_body_bytes)
        name = self._names.get(kind)
        if name is None:
            name = self._names[kind] = self._new_name(worker)
            self.groups[name] = WorkerGroup(target=_target(name, worker), service=worker.service)
        return self.groups[name]

    def _new_name(self, worker: Worker) -> str:
        name = f"piston {worker.service.starter.value} {worker.service.version}, {worker.toolchain.version}"
        number = sum(taken == name or taken.startswith(f"{name} #") for taken in self.groups)
        return f"{name} #{number + 1}" if number else name


def _target(name: str, worker: Worker) -> Target:
    """What a worker offers.

    Inside a job of either generation of servers the runner reaches `reduced` (Landlock, seccomp); a job names what it
    accepts, and a runner that finds less refuses. The stock pair confines nothing.
    """
    brings_pair = worker.service.starter is Starter.CMS_IOI
    return Target(
        name=name,
        profile=worker.profile,
        toolchain=worker.toolchain,
        slots=1,
        isolation=Isolation.NONE if brings_pair else Isolation.REDUCED,
        brings_pair=brings_pair,
        max_output_bytes=worker.max_output_bytes,
        max_wall_ms=worker.service.ceilings.run_timeout,
        max_body_bytes=worker.max_body_bytes,
    )


def endpoint_url(text: str) -> str:
    """The base of a server's API from what a user writes: `host:2000`, `http://host:2000/`, `…/api/v2`.

    Raises:
        InputError: it is no URL of a server.
    """
    written = text.strip()
    parts = urlsplit(written if "://" in written else f"http://{written}")
    try:
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or parts.query or parts.fragment or " " in written:
        raise InputError(f"endpoint {text!r} is no URL of a server; write http://host:port")
    path = parts.path.rstrip("/") or _API
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))
