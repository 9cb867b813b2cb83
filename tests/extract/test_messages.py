"""The model's answer is found in every form of conversation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ioi_eval.errors import InputError
from ioi_eval.extract.messages import content_text, last_answer, last_answer_or_content

USER = {"role": "user", "content": "question"}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        (None, ""),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "image_url", "image_url": "x"}, {"type": "text", "text": "b"}], "b"),
        (["a", "b"], "ab"),
        ([SimpleNamespace(type="text", text="a")], "a"),
        (({"text": None},), ""),
        ([{"type": "reasoning", "text": "a"}, {"type": "text", "text": "b"}], "<think>a</think>b"),
        ([{"type": "thinking", "text": "a"}, "b"], "<think>a</think>b"),
        ([{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "b"}], "b"),
    ],
)
def test_content(content: Any, text: str) -> None:
    """A content is text, nothing, or a list of parts."""
    assert content_text(content) == text
    assert last_answer_or_content([USER, {"role": "assistant", "content": content}]) == text
    assert last_answer_or_content([SimpleNamespace(role="assistant", content=content)]) == text


def test_last_answer() -> None:
    """The assistant's last message counts, even if a tool or the user wrote after it."""
    messages = [USER, {"role": "assistant", "content": "1"}, {"role": "assistant", "content": "2"}, USER]
    assert last_answer(messages) == "2"
    assert last_answer_or_content(messages) == "2"
    assert last_answer_or_content([USER, {"role": "user", "content": "another"}]) == "another"


def test_without_assistant() -> None:
    """Without an assistant, the last message counts."""
    assert last_answer([USER, {"content": "x"}]) == "x"


@pytest.mark.parametrize("role", ["system", "developer", "user", "human", "tool", "function"])
def test_a_prompt_is_no_answer(role: str) -> None:
    """A prompt may contain a right program. A model without an answer gets no points."""
    assert last_answer([USER, {"role": role, "content": "```python\nprint(1)\n```"}]) is None
    assert last_answer([SimpleNamespace(role=role, content="x")]) is None


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ({"from": "gpt", "value": "x"}, "value"),
        ({"role": "model", "parts": [{"text": "x"}]}, "parts"),
        ({"role": "assistant", "content": None, "text": "x"}, "text"),
        (SimpleNamespace(role="assistant", text="x"), "text"),
    ],
)
def test_messages_of_other_formats(answer: object, name: str) -> None:
    """If the answer's text is in a field of another name, the message is an error. As an empty answer it
    would score 0.
    """
    with pytest.raises(InputError, match=f"its text in {name}; objects with role and content are needed"):
        last_answer([answer])


@pytest.mark.parametrize("more", [{}, {"content": None}, {"tool_calls": [{"id": "1"}]}, {"text": None, "value": ""}])
def test_an_answer_without_text(more: dict[str, object]) -> None:
    """A model may give an empty answer, and a table has all columns in all messages."""
    assert last_answer([USER, {"role": "assistant", **more}]) == ""


def test_a_field_of_another_name_beside_the_content() -> None:
    """The content counts."""
    assert last_answer([USER, {"role": "assistant", "content": "1", "text": "2", "value": "3"}]) == "1"


def test_without_messages() -> None:
    """A conversation without messages has no answer."""
    assert last_answer([]) is None
    assert last_answer_or_content([]) is None


@pytest.mark.parametrize("messages", [["text"], [5], [None], [["role", "user"]]])
def test_invalid_messages(messages: list[object]) -> None:
    """The error names the value."""
    with pytest.raises(InputError, match="a message is of type"):
        last_answer(messages)
    with pytest.raises(InputError, match="a message is of type"):
        last_answer_or_content(messages)


@pytest.mark.parametrize("content", [5, {"text": "a"}, b"a"])
def test_invalid_content(content: object) -> None:
    """A content that is neither text nor parts is an error."""
    with pytest.raises(InputError, match="a text or a list of parts"):
        content_text(content)
