"""The names of verdicts are those of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

from ioi_eval.model import Verdict
from ioi_eval.report.result_values import VERDICT_NAMES

DOCS = Path(__file__).parents[2] / "docs" / "verdicts.md"


def test_documentation_has_the_same_verdict_names() -> None:
    """Each verdict has a line with its name in the table of `docs/verdicts.md`, and no other line exists."""
    listed = re.findall(r"^\| ([A-Z]+) \| ([a-z ]+) \| .+ \|$", DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert dict(listed) == VERDICT_NAMES
    assert len(listed) == len(Verdict)
