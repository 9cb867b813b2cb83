"""`ioi-eval import`: what is said of packages, whole and broken."""

from __future__ import annotations

from pathlib import Path

from addition import Start


def test_a_package_that_is_not_there_is_named(start: Start, tmp_path: Path) -> None:
    """For both kinds; nothing is written."""
    for kind in ("cms", "tps"):
        ended = start("import", kind, "none.zip", "--year", "2024", "--out", "out")
        assert ended.returncode == 2
        assert "none.zip" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_package_says_what_is_missing(start: Start, tmp_path: Path) -> None:
    """By the file's name."""
    (tmp_path / "task").mkdir()
    ended = start("import", "cms", "task", "--year", "2024", "--out", "out")
    assert ended.returncode == 2
    assert "problem.json" in ended.stderr


def test_the_year_must_be_given(start: Start) -> None:
    """Packages do not say it."""
    ended = start("import", "cms", "task", "--out", "out")
    assert ended.returncode == 2
    assert "--year" in ended.stderr
