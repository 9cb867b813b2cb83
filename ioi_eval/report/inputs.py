"""The beginnings of inputs, stored with results: they are needed to see why a program is wrong.

`inputs.jsonl` has a line for each test that gave some program its verdict; programs share these lines.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ioi_eval.config import KEPT_INPUT_BYTES
from ioi_eval.errors import InputError
from ioi_eval.model import Blob, Content
from ioi_eval.report.result_files import INPUTS, line_at, lines_of
from ioi_eval.report.schema_check import wrong_value


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A text of a test, or its beginning; `size` is that of the whole text, `None` if unknown."""

    content: bytes
    size: int | None

    @property
    def whole(self) -> bool:
        """Whether `content` is the whole text."""
        return self.size == len(self.content)


def beginning(content: Content, most: int = KEPT_INPUT_BYTES) -> TextPart:
    """The first bytes of a test's text, at most `most`. Raises `OSError` if it is on disk and cannot be read."""
    if isinstance(content, Blob):
        with content.path.open("rb") as file:
            return TextPart(content=file.read(most), size=content.size)
    return TextPart(content=content[:most], size=len(content))


def input_line(problem: str, test: str, part: TextPart) -> dict[str, Any]:
    """A line of `inputs.jsonl`; `problem` is `2024/nile`, for APPS the id. Bytes that are not UTF-8 become escapes."""
    decoder = getincrementaldecoder("utf-8")("backslashreplace")
    return {"problem": problem, "test": test, "bytes": part.size, "input": decoder.decode(part.content, part.whole)}


def input_offsets(directory: Path) -> dict[tuple[str, str], int]:
    """For each problem and test, where the line with its input begins. Results of other programs have no inputs."""
    path, offsets = directory / INPUTS, {}
    for number, offset, values in lines_of(path):
        if wrong := wrong_value("input", values):
            raise InputError(f"{path}, line {number}: {wrong}; delete the file, then reports show no inputs")
        offsets[values["problem"], values["test"]] = offset
    return offsets


def stored_input(directory: Path, problem: str, test: str) -> TextPart | None:
    """The beginning of a test's input from the results; `None` if they do not have it."""
    offset = input_offsets(directory).get((problem, test))
    if offset is None:
        return None
    values = line_at(directory / INPUTS, offset)
    return TextPart(content=values["input"].encode(), size=values["bytes"])
