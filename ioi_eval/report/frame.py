"""Results as a pandas table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from ioi_eval.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def load_results(directory: str | Path) -> pd.DataFrame:
    """The results that a run wrote, one row a submission, in the dump's order.

    Args:
        directory: what was given as `--out`; or the `results.jsonl` in it.

    Returns:
        The columns of `results.jsonl`: the dump's, the reference's (`all_subtasks_points`, `all_subtasks_results`,
        …) and ours (`verdict`, `total_score`, …). A score that is not known is NaN.

    Raises:
        InputError: there are no results, or the file is damaged.
    """
    import pandas as pd

    path = Path(directory)
    path = path if path.name == "results.jsonl" and path.is_file() else path / "results.jsonl"
    try:
        with path.open("rb") as file:
            rows = [orjson.loads(line) for line in file]
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: `ioi-eval score … --out {directory}` writes it") from None
    except (OSError, orjson.JSONDecodeError) as error:
        raise InputError(
            f"{path} cannot be read: {error}; run the same `ioi-eval score` again to make it anew"
        ) from error
    return pd.DataFrame(rows)
