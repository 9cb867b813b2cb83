"""Messages of commands on stderr; stdout is for results."""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress

from ioi_eval.report.texts import escaped_text


def tell(*lines: str) -> None:
    """Print lines on stderr, each with the program's name, and above progress bars.

    If that is not possible, because the log is on a full disk or the terminal was closed, the command goes on.
    """
    tqdm = getattr(sys.modules.get("tqdm"), "tqdm", None)
    beside_bars = nullcontext()
    if tqdm is not None and tqdm.monitor is not None:  # a bar was shown
        beside_bars = tqdm.external_write_mode(file=sys.stderr)
    with suppress(OSError), beside_bars:
        for line in lines:
            print(escaped_text(f"ioi-eval: {line}"), file=sys.stderr, flush=True)
