"""The options of `score` and `apps score`: which programs to judge, where, and where the results go."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ioi_eval.cli import options
from ioi_eval.cli.grouped import OptionGroup, option
from ioi_eval.cli.sandboxes import SandboxGroup, SandboxOptions
from ioi_eval.cli.watching import Watch
from ioi_eval.errors import InputError
from ioi_eval.model.terms import Keep

if TYPE_CHECKING:
    from ioi_eval.pipeline import DumpOutcome


@dataclass(frozen=True, kw_only=True)
class RunOptions(ABC):
    """A group of options: those that every family of problems has."""

    row_options: ClassVar[Mapping[str, str]]
    """For each option that may leave rows out, its key in `as_dict`."""

    dumps: list[str]
    out: Annotated[Path, option("--out DIR", "The directory for the results; made if absent.")]
    id_column: options.IdColumn = "uuid"
    by: options.By = None
    no_resume: options.NoResume = False
    retry_failed: options.RetryFailed = False
    no_dedupe: Annotated[
        bool,
        option(
            "--no-dedupe",
            "Judge each of several identical programs, not only the first. Rows that earlier runs copied stay copies.",
        ),
    ] = False
    keep: options.KeepTexts = Keep.INPUTS
    sandbox: SandboxGroup = field(default_factory=SandboxOptions)
    push_to_hub: Annotated[
        str | None,
        option(
            "--push-to-hub OWNER/NAME",
            "Afterwards push results and reports to this data set of the Hub, as a configuration with the dump's "
            "name. Rows of other submissions stay there.",
        ),
    ] = None
    public: Annotated[
        bool,
        option("--public", "Make the data set on the Hub public; without this it is private."),
    ] = False
    watch: Annotated[Watch, OptionGroup()] = field(default_factory=Watch)

    def __post_init__(self) -> None:
        """Raises `InputError` for an option that would have no effect."""
        if self.public and self.push_to_hub is None:
            raise InputError("--public needs --push-to-hub; add it, or leave --public out")

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """The values that the journal and the summary record."""

    @property
    @abstractmethod
    def sources(self) -> tuple[str, ...]:
        """All sources that are read."""

    @property
    def dump(self) -> str:
        """The names of the dumps; recorded in the summary, by which a later run knows whose results are there."""
        return ", ".join(self.dumps)

    def open_hub(self) -> Callable[[RunOptions, DumpOutcome], int]:
        """Open the data set on the Hub, if the user asked to push there. Returns what pushes the results at the end."""
        if self.push_to_hub is None:
            return lambda *_: 0
        from ioi_eval.cli.dump_run import push
        from ioi_eval.report.hub import HubResults
        from ioi_eval.rows import result_names

        hub = HubResults.open(self.push_to_hub, public=self.public)
        return partial(push, hub, "--".join(result_names(self.dumps, {}).values()))
