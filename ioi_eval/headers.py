"""Precompiled headers of this machine: when one is built, and where it is kept (`jobs/precompiled.py` says what it is).

Only for this machine: a worker would have to be sent 100 MB. It is built once enough programs of a run have asked, for
each standard, by the one that asks last; it stays in the cache for later runs, in which it is there at once. The one
that it replaces, of earlier headers or an earlier compiler, is deleted. Where it cannot be built or kept, programs are
compiled as ever: that is slower, and the same.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SandboxError, SetupError, TransientError, UnavailableError
from ioi_eval.jobs import precompiled
from ioi_eval.model import Blob
from ioi_eval.programs import Builder
from ioi_eval.sandbox import LOCAL, Sandbox, Target
from ioi_eval.sandbox.local_compiler import state_of_files
from ioi_eval.sandbox.slots import Slots
from ioi_eval.toolchain import Toolchain


class PrecompiledHeaders:
    """Those of one run.

    Args:
        sandbox: executes the compile jobs.
        artifacts: keeps what is built.
        policy: its compile limits hold.
    """

    def __init__(self, sandbox: Sandbox, artifacts: ArtifactStore, policy: Policy) -> None:
        policy = replace(policy, compile=precompiled.header_limits(policy.compile))
        self._builder = Builder(sandbox, artifacts, policy)
        self._artifacts = artifacts
        self._asked: Counter[str] = Counter()
        self._given_up: set[str] = set()
        self._state = ""  # of the headers, as they were when it was asked for first
        self._stating = Slots(1)

    async def header(self, target: Target, std: str) -> Blob | None:
        """The precompiled header for programs of a standard; `None` where they do without.

        Raises:
            UnavailableError: nobody serves any target any more.
        """
        toolchain = target.toolchain
        if target.name != LOCAL or not precompiled.can_precompile(toolchain) or std in self._given_up:
            return None
        recipe = precompiled.header_recipe(toolchain, std)
        compiler = recipe.key(toolchain)
        self._asked[std] += 1
        is_wanted = self._asked[std] >= precompiled.WORTH_BUILDING
        if not is_wanted and not self._artifacts.holds_any(compiler):
            return None
        key = f"{compiler}-{await self._headers(toolchain)}"
        if not is_wanted and not self._artifacts.holds(key):
            return None

        async def build() -> bytes:
            answer = await self._builder.compile(recipe, target, trusted=True)
            if not answer.artifacts:
                raise TransientError("the header does not compile")
            return answer.artifacts[recipe.artifacts[0]]

        try:
            return await self._artifacts.ensure(key, build, instead_of=compiler)
        except UnavailableError:
            raise
        except (SandboxError, SetupError):
            self.give_up(std)
            return None

    def give_up(self, std: str) -> None:
        """Let programs of a standard do without for the rest of the run."""
        self._given_up.add(std)

    async def _headers(self, toolchain: Toolchain) -> str:
        async with self._stating.take():
            if not self._state:
                self._state = await asyncio.to_thread(state_of_files, toolchain.sees)
        return self._state
