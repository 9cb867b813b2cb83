"""How many tests a job may have, from a target's limits on output, requests and time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.config import Policy
from ioi_eval.engine.packing import fitting
from ioi_eval.jobs.plan import RULES, usual_wall_ms
from ioi_eval.jobs.run_job import PlannedTest, bounds_of
from ioi_eval.jobs.run_setups import job_tests, problem_setup
from ioi_eval.model import Blob, Communication, Isolation, JudgeProgram, Profile, SourceFile, Subtask, TestCase
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain
from tests.small_problems import small_problem

GCC = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
TARGET = Target(name="t", profile=Profile.BUNDLED, toolchain=GCC, slots=1, isolation=Isolation.REDUCED)
RUNNER = Blob(path=Path("/nowhere"), size=1 << 20, sha256="0" * 64)
NAMES = tuple(f"t{number:03}" for number in range(100))
PROBLEM = small_problem(
    name="Sum",
    year=2026,
    time_limit_s=2.0,
    subtasks=(Subtask(name="01", points=100, tests=NAMES),),
    tests={name: TestCase(name=name, input=bytes(900_000), answer=bytes(100_000)) for name in NAMES},
    cxx_std="gnu++17",
)


SETUP = problem_setup(PROBLEM, Policy(), runner=RUNNER)


def first_bundle(target: Target) -> int:
    """The number of tests of the first job on a target."""
    return len(
        fitting(
            tuple(PlannedTest(test=name) for name in NAMES),
            job_tests(PROBLEM, {}),
            bounds_of(target, SETUP),
            max_tests=1000,
            wall_ms_per_test=usual_wall_ms(PROBLEM.time_limit_s),
            taken_bytes=1 << 20,
        )
    )


def test_no_bounds() -> None:
    """On the embedded sandbox a job may have all tests."""
    assert first_bundle(TARGET) == 100


@pytest.mark.parametrize(
    ("bounds", "tests"),
    [
        ({"max_output_bytes": 1 << 20}, 26),  # lines of up to 40 kB
        ({"max_output_bytes": 1024}, 1),
        ({"max_body_bytes": 48 << 20}, 35),  # of 48 MiB three quarters are data, and 2 MiB are programs
        ({"max_body_bytes": 100_000}, 1),
        ({"max_wall_ms": 60_000}, 6),  # 50 s for tests of at most 7.2 s
        ({"max_wall_ms": 3_000}, 1),
    ],
)
def test_each_bound(bounds: dict[str, int], tests: int) -> None:
    """The lowest limit counts. One test is always sent: then the server's own error says what is too large."""
    assert first_bundle(replace(TARGET, **bounds)) == tests  # type: ignore[arg-type]


def test_limits_of_a_manager_fit_into_a_plan() -> None:
    """The runner refuses a plan with limits above a day, so no submission could be judged."""
    manager = JudgeProgram(source=SourceFile(path="graders/manager.cpp", content=b""))
    problem = replace(PROBLEM, method=Communication(manager=manager, processes=64), time_limit_s=50_000.0)
    lines = dict(problem_setup(problem, Policy(), runner=RUNNER).judging)
    assert lines["manager"]["cpu_ms"] == lines["manager"]["wall_ms"] == RULES["kMaxMs"]


def test_the_largest_bundle_fits_into_a_request() -> None:
    """The request stays below the limit even if all data is sent as base64."""
    body = 48 << 20
    found = bounds_of(replace(TARGET, max_body_bytes=body), SETUP)
    assert found.test_bytes is not None
    assert (found.test_bytes + (1 << 20)) * 4 / 3 + 60_000 <= body
