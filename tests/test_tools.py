"""The compilers and interpreters of targets: a target that answers slowly does not delay the others."""

from __future__ import annotations

import asyncio

import pytest

from ioi_eval.errors import SetupError, TransientError
from ioi_eval.jobs.recipes import Recipe
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.sandbox import Target
from ioi_eval.tools import Tools
from tests.small_targets import small_target


def test_a_target_that_does_not_answer_does_not_delay_others() -> None:
    """A worker that joins during the run compiles the runner first, or hangs. The other targets continue."""
    slow, quick = small_target(name="slow"), small_target(name="quick")

    async def main() -> None:
        asked, never = asyncio.Event(), asyncio.Event()

        async def ready(_: Target) -> None:
            return None

        async def ask(_: Recipe, target: Target) -> CompileAnswer:
            if target is slow:
                asked.set()
                await never.wait()
            raise TransientError("no such file: python3")

        tools = Tools(ask, ready)
        hangs = asyncio.create_task(tools.interpreter("python3", slow))
        await asked.wait()
        with pytest.raises(SetupError, match="python3 cannot be started"):
            await tools.interpreter("python3", quick)
        assert not hangs.done()
        hangs.cancel()
        await asyncio.wait([hangs])

    asyncio.run(main())
