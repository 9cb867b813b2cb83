"""Commands whose parser says what the user may have meant, and whose help works beside a wrong `ioi-eval.toml`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from ioi_eval.cli.exits import WRONG_CALL
from ioi_eval.cli.file_options import commands_of, settings_of, value_message
from ioi_eval.cli.messages import tell
from ioi_eval.config_file import path_of_file
from ioi_eval.errors import InputError, similar, unknown

_UsageError = cast(type[Exception], typer.BadParameter.__bases__[0])
"""The base of the parser's errors, for which typer has no name."""


class CliCommand(TyperCommand):
    """A command. The context's `obj` is the error of `ioi-eval.toml`, if there is one; it ends the command.

    Its help has `DUMP`, where some versions of typer print `DUMP <list[str]>`, and `{DUMP}...` in the first line.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None  # type: ignore[attr-defined] # noqa: ARG005

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the first line."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the parser does. Help ends the program here."""
        typed = [word.partition("=")[0] for word in args]
        try:
            rest = super().parse_args(ctx, args)
            _refuse_odd_numbers(ctx)
            return rest
        except _UsageError as error:
            _refuse_wrong_file(ctx)  # an option that seems to be missing may be in the file
            _explain(ctx, error, typed)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command. If it is wrong, say which of its options are not the user's but those of `ioi-eval.toml`."""
        _refuse_wrong_file(ctx)
        try:
            return super().invoke(ctx)
        except typer.Exit as end:
            if end.exit_code == WRONG_CALL:
                self._name_options_of_file(ctx)
            raise

    def _name_options_of_file(self, ctx: Any) -> None:
        if names := [name for name, option in settings_of(self).items() if _is_from_file(ctx, option)]:
            command = ctx.command_path.partition(" ")[2]
            of_file = f"{path_of_file()} sets options of this command: {', '.join(names)}"
            tell(f"{of_file}; `ioi-eval config {command}` shows the values")


class CliGroup(TyperGroup):
    """A group of commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the parser does."""
        try:
            return super().parse_args(ctx, args)
        except _UsageError as error:
            _explain(ctx, error)
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As the parser does. The message for an unknown command has its whole name: `apps explain`."""
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            path = ctx.command_path.split()[1:]
            calls = {words[-1]: words for words, _ in commands_of(ctx.find_root().command)}
            calls |= {word: (*path, word) for word in self.commands}  # the group's own take precedence
            near = " ".join(calls.get(similar(name, calls) or "", ()))
            ctx.fail(unknown("command", " ".join([*path, name]), (), near=near, help_of=ctx.command_path))
        return super().resolve_command(ctx, args)


def _is_from_file(ctx: Any, option: TyperOption) -> bool:
    source = ctx.get_parameter_source(option.name)
    return source is not None and source.name == "DEFAULT_MAP"


def _refuse_wrong_file(ctx: Any) -> None:
    if isinstance(ctx.obj, InputError):
        tell(str(ctx.obj))
        raise typer.Exit(WRONG_CALL)


def _refuse_odd_numbers(ctx: Any) -> None:
    """Refuse `nan` and `inf`, which Python reads as numbers."""
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name)
        if isinstance(value, float) and not math.isfinite(value):
            raise typer.BadParameter(f"{value} is not a finite number", ctx=ctx, param=parameter)


_CONFUSED = 0.9
"""How similar two options of a command are if one may have been typed for the other: `--problem`, `--problems`."""

_LIKELY = 0.8
"""How similar to the typed name an option of the command must be to be suggested, if another command has an option of
exactly this name."""


def _explain(ctx: Any, error: BaseException, typed: Sequence[str] = ()) -> None:
    """Improve the message of an error. If it is about an unknown option, another error is raised instead.

    One of the `typed` words may have been meant as the option that is missing.
    """
    if isinstance(error, typer.BadParameter):
        error.message = value_message(error.message)
        missing = error.param.opts if hasattr(error, "param_type") and error.param is not None else ()
        given = (similar(option, typed, least=_CONFUSED) for option in missing if option.startswith("-"))
        if (other := next(filter(None, given), None)) is not None:
            error.message = f"{other!r}, which is given, is another option"
    if not hasattr(error, "possibilities"):
        return
    name = str(getattr(error, "option_name", ""))
    own = _options(ctx.command, ctx)
    if (opposite := name.replace("--", "--no-", 1)) in own:
        ctx.fail(f"no such option {name!r}: that is the default; leave it out ({opposite!r} is the opposite)")
    others = {" ".join(path): other for path, other in commands_of(ctx.find_root().command)}
    others = {path: other for path, other in others.items() if name in _options(other, typer.Context(other))}
    if (near := _own_name(name, own, others.values())) is not None:
        ctx.fail(unknown("option", name, own, near=near))
    if similar(name, own, least=_LIKELY) is None and (others or similar(name, own) is None):
        have = "has" if len(others) == 1 else "have"
        ctx.fail(f"no such option {name!r}" + (f"; {', '.join(others)} {have} it" if others else ""))
    ctx.fail(unknown("option", name, own))


def _own_name(name: str, own: Sequence[str], others: Iterable[TyperCommand]) -> str | None:
    """What a command calls an option, if another command has it by both names: `--dataset` for `--problems`."""
    named = (option.opts for other in others for option in other.params if name in option.opts)
    return next((other for names in named for other in names if other in own), None)


def _options(command: Any, ctx: Any) -> list[str]:
    every = (option for parameter in command.get_params(ctx) for option in (*parameter.opts, *parameter.secondary_opts))
    return [option for option in every if option.startswith("-")]
