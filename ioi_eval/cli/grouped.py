"""How a command declares its options, and groups of options that several commands share.

A command is a function whose parameters are options. A parameter may be a group: an object made from several options.

    def score(call: Annotated[ScoreCall, OptionGroup()], dry_run: Annotated[bool, option(…)] = False) -> int: ...

The command line then has the options of `ScoreCall` instead of `call`: those fields of the class that are `Annotated`.
Other fields keep their defaults. A field may be a group itself:

    sandbox: Annotated[SandboxOptions, OptionGroup()]

Two groups may share an option. Options that must be given come first in the help.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_origin

import typer


def option(names: str, description: str, **more: Any) -> Any:
    """An option: its names and that of its value, as in `-n --sample N`, and its help; more as for `typer.Option`."""
    words = names.split()
    metavar = None if words[-1].startswith("-") else words.pop()
    return typer.Option(*words, metavar=metavar, help=description, **more)


def argument(metavar: str, description: str) -> Any:
    """An argument, with its name in the help."""
    return typer.Argument(metavar=metavar, help=description)


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Marks a parameter, or a field of a group, whose class is made from options.

    Args:
        fixed: the values of those of its options that the command does not have.
    """

    fixed: Mapping[str, Any] = field(default_factory=dict)


def grouped(run: Callable[..., int]) -> Callable[..., int]:
    """A function as the parser needs it: with the options of its groups as parameters."""
    options = _Options(run, {})

    @functools.wraps(run)
    def command(**values: Any) -> Any:
        return options.make(values)

    ordered = sorted(options.all.values(), key=lambda option: option.default is not inspect.Parameter.empty)
    command.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in ordered}
    return command


class _Options:
    """The options of a function or class, and of the groups in it (`all`); `fixed` as in `OptionGroup`."""

    def __init__(self, make: Callable[..., Any], fixed: Mapping[str, Any]) -> None:
        self._make, self._fixed = make, fixed
        self._own: list[str] = []
        self._groups: dict[str, _Options] = {}
        self.all: dict[str, inspect.Parameter] = {}
        for name, parameter in inspect.signature(make).parameters.items():
            annotation = _evaluated(parameter, make)
            marks = annotation.__metadata__ if get_origin(annotation) is Annotated else ()
            if name in fixed or not (marks or parameter.default is inspect.Parameter.empty):
                continue
            if marks and isinstance(marks[0], OptionGroup):
                self._groups[name] = _Options(annotation.__origin__, marks[0].fixed)
                self.all.update(self._groups[name].all)
            else:
                self._own.append(name)
                self.all[name] = parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY)

    def make(self, values: dict[str, Any]) -> Any:
        """What is made from the values of all options."""
        inner = {name: group.make(values) for name, group in self._groups.items()}
        return self._make(**inner, **self._fixed, **{name: values[name] for name in self._own})


def _evaluated(parameter: inspect.Parameter, of: Callable[..., Any]) -> Any:
    """The annotation of a parameter, or of a field in the class that declares it."""
    home: Callable[..., Any] = of
    if inspect.isclass(of):
        home = next(base for base in inspect.getmro(of) if parameter.name in inspect.get_annotations(base))
    return eval(parameter.annotation, vars(sys.modules[home.__module__]))  # only text from our own modules
