"""numpy's `allclose`, without numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence

RELATIVE = 1e-5
ABSOLUTE = 1e-8


def allclose(numbers: Sequence[float], expected: Sequence[float]) -> bool:
    """Whether all pairs are close: |a − b| ≤ 1e-8 + 1e-5 |b|. An infinity is close only to itself, NaN to nothing.

    Not symmetric. Both have the same length.

    Source: `numpy.allclose` with its defaults, on arrays of doubles.
    """
    return all(
        a == b or (math.isfinite(b) and abs(a - b) <= ABSOLUTE + RELATIVE * abs(b))
        for a, b in zip(numbers, expected, strict=True)
    )
