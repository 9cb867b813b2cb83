"""Options that go together, written once: a command asks for a group, and gets what is made of its options.

    @grouped(problems=problems_of)
    def score(dump: Dump, *, problems: Problems, out: Out) -> int: ...

On the command line stand the options of `problems_of` in the place of `problems`. Two groups may share an option.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def grouped(**groups: Callable[..., Any]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Make a command of a function, some of whose parameters are made from options.

    Args:
        groups: by the function's parameter, what makes it: a function whose parameters are the options.
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
    return {name: _evaluated(parameter, make) for name, parameter in inspect.signature(make).parameters.items()}


def _evaluated(parameter: inspect.Parameter, of: Callable[..., Any]) -> inspect.Parameter:
    """As an option, whose annotation is there to be read; those of groups name what is imported later."""
    annotation = eval(parameter.annotation, of.__globals__)  # our own words
    return parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY)
