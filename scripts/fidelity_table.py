#!/usr/bin/env python3
"""Make `docs/fidelity.md` from the results of `ioi-eval validate … --out DIR`.

    scripts/fidelity_table.py DIR…

Each DIR has a `validation.json`. Rows of the page about other tasks are kept, and marked. Exit code 1 if a disagreement
has no reason in `docs/fidelity-reasons.toml`, or a task has no origin in `docs/fidelity-packages.toml`; 2 if something
cannot be read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ioi_eval.errors import InputError
from ioi_eval.report.fidelity import fidelity_table, read_origins, read_reasons

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main(directories: list[str]) -> int:
    """Write the page; print the disagreements without a reason, and the reasons that are not needed."""
    try:
        validations = [_read(Path(name) / "validation.json") for name in directories]
        document = DOCS / "fidelity.md"
        before = document.read_text(encoding="utf-8") if document.exists() else ""
        origins = read_origins(DOCS / "fidelity-packages.toml")
        table = fidelity_table(validations, read_reasons(DOCS / "fidelity-reasons.toml"), before, origins)
    except (OSError, json.JSONDecodeError, InputError) as error:
        print(f"fidelity_table: {error}", file=sys.stderr)
        return 2
    document.write_text(table.markdown, encoding="utf-8")
    for reason in table.idle:
        print(f"no disagreement for this reason: {reason.problem}, {', '.join(reason.solutions)}", file=sys.stderr)
    if table.unplaced:
        tasks = ", ".join(table.unplaced)
        print(f"docs/fidelity-packages.toml does not say where these are from: {tasks}", file=sys.stderr)
    print(f"{document}: {table.open} disagreements are not explained")
    return 1 if table.open or table.unplaced else 0


def _read(path: Path) -> dict[str, Any]:
    values = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(values, dict) or values.get("format") != 1:
        raise InputError(f"{path} was not written by this version of `ioi-eval validate --out`; make it again")
    return values


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
