"""The table in docs/attacks.md agrees with the attacks of the tests."""

from __future__ import annotations

import pytest

from tests.attacks import table
from tests.attacks.catalogue import LEVELS, attacks
from tests.attacks.compile_attacks import ATTACKS as COMPILE_ATTACKS
from tests.attacks.compile_attacks import CompileAttack
from tests.attacks.python_attack import PythonAttack
from tests.attacks.python_attacks import ATTACKS as PYTHON_ATTACKS
from tests.attacks.table import PAGE, all_attacks, rows_of_page, verdicts


def test_the_page_lists_every_attack() -> None:
    """The page lists all attacks. If one is added, `scripts/attack-table` writes the page."""
    listed = [(name, tries) for name, tries, _ in rows_of_page(PAGE.read_text())]
    assert listed == [(name, tries) for _, name, tries in all_attacks()]


def test_the_page_has_only_expected_verdicts() -> None:
    """Each verdict on the page is one that the tests accept."""
    expected = {attack.name: attack.expect for attack in attacks()}
    everywhere: list[CompileAttack | PythonAttack] = [*COMPILE_ATTACKS, *PYTHON_ATTACKS]
    expected |= {each.name: dict.fromkeys(LEVELS, each.expect) for each in everywhere}
    for name, _, outcomes in rows_of_page(PAGE.read_text()):
        for level, outcome in zip(LEVELS, outcomes, strict=True):
            assert verdicts(outcome) <= expected[name][level], (name, level, outcome)


def test_the_table_needs_both_isolation_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this machine lacks one, the reason is printed, and the page stays as it is."""
    monkeypatch.setattr(table, "why_not", lambda level: f"no {level.value} isolation here: bwrap is missing")
    before = PAGE.read_text()
    with pytest.raises(SystemExit, match="not written: no full isolation here: bwrap is missing"):
        table.main()
    assert PAGE.read_text() == before
