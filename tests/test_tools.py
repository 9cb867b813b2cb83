"""The compilers and interpreters of targets: where one is that a user names, and which directories boxes hide."""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SetupError, TransientError
from ioi_eval.jobs.recipes import Recipe
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.model import Isolation
from ioi_eval.programs import Builder
from ioi_eval.sandbox import LOCAL, Target
from ioi_eval.tools import Tools, located, require_visible
from tests.small_targets import IdleSandbox, small_target


def test_a_target_that_does_not_answer_does_not_delay_others() -> None:
    """A worker that joins during the run compiles the runner first, or hangs. The other targets continue."""
    slow, quick = small_target(name="slow"), small_target(name="quick")

    async def main() -> None:
        asked, never = asyncio.Event(), asyncio.Event()

        async def ready(_: Target) -> None:
            return None

        async def ask(_: Recipe, target: Target) -> CompileAnswer:
            if target is slow:
                asked.set()
                await never.wait()
            raise TransientError("no such file: python3")

        tools = Tools(ask, ready, "python3")
        hangs = asyncio.create_task(tools.interpreter(slow))
        await asked.wait()
        with pytest.raises(SetupError, match="python3 cannot be started"):
            await tools.interpreter(quick)
        assert not hangs.done()
        hangs.cancel()
        await asyncio.wait([hangs])

    asyncio.run(main())


TARGET = small_target(name=LOCAL)


def test_a_relative_path_is_relative_to_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a shell. A bare name is looked up in the box; an absolute path is not changed."""
    monkeypatch.chdir(tmp_path)
    here = os.getcwd()
    assert located("venv/bin/python") == f"{here}/venv/bin/python"
    assert located("./python") == f"{here}/python"
    assert (located("python3"), located("/opt/p/bin/python")) == ("python3", "/opt/p/bin/python")


@pytest.mark.parametrize("python", ["/tmp/venv/bin/python", "/box/python", "/tmp/../tmp/python"])
def test_an_interpreter_in_a_hidden_directory_is_refused_with_the_reason(python: str) -> None:
    """The file exists, so the message "not found" would mislead the user."""
    with pytest.raises(SetupError, match=r"every box has a /(tmp|box) of its own.*/var/tmp"):
        require_visible(located(python))
    require_visible("python3")
    require_visible("/usr/bin/python3")


def test_a_link_to_what_a_box_hides_is_refused() -> None:
    """This also holds if the link leads to another link in a visible directory. The message names both ends."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as shown, tempfile.TemporaryDirectory(dir="/tmp") as hidden:
        first, second = Path(shown, "python"), Path(hidden, "python")
        first.symlink_to(second)
        second.symlink_to("/usr/bin/env")
        with pytest.raises(SetupError, match=rf"{first} cannot be used: it leads to {second}; every box has a /tmp"):
            require_visible(str(first))


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.REDUCED])
def test_the_embedded_sandbox_refuses_before_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    """A relative path is made absolute by the caller's directory first. Under reduced isolation nothing is hidden."""
    builder = Builder(IdleSandbox(TARGET), ArtifactStore(tmp_path), Policy(python="bin/python"))
    target = replace(TARGET, isolation=isolation)
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        monkeypatch.chdir(directory)
        with pytest.raises(SetupError, match=f"no interpreter {directory}/bin/python on this machine"):
            asyncio.run(builder.tools.interpreter(target))
        Path("bin").mkdir()
        Path("bin/python").touch()
        refused = pytest.raises(SetupError, match="has a /tmp of its own")
        with refused if isolation is Isolation.FULL else pytest.raises(AssertionError, match="a job was sent"):
            asyncio.run(builder.tools.interpreter(target))
        monkeypatch.undo()
