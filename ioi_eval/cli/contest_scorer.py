"""The scorer of `score` and `validate`, and the compiled programs that `--keep-programs` keeps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.messages import tell
from ioi_eval.cli.options import ContestRules
from ioi_eval.cli.sandboxes import OpenSandbox, SandboxOptions, opened
from ioi_eval.config import KEPT_OUTPUT_BYTES
from ioi_eval.events import Events
from ioi_eval.model import Keep
from ioi_eval.scorer import Scorer


@asynccontextmanager
async def opened_scorer(
    options: SandboxOptions,
    rules: ContestRules,
    *,
    keep: Keep = Keep.INPUTS,
    keep_programs: float | None,
    score_only: bool = False,
    events: Events | None = None,
) -> AsyncIterator[tuple[OpenSandbox, Scorer]]:
    """Enter the sandbox, and judge on it; a line at the end describes the compiled programs that were kept.

    Of these, `keep_programs` GB are kept across runs; `None` for none.
    """
    async with opened(options, events=events) as entered:
        stored = None
        if keep_programs is not None and options.is_here:
            from ioi_eval.kept_programs import KeptPrograms

            stored = KeptPrograms(max_bytes=int(keep_programs * 1e9))
        elif keep_programs is not None:
            tell("--keep-programs has no effect, because programs are compiled on other machines")
        scorer = Scorer(
            entered.sandbox,
            artifacts=ArtifactStore(),
            policy=replace(rules.policy(entered.least_isolation), score_only=score_only),
            return_bytes=KEPT_OUTPUT_BYTES,
            keep_outputs=keep,
            kept_programs=stored,
            events=events,
        )
        yield entered, scorer
        tell(*scorer.notes())
        if stored is not None:
            tell(*stored.notes())
