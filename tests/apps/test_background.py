"""The sandbox of synchronous callers says what takes long."""

from __future__ import annotations

from pathlib import Path

import pytest

from ioi_eval import shipped
from ioi_eval.apps.background import Background
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.jobs.find_runner import runner_key
from ioi_eval.model import Isolation


def test_a_line_of_the_log_says_that_the_runner_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The first call on a machine takes seconds. Later ones find the runner in the cache."""
    monkeypatch.setenv("IOI_EVAL_CACHE", str(tmp_path))
    monkeypatch.setattr(shipped, "content_for", lambda *_: None)
    first = Background(Isolation.NONE)
    targets = first._sandbox.targets()
    first.close()
    assert caplog.messages == [
        "first, the judge's own program (the runner) is compiled: some 10 s, once for each compiler"
    ]
    for target in targets:
        ArtifactStore(tmp_path).put(runner_key(target.toolchain), b"runner")
    Background(Isolation.NONE).close()
    assert len(caplog.messages) == 1
