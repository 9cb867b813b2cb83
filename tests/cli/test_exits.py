"""How a command reports errors."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
import typer

from ioi_eval.cli.exits import FAILED, WRONG_CALL, command
from ioi_eval.errors import SetupError, UnavailableError


@pytest.mark.parametrize(
    ("error", "code"), [(UnavailableError("no endpoint is left"), FAILED), (SetupError("no compiler"), WRONG_CALL)]
)
def test_errors_in_groups_are_one_message(error: Exception, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Task groups raise nested groups. The user sees the error's message and no traceback."""

    def fails() -> int:
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [error, error])])

    with pytest.raises(typer.Exit) as ended:
        command(fails)()
    assert ended.value.exit_code == code
    assert capsys.readouterr().err == f"ioi-eval: {error}\n"


def test_a_group_with_a_bug_is_raised_as_a_whole() -> None:
    """It is not turned into a message, even if an error of ours is in the same group."""
    group = ExceptionGroup("tasks", [SetupError("no compiler"), ZeroDivisionError("a bug")])

    def fails() -> int:
        raise group

    with pytest.raises(ExceptionGroup) as raised:
        command(fails)()
    assert raised.value is group


def test_paths_may_begin_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In `--out=~/x` a shell does not expand the tilde. Without expansion a directory `~` would be created."""
    monkeypatch.setenv("HOME", str(tmp_path))
    given: dict[str, object] = {}

    def takes(**options: object) -> int:
        given.update(options)
        return 0

    with pytest.raises(typer.Exit):
        command(takes)(out=Path("~/x"), several=[Path("~"), Path("y")], other=Path("~nobody-of-this-name/x"), text="~")
    assert given == {
        "out": tmp_path / "x",
        "several": [tmp_path, Path("y")],
        "other": Path("~nobody-of-this-name/x"),
        "text": "~",
    }


def test_a_deleted_working_directory_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A relative path cannot be resolved there."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    def fails() -> int:
        Path("out").absolute()
        return 0

    with pytest.raises(typer.Exit) as ended:
        command(fails)()
    monkeypatch.chdir(tmp_path)
    assert ended.value.exit_code == WRONG_CALL
    assert capsys.readouterr().err == "ioi-eval: the working directory has been deleted; cd to another one\n"


def test_a_path_that_may_not_be_used_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    """Python 3.11 raises these errors even where it is asked whether a file exists."""

    def fails() -> int:
        raise PermissionError(errno.EACCES, "Permission denied", "/home/other/results")

    with pytest.raises(typer.Exit) as ended:
        command(fails)()
    assert ended.value.exit_code == WRONG_CALL
    assert capsys.readouterr().err == "ioi-eval: /home/other/results: Permission denied\n"
