"""Groups of options that several commands share are defined once."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from ioi_eval.cli.grouped import OptionGroup, grouped


@dataclass(frozen=True, kw_only=True)
class Size:
    """A class as a group."""

    width: Annotated[int, typer.Option("--width")] = 1
    unit: Annotated[str, typer.Option("--unit")] = "m"

    def __str__(self) -> str:
        return f"{self.width} {self.unit}"


@dataclass(frozen=True, kw_only=True)
class Dye:
    """Another one, which shares the option `unit` with `Size`."""

    colour: Annotated[str, typer.Option("--colour")]
    unit: Annotated[str, typer.Option("--unit")] = "m"


@dataclass(frozen=True, kw_only=True)
class Brush:
    """A group with a field that is no option, `maker`."""

    hair: Annotated[str, typer.Option("--hair")] = "pig"
    maker: str = "us"


@grouped
def sweep(brush: Annotated[Brush, OptionGroup()]) -> int:
    """A command with the group `Brush`."""
    print(brush.hair, brush.maker)
    return 0


@grouped
def paint(
    what: Annotated[str, typer.Argument()],
    *,
    size: Annotated[Size, OptionGroup()],
    dye: Annotated[Dye, OptionGroup()],
    twice: Annotated[bool, typer.Option("--twice")] = False,
) -> int:
    """A command with an argument, two groups and a flag."""
    print(what, size, f"{dye.colour} a {dye.unit}", twice, sep="; ")
    return 0


def test_a_command_has_the_options_of_its_groups() -> None:
    """Required options come first. An option that two groups share appears once. The function gets the values made from
    them.
    """
    assert list(inspect.signature(paint).parameters) == ["what", "colour", "width", "unit", "twice"]
    app = typer.Typer()
    app.command()(paint)
    done = CliRunner().invoke(app, ["wall", "--width", "3", "--unit", "ft", "--colour", "red", "--twice"])
    assert done.stdout == "wall; 3 ft; red a ft; True\n"


@pytest.mark.parametrize("arguments", [["wall"], ["wall", "--colour", "red", "--size", "3"]])
def test_what_is_missing_or_unknown_is_a_wrong_call(arguments: list[str]) -> None:
    """An option of a group without a default must be given. The name of the group itself is no option."""
    app = typer.Typer()
    app.command()(paint)
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_the_annotated_fields_of_a_class_are_options() -> None:
    """Fields without annotation keep their defaults."""
    app = typer.Typer()
    app.command()(sweep)
    assert list(inspect.signature(sweep).parameters) == ["hair"]
    assert CliRunner().invoke(app, ["--hair", "horse"]).stdout == "horse us\n"
    assert CliRunner().invoke(app, ["--maker", "them"]).exit_code == 2


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A class with groups as fields. A subclass can be in another module."""

    brush: Annotated[Brush, OptionGroup()] = field(default_factory=Brush)
    size: Annotated[Size, OptionGroup({"unit": "in"})] = field(default_factory=Size)


@dataclass(frozen=True, kw_only=True)
class Roller(Tool):
    """A subclass with one more option."""

    wide: Annotated[bool, typer.Option("--wide")] = False


@grouped
def roll(roller: Annotated[Roller, OptionGroup()]) -> int:
    """A command with this class as its group."""
    print(roller.brush.hair, roller.size, roller.wide)
    return 0


def test_a_field_may_be_a_group_itself() -> None:
    """Also an inherited field. An option with a fixed value is no option of the command."""
    app = typer.Typer()
    app.command()(roll)
    assert list(inspect.signature(roll).parameters) == ["hair", "width", "wide"]
    assert CliRunner().invoke(app, ["--hair", "horse", "--width", "2", "--wide"]).stdout == "horse 2 in True\n"
    assert CliRunner().invoke(app, []).stdout == "pig 1 in False\n"
    assert CliRunner().invoke(app, ["--unit", "ft"]).exit_code == 2
