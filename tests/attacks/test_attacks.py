"""Every attack gets the verdict that it must get, harms nobody, and leaves nothing."""

from __future__ import annotations

import pytest
from campaign import Campaign, Finding
from catalogue import Attack, attacks
from compile_attacks import ATTACKS as COMPILE_ATTACKS
from compile_attacks import CompileAttack
from python_attack import PythonAttack
from python_attacks import ATTACKS as PYTHON_ATTACKS


def check(found: Finding, campaign: Campaign) -> None:
    """What holds of every attack, whatever its verdict."""
    assert found.honest == "AC", "an honest test behind it was harmed"
    assert found.isolation is campaign.level
    if found.verdict.startswith("JE"):
        assert found.final, "it would be judged again for ever"


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_attack(attack: Attack, campaign: Campaign) -> None:
    """It does not score, its verdict is one of those that are right, and what was refused is told."""
    found = campaign.findings().by_attack[attack.name]
    expected = attack.expect[campaign.level]
    assert found.verdict in expected, found
    assert "AC" in expected or not found.succeeded, found
    assert set(attack.attempted) <= set(found.attempted), found
    check(found, campaign)


@pytest.mark.parametrize("attack", COMPILE_ATTACKS, ids=lambda attack: attack.name)
def test_attack_on_the_compiler(attack: CompileAttack, campaign: Campaign) -> None:
    """It reads nothing, ends in time, and nobody mistakes its words for the judge's."""
    found = campaign.findings().by_attack[attack.name]
    assert found.verdict in attack.expect, found
    assert not found.succeeded, found
    assert not any(words in found.message for words in attack.unsaid), found.message
    check(found, campaign)


@pytest.mark.parametrize("attack", PYTHON_ATTACKS, ids=lambda attack: attack.name)
def test_attack_by_python(attack: PythonAttack, campaign: Campaign) -> None:
    """It passes none of its tests, finds nothing, and an honest program behind it passes."""
    found = campaign.findings().by_attack[attack.name]
    assert found.verdict in attack.expect, found
    assert not found.succeeded, found
    check(found, campaign)


def test_nothing_is_left(campaign: Campaign) -> None:
    """After all of them: no process, file, mount, shared memory, descriptor, and our own standing as it was."""
    assert campaign.findings().left == ()
