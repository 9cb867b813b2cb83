"""Extraction from any text ends soon, with a program that can be sent to a compiler, or with none."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.extract.cpp import extract_cpp, fix_includes, looks_like_cpp
from tests.fuzz.budget import FULL, fuzzed

PIECES = [
    *(
        "```",
        "````",
        "~~~",
        "```cpp\n",
        "```c++\n",
        "```python\n",
        "`",
        "\n",
        "\r\n",
        "  ",
        "\t",
        "<think>",
        "</think>",
    ),
    *("int main() {", "}", "#include <vector>\n", "x", "'", '"', "//", "/*", "using namespace std;", "template <"),
    *("def f():", "\0", "\ud800", "\u2028"),
]
REPEATED = [
    *(
        "`",
        "```",
        "```\n",
        "```cpp\n",
        "~",
        "~~~\n",
        "```cpp\n```\n",
        "```\n`",
        "x ```",
        "a```cpp\n",
        " ```\n",
        "'```\n",
    ),
    *("<think>", "</think>", "<think></think>", " ", "\t", "\n", "\r\n", "\r", "\0", "'"),
    *("int ", "int a(", "vector<", "a<", "template <", "#include ", "# ", "std::", "using ", "namespace ", "const "),
    *("f(", "((((", "static inline const "),
]
generations = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=10)), max_size=40).map("".join)

SIZE = 4_000_000 if FULL else 200_000
CPU_S = SIZE / 20_000
"""What one text may take: eighty times of what was measured; a pattern that goes back over this much takes longer."""


class TooLongError(Exception):
    """More CPU time was used than was allowed."""


@contextmanager
def at_most(cpu_s: float) -> Iterator[None]:
    """End what uses more CPU time; how busy the machine is does not count, and `re` looks for signals as it goes."""

    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TooLongError(f"more than {cpu_s:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@fuzzed
@given(generations)
def test_any_generation(text: str) -> None:
    """The code is part of what was said, can be encoded, and the rule is one that is documented."""
    found = extract_cpp(text)
    assert found.rule in {"fence:cpp", "fence:untagged", "think:cpp", "think:untagged", "none"}
    assert (found.code is None) == (found.rule == "none")
    if found.code is not None:
        found.code.encode()
        assert found.code.strip()
        fixed, _ = fix_includes(found.code, "nile")
        fixed.encode()


def test_patterns_that_go_back_are_noticed() -> None:
    """The bound of the next test ends a pattern that tries every beginning with every end."""
    with pytest.raises(TooLongError), at_most(0.1):
        re.search("a+b", "a" * SIZE)


@pytest.mark.timeout(1800)  # of a clock that also counts other processes; CPU time is what is bounded
@pytest.mark.parametrize("piece", REPEATED)
def test_long_repetitions(piece: str) -> None:
    """No text makes a pattern go back and forth: 200,000 characters of anything take less than 10 s of CPU time."""
    text = piece * (SIZE // len(piece))
    for whole in (text, f"```cpp\n{text}\n```\n", f"```\n{text}\n```\n", f"<think>{text}"):
        with at_most(CPU_S):
            extract_cpp(whole)
    with at_most(CPU_S):
        looks_like_cpp(text)
