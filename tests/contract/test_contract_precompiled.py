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


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_the_same_with_a_worker_s_header(
    entering: Callable[..., Any], artifacts: ArtifactStore, name: str
) -> None:
    """GCC really reads the precompiled header where the runner says so, and only there."""

    async def use(sandbox: Sandbox, target: Target) -> None:
        if target.profile != "bundled":
            pytest.skip("only the bundled profile uses it")
        builder = Builder(sandbox, artifacts, Policy(compile=CompileLimits(cpu_s=60, wall_s=600)))
        argv = target.toolchain.compile_argv("a.cpp", "a.o", std=STD)
        step = Step(argv=argv, files=(("a.cpp", PROGRAMS[name].encode()),))
        plain = Recipe(what="submission", steps=(step,), artifacts=("a.o",), sees=target.toolchain.sees)
        with_header = with_workers_header(plain, STD, ".unknown")
        (step,) = with_header.steps
        shown = replace(with_header, steps=(replace(step, argv=(*step.argv, "-H")),))
        first, second, third = [await builder.compile(recipe, target) for recipe in (plain, with_header, shown)]
        assert first.artifacts["a.o"]
        assert first.artifacts == second.artifacts
        (line,) = third.steps
        assert ("! ./.unknown.gch" in line.output) == line.precompiled

    with_sandbox(entering, use)
