"""Subtasks that name their tests by a regular expression: which tests match, and the search ends in any case."""

from __future__ import annotations

import pytest

from ioi_eval.errors import InputError, SetupError
from ioi_eval.importers import name_patterns
from ioi_eval.importers.name_patterns import select_tests

NAMES = ("0-01", "1-01", "1-02", "11-01")


@pytest.mark.parametrize(
    ("pattern", "chosen"),
    [
        ("1-.*", NAMES[1:3]),
        ("1", NAMES[1:]),
        ("", NAMES),
        (".*-01$", ("0-01", "1-01", "11-01")),
        ("(0|11)-", ("0-01", "11-01")),
    ],
)
def test_names_match_at_their_beginning(pattern: str, chosen: tuple[str, ...]) -> None:
    """As in CMS, in the order of the tests."""
    assert select_tests({"all": "", "small": pattern}, NAMES) == {"all": NAMES, "small": chosen}


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("2-", r"subtask small: no test's name matches '2-'"),
        ("(1", r"'\(1' is not a regular expression"),
        ("a{99999999999999}", "is not a regular expression"),
        ("(" * 5_000, "is not a regular expression"),
        ("\ud800", "is not a regular expression"),
    ],
)
def test_expressions_without_a_match(pattern: str, words: str) -> None:
    """The message has the subtask and the expression."""
    with pytest.raises(InputError, match=words):
        select_tests({"all": "", "small": pattern}, NAMES)


@pytest.fixture
def one_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU limit is half of the usual one."""
    monkeypatch.setattr(name_patterns, "_CPU_S", 1)
    monkeypatch.setattr(name_patterns, "_MATCH", name_patterns._MATCH.replace("_CPU, (2, 3)", "_CPU, (1, 2)"))


@pytest.mark.parametrize("pattern", ["(a*)*b", r"((a?){40}a{40})*c"])
def test_an_expression_with_exponential_time_is_refused(pattern: str, one_second: None) -> None:
    """Python's matcher tries every way to split a name. The CPU limit ends it."""
    words = r"takes more than 1 s together; the time ran out at subtask small: .*\. Write simpler expressions, or list"
    with pytest.raises(InputError, match=words):
        select_tests({"all": "", "small": pattern, "large": "a"}, ["a" * 60 + "!"])


def test_all_expressions_of_a_package_share_one_limit(one_second: None) -> None:
    """Otherwise thousands of expressions, each a part of a second, would keep the import busy for hours."""
    slow = dict.fromkeys(map(str, range(5_000)), "(a*)*b|a")  # each matches after 0.2 s with 22 letters
    words = r"^to match the regular expressions of 5001 subtasks with the names of 1 tests takes more than"
    with pytest.raises(InputError, match=words):
        select_tests({"all": "", **slow}, ["a" * 22])


def test_a_package_may_have_many_expressions() -> None:
    """Thousands of simple ones are within the limit."""
    many = {f"{number:04}": f"(1-|x{number})" for number in range(3_000)}
    assert list(select_tests(many, NAMES).values()) == [NAMES[1:3]] * 3_000


def test_only_the_limit_says_that_an_expression_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel, for example, kills processes when the machine lacks memory."""
    killed = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    monkeypatch.setattr(name_patterns, "_MATCH", killed)
    with pytest.raises(SetupError, match=r"subtask all: '1' cannot be tried: signal 9 ended the process"):
        select_tests({"all": "1"}, NAMES)
