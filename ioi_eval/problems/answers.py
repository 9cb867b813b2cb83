"""The model's text in a row of a dump."""

from __future__ import annotations

from ioi_eval.errors import InputError
from ioi_eval.extract.messages import last_answer
from ioi_eval.problems.row import Row
from ioi_eval.problems.samples import as_lists


def generation_of(row: Row) -> str | None:
    """The model's text in a row: `generation` if it is not blank, else the last answer in `messages`, if there is one.

    Raises:
        RowError: a column has another type, or the messages are malformed.
    """
    generation = row.optional_text("generation")
    return generation if generation is not None and generation.strip() else _answer(row)


def _answer(row: Row) -> str | None:
    """The model's last message in the row's conversation, if there is one."""
    if not row.has("messages"):
        return None
    messages = as_lists(row.values["messages"])
    if not isinstance(messages, list):
        raise row.error("messages is not a list of messages")
    try:
        return last_answer(messages)
    except InputError as error:
        raise row.error(str(error)) from error
