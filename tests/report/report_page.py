"""A report for the tests of its page, and what they do with it in a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ioi_eval.report.html import Page
from tests.browser import Tab

LIMITS = {"name": "Nile", "day": "1", "time_limit_s": 1.0, "memory_limit_bytes": 1 << 28, "problem": "nile"}
SUMMARY = {
    "problems": [{"year": year, **LIMITS} for year in (2022, 2023, 2024)],
    "complete": False, "notes": ["<b>a note</b>"], "submissions": {"pending": 0},
}  # fmt: skip
HARM = '</script><script>harmed = 1</script><img src="x" onerror="harmed = 2">'
CHOSEN = "{{ const one = document.getElementById({!r}); one.value = {!r}; one.dispatchEvent(new Event('change')) }}"
"""Choose a value in a list, by its id."""
FRAMES = """new Promise((done) => {
  let left = 5;
  const next = () => (left-- ? requestAnimationFrame(next) : done(true));
  next();
})"""
"""Wait until what was changed is drawn."""
TYPED = "one.dispatchEvent(new Event('input'))"
SHORT = "[...document.querySelectorAll({0!r})].map((one) => one.textContent)"
"""The texts of all that a selector finds."""
OPENED = """new Promise((done) => {
  const look = () => (document.querySelector(".opened .quiet, .opened p") ? done(true) : setTimeout(look, 5));
  look();
})"""
"""Wait until a submission is open."""


def page(directories: Sequence[Path], to: Path) -> Path:
    """Write the report of these result directories to a file."""
    with to.open("wb") as file:
        Page(directories).write(file)
    return to


def shown(tab: Tab) -> str:
    """The text above the table of submissions, with their number."""
    return str(tab.value("document.getElementById('found').textContent"))


def type_in(tab: Tab, text: str) -> None:
    """Type a text into the search field."""
    tab.value(
        f"{{ const s = document.getElementById('search'); s.value = {text!r}; s.dispatchEvent(new Event('input')) }}"
    )
