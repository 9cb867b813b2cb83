"""The problem and submission of a row of results, with the names that judging used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ioi_eval.problems.submissions import DEFAULT_YEAR


def name_columns(id_column: str) -> tuple[str, ...]:
    """The columns that say it, for results of a contest."""
    return ("year", "problem_id", id_column, f"dump_{id_column}")


def problem_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Year and id of the problem; numbers are whole, also where a table has made 2024.0 of them."""
    year = row.get("year")
    try:
        year = DEFAULT_YEAR if year is None or year == "" else int(year)
    except (TypeError, ValueError, OverflowError):  # such a row was refused
        year = str(year)
    return str(year), _plain(row.get("problem_id"))


def submission_of(row: Mapping[str, Any], id_column: str, *, otherwise: str = "–") -> str:
    """The submission's id. If the id column has the name of one of our columns, it was renamed to `dump_<name>`.

    Args:
        row: of results.
        id_column: names a submission.
        otherwise: what stands where a row has no id.
    """
    value = row.get(f"dump_{id_column}", row.get(id_column))
    return otherwise if value is None else _plain(value)


def _plain(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
