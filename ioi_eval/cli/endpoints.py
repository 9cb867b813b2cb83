"""Options that name a Piston cluster, and how they are combined with the environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ioi_eval.cli.grouped import option
from ioi_eval.cli.messages import tell
from ioi_eval.config import Environment
from ioi_eval.errors import InputError, listed

if TYPE_CHECKING:
    from ioi_eval.sandbox.piston.endpoints import EndpointSource

Endpoints = Annotated[
    str | None,
    option(
        "--endpoints E",
        "Piston workers: URLs with commas between them, file:PATH, or slurm; PISTON_ENDPOINTS by default.",
    ),
]
RequestsPerEndpoint = Annotated[
    int | None,
    option(
        "--max-requests-per-endpoint N",
        "Jobs to send to a worker at once; by default PISTON_MAX_REQUESTS_PER_ENDPOINT, else 1.",
        min=1,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCluster:
    """The cluster that the user named by `text`.

    Args:
        source: finds its endpoints (an argument of `PistonCluster`).
        max_requests_per_endpoint: how many jobs we send to a worker at once.
    """

    text: str
    source: EndpointSource
    max_requests_per_endpoint: int

    @property
    def urls(self) -> tuple[str, ...]:
        """Its endpoints now."""
        import asyncio

        from ioi_eval.sandbox.piston.endpoints import endpoints_now

        return asyncio.run(endpoints_now(self.source))


def worker_name(url: str) -> str:
    """The name of a worker in messages: its URL without a login and without the path of the API."""
    from ioi_eval.sandbox.piston.endpoints import without_login

    return without_login(url).removesuffix("/api/v2")


def tell_waiting(what: str) -> Callable[[Sequence[str]], None]:
    """A function that says which workers have not answered yet, and what they are asked to do."""
    return lambda urls: tell(f"waiting for {listed(map(worker_name, urls), most=4)} to {what}")


def tell_changing(language: str, *, is_wanted: bool) -> Callable[[Sequence[str]], None]:
    """The same, for installing or removing a package."""
    why = "; it compiles a header there, which may take minutes" if is_wanted and language == "ioi_eval" else ""
    return tell_waiting(f"{'install' if is_wanted else 'remove'} {language}{why}")


def named_cluster(endpoints: str | None = None, per_endpoint: int | None = None) -> NamedCluster | None:
    """The cluster that the options name, else the environment (including `.env`); `None` if neither names one."""
    environment = Environment.read()
    text = environment.piston_endpoints if endpoints is None else endpoints
    if endpoints is None and not text.strip():
        return None
    from ioi_eval.sandbox.piston.endpoints import endpoint_source

    return NamedCluster(
        text=text,
        source=endpoint_source(text),
        max_requests_per_endpoint=per_endpoint or environment.piston_slots,
    )


def needed_cluster(endpoints: str | None = None, per_endpoint: int | None = None) -> NamedCluster:
    """`named_cluster`, for commands that need a cluster: refuses if none is named."""
    cluster = named_cluster(endpoints, per_endpoint)
    if cluster is None:
        raise InputError("no Piston cluster is named: use --endpoints, or set PISTON_ENDPOINTS (here or in .env)")
    return cluster
