"""Options that the commands of `ioi-eval apps` share: which problems, and which rules."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ioi_eval.cli import options
from ioi_eval.cli.grouped import option
from ioi_eval.config import MIB
from ioi_eval.errors import InputError
from ioi_eval.model.terms import Isolation
from ioi_eval.problems.apps_selection import ProblemSelection, Sampling

if TYPE_CHECKING:
    from ioi_eval.apps.catalog import Catalog
    from ioi_eval.apps.configuration import Configuration
    from ioi_eval.apps.settings import AppsSettings
    from ioi_eval.rows import Source

SPLITS = ("test", "train")
"""The splits that are tried by default, in this order; `test` is first, because published numbers are for it."""


@dataclass(frozen=True, kw_only=True)
class ChosenProblems:
    """The problems that the user selected from a data set: a group of options. Some commands have no `--config`."""

    dataset: Annotated[str, option("--dataset SRC", f"The problems: {options.SOURCE} (codeparrot/apps).")]
    split: Annotated[
        str | None, option("--split S", "The split to read; by default test if there is one, else train.")
    ] = None
    difficulties: Annotated[
        list[str] | None, option("--filter-difficulty D", "Only problems of this difficulty; may be repeated.")
    ] = None
    limit: Annotated[int | None, option("-n --sample N", "Only N of these problems.", min=1)] = None
    ids: Annotated[
        list[str] | None,
        option("-t --task ID", "Only this problem (42 or apps_42); may be repeated."),
    ] = None
    sampling: Annotated[
        Sampling | None,
        option(
            "--sampling HOW",
            "How to choose N problems: sequential (the first N; default), random, or stratified by difficulty.",
        ),
    ] = None
    seed: Annotated[int | None, option("--seed S", "Seed for --sampling random or stratified; 0 by default.")] = None
    exclude: Annotated[
        list[Path] | None,
        option(
            "--exclude FILE",
            "Leave out the problems of FILE: one id per line, or the list of `apps audit --out FILE`; may be repeated.",
        ),
    ] = None
    config: Annotated[
        Path | None,
        option(
            "-c --config YAML",
            "A configuration file of mcpbr: its sample_size, timeout_seconds, filter_difficulty, task_ids,"
            " sampling_strategy, random_seed are used. Options of the command take precedence.",
        ),
    ] = None

    @cached_property
    def configuration(self) -> Configuration:
        """The contents of the configuration file."""
        from ioi_eval.apps.configuration import Configuration, read_configuration

        return Configuration() if self.config is None else read_configuration(self.config)

    @cached_property
    def selection(self) -> ProblemSelection:
        """Which problems of the data set are selected; options of the command take precedence over the file."""
        config = self.configuration
        seed = self.seed if self.seed is not None else config.random_seed
        limit = self.limit if self.limit is not None else config.sample_size
        if limit is None and (self.sampling is not None or self.seed is not None):
            raise InputError("--sampling and --seed say how to choose N problems: add -n N, or leave them out")
        return ProblemSelection(
            difficulties=tuple(self.difficulties or config.filter_difficulty),
            ids=tuple(self.ids or config.task_ids),
            limit=limit,
            sampling=self.sampling or config.sampling_strategy or Sampling.SEQUENTIAL,
            seed=seed or 0,
        )

    @cached_property
    def excluded(self) -> frozenset[str]:
        """The problems that are left out."""
        from ioi_eval.apps.catalog import read_excluded

        return frozenset[str]().union(*map(read_excluded, self.exclude or ()))

    @cached_property
    def source(self) -> Source:
        """The data set."""
        from ioi_eval.rows import open_source

        return open_source(self.dataset, split=self.split, obvious=SPLITS)

    @property
    def read_whole(self) -> tuple[str, ...]:
        """The data set, unless only the files of one split are read."""
        return (self.dataset,) if self.split is None else ()

    def catalog(
        self,
        settings: AppsSettings | None = None,
        *,
        needed: Collection[str] | None = None,
        directory: Path | None = None,
    ) -> AbstractContextManager[Catalog]:
        """The selected problems, until the context ends.

        Args:
            settings: how programs are judged, because some problems cannot be judged in every way; `None` for several
                ways.
            needed: ids of the problems that a dump needs; `None` for all.
            directory: where their tests are stored until then; the system's directory by default.
        """
        from ioi_eval.apps.catalog import load_catalog
        from ioi_eval.apps.verdicts import why_unusable

        catalog = load_catalog(
            self.source,
            needed=needed,
            selection=self.selection,
            excluded=self.excluded,
            why_unusable=lambda problem: problem.reason if settings is None else why_unusable(problem, settings),
            directory=directory,
        )
        return closing(catalog)

    def as_dict(self) -> dict[str, Any]:
        """The values that the journal and the summary record."""
        chosen = asdict(self.selection)
        chosen |= {name: list(chosen[name]) for name in ("difficulties", "ids")}
        return {"dataset": self.dataset, "split": self.split, **chosen, "excluded": len(self.excluded)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsRules:
    """How programs are run and judged: a group of options, some of which only some commands have."""

    comparator: Annotated[
        str,
        option(
            "--comparator C",
            "How to compare an output with the answer: exact, lines, tokens, float:ABS[:REL], case-insensitive,"
            " unordered-lines, or checker:FILE.",
        ),
    ] = "lines"
    timeout: Annotated[
        float | None,
        option("--timeout S", "CPU seconds for a test; by default 10, or the limit of another grader if it judges."),
    ] = None
    memory_mib: Annotated[int, option("--memory MIB", "Resident memory for a test, in MiB.")] = 1024
    python: Annotated[
        str, option("--python EXE", "The Python to run programs with, as found on the machine that runs them.")
    ] = "python3"
    near_limit_repeats: options.NearLimitRepeats = 1
    compat: Annotated[
        str | None,
        option(
            "--compat P",
            "Give another grader's verdicts: hendrycks, eval-protocol, eval-protocol-page, livecodebench or mcpbr.",
        ),
    ] = None
    fail_fast: Annotated[
        bool,
        option(
            "--fail-fast",
            "Stop at a program's first failed test; its other tests count as not passed. Not with --compat.",
        ),
    ] = False
    conventions: Annotated[
        bool,
        option(
            "--conventions",
            "Run programs as the data set's own solutions need it: a top-level return ends the program, and "
            "__starting_point is called.",
        ),
    ] = False

    def settings(self, configuration: Configuration | None = None, *, isolation: Isolation | None) -> AppsSettings:
        """The settings for the executor. The isolation is an option of the sandbox."""
        from ioi_eval.apps.settings import TIME_LIMIT_S, AppsSettings
        from ioi_eval.compat import grader_named
        from ioi_eval.model.methods import Comparator

        compat = None if self.compat is None else grader_named(self.compat)
        timeout = self.timeout
        if timeout is None and configuration is not None and configuration.timeout_seconds is not None:
            most = TIME_LIMIT_S if compat is None else compat.per_test_s
            timeout = min(most, configuration.timeout_seconds)
        if compat is not None and self.comparator != "lines":
            raise InputError(f"--compat {compat.name} has its own rules; leave --comparator {self.comparator} out")
        if compat is not None and self.fail_fast:
            raise InputError(f"--compat {compat.name} itself decides after which test it stops; leave --fail-fast out")
        return AppsSettings(
            python=self.python,
            time_limit_s=timeout,
            memory_limit_bytes=self.memory_mib * MIB,
            comparator=Comparator.parse(self.comparator),
            compat=compat,
            fail_fast=self.fail_fast,
            conventions=self.conventions,
            near_limit_repeats=self.near_limit_repeats,
            least_isolation=isolation or Isolation.REDUCED,
        )
