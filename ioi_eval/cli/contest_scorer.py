"""The scorer of `score` and `validate`, and the compiled programs that `--keep-programs` keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.messages import tell
from ioi_eval.cli.sandboxes import OpenSandbox, opened
from ioi_eval.cli.score import ScoreCall
from ioi_eval.cli.validate import ValidateCall
from ioi_eval.config import KEPT_OUTPUT_BYTES
from ioi_eval.events import Events
from ioi_eval.model import Keep
from ioi_eval.scorer import Scorer


@asynccontextmanager
async def opened_scorer(
    call: ScoreCall | ValidateCall, events: Events | None = None
) -> AsyncIterator[tuple[OpenSandbox, Scorer]]:
    """Enter the sandbox, and judge on it; a line at the end describes the compiled programs that were kept."""
    async with opened(call.sandbox, events=events) as entered:
        keep, score_only = (call.keep, call.score_only) if isinstance(call, ScoreCall) else (Keep.INPUTS, False)
        stored = None
        if call.keep_programs is not None and call.sandbox.is_here:
            from ioi_eval.kept_programs import KeptPrograms

            stored = KeptPrograms(max_bytes=int(call.keep_programs * 1e9))
        elif call.keep_programs is not None:
            tell("--keep-programs has no effect, because programs are compiled on other machines")
        scorer = Scorer(
            entered.sandbox,
            artifacts=ArtifactStore(),
            policy=replace(call.rules.policy(entered.least_isolation), score_only=score_only),
            return_bytes=KEPT_OUTPUT_BYTES,
            keep_outputs=keep,
            kept_programs=stored,
            events=events,
        )
        yield entered, scorer
        tell(*scorer.notes())
        if stored is not None:
            tell(*stored.notes())
