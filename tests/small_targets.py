"""Targets for tests in which nothing is run on them: the rest is as on most."""

from __future__ import annotations

from typing import Any

from ioi_eval.model import Isolation
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain


def small_target(**fields: Any) -> Target:
    """A target with one slot and a static g++, in the bundled profile and full isolation.

    Args:
        fields: what is to be otherwise.
    """
    usual: dict[str, Any] = {
        "name": "local",
        "profile": "bundled",
        "toolchain": Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True),
        "slots": 1,
        "isolation": Isolation.FULL,
    }
    return Target(**{**usual, **fields})
