"""A worker's precompiled header: with it each program is the same, to the byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.jobs.recipes import Recipe, Step, with_workers_header
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Sandbox, Target
from tests.contract.test_contract_jobs import with_sandbox
from tests.scorer.test_precompiled_headers import PROGRAMS, STD


def test_programs_are_the_same_with_a_worker_s_header(entering: Callable[..., Any], artifacts: ArtifactStore) -> None:
    """GCC really reads the precompiled header where the runner says so, and only there.

    A worker without the header compiles all programs alike: there the first program, the longest, is enough.
    """

    async def use(sandbox: Sandbox, target: Target) -> None:
        if target.profile != "bundled" or not target.is_remote:
            pytest.skip("a worker's header is tried in the bundled profile only")
        builder = Builder(sandbox, artifacts, Policy(compile=CompileLimits(cpu_s=60, wall_s=600)))
        argv = target.toolchain.compile_argv("a.cpp", "a.o", std=STD)
        for code in PROGRAMS.values():
            step = Step(argv=argv, files=(("a.cpp", code.encode()),))
            plain = Recipe(what="submission", steps=(step,), artifacts=("a.o",), sees=target.toolchain.sees)
            shown = replace(plain, steps=(replace(step, argv=(*argv, "-H")),))  # GCC prints which headers it reads
            first = await builder.compile(plain, target)
            second = await builder.compile(with_workers_header(shown, STD, ".unknown"), target)
            assert first.artifacts["a.o"]
            assert first.artifacts == second.artifacts
            (line,) = second.steps
            assert ("! ./.unknown.gch" in line.output) == line.precompiled
            if not line.precompiled:
                break

    with_sandbox(entering, use)
