"""The decorator for small classes of which a run makes instances for every row of a dump, or every job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def fast_dataclass(cls: type[T]) -> type[T]:
    """Make a dataclass that is immutable for the type checker only.

    A dataclass that Python itself keeps immutable sets each field by a function call, which takes three times as long:
    for 100,000 rows that were judged before, a twelfth of the CPU time of a run.
    """
    return dataclass(slots=True, kw_only=True, unsafe_hash=True)(cls)
