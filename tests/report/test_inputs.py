"""The beginnings of inputs beside results. Their length is limited for any input."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.config import KEPT_INPUT_BYTES
from ioi_eval.errors import InputError
from ioi_eval.model import Blob
from ioi_eval.pipeline.writing import TestLines
from ioi_eval.report.inputs import TextPart, beginning, input_line, input_offsets, stored_input
from ioi_eval.report.result_files import INPUTS
from ioi_eval.report.rows import to_json


@given(st.binary(max_size=20), st.integers(0, 2 * KEPT_INPUT_BYTES))
def test_a_line_has_limited_length(unit: bytes, times: int) -> None:
    """Bytes that are not text become escapes. For any input a line is JSON of a few kilobytes."""
    content = unit * times
    line = input_line("2024/nile", "01", beginning(content))
    assert line["bytes"] == len(content)
    assert len(line["input"]) <= 4 * KEPT_INPUT_BYTES
    assert len(to_json(line)) <= 6 * 4 * KEPT_INPUT_BYTES + 200
    if len(content) <= KEPT_INPUT_BYTES:
        assert line["input"] == content.decode("utf-8", "backslashreplace")


def test_characters_of_several_bytes_are_not_cut(tmp_path: Path) -> None:
    """A character that would be cut is left out. One that is cut in the input itself is an escape. The same holds for
    files.
    """
    path = tmp_path / "blob"
    path.write_bytes(b"a" * (KEPT_INPUT_BYTES - 1) + "é".encode() * 10**6)
    seen = beginning(Blob(path=path, size=path.stat().st_size, sha256=""))
    assert input_line("p", "t", seen)["input"] == "a" * (KEPT_INPUT_BYTES - 1)
    assert input_line("p", "t", beginning("é".encode()[:1]))["input"] == "\\xc3"


def test_stored_inputs_are_found(tmp_path: Path) -> None:
    """By problem and test. Without the file, as in results of earlier versions, none is found."""
    assert (input_offsets(tmp_path), stored_input(tmp_path, "p", "1")) == ({}, None)
    lines = [to_json(input_line("p", name, beginning(name.encode()))) for name in ("1", "2")]
    (tmp_path / INPUTS).write_bytes(b"".join(lines))
    assert input_offsets(tmp_path) == {("p", "1"): 0, ("p", "2"): len(lines[0])}
    assert stored_input(tmp_path, "p", "2") == TextPart(content=b"2", size=1)
    assert stored_input(tmp_path, "q", "2") is None
    for damaged in (b"{}\n", b"[1]\n", b"{\n"):
        (tmp_path / INPUTS).write_bytes(lines[0] + damaged)
        with pytest.raises(InputError, match="line 2"):
            input_offsets(tmp_path)
        with pytest.raises(InputError, match="line 2"):
            stored_input(tmp_path, "p", "3")


@pytest.mark.parametrize("error", [FileNotFoundError, KeyError, ValueError])
def test_results_are_written_without_a_missing_input(error: type[Exception]) -> None:
    """If the input cannot be read, the tests are written without it."""

    def given(test: str) -> TextPart:
        raise error(test)

    tests, inputs = BytesIO(), BytesIO()
    line = {"test_results": [{"test_name": "01", "status": "WA"}]}
    assert TestLines(tests, inputs).write(line, "2024/nile", given, deciding="01")
    assert (b'"01"' in tests.getvalue(), inputs.getvalue()) == (True, b"")
