"""The table in docs/attacks.md is that of the attacks that there are."""

from __future__ import annotations

from tests.attacks.catalogue import LEVELS, attacks
from tests.attacks.compile_attacks import ATTACKS as COMPILE_ATTACKS
from tests.attacks.compile_attacks import CompileAttack
from tests.attacks.python_attack import PythonAttack
from tests.attacks.python_attacks import ATTACKS as PYTHON_ATTACKS
from tests.attacks.table import PAGE, all_attacks, rows_of_page, verdicts


def test_the_page_lists_every_attack() -> None:
    """Whoever adds an attack runs scripts/attack-table."""
    listed = [(name, tries) for name, tries, _ in rows_of_page(PAGE.read_text())]
    assert listed == [(name, tries) for _, name, tries in all_attacks()]


def test_the_outcomes_are_those_that_the_tests_demand() -> None:
    """No row tells of a verdict that the corpus would not accept today."""
    expected = {attack.name: attack.expect for attack in attacks()}
    everywhere: list[CompileAttack | PythonAttack] = [*COMPILE_ATTACKS, *PYTHON_ATTACKS]
    expected |= {each.name: dict.fromkeys(LEVELS, each.expect) for each in everywhere}
    for name, _, outcomes in rows_of_page(PAGE.read_text()):
        for level, outcome in zip(LEVELS, outcomes, strict=True):
            assert verdicts(outcome) <= expected[name][level], (name, level, outcome)
