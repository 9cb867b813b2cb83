"""The work that the runtimes of `serve` make of a request."""

from __future__ import annotations

import pytest

from ioi_eval import boxfiles
from ioi_eval.sandbox import DEFAULT_MEMORY_BYTES
from ioi_eval.sandbox.serve.request import checked_request
from ioi_eval.sandbox.serve.served_runtimes import Scripts, runtimes, work


@pytest.mark.parametrize("asked_gib", [None, 1, 16])
def test_memory_for_our_own_scripts(asked_gib: int | None) -> None:
    """They also run compilers and checkers, so they have at least the default; more if the program may have more."""
    asked = None if asked_gib is None else asked_gib << 30
    files = [{"name": "graders/grader_config.json", "content": "{}"}]
    body = {"language": "cms_ioi", "version": "*", "files": files, "run_memory_limit": asked}
    found = work(checked_request(body, runtimes("5.2.15")), {**boxfiles.classic_scripts(), "runner": b"runner"})
    assert isinstance(found, Scripts)
    assert [each.stage for each in found.commands] == ["compile", "run"]
    assert found.commands[1].limits.memory_bytes == max(asked or 0, DEFAULT_MEMORY_BYTES)
