"""Precompiled headers of this machine: when one is built, and where it is kept (`jobs/precompiled.py` says what it is).

Only for this machine: a worker would have to be sent 100 MB. It is built once for each standard, by the fifth program
of a run that asks, and stays in the cache: later runs have it at once. Those that nobody has used for two weeks, of
earlier headers or another compiler, are deleted then. A machine with little memory or disk does without. So does the
rest of a run once one cannot be built, kept or used: programs are compiled as ever, which is slower, and the same.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections import Counter
from dataclasses import replace

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import MIB, Policy
from ioi_eval.errors import LostDataError, SandboxError, SetupError, TransientError, UnavailableError
from ioi_eval.jobs import precompiled
from ioi_eval.model import Blob, Isolation
from ioi_eval.programs import Builder
from ioi_eval.sandbox import LOCAL, Sandbox, Target
from ioi_eval.sandbox.control_groups import memory_limit_bytes
from ioi_eval.sandbox.local_compiler import state_of_headers
from ioi_eval.sandbox.slots import Slots

_KEYS = "header-"
_LEAST_MEMORY, _SLOT_MEMORY = 1024 * MIB, 256 * MIB
"""Of this machine or container, and more of it for each slot: each box that compiles has a copy of the header."""

_LEAST_DISK = 1024 * MIB
"""Free space where the cache is: the journal and results may be there too."""

_BOX_BYTES = 256 * MIB
"""Room for a copy and for what else a box writes, where boxes share the directory for temporary files."""


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
        self._built: set[str] = set()
        self._given_up: set[str] = set()
        self._state = ""  # of the headers, as they were when they were asked for first
        self._stating = Slots(1)

    async def header(self, target: Target, std: str) -> Blob | None:
        """The precompiled header for programs of a standard; `None` where they do without.

        Raises:
            UnavailableError: nobody serves any target any more.
        """
        if std in self._given_up or target.name != LOCAL:
            return None
        self._asked[std] += 1
        is_wanted = self._asked[std] >= precompiled.WORTH_BUILDING
        if not is_wanted and not self._artifacts.holds_any(_KEYS):
            return None
        try:
            return await self._ensured(target, std, is_wanted=is_wanted)
        except LostDataError:
            self.give_up(std)
        except UnavailableError:
            raise
        except (SandboxError, SetupError, OSError):
            self.give_up(std)
        return None

    async def _ensured(self, target: Target, std: str, *, is_wanted: bool) -> Blob | None:
        toolchain = target.toolchain
        if not (precompiled.can_precompile(toolchain) and _has_room(target)):
            self.give_up(std)
            return None
        recipe = precompiled.header_recipe(toolchain, std)
        async with self._stating.take():
            self._state = self._state or await asyncio.to_thread(state_of_headers, toolchain)
        key = f"{_KEYS}{recipe.key(toolchain)[:32]}-{self._state[:16]}"
        if not self._artifacts.holds(key):
            if not is_wanted:
                return None
            if self._artifacts.free_bytes() < _LEAST_DISK:
                self.give_up(std)
                return None

        async def build() -> bytes:
            if std in self._built:
                raise TransientError("it was built in this run, and is gone")
            self._built.add(std)
            answer = await self._builder.compile(recipe, target, trusted=True)
            if not answer.artifacts:
                raise TransientError("the header does not compile")
            return answer.artifacts[recipe.artifacts[0]]

        return await self._artifacts.ensure(key, build, instead_of=_KEYS)

    def give_up(self, std: str) -> None:
        """Let programs of a standard do without for the rest of the run."""
        self._given_up.add(std)


def _has_room(target: Target) -> bool:
    """Whether every box can have a copy of the header without taking the room of others."""
    memory = min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), memory_limit_bytes() or 1 << 60)
    if memory < _LEAST_MEMORY + _SLOT_MEMORY * target.slots:
        return False
    if target.isolation is Isolation.FULL:
        return True
    return shutil.disk_usage(tempfile.gettempdir()).free > _BOX_BYTES * target.slots
