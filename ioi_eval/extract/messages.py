"""The model's text from a conversation: messages, each a text or a list of parts. Pure.

Messages are dictionaries (a dump) or objects with the same attributes (Eval Protocol's `Message`). An `InputError` says
that an item is no message, that a content is neither text nor parts, or that an answer's text is not in `content`: it
would look like no answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ioi_eval.errors import InputError

_ASKING = ("system", "developer", "user", "human", "tool", "function")
"""Roles of messages to a model. Their code is never the answer: it may be an example or a solution."""

_OTHER_NAMES = ("value", "parts", "text")
"""What other formats (ShareGPT, Gemini) call the content."""

_THOUGHTS = ("reasoning", "thinking")
"""Types of parts that are thoughts, if their text is in `text`. Source: Vercel's AI SDK."""


def last_answer(messages: Sequence[object]) -> str | None:
    """The model's answer; `None` if there is none.

    It is the last message of the assistant. If no message has the role `assistant` it is the last message, unless that
    has the role of a message to a model.
    """
    answers = [message for message in messages if _part(message, "role") == "assistant"]
    last = next(reversed(answers or messages), None)
    if last is None or _part(last, "role") in _ASKING:
        return None
    content = _part(last, "content")
    if content is None and (name := next((name for name in _OTHER_NAMES if _part(last, name)), None)):
        raise InputError(f"a message has its text in {name}; objects with role and content are needed")
    return content_text(content)


def is_prompt(messages: object) -> bool:
    """Whether these are only messages to a model, without any answer."""
    if not (isinstance(messages, list) and messages):
        return False
    return all(isinstance(message, Mapping) and message.get("role") in _ASKING for message in messages)


def last_text(messages: Sequence[object]) -> str:
    """The last message of any role if its content is a text, else an empty text. The rule of Eval Protocol's code."""
    last = messages[-1] if messages else None
    content = last.get("content") if isinstance(last, Mapping) else getattr(last, "content", None)
    return content if isinstance(content, str) else ""


def last_answer_or_content(messages: Sequence[object]) -> str | None:
    """The last message of the assistant; if there is none, the last message of any role; `None` without messages."""
    if any(_part(message, "role") == "assistant" for message in messages):
        return last_answer(messages)
    return content_text(_part(messages[-1], "content")) if messages else None


def content_text(content: object) -> str:
    """The text of a message's content, which is a text, nothing, or a list of parts; only parts with text count.

    A part that is a thought gets the markers `<think>` and `</think>`.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "".join(map(_text_of, content))
    raise InputError(
        f"the content of a message is of type {type(content).__name__}; it must be a text or a list of parts"
    )


def _text_of(part: object) -> str:
    if isinstance(part, str):
        return part
    text = _part(part, "text")
    if not isinstance(text, str):
        return ""
    return f"<think>{text}</think>" if _part(part, "type") in _THOUGHTS else text


def _part(message: object, name: str) -> Any:
    if isinstance(message, Mapping):
        return message.get(name)
    if message is None or isinstance(message, str | bytes | int | float | list | tuple):
        raise InputError(f"a message is of type {type(message).__name__}; it must be an object with role and content")
    return getattr(message, name, None)
