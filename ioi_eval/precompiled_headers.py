"""Precompiled headers: which programs use one; on this machine, when one is built and where it is stored.

`docs/verdicts.md`, "Compilation", says when. Workers have built theirs when they installed our package
(`piston/packages/`); `jobs/recipes.py` says how both are used. The key of a header includes the state of all files in
the directories that the compiler reads, so it is built again after an upgrade of the system. If one cannot be built,
stored or used, the rest of the run does not use it: slower, with the same results.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections import Counter
from dataclasses import replace

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cache_directory import LEAST_FREE_BYTES
from ioi_eval.concurrency import in_new_thread
from ioi_eval.config import MIB, CompileLimits
from ioi_eval.errors import LostDataError, SandboxError, SetupError, TransientError, UnavailableError
from ioi_eval.jobs.compile import trusted_limits
from ioi_eval.jobs.recipes import Recipe, header_recipe, with_header, with_workers_header
from ioi_eval.model import Blob, Isolation
from ioi_eval.programs import Builder
from ioi_eval.sandbox import LOCAL, Target
from ioi_eval.sandbox.local.compiler import state_of_headers
from ioi_eval.sandbox.local.control_groups import memory_limit_bytes
from ioi_eval.slots import Once
from ioi_eval.toolchain import Toolchain

WORTH_BUILDING = 5
"""How many programs of a run must begin with the header before it is built. Building it costs as much time as it saves
in four programs (`jobs/recipes.py` has the measurements)."""

_KEYS = "header-"
_MAX_BYTES = 512 * MIB  # of a header: it is much larger than any program
_LEAST_MEMORY, _SLOT_MEMORY = 1024 * MIB, 256 * MIB
"""Memory that this machine or container must have, and more for each slot: each compile box has a copy of a header."""

_BOX_BYTES = 256 * MIB
"""Disk space that a box needs for its copy and other files, if boxes use this machine's `/tmp`."""


class PrecompiledHeaders:
    """The precompiled headers that one run uses. `limits` are those for submissions: a header gets more, and may be a
    larger file."""

    def __init__(self, builder: Builder, artifacts: ArtifactStore, limits: CompileLimits) -> None:
        self._builder = builder
        self._limits = replace(trusted_limits(limits), file_bytes=max(limits.file_bytes, _MAX_BYTES))
        self._artifacts = artifacts
        self._name = f".{secrets.token_hex(16)}"  # in boxes
        self._asked: Counter[str] = Counter()
        self._built: set[str] = set()
        self._given_up: set[str] = set()
        self._programs: Counter[bool] = Counter()  # compiled with a header, by whether that result counts
        self._refused = 0  # programs that did not compile with it
        self._without = 0  # programs for which a worker had no header
        self._states: Once[Toolchain, str] = Once()  # of the system's header files, at the first request

    async def recipe(self, recipe: Recipe, target: Target, std: str) -> Recipe | None:
        """The recipe of a program that begins with the header, with a precompiled one; `None` if it cannot use one.

        A worker may lack the header: then its steps say so, and are those of a compilation without it. UnavailableError
        if no target is in service.
        """
        if target.is_remote:
            return with_workers_header(recipe, std, self._name) if can_precompile(target.toolchain) else None
        header = await self.header(target, std)
        return None if header is None else with_header(recipe, header, self._name)

    async def header(self, target: Target, std: str) -> Blob | None:
        """This machine's precompiled header for programs of a standard; `None` if they are compiled without it."""
        if std in self._given_up or target.name != LOCAL:
            return None
        self._asked[std] += 1
        is_wanted = self._asked[std] >= WORTH_BUILDING
        if not is_wanted and not self._artifacts.holds_any(_KEYS):
            return None
        try:
            return await self._ensure(target, std, is_wanted=is_wanted)
        except (SandboxError, SetupError, OSError) as error:
            if isinstance(error, UnavailableError) and not isinstance(error, LostDataError):
                raise
            self.give_up(std)
            return None

    async def _ensure(self, target: Target, std: str, *, is_wanted: bool) -> Blob | None:
        """The header; `None` if it is not there, and too few programs would use it yet."""
        toolchain = target.toolchain
        if not (can_precompile(toolchain) and _has_room(target)):
            raise TransientError("it cannot be used here")
        recipe = header_recipe(toolchain, std)
        state = await self._states.get(toolchain, lambda: in_new_thread(lambda: state_of_headers(toolchain)))
        key = f"{_KEYS}{recipe.key(toolchain)[:32]}-{state[:16]}"
        if not self._artifacts.holds(key):
            if not is_wanted:
                return None
            if self._artifacts.free_bytes() < LEAST_FREE_BYTES:
                raise TransientError("there is no room for it")

        async def build() -> bytes:
            if std in self._built or std in self._given_up:
                raise TransientError("it was built in this run, and is gone; or it cannot be built")
            answer = await self._builder.compile(recipe, target, limits=self._limits)
            self._built.add(std)  # not earlier: if this task is cancelled, the next program's builds it
            if not answer.artifacts:
                raise TransientError("the header does not compile")
            return answer.artifacts[recipe.artifacts[0]]

        return await self._artifacts.ensure(key, build, instead_of=_KEYS)

    def note_program(self, *, compiles: bool, counts: bool) -> None:
        """Count a program for which a header was used; `counts`: whether that result is used."""
        self._programs[counts] += 1
        self._refused += not compiles

    def note_without(self) -> None:
        """Count a program for which a worker had no header."""
        self._without += 1

    def notes(self) -> list[str]:
        """For how many programs the precompiled header was used, as a sentence; empty if there was none."""
        used, tried = self._programs[True], self._programs.total()
        total = tried + self._without
        note = f"the precompiled <bits/stdc++.h> was used for {used} of {total} programs that begin with it"
        if self._refused:
            note += f"; {self._refused} did not compile (compile errors always come from a compilation without it)"
        return [note] if tried else []

    def give_up(self, std: str) -> None:
        """Use no precompiled header for programs of this standard for the rest of the run."""
        self._given_up.add(std)


def can_precompile(toolchain: Toolchain) -> bool:
    """Whether the compiler is GCC: others have precompiled headers of another kind."""
    return "clang" not in toolchain.version.lower()


def _has_room(target: Target) -> bool:
    """Whether there is memory, or disk space, for a copy of the header in every box."""
    memory = min(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), memory_limit_bytes() or 1 << 60)
    if memory < _LEAST_MEMORY + _SLOT_MEMORY * target.slots:
        return False
    if target.isolation is Isolation.FULL:
        return True
    return shutil.disk_usage(tempfile.gettempdir()).free > _BOX_BYTES * target.slots
