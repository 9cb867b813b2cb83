"""An inherited limit of this process: its message, and its comparison with the problems' limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ioi_eval.config import MIB
from ioi_eval.errors import SetupError

GIB = 1024 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineLimit:
    """One limit that this process has inherited. If it is fatal, nothing can be judged correctly; else it matters only
    for programs that need much.

    Args:
        needed: what judging needs, or what happens to a program that reaches the limit.
        memory_bytes: the limit affects problems whose memory limit is larger.
        changes_outcomes: a program that reaches the limit fails as if by its own fault. So the target is narrowed.
    """

    what: str
    measured: str
    needed: str
    advice: str
    is_fatal: bool = False
    memory_bytes: int | None = None
    changes_outcomes: bool = False

    def describe(self) -> str:
        """In a sentence, for people."""
        return f"{self.what}: {self.measured}; {self.needed}; {self.advice}"

    def compared(self, memory_limits: Sequence[int]) -> str:
        """As `describe`; but if it affects only problems with large memory limits, with how many of a run's problems
        these are. If none is: only that no problem needs more if outcomes depend on it (`narrowed_by`), else empty.

        Args:
            memory_limits: those of the run's problems, in bytes.
        """
        if self.memory_bytes is None or not memory_limits:
            return self.describe()
        bound = [limit for limit in memory_limits if limit > self.memory_bytes]
        if not bound:
            return f"{self.what}: {self.measured}; no problem of this run allows more" if self.changes_outcomes else ""
        allow = "problem allows" if len(memory_limits) == 1 else f"problems {'allows' if len(bound) == 1 else 'allow'}"
        asked = f"{len(bound)} of {len(memory_limits)} {allow} up to {format_bytes(max(bound))} of memory"
        return f"{self.what}: {self.measured}; {asked}: {self.needed}; {self.advice}"


def require_none_fatal(limits: Sequence[MachineLimit]) -> None:
    """Refuse a machine on which correct programs would fail, with what to do about each fatal limit."""
    if fatal := [limit.describe() for limit in limits if limit.is_fatal]:
        raise SetupError("the limits of this machine are too low to judge correctly: " + "\n  and ".join(fatal))


def narrowed_by(limits: Sequence[MachineLimit]) -> str:
    """The limits on which outcomes depend, for fingerprints; empty if programs get all that judging grants them."""
    narrowing = (limit for limit in limits if limit.changes_outcomes and not limit.is_fatal)
    return "; ".join(f"{limit.what} {limit.measured}" for limit in narrowing)


def format_bytes(number: int) -> str:
    """A number of bytes for people: `8 MiB`, `1.5 GiB`."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB")):
        if number >= unit:
            return f"{number / unit:.4g} {name}"
    return f"{number / 1024:.4g} KiB"


def fatal_limit(what: str, measured: str, needed: str, advice: str) -> MachineLimit:
    """A limit because of which nothing can be judged."""
    return MachineLimit(what=what, measured=measured, needed=needed, advice=advice, is_fatal=True)
