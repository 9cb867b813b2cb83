"""Groups of options that several commands share.

A command names a group, and receives an object made from the options of the group:

    @grouped(problems=Problems)
    def score(dump: Dump, *, problems: Problems, out: Out) -> int: ...

The command line then has the options of `Problems` instead of `problems`: its fields, or the parameters of a function,
that are `Annotated`. Other fields keep their defaults. Two groups may share an option.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any, get_origin


def grouped(**groups: Callable[..., Any]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Turn a function into a command; some of its parameters are made from groups of options.

    Args:
        groups: for each such parameter, the class or function that makes it.
    """

    def decorate(run: Callable[..., int]) -> Callable[..., int]:
        own = inspect.signature(run).parameters
        takes = {name: _options(make) for name, make in groups.items()}
        options: dict[str, inspect.Parameter] = {}
        for name, parameter in own.items():
            options.update(takes[name] if name in takes else {name: _evaluated(parameter, run)})

        @functools.wraps(run)
        def command(**given: Any) -> int:
            made = {name: make(**{key: given[key] for key in takes[name]}) for name, make in groups.items()}
            return run(**made, **{name: value for name, value in given.items() if name in own})

        command.__signature__ = inspect.Signature(list(options.values()))  # type: ignore[attr-defined]
        command.__annotations__ = {name: option.annotation for name, option in options.items()}
        return command

    return decorate


def _options(make: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = [_evaluated(parameter, make) for parameter in inspect.signature(make).parameters.values()]
    return {one.name: one for one in parameters if get_origin(one.annotation) is Annotated}


def _evaluated(parameter: inspect.Parameter, of: Callable[..., Any]) -> inspect.Parameter:
    """The parameter with its annotation evaluated. Annotations of groups are kept: they name types imported later."""
    annotation = eval(parameter.annotation, vars(sys.modules[of.__module__]))  # only text from our own modules
    return parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY)
