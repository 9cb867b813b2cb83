"""Extraction from any text ends in a short time, with a program that can be compiled, or without one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.extract.cpp import extract_cpp, fix_includes, looks_like_cpp
from tests.cpu_time import TooLongError, limit_cpu_time
from tests.fuzz.budget import fuzzed
from tests.selecting import is_full

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

SIZE = 4_000_000 if is_full() else 100_000
CPU_S = SIZE / (20_000 if is_full() else 40_000)
"""CPU time for one text: forty times the measured time. A pattern that backtracks over such a text takes longer."""


@fuzzed
@given(generations)
def test_any_generation(text: str) -> None:
    """The extracted code is not blank and can be encoded as UTF-8, and the rule is a documented one."""
    found = extract_cpp(text)
    assert found.rule in {"fence:cpp", "fence:untagged", "think:cpp", "think:untagged", "none"}
    assert (found.code is None) == (found.rule == "none")
    if found.code is not None:
        found.code.encode()
        assert found.code.strip()
        fixed, _ = fix_includes(found.code, "nile")
        fixed.encode()


def test_the_limit_stops_a_backtracking_pattern() -> None:
    """The CPU time limit stops a pattern that tries each start with each end."""
    with pytest.raises(TooLongError), limit_cpu_time(0.1):
        re.search("a+b", "a" * SIZE)


@pytest.mark.timeout(1800)  # wall clock, which depends on the load; the test limits CPU time
@pytest.mark.parametrize("piece", REPEATED)
def test_long_repetitions(piece: str) -> None:
    """No pattern backtracks: each text of 100,000 characters takes less than 2.5 s of CPU time."""
    text = piece * (SIZE // len(piece))
    for whole in (text, f"```cpp\n{text}\n```\n", f"```\n{text}\n```\n", f"<think>{text}"):
        with limit_cpu_time(CPU_S):
            extract_cpp(whole)
    with limit_cpu_time(CPU_S):
        looks_like_cpp(text)
