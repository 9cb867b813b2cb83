"""Rows of a dump of Python programs: one sample or several, in every form, and errors in them."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval.apps import evaluate_apps_solution
from ioi_eval.apps.eval_protocol_results import empty_code
from ioi_eval.errors import RowError
from ioi_eval.problems.apps_submissions import (
    EXTRACTORS,
    MAX_CODE_BYTES,
    AppsSubmission,
    Extractor,
    our_extractor,
    problem_of,
    samples_of,
    submission,
)
from ioi_eval.problems.row import Row

FENCED = "So:\n```python\nprint(1)\n```\n"


def talk(answer: Any) -> list[dict[str, Any]]:
    """A conversation that ends with this answer."""
    return [{"role": "user", "content": "?"}, {"role": "assistant", "content": answer}]


def row(**values: Any) -> Row:
    """A row of a dump."""
    return Row(source="dump.jsonl", number=3, values={"problem_id": "1", **values})


def read(extractor: Extractor = our_extractor, **values: Any) -> list[AppsSubmission]:
    """The submissions in a row."""
    samples = samples_of(row(**values), "uuid")
    return [submission(sample, name=str(n), problem="1", extractor=extractor) for n, sample in enumerate(samples)]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"code": "print(1)"}, [("print(1)", "column:code")]),
        ({"code": " ", "generation": FENCED}, [("print(1)\n", "fence:python")]),
        ({"code": None, "generation": FENCED}, [("print(1)\n", "fence:python")]),
        ({"messages": talk(FENCED)}, [("print(1)\n", "fence:python")]),
        ({"messages": talk([{"type": "text", "text": FENCED}])}, [("print(1)\n", "fence:python")]),
        ({"code": ["a=1", "", "a=2"]}, [("a=1", "column:code"), (None, "none"), ("a=2", "column:code")]),
        ({"code": ("a=1", None)}, [("a=1", "column:code"), (None, "none")]),
        ({"generation": [FENCED, "I cannot."]}, [("print(1)\n", "fence:python"), (None, "none")]),
        ({"messages": [talk(FENCED), talk("no")]}, [("print(1)\n", "fence:python"), (None, "none")]),
        ({"code": [None, "a=1"], "generation": [FENCED, ""]}, [("print(1)\n", "fence:python"), ("a=1", "column:code")]),
        ({"messages": []}, [(None, "none")]),
        ({"generation": ""}, [(None, "none")]),
        ({"code": "x = '\ud800'"}, [("x = '�'", "column:code")]),
    ],
    ids=str,
)
def test_forms(values: dict[str, Any], found: list[tuple[str | None, str]]) -> None:
    """A text, a conversation, or a list of either. `code` has precedence. An empty value is no code."""
    assert [(one.code, one.extraction) for one in read(**values)] == found


def test_arrays_are_lists() -> None:
    """As tables contain them."""
    import numpy as np

    values = np.array(["a=1", "a=2"], dtype=object)
    assert [one.code for one in read(code=values)] == ["a=1", "a=2"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {"text": "x"},
            "the row has no program: it needs one of the columns code, generation, messages; its columns are: "
            "problem_id, text",
        ),
        ({"code": 7}, "code is 7; it must be a text"),
        ({"code": []}, "code: the list is empty"),
        ({"code": ["a", 7]}, "code is a list of programs, and contains 7, which is not text"),
        ({"code": ["a"], "generation": ["a", "b"]}, "its lists of programs differ in length"),
        ({"generation": {"a": 1}}, "generation is {'a': 1}; it must be a text"),
        ({"messages": "x"}, "messages is not a list of messages"),
        ({"messages": ["x"]}, "a message is of type str; it must be an object with role and content"),
        ({"messages": [{"role": "assistant", "content": 7}]}, "the content of a message is of type int"),
        ({"code": "int main(){}", "language": "cpp"}, "its language is cpp; programs for APPS are in Python 3"),
        ({"code": "print 1", "language": "Python 2"}, "its language is Python 2; programs for APPS are in Python 3"),
    ],
    ids=str,
)
def test_an_invalid_program_is_an_error(values: dict[str, Any], words: str) -> None:
    """The message has file and row."""
    with pytest.raises(RowError, match=f"dump.jsonl, row 3: {words}"):
        read(**values)


@pytest.mark.parametrize(
    "language", ["python", "py3", "PyPy 3", "Python 3", "Python 3.11", "PyPy3-64", " Python3 ", " "]
)
def test_a_row_may_state_python_by_each_of_its_names(language: str) -> None:
    """The names are those that rows for contest problems may have. A blank text states none."""
    (one,) = read(code="print(1)", language=language)
    assert one.code == "print(1)"


def test_an_unknown_language_without_a_program_is_none() -> None:
    """As for contest problems."""
    (one,) = read(generation="```python\nprint(1)\n```", language="unknown")
    assert one.code == "print(1)\n"
    with pytest.raises(RowError, match="its language is unknown; programs for APPS"):
        read(code="print(1)", language="unknown")


def test_a_program_that_is_too_long_is_not_run() -> None:
    """The reason has its length."""
    (one,) = read(code="x" * (MAX_CODE_BYTES + 1))
    assert one.code is None
    assert one.refused == "the program has 1,048,577 bytes, more than 1,048,576"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"problem_id": 42}, "42"),
        ({"problem_id": "apps_42"}, "42"),
        ({"problem_id": None, "instance_id": "apps_42"}, "42"),
        ({"problem_id": 42.0}, "42"),
    ],
    ids=str,
)
def test_the_problem_of_a_row(values: dict[str, Any], problem: str) -> None:
    """In either form, also in mcpbr's column."""
    assert problem_of(row(**values)) == problem


def test_a_row_without_a_problem() -> None:
    """The message lists the row's columns."""
    with pytest.raises(RowError, match="problem_id is null"):
        problem_of(row(problem_id=None, code="x"))


def test_extractors_of_other_graders() -> None:
    """Under the profile of another grader, the program is extracted by that grader's rule."""
    text = "import x\nHere:\n```\ndef f():\n    pass\n```\nand\n```text\nout\n```\n"
    assert [(one.code, one.extraction) for one in read(EXTRACTORS["eval-protocol"], generation=text)] == [
        ("def f():\n    pass", "eval-protocol")
    ]
    assert read(EXTRACTORS["livecodebench"], messages=talk(text))[0].code == "out"
    assert read(EXTRACTORS["eval-protocol"], code=text)[0].extraction == "column:code"
    last = [*talk("x"), {"role": "user", "content": "```python\nprint(2)\n```"}]
    assert read(EXTRACTORS["eval-protocol"], messages=last)[0].code == "print(2)"
    assert read(EXTRACTORS["livecodebench"], messages=[*talk("no fence")])[0].code is None


@pytest.mark.parametrize("messages", [talk([{"type": "text", "text": FENCED}]), talk(7), [*talk(FENCED), "x"]])
def test_eval_protocol_reads_only_texts(messages: list[Any]) -> None:
    """Anything else in the last message is no program, as in `evaluate_apps_solution`."""
    assert [one.code for one in read(EXTRACTORS["eval-protocol"], messages=messages)] == [None]
    assert evaluate_apps_solution(messages, "{}", compat="eval-protocol").reason == empty_code().reason
