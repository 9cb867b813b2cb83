"""Names of comparators: parsed or refused."""

from __future__ import annotations

import pytest

from ioi_eval.errors import InputError
from ioi_eval.model.methods import Comparator


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no such comparator ''; there are: exact, lines"),
        ("diff", "no such comparator 'diff'"),
        ("LINES", "no such comparator 'LINES'. Did you mean 'lines'?"),
        ("lines:1", "takes no parameters"),
        ("float", "float:ABS"),
        ("float:", "float:ABS"),
        ("float:abc", "float:ABS"),
        ("float:-1", "float:ABS"),
        ("float:nan", "float:ABS"),
        ("float:1:2:3", "float:ABS"),
        ("float:1e-6:", "float:ABS"),
        ("float:1_0", "float:ABS"),
        ("float:٣", "float:ABS"),
        ("float:1e500", "exponents from -400 to 400"),
        ("float:0:1e-401", "exponents from -400 to 400"),
        ("checker", "needs a program"),
        ("checker:", "needs a program"),
    ],
)
def test_unknown_comparators(text: str, words: str) -> None:
    """The error lists the known names."""
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        Comparator.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "exact",
        "lines",
        "tokens",
        "case-insensitive",
        "unordered-lines",
        "float:1e-6",
        "float:0:.5",
        "float:1e-400:1E+400",
        "float:1e007",
        "checker:a/b:c.cpp",
    ],
)
def test_comparator_names(text: str) -> None:
    """Results have a comparator's name as it was requested."""
    assert str(Comparator.parse(text)) == text


def test_default_comparator() -> None:
    """By default trailing blanks do not count."""
    assert str(Comparator()) == "lines"
