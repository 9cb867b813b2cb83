"""Fixtures of the sandboxes that must fulfil the contract."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.blobs import BlobStore
from ioi_eval.config import Environment
from ioi_eval.sandbox import Sandbox
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.endpoints import endpoint_source, endpoints_now
from tests import unprivileged
from tests.forked_commands import COMMAND
from tests.full_isolation import require_full_isolation
from tests.serve_process import served_address

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sandboxes.md"
MAX_LINES = 60  # of the complete sandbox in docs/sandboxes.md, which users should be able to read at once

PACKAGES = {"bundled": {"ioi_eval", "bash"}, "classic": {"ioi_eval", "cms_ioi"}}
"""Packages by profile: a server needs one of them."""

Entering = Callable[..., AbstractAsyncContextManager[Sandbox]]
"""A function that takes the profile and returns a context manager, which enters a sandbox."""


def documented() -> Callable[..., Any]:
    """The class `PrefixSandbox` of docs/sandboxes.md, made from the code in that page."""
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    assert len(code.splitlines()) < MAX_LINES, "the sandbox in the page is too long to be read at once"
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    shown: Callable[..., Any] = names["PrefixSandbox"]
    return shown


@pytest.fixture(scope="session")
def artifacts(cache: Path) -> ArtifactStore:
    """The store of compiled artifacts: sandboxes with the same compiler share them."""
    return ArtifactStore(cache)


@pytest.fixture(scope="session")
def blobs(cache: Path) -> BlobStore:
    """The store of test data."""
    return BlobStore(cache / "blobs")


@pytest.fixture(scope="session")
def served(cache: Path) -> Iterator[str]:
    """The URL of `ioi-eval serve`, which runs as a separate process."""
    require_full_isolation()
    command = [*COMMAND, "serve", "--port", "0"]
    environment = {**os.environ, "IOI_EVAL_CACHE": str(cache), "PISTON_ENDPOINTS": ""}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        yield served_address(process)
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(params=["embedded", "served", "piston", "documented"])
def entering(request: pytest.FixtureRequest, short_requests: None) -> Entering:
    """The function that enters a sandbox, for each sandbox."""
    if request.param == "embedded":
        return _embedded
    if request.param == "served":
        return _cluster((request.getfixturevalue("served"),), 2)
    if request.param == "documented":
        return _documented
    environment = Environment.read()
    if not environment.piston_endpoints:
        pytest.skip("PISTON_ENDPOINTS names no servers")
    return _real(endpoint_source(environment.piston_endpoints), environment.piston_slots)


@asynccontextmanager
async def _embedded(profile: str | None = None) -> Any:
    async with LocalSandbox(slots=2, profile=profile or "bundled") as sandbox:
        yield sandbox


@asynccontextmanager
async def _documented(profile: str | None = None) -> Any:
    if profile == "classic":
        pytest.skip("it offers the bundled profile only")
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv to leave root with")
        uid = str(unprivileged.UID)
        prefix = ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--")
    yield documented()(*prefix)


def _real(source: Any, slots: int) -> Entering:
    """Servers of `PISTON_ENDPOINTS`. The list of installed packages comes from the servers, not from our client."""
    installed = [_installed(url) for url in asyncio.run(endpoints_now(source))]

    def enter(profile: str | None = None) -> PistonCluster:
        needed = PACKAGES.get(profile or "")
        if needed and not any(names & needed for names in installed):
            pytest.skip(f"the {profile} profile needs one of these packages: {', '.join(sorted(needed))}")
        return PistonCluster(source, max_requests_per_endpoint=slots, profile=profile)

    return enter


def _installed(url: str) -> set[str]:
    answer = httpx.get(f"{url}/runtimes", timeout=10)
    return {name for runtime in answer.json() for name in (runtime["language"], *runtime["aliases"])}


def _cluster(source: Any, slots: int) -> Entering:
    def enter(profile: str | None = None) -> PistonCluster:
        return PistonCluster(source, max_requests_per_endpoint=slots, profile=profile)

    return enter
