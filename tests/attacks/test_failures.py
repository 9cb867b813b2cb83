"""The summary of failed attacks."""

from __future__ import annotations

from tests.attacks.failures import summary

CAMPAIGNS = ("full-root", "full-root-served", "reduced-user")


def test_failures_are_counted_by_campaign_and_reason() -> None:
    """A thousand failures with the same reason are one line, with some of their names."""
    failed = [(f"tests/attacks/test_attacks.py::test_attack[reduced-user-a{n}]", "cannot be made") for n in range(1000)]
    failed += [
        ("tests/attacks/test_attacks.py::test_attack[full-root-served-a1]", "WA is not right: SV"),
        ("tests/attacks/test_attacks.py::test_attacks_leave_nothing_behind[full-root]", "assert ('a',) == ()"),
        ("tests/attacks/test_attacks.py::test_attack[reduced-user-b]", "WA is not right: SV"),
        ("tests/attacks/test_configuration.py::test_root", "no such file"),
    ]
    assert list(summary(failed, CAMPAIGNS)) == [
        "reduced-user: 1001 failed",
        "  1000: cannot be made (a0, a1, a2, a3 and 996 more)",
        "  1: WA is not right: SV (b)",
        "full-root-served: 1 failed",
        "  1: WA is not right: SV (a1)",
        "full-root: 1 failed",
        "  1: assert ('a',) == () (test_attacks_leave_nothing_behind)",
        "without a campaign: 1 failed",
        "  1: no such file (test_root)",
    ]
