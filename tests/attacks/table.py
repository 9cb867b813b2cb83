"""The table attack × isolation level × outcome, in docs/attacks.md.

`scripts/attack-table` runs each attack at each level, started by each possible user, and writes the verdicts between
two marks in the page.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ioi_eval.model import Isolation
from tests.attacks.campaign import Campaign, Finding
from tests.attacks.catalogue import LEVELS, attacks
from tests.attacks.compile_attacks import ATTACKS as COMPILE_ATTACKS
from tests.attacks.levels import why_not
from tests.attacks.python_attacks import ATTACKS as PYTHON_ATTACKS
from tests.attacks.users import USER_UID, users

PAGE = Path(__file__).resolve().parents[2] / "docs" / "attacks.md"
BEGIN, END = "<!-- attacks: made by scripts/attack-table -->", "<!-- end of attacks -->"
COMPILER, PYTHON = "compile time", "Python"

_ROW = re.compile(r"^\| `(\w+)` \| (.+) \| ([^|]+) \| ([^|]+) \|$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An attack, and its verdicts at each level as text."""

    group: str
    name: str
    tries: str
    outcomes: Mapping[Isolation, str]

    def __str__(self) -> str:
        cells = " | ".join(self.outcomes[level] for level in LEVELS)
        return f"| `{self.name}` | {self.tries} | {cells} |"


def rows_of_page(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """The rows of the page: name, what the attack tries, outcomes."""
    between = text.partition(BEGIN)[2].partition(END)[0]
    found = (_ROW.match(line) for line in between.splitlines())
    return [(row[1], row[2], (row[3], row[4])) for row in found if row]


def verdicts(outcome: str) -> frozenset[str]:
    """The verdicts in the text of an outcome, as the catalogue writes them."""
    words = (word.strip() for word in outcome.split(" or "))
    return frozenset(re.sub(r"^JE \((\w+)\)$", r"JE:\1", word) for word in words)


def all_attacks() -> list[tuple[str, str, str]]:
    """Group, name and purpose of every attack, in the order of the table."""
    listed = [(COMPILER, attack.name, attack.tries) for attack in COMPILE_ATTACKS]
    listed += sorted(((attack.group, attack.name, attack.tries) for attack in attacks()), key=lambda each: each[0])
    return listed + [(PYTHON, attack.name, attack.tries) for attack in PYTHON_ATTACKS]


def render(rows: Sequence[Row]) -> str:
    """The table as Markdown, a section for each group."""
    parts = []
    for group, members in groupby(rows, key=lambda row: row.group):
        head = f"## {group[0].upper() + group[1:]}\n\n| attack | what it tries | full | reduced |\n|---|---|---|---|\n"
        parts.append(head + "\n".join(str(row) for row in members))
    return "\n\n".join(parts)


def _outcome(found: Sequence[Finding]) -> str:
    words = sorted({re.sub(r"^JE:(\w+)$", r"JE (\1)", one.verdict) for one in found})
    return " or ".join(words)


def run_everything() -> list[Row]:
    """Run all attacks in all campaigns, also on a worker. Takes some minutes."""
    found: dict[tuple[str, Isolation], list[Finding]] = {}
    with _campaigns() as campaigns:
        for campaign in campaigns:
            print(f"{campaign.level.value}, {campaign.user.name}, {campaign.served=}", file=sys.stderr)
            for name, finding in campaign.findings().by_attack.items():
                found.setdefault((name, campaign.level), []).append(finding)
    return [
        Row(group=group, name=name, tries=tries, outcomes={level: _outcome(found[name, level]) for level in LEVELS})
        for group, name, tries in all_attacks()
    ]


@contextlib.contextmanager
def _campaigns() -> Iterator[list[Campaign]]:
    with contextlib.ExitStack() as stack:
        made = []
        for user in users():
            cache = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="attack-cache-")))
            cache.chmod(0o755)
            if user.gives_up_root:
                os.chown(cache, USER_UID, USER_UID)
            made += [Campaign(level, user, cache, cache, slow=user == users()[0]) for level in LEVELS]
            if not user.gives_up_root:
                made.append(Campaign(Isolation.FULL, user, cache, cache, served=True, slow=False))
        yield made


def main() -> None:
    """Run everything and write the page. The table has both isolation levels, so this machine must offer both."""
    if reasons := [reason for level in LEVELS if (reason := why_not(level))]:
        sys.exit(f"the table is not written: {'; '.join(reasons)}")
    table = render(run_everything())
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
