"""Groups of options that several commands share.

A command names a group, and receives an object made from the options of the group:

    @grouped(problems=Problems)
    def score(dump: Dump, *, problems: Problems, out: Out) -> int: ...

The command line then has the options of `Problems` instead of `problems`: those fields of the class (or parameters, if
the group is a function) that are `Annotated`. Other fields keep their defaults. Two groups may share an option. A field
may be a group itself:

    sandbox: Annotated[SandboxOptions, OptionGroup(sandbox_options_of)]

Options that must be given come first in the help.
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
    """Marks a field of a group that is itself made from options.

    Args:
        fixed: the values of those of its options that the command does not have.
    """

    make: Callable[..., Any]
    fixed: Mapping[str, Any] = field(default_factory=dict)


def grouped(**groups: Callable[..., Any]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Turn a function into a command; parameters named here are made from groups of options, by a class or function."""

    by_name = {name: _Options(make, {}) for name, make in groups.items()}

    def decorate(run: Callable[..., int]) -> Callable[..., int]:
        own = inspect.signature(run).parameters
        options: dict[str, inspect.Parameter] = {}
        for name, parameter in own.items():
            options.update(by_name[name].all if name in by_name else {name: _evaluated(parameter, run)})

        @functools.wraps(run)
        def command(**values: Any) -> int:
            groups = {name: group.make(values) for name, group in by_name.items()}
            return run(**groups, **{name: value for name, value in values.items() if name in own})

        ordered = sorted(options.values(), key=lambda option: option.default is not inspect.Parameter.empty)
        command.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        command.__annotations__ = {option.name: option.annotation for option in ordered}
        return command

    return decorate


class _Options:
    """The options of a group, and of the groups in it (`all`). The arguments are those of `OptionGroup`."""

    def __init__(self, make: Callable[..., Any], fixed: Mapping[str, Any]) -> None:
        self._make, self._fixed = make, fixed
        self._own: list[str] = []
        self._groups: dict[str, _Options] = {}
        self.all: dict[str, inspect.Parameter] = {}
        for name, parameter in inspect.signature(make).parameters.items():
            option = _evaluated(parameter, make)
            if get_origin(option.annotation) is not Annotated or name in fixed:
                continue
            inner = option.annotation.__metadata__[0]
            if isinstance(inner, OptionGroup):
                self._groups[name] = _Options(inner.make, inner.fixed)
                self.all.update(self._groups[name].all)
            else:
                self._own.append(name)
                self.all[name] = option

    def make(self, values: dict[str, Any]) -> Any:
        """Make the group from the values of all options."""
        inner = {name: group.make(values) for name, group in self._groups.items()}
        return self._make(**inner, **self._fixed, **{name: values[name] for name in self._own})


def _evaluated(parameter: inspect.Parameter, of: Callable[..., Any]) -> inspect.Parameter:
    """The parameter with its annotation evaluated. Annotations of groups are kept: they name types imported later."""
    home: Callable[..., Any] = of
    if inspect.isclass(of):  # a field: the class that declares it
        home = next(base for base in inspect.getmro(of) if parameter.name in inspect.get_annotations(base))
    annotation = eval(parameter.annotation, vars(sys.modules[home.__module__]))  # only text from our own modules
    return parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY)
