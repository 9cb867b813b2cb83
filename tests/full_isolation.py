"""The embedded sandbox with full isolation, for tests that have no meaning with less."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ioi_eval.model import Isolation
from ioi_eval.sandbox.local.sandbox import LocalSandbox


def reached(strongest: Isolation) -> tuple[Isolation, str]:
    """The isolation that an embedded sandbox gives the caller, limited to this level, and the reason why it is not
    full.
    """

    async def enter() -> tuple[Isolation, str]:
        async with LocalSandbox(slots=1, strongest=strongest) as sandbox:
            return sandbox.targets()[0].isolation, sandbox.why_not_full

    return asyncio.run(enter())


@functools.cache
def _reached_here() -> tuple[Isolation, str]:
    return reached(Isolation.FULL)


def require_full_isolation() -> None:
    """Skip the test if the embedded sandbox cannot isolate fully here. It runs scripts from requests only in full
    isolation.
    """
    isolation, why_not = _reached_here()
    if isolation is not Isolation.FULL:
        pytest.skip(f"no full isolation here: {why_not}")


@contextmanager
def full_isolation() -> Iterator[tuple[asyncio.Runner, LocalSandbox]]:
    """A sandbox with one slot, and its event loop. The test is skipped if the sandbox cannot isolate fully."""
    with asyncio.Runner() as loop:
        sandbox = LocalSandbox(slots=1)
        loop.run(sandbox.__aenter__())
        try:
            if sandbox.targets()[0].isolation is not Isolation.FULL:
                pytest.skip(f"no full isolation here: {sandbox.why_not_full}")
            yield loop, sandbox
        finally:
            loop.run(sandbox.__aexit__(None, None, None))
