"""Plans as text: a word can hold every byte, and no value can end its word."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.jobs.plan import RunnerPlan, word, word_list
from ioi_eval.model import Isolation


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
