"""Whatever a model said, extraction ends, soon, with a program that can be sent to a compiler, or with none."""

from __future__ import annotations

import pytest
from budget import FULL, fuzzed
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.extract.cpp import extract_cpp, fix_includes, looks_like_cpp

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


@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", REPEATED)
def test_long_repetitions(piece: str) -> None:
    """No text makes a pattern go back and forth: half a megabyte of anything takes no minutes."""
    text = piece * (SIZE // len(piece))
    for whole in (text, f"```cpp\n{text}\n```\n", f"```\n{text}\n```\n", f"<think>{text}"):
        extract_cpp(whole)
    looks_like_cpp(text)
