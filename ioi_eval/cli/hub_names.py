"""States for which sources the Hub is asked: a mistyped path may have the form of a name there."""

from __future__ import annotations

from collections.abc import Iterable

from ioi_eval.cli.sandboxes import tell
from ioi_eval.rows import is_hub_name


def tell_hub_names(specs: Iterable[str]) -> None:
    """Print which sources are not files or folders. If the Hub cannot be reached, its libraries try for half a minute.

    Args:
        specs: as in the command.
    """
    names = [spec for spec in dict.fromkeys(specs) if is_hub_name(spec)]
    if names:
        tell(f"there is no file or folder {' or '.join(names)}; the Hub is asked")
