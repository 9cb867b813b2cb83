"""What a submission is made of."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval import IoiEvalError, ProblemKey, Submission

KEY = ProblemKey(year=2024, id="nile")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"code": b"int main() {}"}, "must be a str or None, not bytes"),
        ({"code": "int main() {}", "language": "cpp"}, "must be one of Language.CPP, .*, not 'cpp'"),
        ({"code": None, "language": None}, "must be one of Language.CPP, .*, not None"),
    ],
)
def test_values_of_other_types_are_refused(values: dict[str, Any], words: str) -> None:
    """When it is made; without the check, judging it failed later, at an attribute that a text does not have."""
    with pytest.raises(IoiEvalError, match=words):
        Submission(id="mine", problem=KEY, **values)
