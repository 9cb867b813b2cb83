"""Every attack gets its expected verdict, does no harm, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from tests.attacks.campaign import Campaign, Finding
from tests.attacks.catalogue import Attack, attacks
from tests.attacks.compile_attacks import ATTACKS as COMPILE_ATTACKS
from tests.attacks.compile_attacks import CompileAttack
from tests.attacks.python_attack import PythonAttack
from tests.attacks.python_attacks import ATTACKS as PYTHON_ATTACKS

pytestmark = pytest.mark.timeout(7200)  # the first test of a campaign makes all of it

HIDDEN_BY_ARGUMENTS = {"personality"}
"""Calls that the runner hears of as it tries them, while filters of containers answer those of the attacks."""


def demand(found: Finding, campaign: Campaign, expected: Collection[str], *wrong: str) -> None:
    """Fail, in few lines as there are many attacks, unless everything is right.

    Args:
        found: what came of the attack.
        campaign: in which it was made.
        expected: the verdicts that are right.
        wrong: what else is wrong with it; empty where it is not.
    """
    faults = [
        "" if found.verdict in expected else f"{found.verdict} is not right: {' or '.join(sorted(expected))}",
        *wrong,
        "" if found.honest == "AC" else f"an honest test behind it was harmed: {found.honest}",
        "" if found.isolation is campaign.level else f"judged with isolation {found.isolation}",
        "it would be judged again for ever" if found.verdict.startswith("JE") and not found.final else "",
    ]
    if any(faults):
        pytest.fail(f"{'; '.join(filter(None, faults))}\n{found}", pytrace=False)


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_attack(attack: Attack, campaign: Campaign) -> None:
    """It does not score, its verdict is one of those that are right, and what was refused is told.

    In a container the names of calls that its filter refuses stay unknown, and only of these; the verdicts are the
    same, and what ended a program is told, if only by a word for a call without a name.
    """
    findings = campaign.findings()
    found = findings.by_attack[attack.name]
    expected = attack.expect[campaign.level]
    hidden = findings.hidden | HIDDEN_BY_ARGUMENTS if findings.hidden else set()
    untold = sorted(set(attack.attempted) - set(found.attempted) - hidden)
    demand(
        found,
        campaign,
        expected,
        "it got what no program may get" if "AC" not in expected and found.succeeded else "",
        f"not told as attempted: {' '.join(untold)}" if untold else "",
        "not told what ended it" if found.verdict == "SV" and not found.attempted else "",
    )


@pytest.mark.parametrize("attack", COMPILE_ATTACKS, ids=lambda attack: attack.name)
def test_attack_on_the_compiler(attack: CompileAttack, campaign: Campaign) -> None:
    """It reads nothing, ends in time, and nobody mistakes its words for the judge's."""
    found = campaign.findings().by_attack[attack.name]
    said = [words for words in attack.unsaid if words in found.message]
    demand(
        found,
        campaign,
        attack.expect,
        "it got what no program may get" if found.succeeded else "",
        f"it says {said[0]!r}" if said else "",
    )


@pytest.mark.parametrize("attack", PYTHON_ATTACKS, ids=lambda attack: attack.name)
def test_attack_by_python(attack: PythonAttack, campaign: Campaign) -> None:
    """It passes none of its tests, finds nothing, and an honest program behind it passes."""
    found = campaign.findings().by_attack[attack.name]
    demand(found, campaign, attack.expect, "it got what no program may get" if found.succeeded else "")


def test_nothing_is_left(campaign: Campaign) -> None:
    """After all of them: no process, file, mount, shared memory, descriptor, and our own standing as it was."""
    assert campaign.findings().left == ()
