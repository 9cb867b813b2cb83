"""Shared fixtures, and the `--full` switch."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from ioi_eval.sandbox.piston import probing
from tests.forked_commands import ForkedCommands, forked_commands
from tests.ordering import TESTS, rank
from tests.selecting import deselect, set_full
from tests.shared_work import copy_cache, first_alone, made_once, put_runner, shared_directory, use_kept_stage_runner
from tests.small_good_program import use_small_good_program

# A slow machine is not a failure: examples have no deadline.
hypothesis.settings.register_profile("ioi-eval", deadline=None)
hypothesis.settings.load_profile("ioi-eval")

os.umask(0o022)  # some systems let the user's group write to new files, and then ours would refuse what tests make

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full`."""
    parser.addoption("--full", action="store_true", help="also run the tests with large budgets")


def pytest_configure(config: pytest.Config) -> None:
    """Tell modules of tests whether `--full` was given, before they are imported."""
    set_full(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Of the processes that share the tests, the first imports all modules of tests alone.

    Python and pytest keep the compiled modules, which takes 20 CPU-s in a fresh checkout. Processes that import them at
    the same time would all compile them.

    What is collected lives until the end: Python does not look for garbage in it, now or later.
    """
    gc.disable()
    try:
        with first_alone(TESTS):
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests with large budgets unless `--full` is given, which allows each test an hour. Skip tests that need
    root, with the reason.
    """
    if not config.getoption("--full"):
        deselect(config, items, lambda item: item.get_closest_marker("full") is not None)
    else:
        for item in items:
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(3600))
    for item in items:
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="not root"))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: rank(item.path))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory with third-party data beside the checkout. A test that needs it is skipped if it is absent."""
    path = ROOT.parent / "shared"
    if not (path / "piston-transcripts").is_dir():  # another directory may have this name
        pytest.skip("no shared data beside the checkout")
    return path


@pytest.fixture(scope="session", autouse=True)
def stage_runner() -> None:
    """Of the processes that share the tests only the first one compiles the stage runner."""
    use_kept_stage_runner()


@pytest.fixture(scope="session")
def cache_with_runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that contains only the runner. Tests that need their own cache copy this one."""
    return made_once(shared_directory(tmp_path_factory) / "cache-with-runner", put_runner)


@pytest.fixture(scope="session")
def cache(cache_with_runner: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests: our programs, mainly the runner, are compiled once.

    All processes that share the tests use it. No entry is ever changed, and two processes may build the same entry at
    once.
    """

    def copy(new: Path) -> None:
        copy_cache(cache_with_runner, new)

    return made_once(shared_directory(tmp_path_factory) / "cache", copy)


@pytest.fixture(scope="session")
def environment(cache: Path) -> dict[str, str]:
    """The environment of commands, with the cache of the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IOI_EVAL", "PISTON"))}
    return {**kept, "IOI_EVAL_CACHE": str(cache)}


@pytest.fixture(scope="module")
def kept_in_the_cache(cache: Path) -> Iterator[None]:
    """Functions of this process that name no cache use that of the tests, not that of the user who runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IOI_EVAL_CACHE", str(cache))
        yield


@pytest.fixture
def short_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters do not try whether a worker accepts requests of 16 MiB or 48 MiB, which takes most of the CPU time of
    entering.
    """
    monkeypatch.setattr(probing, "BODY_LADDER", probing.BODY_LADDER[2:])


@pytest.fixture
def small_good_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The known good program takes a tenth of its CPU time. `tests/test_languages.py` compiles the real one."""
    use_small_good_program(monkeypatch)


@pytest.fixture(scope="session")
def commands() -> ForkedCommands:
    """Runs `ioi-eval` for tests of what a command does. Tests of how it starts do not use this."""
    return forked_commands()
