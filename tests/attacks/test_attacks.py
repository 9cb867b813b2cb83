"""Each attack gets an expected verdict, changes no other result, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from tests.attacks.campaign import Campaign, Finding
from tests.attacks.catalogue import Attack, attacks
from tests.attacks.compile_attacks import ATTACKS as COMPILE_ATTACKS
from tests.attacks.compile_attacks import CompileAttack
from tests.attacks.python_attack import PythonAttack
from tests.attacks.python_attacks import ATTACKS as PYTHON_ATTACKS

pytestmark = pytest.mark.timeout(7200)  # the first test of a campaign runs the whole campaign

HIDDEN_BY_ARGUMENTS = {"personality"}
"""Calls that a container's filter may refuse with the attacks' arguments, but not with those of `runner --probe`."""


def demand(found: Finding, campaign: Campaign, expected: Collection[str], *wrong: str) -> None:
    """Fail with a short message (there are many attacks) unless the result is as expected.

    Args:
        found: the result of the attack.
        campaign: the campaign that it belongs to.
        expected: the accepted verdicts.
        wrong: descriptions of other faults; an empty string is no fault.
    """
    faults = [
        "" if found.verdict in expected else f"verdict {found.verdict}, expected {' or '.join(sorted(expected))}",
        *wrong,
        "" if found.honest == "AC" else f"the honest test after it got {found.honest}",
        "" if found.isolation is campaign.level else f"judged with isolation {found.isolation}",
        "the JE is not final" if found.verdict.startswith("JE") and not found.final else "",
    ]
    if any(faults):
        pytest.fail(f"{'; '.join(filter(None, faults))}\n{found}", pytrace=False)


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: attack.name)
def test_attack(attack: Attack, campaign: Campaign) -> None:
    """The attack gets an accepted verdict and no points, and the result lists its refused calls.

    In a container, calls that the container's own filter refuses are not listed; all others are. The verdicts are the
    same as elsewhere. With the verdict SV, at least one refused call is listed, in a container perhaps without a name.
    """
    findings = campaign.findings()
    found = findings.by_attack[attack.name]
    expected = attack.expect[campaign.level]
    hidden = findings.hidden | HIDDEN_BY_ARGUMENTS if findings.hidden else set()
    missing_calls = sorted(set(attack.attempted) - set(found.attempted) - hidden)
    demand(
        found,
        campaign,
        expected,
        "the attack succeeded" if "AC" not in expected and found.succeeded else "",
        f"refused calls that are not listed: {' '.join(missing_calls)}" if missing_calls else "",
        "SV without a refused call" if found.verdict == "SV" and not found.attempted else "",
    )


@pytest.mark.parametrize("attack", COMPILE_ATTACKS, ids=lambda attack: attack.name)
def test_attack_on_the_compiler(attack: CompileAttack, campaign: Campaign) -> None:
    """The compiler reads no forbidden file and ends in time, and its message contains no forbidden text."""
    found = campaign.findings().by_attack[attack.name]
    shown = [text for text in attack.forbidden_texts if text in found.message]
    demand(
        found,
        campaign,
        attack.expect,
        "the attack succeeded" if found.succeeded else "",
        f"the message contains {shown[0]!r}" if shown else "",
    )


@pytest.mark.parametrize("attack", PYTHON_ATTACKS, ids=lambda attack: attack.name)
def test_attack_by_python(attack: PythonAttack, campaign: Campaign) -> None:
    """The program passes none of its tests and gets no forbidden data, and an honest program after it passes."""
    found = campaign.findings().by_attack[attack.name]
    demand(found, campaign, attack.expect, "the attack succeeded" if found.succeeded else "")


def test_a_worker_has_the_test_data(campaign: Campaign) -> None:
    """A worker takes all test data of the attacked problems from their packages, so the attacks are tried on these.

    The embedded sandbox has no packages: there the attacks are tried on files of the cache and of jobs.
    """
    assert campaign.findings().unused == ()


def test_attacks_leave_nothing_behind(campaign: Campaign) -> None:
    """After all attacks, no new process, file, mount, shared memory or descriptor is left; our limits are unchanged.

    No file of a worker's packages is changed either.
    """
    assert campaign.findings().left == ()
