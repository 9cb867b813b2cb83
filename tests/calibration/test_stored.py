"""A stored calibration: valid only for the machine, compiler and workload for which it was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ioi_eval.calibration.stored import NAME, calibration_of_this_machine, find, store
from ioi_eval.errors import SetupError

HERE = calibration_of_this_machine(1.25, compiler="g++ 12", taken="2026-01-01T00:00:00+00:00")


def test_a_stored_calibration_is_found(tmp_path: Path) -> None:
    """A later calibration replaces an earlier one."""
    store(calibration_of_this_machine(9.0, compiler="g++ 12", taken="2025"), tmp_path / "cache")
    assert store(HERE, tmp_path / "cache") == tmp_path / "cache" / NAME
    assert find(tmp_path / "cache", compiler="g++ 12") == HERE
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [NAME]


def test_a_missing_calibration_is_an_error(tmp_path: Path) -> None:
    """The message names the command. Limits are neither changed nor left unchanged silently."""
    with pytest.raises(SetupError, match=r"has not been calibrated.*doctor --calibrate"):
        find(tmp_path, compiler="g++ 12")


@pytest.mark.parametrize("what", ["machine", "compiler", "workload"])
def test_a_calibration_of_another_machine_is_not_used(tmp_path: Path, what: str) -> None:
    """For example with a cache on a shared disk, a new compiler, or a new version of this project."""
    path = store(HERE, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), what: "another"}))
    with pytest.raises(SetupError, match=f"taken with another {what} \\(another, now .*doctor --calibrate"):
        find(tmp_path, compiler="g++ 12")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"time_scale": 1.0}', "\x00", "scale", "[" * 100_000])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    """For any content."""
    (tmp_path / NAME).write_text(text)
    with pytest.raises(SetupError, match=f"{NAME} cannot be read"):
        find(tmp_path, compiler="g++ 12")


@pytest.mark.parametrize("scale", [0.0, -1.0, 0.05, 1e9, None, "1", float("nan")])
def test_impossible_scales_are_refused(tmp_path: Path, scale: object) -> None:
    """The scale multiplies every limit. A user's own number must be in the same range."""
    path = store(HERE, tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "time_scale": scale}))
    with pytest.raises(SetupError, match="cannot be read"):
        find(tmp_path, compiler="g++ 12")


def test_a_directory_that_others_may_write_is_refused(tmp_path: Path) -> None:
    """Whoever can write there could increase every limit."""
    store(HERE, tmp_path)
    tmp_path.chmod(0o777)
    with pytest.raises(SetupError, match="others may write"):
        find(tmp_path, compiler="g++ 12")


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    """No incomplete file stays in the cache."""
    cache = tmp_path / "cache"
    (cache / NAME).mkdir(parents=True)
    cache.chmod(0o755)
    with pytest.raises(SetupError, match=f"{NAME} cannot be written: Is a directory"):
        store(HERE, cache)
    assert [path.name for path in cache.iterdir()] == [NAME]
