"""Plans as text: every byte a word can hold survives, and nothing can break out of its word."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.jobs.plan import RunnerPlan, word, words
from ioi_eval.model import Isolation


def decode(encoded: str) -> str:
    """What the runner makes of a word."""
    if encoded == "%":
        return ""
    return re.sub(rb"%([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), encoded.encode("ascii")).decode("utf-8")


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_word_survives(text: str) -> None:
    """A word has no blank, no line end and no non-ASCII, and decodes to what it was."""
    encoded = word(text)
    assert re.fullmatch(r"[A-Za-z0-9._/,:=+@%-]+", encoded)
    assert decode(encoded) == text


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8")), min_size=1))
def test_words_in_one_value_survive(texts: list[str]) -> None:
    """Arguments with commas and blanks stay apart, through both encodings."""
    assert [decode(part) for part in decode(word(words(texts))).split(",")] == texts


def test_plan_reads_as_the_page_says() -> None:
    """Lines, repeated keys, left-out values, the closing line."""
    plan = RunnerPlan(mode="compile", nonce="ab" * 16, least=Isolation.FULL)
    plan.line("put", file="f0", **{"as": "a b.cpp"})
    plan.line("step", argv=("g++", "-c", ""))
    plan.line("test", id=3, answer=None)
    assert plan.encode().decode() == (
        "ioi-eval-runner 1\nnonce abababababababababababababababab\nisolation least=full\nmode compile\n"
        "put file=f0 as=a%20b.cpp\nstep argv=g++ argv=-c argv=%\ntest id=3\nend\n"
    )
