"""`docs/glossary.md` names places that exist, and the pages that readers open first link to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "glossary.md"

ENTRIES = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| word |")
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry[0]))
def test_a_word_is_where_the_page_says(entry: list[str]) -> None:
    """Every path exists, and a name in brackets is in the file before it."""
    _, _, where = entry
    places = re.findall(r"`([\w./-]+)`(?: \(`(\w+)`\))?", where)
    assert places
    for path, name in places:
        assert (ROOT / path).is_file(), path
        assert re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8")), f"{path} does not name {name}"


def test_no_word_is_listed_twice() -> None:
    """A word has one entry, which tells its meanings apart if there are several."""
    words = [word for word, *_ in ENTRIES]
    assert len(words) == len(set(words))


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md"])
def test_readers_find_it(page: str) -> None:
    """The page names the glossary."""
    assert "docs/glossary.md" in (ROOT / page).read_text(encoding="utf-8")
