"""What becomes of an error on its way out of a command."""

from __future__ import annotations

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
