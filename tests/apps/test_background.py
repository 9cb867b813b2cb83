"""The sandbox of synchronous callers: it says what takes long, and leaves nothing running."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from ioi_eval import shipped
from ioi_eval.apps import AppsSettings, apps_problem
from ioi_eval.apps.background import Background
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.errors import SandboxError
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
        "first, the judge's own program (the runner) is compiled: 6 to 10 s of processor time, once for each compiler"
    ]
    for target in targets:
        ArtifactStore(tmp_path).put(runner_key(target.toolchain), b"runner")
    Background(Isolation.NONE).close()
    assert len(caplog.messages) == 1


def test_closing_stops_the_programs_that_run() -> None:
    """So none outlives a process that ends meanwhile. The thread that waits gets an error, not a score."""
    sandbox = Background(Isolation.REDUCED, slots=1)
    problem = apps_problem({"problem_id": 1, "input_output": {"inputs": ["1"], "outputs": ["1"]}})
    before = children()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(sandbox.score, problem, "while True: pass", AppsSettings(time_limit_s=1000))
        while children() == before and not waiting.done():
            pass
        sandbox.close()
        with pytest.raises(SandboxError, match="this process ends"):
            waiting.result()
    assert children() == before


def children() -> set[int]:
    """The children of all threads of this process. A thread may end meanwhile."""
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found.update(map(int, Path(f"/proc/self/task/{task}/children").read_text().split()))
    return found
