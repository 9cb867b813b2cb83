"""Prepares untrusted texts for display: shortened, in lines, without control characters. Pure."""

from __future__ import annotations

from itertools import zip_longest

_LINES, _WIDTH = 20, 160


def escaped(text: str, *, width: int = _WIDTH) -> str:
    """A line of at most `width` characters, in which escapes (`\\x1b`, `\\u202e`) replace unprintable characters."""
    cut = text[:width]
    line = "".join(c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in cut)
    return line + (f"… ({len(text)} characters)" if len(text) > width else "")


def plain(text: str) -> str:
    """Lines in which unprintable characters are replaced by escapes: messages quote untrusted text."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def excerpt(content: bytes | str, *, size: int | None = None, lines: int = _LINES, width: int = _WIDTH) -> list[str]:
    """The beginning of a text, as lines.

    Args:
        content: the text, or its beginning.
        size: the size of the whole text in bytes, if `content` may be only its beginning.
        lines: the most lines.
        width: the most characters of a line.
    """
    text = content.decode("utf-8", "backslashreplace") if isinstance(content, bytes) else content
    all_lines = text.split("\n")
    if all_lines[-1] == "":
        all_lines.pop()
    excerpt_lines = [escaped(line, width=width) for line in all_lines[:lines]]
    held = len(content) if isinstance(content, bytes) else len(content.encode("utf-8", "replace"))
    if size is not None and held < size:
        excerpt_lines.append(f"… ({size:,} bytes in all)")
    elif len(all_lines) > lines:
        excerpt_lines.append(f"… ({len(all_lines):,} lines in all)")
    return excerpt_lines


def first_difference(expected: bytes, output: bytes, *, whole: bool) -> str | None:
    """Where an output first differs from the official one, ignoring blanks; `None` if there is no difference.

    Args:
        expected: the official output, or its beginning.
        output: the program's output, or its beginning.
        whole: whether both are complete; if not, the last line of the shorter one, and what follows, is not compared.
    """
    sides = [text.decode("utf-8", "backslashreplace").split("\n") for text in (expected, output)]
    if not whole:
        common = min(map(len, sides)) - 1
        sides = [side[:common] for side in sides]
    for number, (right, wrong) in enumerate(zip_longest(*sides), 1):
        if (right or "").split() != (wrong or "").split():
            return f"line {number}: expected {_quoted(right)}, found {_quoted(wrong)}"
    return None


def _quoted(line: str | None) -> str:
    return "no more lines" if line is None else f'"{escaped(line, width=80)}"'
