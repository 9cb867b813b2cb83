"""Earlier rows of the table of official tasks: those of tasks that were not judged again.

Packages are not always available. A task's rows are kept until it is judged again, and are marked, so that nobody
mistakes them for results of the present code.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

EARLIER_MARK = "†"
_COUNTS = re.compile(rf"\| (\S+)(?: {EARLIER_MARK})? ((?:\| \d+ ){{6}})\|")


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRows:
    """Rows that stay.

    Args:
        counts: the numbers of each task, by its key.
        disagreements: lines of the table of what came out otherwise, as they stand.
        near: lines of the table of times close to a limit, as they stand.
    """

    counts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    disagreements: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @classmethod
    def read(cls, document: str, judged: Collection[str]) -> EarlierRows:
        """Those of a document of ours.

        Args:
            document: its Markdown; empty for none.
            judged: the tasks that were judged again, by their keys.
        """
        counts, *sections = document.split("\n## ")
        found = [match for line in counts.splitlines() if (match := _COUNTS.fullmatch(line))]
        kept = {match[1]: tuple(map(int, re.findall(r"\d+", match[2]))) for match in found}
        kept = {key: numbers for key, numbers in kept.items() if key != "all" and key not in judged}
        return cls(
            counts=tuple(kept.items()),
            disagreements=_lines(sections, "What came out otherwise", kept),
            near=_lines(sections, "Times within 10 % of a limit", kept),
        )


def _lines(sections: Collection[str], title: str, kept: Collection[str]) -> tuple[str, ...]:
    lines = next((section.splitlines() for section in sections if section.startswith(title)), [])
    return tuple(line for line in lines if line.startswith(tuple(f"| {key} | " for key in kept)))
