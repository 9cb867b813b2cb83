"""The embedded sandbox, served over HTTP in a separate thread, and an independent client (httpx).

The tests that use this write the wire format themselves, so that they check the format and not our types.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.model import Blob, Isolation
from ioi_eval.programs import Builder
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages
from ioi_eval.sandbox.serve.server import ServerSettings, serving


class Served:
    """A server in a separate thread."""

    def __init__(self, base: str, runner: Blob) -> None:
        self.base = base
        self.runner = runner
        self.client = httpx.Client(base_url=f"{base}/api/v2", timeout=120)

    def execute(self, **body: Any) -> httpx.Response:
        """Send a request to execute a job; the default language is bash."""
        return self.client.post("/execute", json={"language": "bash", "version": "*"} | body)

    def bash(self, script: str, **body: Any) -> dict[str, Any]:
        """The run stage of a bash script."""
        response = self.execute(files=[{"name": "main.sh", "content": script}], **body)
        assert response.status_code == 200, response.text
        run: dict[str, Any] = response.json()["run"]
        return run


@contextmanager
def server(
    cache: Path,
    *,
    slots: int = 2,
    settings: ServerSettings | None = None,
    packages: InstalledPackages | None = None,
) -> Iterator[Served]:
    """Serve until the block ends."""
    started: threading.Event = threading.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        async with LocalSandbox(slots=slots) as sandbox:
            (target,) = sandbox.targets()
            if target.isolation is not Isolation.FULL:
                found["why"] = sandbox.why_not_full
                return
            found["runner"] = await Builder(sandbox, ArtifactStore(cache), Policy()).runner(target)
            async with serving(sandbox, runner=found["runner"], port=0, settings=settings, packages=packages) as base:
                found["base"], found["loop"], found["end"] = base, asyncio.get_running_loop(), asyncio.Event()
                started.set()
                await found["end"].wait()

    def work() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:  # noqa: BLE001 - the test's thread raises it
            found["error"] = error
        finally:
            started.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    try:
        if "why" in found:
            pytest.skip(f"no full isolation here: {found['why']}")
        if "base" in found:
            yield Served(found["base"], found["runner"])
    finally:
        if "end" in found:
            found["loop"].call_soon_threadsafe(found["end"].set)
        thread.join()
    if "error" in found:
        raise found["error"]
