"""What verdicts are called in full; `docs/verdicts.md` says when each is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ioi_eval.model import Verdict

VERDICT_NAMES: Final[Mapping[str, str]] = {
    Verdict.AC: "accepted",
    Verdict.PA: "partly accepted",
    Verdict.WA: "wrong answer",
    Verdict.TLE: "time limit exceeded",
    Verdict.MLE: "memory limit exceeded",
    Verdict.OLE: "output limit exceeded",
    Verdict.SV: "security violation",
    Verdict.RE: "runtime error",
    Verdict.CE: "compilation error",
    Verdict.NC: "no code found",
    Verdict.JE: "judge error",
    Verdict.SKIPPED: "not run",
}
