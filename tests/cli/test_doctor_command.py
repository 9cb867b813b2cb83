"""`ioi-eval doctor`: what it says, and its exit code."""

from __future__ import annotations

from addition import Start


def test_the_doctor_reports_what_was_tried(start: Start) -> None:
    """A line for each thing, and whether programs can be judged here."""
    ended = start("doctor")
    assert "compiler" in ended.stdout
    assert "isolation" in ended.stdout
    if ended.returncode == 0:
        assert "Programs can be judged here." in ended.stdout
        assert "BAD" not in ended.stdout
    else:
        assert ended.returncode == 2
        assert "Nothing can be judged here as it is." in ended.stdout
        assert "BAD" in ended.stdout


def test_without_a_compiler_nothing_can_be_judged(start: Start) -> None:
    """Said as a finding, not as a traceback."""
    ended = start("doctor", env={"CXX": "/nonexistent/g++"})
    assert ended.returncode == 2
    assert "/nonexistent/g++" in ended.stdout
    assert "Traceback" not in ended.stderr
