"""Texts for people: tables, numbers, lists, names of files, and untrusted texts, without control characters. Pure.

An untrusted name or message becomes one line by `printable`, or by `distinct_line` if different ones must stay
different. In text whose every character matters, such as a program's output, `escaped_line` and `escaped_text` replace
unprintable characters by escapes.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from math import copysign

Cells = Sequence[str]

_NARROWEST = 12
_LINES, _WIDTH = 20, 160
_LONGEST_NAME = 80  # of a file, without its ending


def table(head: Cells, rows: Iterable[Cells], *, left: frozenset[int] = frozenset({0}), width: int = 0) -> str:
    """Columns of text, aligned. Cells may be untrusted: they are shown on one line, without control characters.

    Args:
        left: the columns that are aligned to the left; the others are numbers.
        width: the most characters of a line; longer texts in left-aligned columns are wrapped, between words if that
            is enough: a URL in one piece can be copied. 0: no limit.
    """
    lines = [[cell if cell.isprintable() else printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    if width:
        most = width - 2 * (len(widths) - 1)
        words = {column: [len(word) for line in lines for word in line[column].split()] for column in left}
        _shrink(widths, {column: max(lengths, default=0) for column, lengths in words.items()}, most)
        _shrink(widths, dict.fromkeys(left, 0), most)
    broken = [line for row in lines for line in _wrapped(row, widths)]
    head_lines = len(_wrapped(lines[0], widths))
    broken.insert(head_lines, ["─" * width for width in widths])
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in broken
    )


def _shrink(widths: list[int], least: Mapping[int, int], most: int) -> None:
    """Reduce the widest of the text columns that have more than their least width, one character at a time, until all
    columns together have at most `most`.
    """
    while sum(widths) > most:
        wide = [column for column in least if widths[column] > max(least[column], _NARROWEST)]
        if not wide:
            return
        widths[max(wide, key=lambda column: widths[column])] -= 1


def _wrapped(row: Cells, widths: Sequence[int]) -> list[list[str]]:
    cells = [
        textwrap.wrap(cell, width, break_on_hyphens=False) or [""] if len(cell) > width else [cell]
        for cell, width in zip(row, widths, strict=True)
    ]
    return [list(line) for line in itertools.zip_longest(*cells, fillvalue="")]


def points(value: float | None, digits: int = 4) -> str:
    """Points as text: `100`, `33.33`, `–` if unknown; with at most `digits` decimals, rounded as by `half_up`."""
    return "–" if value is None else half_up(value or 0.0, digits).rstrip("0").rstrip(".")


def half_up(value: float, digits: int, *, sign: str = "") -> str:
    """A number as text, rounded; a half is rounded away from 0, as in `report.html`, also if it is slightly less than
    an exact half, because sums of floats have errors. With `+` as `sign`, positive numbers have one too."""
    return f"{value + copysign(min(1e-9, 10.0 ** -(digits + 3)), value):{sign}.{digits}f}"


def percent(value: float, low: float | None, high: float | None, *, is_difference: bool = False) -> str:
    """A share with its interval, if it has one: `62.50 % [41.67, 83.33]`; a difference of shares as `+4.17`."""
    sign, unit = ("+", "") if is_difference else ("", " %")
    text = f"{half_up(100 * value, 2, sign=sign)}{unit}"
    if low is None or high is None:
        return text
    return f"{text} [{half_up(100 * low, 2, sign=sign)}, {half_up(100 * high, 2, sign=sign)}]"


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 job`, `2 jobs`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def printable(text: str, *, length: int = 500) -> str:
    """One line without control characters: ids and messages are untrusted, and terminals obey control sequences."""
    line = " ".join(text.split())
    if len(line) > length:
        line = f"{line[:length]}…"
    return line if line.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def distinct_line(text: str, *, length: int) -> str:
    """A name as one line of at most `length` characters without control characters. Different names differ: one that is
    shortened or changed ends with a hash."""
    line = printable(text, length=length)
    if line == text:
        return line
    line = printable(text, length=length - len("… #123456789012"))
    return f"{line} #{blake2b(text.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


def escaped_line(text: str, *, width: int = _WIDTH) -> str:
    """A line of at most `width` characters, in which escapes (`\\x1b`, `\\u202e`) replace unprintable characters."""
    return escaped_text(text[:width], allowed="\t") + (f"… ({len(text)} characters)" if len(text) > width else "")


def escaped_text(text: str, *, allowed: str = "\n\t") -> str:
    """Lines in which escapes replace unprintable characters that are not allowed: messages quote untrusted text."""
    return "".join(c if c.isprintable() or c in allowed else c.encode("unicode_escape").decode() for c in text)


def excerpt(
    content: bytes | str,
    *,
    size: int | None = None,
    is_part: bool = False,
    lines: int = _LINES,
    width: int = _WIDTH,
) -> list[str]:
    """The beginning of a text, as lines.

    Args:
        content: the text, or its beginning.
        size: the size of the whole text in bytes, if `content` may be only its beginning.
        is_part: whether it may be only its beginning, and the size is not known.
        lines, width: the most lines, and characters of a line.
    """
    text = content.decode("utf-8", "backslashreplace") if isinstance(content, bytes) else content
    all_lines = text.split("\n")
    if all_lines[-1] == "":
        all_lines.pop()
    excerpt_lines = [escaped_line(line, width=width) for line in all_lines[:lines]]
    content_bytes = len(content) if isinstance(content, bytes) else len(content.encode("utf-8", "replace"))
    if size is not None and content_bytes < size:
        excerpt_lines.append(f"… ({size:,} bytes in all)")
    elif len(all_lines) > lines:
        excerpt_lines.append("… (more lines)" if is_part else f"… ({len(all_lines):,} lines in all)")
    return excerpt_lines


def first_difference(expected: bytes, output: bytes, *, whole: bool) -> str | None:
    """Where an output first differs from the official one, ignoring blanks; `None` if there is no difference. Unless
    both are `whole`, the last line of the shorter one, and what follows, is not compared."""
    sides = [text.decode("utf-8", "backslashreplace").split("\n") for text in (expected, output)]
    if not whole:
        common = min(map(len, sides)) - 1
        sides = [side[:common] for side in sides]
    for number, (right, wrong) in enumerate(itertools.zip_longest(*sides), 1):
        if (right or "").split() != (wrong or "").split():
            return f"line {number}: expected {_quoted(right)}, found {_quoted(wrong)}"
    return None


def _quoted(line: str | None) -> str:
    return "no more lines" if line is None else f'"{escaped_line(line, width=80)}"'


def file_name(text: str) -> str:
    """A file name made from a text; different texts have different names. Letters, digits, dots and dashes stay."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", text).lstrip(".")[:_LONGEST_NAME]
    if plain == text:
        return plain
    return f"{plain or 'unnamed'}-{blake2b(text.encode('utf-8', 'replace'), digest_size=3).hexdigest()}"
