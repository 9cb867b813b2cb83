"""All attacks by Python programs, in groups."""

from __future__ import annotations

from tests.attacks.python_attack import PythonAttack
from tests.attacks.python_functions import CALLED
from tests.attacks.python_outlasting import EXHAUSTING, OUTLASTING, STATE, TALKING
from tests.attacks.python_reading import FORGING, READING

GROUPS = (
    ("reading", READING),
    ("forging", FORGING),
    ("state", STATE),
    ("outlasting", OUTLASTING),
    ("talking", TALKING),
    ("exhausting", EXHAUSTING),
    ("functions", CALLED),
)
ATTACKS: tuple[PythonAttack, ...] = tuple(attack for _, group in GROUPS for attack in group)
