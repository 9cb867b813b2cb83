"""Plans as text: a word can hold every byte, and no value can end its word. The rules of time are those of
`graders/runner/rules.h`, and programs and pages that repeat them agree with it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval import boxfiles
from ioi_eval.config import JudgeLimits, RunPolicy
from ioi_eval.jobs.plan import RULES, RunnerPlan, cpu_stop_ms, given_up_ms, pages_ms, usual_wall_ms, word_list
from ioi_eval.jobs.runner_answer import STOPPED
from ioi_eval.model import Isolation
from ioi_eval.model.job import word


def decode(encoded: str) -> str:
    """A word, decoded as the runner does it."""
    if encoded == "%":
        return ""
    return re.sub(rb"%([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), encoded.encode("ascii")).decode("utf-8")


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_word_survives(text: str) -> None:
    """An encoded word has no blank, no line end and only ASCII, and is decoded to the original."""
    encoded = word(text)
    assert re.fullmatch(r"[A-Za-z0-9._/,:=+@%-]+", encoded)
    assert decode(encoded) == text


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8")), min_size=1))
def test_words_in_one_value_survive(texts: list[str]) -> None:
    """Arguments with commas and blanks stay separate after both encodings."""
    assert [decode(part) for part in decode(word(word_list(texts))).split(",")] == texts


def test_plan_has_the_documented_format() -> None:
    """Lines, repeated keys, omitted values, the last line."""
    plan = RunnerPlan(mode="compile", nonce="ab" * 16, least=Isolation.FULL)
    plan.line("put", file="f0", **{"as": "a b.cpp"})
    plan.line("step", argv=("g++", "-c", ""))
    plan.line("test", id=3, answer=None)
    assert plan.encode().decode() == (
        "ioi-eval-runner 1\nnonce abababababababababababababababab\nisolation least=full\nmode compile\n"
        "put file=f0 as=a%20b.cpp\nstep argv=g++ argv=-c argv=%\ntest id=3\nend\n"
    )


HEADER = boxfiles.read("runner/rules.h").decode("utf-8")


def test_every_number_of_the_header_is_read() -> None:
    """A line in another format would not be found."""
    assert len(RULES) == len(re.findall(r"^constexpr int64_t k\w+", HEADER, re.MULTILINE)) == 13
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
        f"at most a day ({numbers['kMaxMs']:,} ms), a size at most {numbers['kMaxBytes'] >> 40} TiB",
        f"`processes` is 1 for batch, at most {numbers['kMaxProcesses']}.",
        f"misses a step by less than 1 / {numbers['kLenientParts']:,} of a step",
    ):
        assert words in text


def test_pages_and_messages_have_the_idle_time() -> None:
    """The time for which a program may be idle is stated for users in two places."""
    stated = f"limit + {RULES['kIdleSlackMs'] / 1000:g} s"
    assert stated in STOPPED["idle"]
    page = Path(__file__).resolve().parents[2] / "docs" / "verdicts.md"
    assert f"idle for {stated} in total" in " ".join(page.read_text(encoding="utf-8").split())


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
