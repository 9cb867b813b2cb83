"""Which isolation levels this machine offers."""

from __future__ import annotations

import asyncio

from ioi_eval.errors import SetupError
from ioi_eval.model import Isolation
from ioi_eval.sandbox.local.sandbox import LocalSandbox


def why_not(level: Isolation) -> str:
    """The reason why this machine does not offer a level; empty if it does."""

    async def enter() -> str:
        sandbox = LocalSandbox(slots=1, least_isolation=Isolation.NONE, strongest=level)
        async with sandbox:
            reached = sandbox.targets()[0].isolation
        return "" if reached is level else f"no {level.value} isolation here: {sandbox.why_not_full}"

    try:
        return asyncio.run(enter())
    except SetupError as error:
        return str(error)
