"""The rules of time are defined in `graders/runner/rules.h`. Programs and pages that repeat them agree with it."""

from __future__ import annotations

import re

import pytest

from ioi_eval import boxfiles
from ioi_eval.config import JudgeLimits, RunPolicy
from ioi_eval.jobs.plan import RULES, cpu_stop_ms, given_up_ms, pages_ms, usual_wall_ms

HEADER = boxfiles.read("runner/rules.h").decode("utf-8")


def test_every_number_of_the_header_is_read() -> None:
    """A line in another format would not be found."""
    assert len(RULES) == len(re.findall(r"^constexpr int64_t k\w+", HEADER, re.MULTILINE)) == 12
    assert boxfiles.numbers("constexpr int64_t kA = 1'500;\nconstexpr int kB = 2;\n") == {"kA": 1500}


def test_limits_computed_from_the_rules() -> None:
    """With a limit of 2 s a program is stopped at 2.6 s of CPU time, and given up at 30 s, or 130 s with a manager of
    10 s.
    """
    assert cpu_stop_ms(2.0) == 2600
    assert given_up_ms(2.0) == 30_000
    assert given_up_ms(2.0, 10_000) == 130_000
    assert pages_ms(256 << 20) == 1310


@pytest.mark.parametrize("limit_s", [0.0, 0.1, 2.0, 10.0, 3600.0])
def test_a_usual_test_is_stopped_in_its_usual_time(limit_s: float) -> None:
    """Whether it computes on half of a processor until it is stopped, or idles until then."""
    idle_stop_ms = 1000 * limit_s + RULES["kIdleSlackMs"]
    assert usual_wall_ms(limit_s) >= max(2 * cpu_stop_ms(limit_s), idle_stop_ms)


def test_the_protocol_page_has_the_rules() -> None:
    """Each rule is in PROTOCOL.md with its numbers."""
    text = " ".join(boxfiles.read("PROTOCOL.md").decode("utf-8").split())
    numbers = RULES
    for words in (
        f"`{numbers['kCpuPercent'] / 100} L + {numbers['kCpuSlackMs']}`",
        f"`L + {numbers['kIdleSlackMs']}`",
        f"`{numbers['kGivenUpFactor']} (L + M) + {numbers['kGivenUpSlackMs']}`",
        f"up to {numbers['kPageUs']} µs for each page fault",
        f"`{numbers['kPagesFactor']} L + {numbers['kPagesSlackMs']}`",
    ):
        assert words in text


def test_the_script_has_the_numbers_of_the_rules() -> None:
    """`run` cannot read the header. Its numbers are those of the rules, `JudgeLimits` and `RunPolicy`."""
    in_script = dict(re.findall(r"^(\w+)=(\d+)$", boxfiles.read("run").decode("utf-8"), re.MULTILINE))
    limits = JudgeLimits()
    assert int(in_script["given_up_factor"]) == RULES["kGivenUpFactor"]
    assert int(in_script["given_up_slack_ms"]) == RULES["kGivenUpSlackMs"]
    assert int(in_script["judge_cpu_ms"]) == 1000 * limits.cpu_s
    assert int(in_script["judge_wall_ms"]) == 1000 * limits.wall_s
    policy = RunPolicy()
    assert int(in_script["threads"]) == policy.threads
    assert f"output_bytes=$(({policy.output_bytes >> 20} << 20))" in boxfiles.read("run").decode("utf-8")
    assert f"stderr_bytes=$(({policy.stderr_bytes >> 10} << 10))" in boxfiles.read("run").decode("utf-8")
    assert f"judge_memory_bytes=$(({limits.memory_bytes >> 30} << 30))" in boxfiles.read("run").decode("utf-8")
