"""Texts of others: cut, harmless on a terminal, and the first line that differs."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.report.markdown_pages import page_name
from ioi_eval.report.texts import escaped_line, excerpt, first_difference, points, table


@given(st.text())
def test_control_characters_are_removed(text: str) -> None:
    """Also those that change the direction of writing. Tabs stay."""
    assert all(c.isprintable() or c == "\t" for c in escaped_line(text))
    assert all(c.isprintable() or c == "\t" for line in excerpt(text.encode("utf-8", "replace")) for c in line)


@given(st.text())
def test_a_table_has_no_control_characters(text: str) -> None:
    """The ids of problems are in the table at the end of `score`. A row of a data set could send commands to the
    terminal by its id.
    """
    head, rule, line = table(("problem", "n"), [(text, "1")]).split("\n")
    assert (head + rule + line).isprintable()
    assert line.endswith("  1")


def test_a_narrow_table_keeps_urls_whole() -> None:
    """`cluster status` names workers by URL: a person copies it, and greps for it."""
    url = "http://worker-1.example:28123"
    blank = " " * len(url)
    shown = table(("endpoint", "runtimes"), [(url, "ioi_eval 1.0.0, bash 5.2")], left=frozenset({0, 1}), width=45)
    assert shown.splitlines()[2:] == [f"{url}  ioi_eval", f"{blank}  1.0.0, bash", f"{blank}  5.2"]


@given(st.binary(max_size=3000))
def test_an_excerpt_has_limited_length(content: bytes) -> None:
    """For any bytes that a program prints."""
    shown = excerpt(content, size=len(content), lines=5, width=40)
    assert len(shown) <= 6
    assert all(len(line) <= 40 * 10 + 40 for line in shown)


def test_omissions_are_counted() -> None:
    """Omitted lines, characters, and bytes that were not read."""
    assert escaped_line("\x1b[2J\u202e") == "\\x1b[2J\\u202e"
    assert escaped_line("a" * 9, width=3) == "aaa… (9 characters)"
    assert excerpt("1\n2\n3\n", lines=2) == ["1", "2", "… (3 lines in all)"]
    assert excerpt(b"1\n", size=1_000_000) == ["1", "… (1,000,000 bytes in all)"]
    assert excerpt(b"\xff\n") == ["\\xff"]


def test_the_first_line_that_differs_is_found() -> None:
    """Blanks do not count, as in white-diff. A missing line is reported. If only the beginnings of texts are known,
    their common length is compared.
    """
    assert first_difference(b"1\n2\n", b"1\n3\n", whole=True) == 'line 2: expected "2", found "3"'
    assert first_difference(b"1 2\n", b"1\t 2 \n\n", whole=True) is None
    assert first_difference(b"1\n2\n", b"1\n", whole=True) == 'line 2: expected "2", found ""'
    assert first_difference(b"1\n2", b"1", whole=True) == 'line 2: expected "2", found no more lines'
    assert first_difference(b"1\n23\n4\n", b"1\n2", whole=False) is None
    assert first_difference(b"5\n23\n4\n", b"1\n2", whole=False) == 'line 1: expected "5", found "1"'


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_comparison_is_symmetric(one: bytes, other: bytes) -> None:
    """A text does not differ from itself."""
    assert first_difference(one, one, whole=True) is None
    assert (first_difference(one, other, whole=True) is None) == (first_difference(other, one, whole=True) is None)


def test_points_have_no_sign_of_zero() -> None:
    """A score may be -0.0, for example if a checker prints `-0`."""
    assert [points(value) for value in (-0.0, 0.0, 33.33333, 100.0, None)] == ["0", "0", "33.3333", "100", "–"]


def test_names_of_files() -> None:
    """Letters, digits, dots and dashes stay. Two texts never have the same name, so no page replaces another."""
    assert page_name("2024", "nile") == "2024_nile.md"
    names = {page_name("2024", problem) for problem in ("a b", "a-b", "a/b", "a_b", "ä", "ö", "x" * 100, "x" * 101)}
    assert len(names) == 8
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,100}", name) for name in names)
