"""JSON Lines, plain or gzipped: an object per line. Blank lines are skipped, but counted in line numbers."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from ioi_eval.errors import InputError
from ioi_eval.extract.fences import encodable
from ioi_eval.problems import big_json
from ioi_eval.problems.row import Row
from ioi_eval.rows.source import PathSource

_LONGEST_LINE = 1024 * 1024 * 1024  # the largest test of a real data set is 22 MB; beyond this it is another format
_BUFFER_BYTES = 1024 * 1024  # with the usual 8 kB a line of megabytes takes twice as long to read
_ADVICE = "of a list: jq -c '.[]' FILE > FILE.jsonl"
_BOM = b"\xef\xbb\xbf"


class JsonLines(PathSource):
    """A `.jsonl` or `.jsonl.gz` file, read line by line."""

    def rows(self, columns: Sequence[str] | None) -> Iterator[Row]:
        """The objects, in order; unwanted columns are dropped."""
        wanted, source = None if columns is None else frozenset(columns), str(self._path)
        for number, line in enumerate(self._lines(), 1):
            text = line.removeprefix(_BOM)  # also within a file, if files were joined with `cat`
            if not text or text.isspace():
                continue
            if number == 1:
                _require_lines(self._path, text)
            yield _row(source, number, text, wanted)

    def _lines(self) -> Iterator[bytes]:
        number = 0
        try:
            with self._open() as file:
                while line := file.readline(_LONGEST_LINE):
                    number += 1
                    if len(line) == _LONGEST_LINE:
                        raise InputError(f"{self._path}, line {number} is longer than 1 GiB: this is not a JSONL file")
                    yield line
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{self._path} is damaged or cut off after line {number}: {error}; get it again"
            ) from error
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror or error}") from error

    def _open(self) -> BinaryIO:
        if self._path.name.endswith(".gz"):
            return cast("BinaryIO", gzip.open(self._path, "rb"))
        return self._path.open("rb", buffering=_BUFFER_BYTES)


def _require_lines(path: Path, first: bytes) -> None:
    """Refuse other formats, recognised by the first line: an error about that line alone would be misleading."""
    if first.startswith(b"\x1f\x8b"):
        raise InputError(f"{path} is gzip: name it .jsonl.gz, or unpack it")
    if first.startswith(b"\x28\xb5\x2f\xfd"):
        raise InputError(f"{path} is zstd: unpack it (unzstd)")
    if first.strip() in (b"[", b"{"):
        raise InputError(f"{path} is JSON over several lines; write it again with one object per line ({_ADVICE})")
    if first.lstrip().startswith(b"["):
        raise InputError(f"{path} is a list in JSON; write it again with one object per line ({_ADVICE})")


def _row(source: str, number: int, line: bytes, wanted: Collection[str] | None) -> Row:
    """One line as a row, with the wanted columns. If its JSON is too large, it becomes a broken row, which raises an
    error when a column is read."""
    try:
        values = _parsed(source, number, line)
    except big_json.TooLargeError as error:
        return Row(source=source, number=number, values={}, broken=f"is JSON that cannot be read: {error}")
    if wanted is None:
        return Row(source=source, number=number, values=values)
    columns = {column: value for column, value in values.items() if column in wanted}
    return Row(source=source, number=number, values=columns, all_names=tuple(values))


def _parsed(source: str, number: int, line: bytes) -> dict[str, Any]:
    """One line as an object. JSON that orjson refuses but Python writes (NaN, lone surrogates) is read too."""
    try:
        values = orjson.loads(line)
    except orjson.JSONDecodeError:
        values = None
    if isinstance(values, dict) and not _may_be_rounded(values):
        return values
    row = Row(source=source, number=number, values={})
    if values is None or isinstance(values, dict):
        values = _parsed_slowly(row, line)
    if not isinstance(values, dict):
        raise row.error(f"is {big_json.kind_of(values)}; it must be an object with columns")
    return values


_EXACT = frozenset({str, int, bool, type(None)})
"""Types that orjson reads exactly, or not at all."""


def _may_be_rounded(values: dict[str, Any]) -> bool:
    """Whether there may be an integer of more than 64 bits, which orjson silently converts to a float."""
    if _EXACT.issuperset(map(type, values.values())):
        return False
    left = list(values.values())
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, float) and abs(value) >= 2.0**63:
            return True
    return False


def _parsed_slowly(row: Row, line: bytes) -> Any:
    where = "the row is cut off" if line.endswith(b"\n") else "the file ends within this row"
    advice = f"; {where}: remove it, or get the file again"
    line, is_last = line.rstrip(b"\r\n"), not line.endswith(b"\n")
    try:
        return _encodable(big_json.loads(line.decode("utf-8")))
    except UnicodeDecodeError as error:
        if not is_last and error.reason != "unexpected end of data":
            advice = "; write the file again in UTF-8 (iconv -f ENCODING -t UTF-8)"
        raise row.error(f"is not valid UTF-8 (byte {error.start + 1} of the line){advice}") from error
    except json.JSONDecodeError as error:
        is_cut_off = is_last or error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
        problem = big_json.text_with_position(error)
        raise row.error(f"is not JSON: {problem}{advice if is_cut_off else ''}") from error
    except big_json.TooLargeError:
        raise
    except ValueError as error:
        raise row.error(f"is not JSON: {error}{advice if is_last else ''}") from error
    except RecursionError as error:
        raise big_json.TooLargeError("it is nested too deeply") from error


def _encodable(value: Any) -> Any:
    """The value without lone surrogates in its texts (half an emoji, cut by a writer), so it can be written again."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {encodable(key): _encodable(item) for key, item in value.items()}
    return value
