"""What becomes of an error on its way out of a command."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from ioi_eval.cli.exits import FAILED, WRONG_CALL, command
from ioi_eval.errors import SetupError, UnavailableError


@pytest.mark.parametrize(
    ("error", "code"), [(UnavailableError("no endpoint is left"), FAILED), (SetupError("no compiler"), WRONG_CALL)]
)
def test_errors_in_groups_are_one_message(error: Exception, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Task groups raise groups of groups; the user reads what happened, and no traceback."""

    def fails() -> int:
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [error, error])])

    with pytest.raises(typer.Exit) as ended:
        command(fails)()
    assert ended.value.exit_code == code
    assert capsys.readouterr().err == f"ioi-eval: {error}\n"


def test_a_bug_in_a_group_is_told_whole() -> None:
    """It is nobody's message: not even beside an error of ours."""
    group = ExceptionGroup("tasks", [SetupError("no compiler"), ZeroDivisionError("a bug")])

    def fails() -> int:
        raise group

    with pytest.raises(ExceptionGroup) as raised:
        command(fails)()
    assert raised.value is group


def test_paths_may_begin_with_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell leaves it as it is in `--out=~/x`, which would be a directory called `~`."""
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
    """Relative paths mean nothing there."""
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
