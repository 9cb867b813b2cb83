"""What the commands of `ioi-eval apps` have in common: which problems, which rules, which sandbox."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ioi_eval.apps.catalog import read_excluded
from ioi_eval.apps.configuration import Configuration, read_configuration
from ioi_eval.apps.execution import AppsExecutor
from ioi_eval.apps.outcomes import TIME_LIMIT_S, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.cli.readiness import make_ready
from ioi_eval.cli.sandboxes import Opened, Place, tell
from ioi_eval.compat import profile_named
from ioi_eval.config import MIB
from ioi_eval.errors import InputError
from ioi_eval.events import Events
from ioi_eval.jobs.harness import Interpreter
from ioi_eval.model import Isolation
from ioi_eval.model.apps import Comparator
from ioi_eval.problems.apps_selection import ProblemSelection, Sampling
from ioi_eval.rows import Source, open_source
from ioi_eval.sandbox import Sandbox
from ioi_eval.sandbox.confinement import PATH

SPLITS = ("test", "train")
"""The order in which splits are looked for by default: published numbers are for `test`."""


@dataclass(frozen=True, kw_only=True)
class Problems:
    """Which problems the user selected; see `ioi-eval apps score --help`."""

    dataset: str
    split: str | None = None
    difficulties: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    limit: int | None = None
    sampling: str | None = None
    seed: int | None = None
    exclude: tuple[Path, ...] = ()
    config: Path | None = None

    @cached_property
    def configuration(self) -> Configuration:
        """What the configuration file says."""
        return Configuration() if self.config is None else read_configuration(self.config)

    @cached_property
    def selection(self) -> ProblemSelection:
        """Which problems of the data set are selected; options of the command take precedence over the file."""
        config = self.configuration
        try:
            sampling = Sampling(self.sampling) if self.sampling is not None else config.sampling_strategy
        except ValueError:
            raise InputError(f"--sampling {self.sampling}: must be one of {', '.join(Sampling)}") from None
        seed = self.seed if self.seed is not None else config.random_seed
        return ProblemSelection(
            difficulties=self.difficulties or config.filter_difficulty,
            ids=self.ids or config.task_ids,
            limit=self.limit if self.limit is not None else config.sample_size,
            sampling=sampling or Sampling.SEQUENTIAL,
            seed=seed or 0,
        )

    @cached_property
    def excluded(self) -> frozenset[str]:
        """The problems that are left out."""
        return frozenset[str]().union(*map(read_excluded, self.exclude))

    def open(self) -> Source:
        """The data set."""
        return open_source(self.dataset, split=self.split, obvious=SPLITS)

    def as_dict(self) -> dict[str, Any]:
        """The values that the journal and the summary record."""
        chosen = asdict(self.selection)
        chosen |= {name: list(chosen[name]) for name in ("difficulties", "ids")}
        return {"dataset": self.dataset, "split": self.split, **chosen, "excluded": len(self.excluded)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How programs are run and judged; see `ioi-eval apps score --help`."""

    comparator: str = "lines"
    compat: str | None = None
    timeout: float | None = None
    memory_mib: int = 1024
    python: str = "python3"
    near_limit_repeats: int = 1
    isolation: Isolation | None = None
    fail_fast: bool = False
    conventions: bool = False

    def settings(self, configuration: Configuration | None = None) -> AppsSettings:
        """The settings for the executor.

        Raises:
            InputError: an option has a value that is not allowed.
        """
        profile = None if self.compat is None else profile_named(self.compat)
        timeout = self.timeout
        if timeout is None and configuration is not None and configuration.timeout_seconds is not None:
            most = TIME_LIMIT_S if profile is None else profile.per_test_s
            timeout = min(most, configuration.timeout_seconds)
        if profile is not None and self.comparator != "lines":
            raise InputError(f"--compat {profile.name} has its own rules; leave --comparator {self.comparator} out")
        return AppsSettings(
            python=self.python,
            time_limit_s=timeout,
            memory_limit_bytes=self.memory_mib * MIB,
            comparator=Comparator.parse(self.comparator),
            profile=profile,
            fail_fast=self.fail_fast,
            conventions=self.conventions,
            near_limit_repeats=self.near_limit_repeats,
            isolation=self.isolation or Isolation.REDUCED,
        )


def executor(sandbox: Sandbox, settings: AppsSettings, place: Place, events: Events | None = None) -> AppsExecutor:
    """The executor that judges programs in this sandbox, with the user's cache."""
    artifacts = ArtifactStore()
    return AppsExecutor(sandbox, artifacts=artifacts, settings=settings, jobs=place.workers, events=events)


async def ready(here: Opened, settings: AppsSettings, place: Place, events: Events | None = None) -> AppsExecutor:
    """The executor, after the interpreter was asked for its version.

    Raises:
        SetupError: there is no such interpreter, or the runner cannot be compiled here.
    """
    await make_ready(here, [settings.memory_limit_bytes])
    judge = executor(here.sandbox, settings, place, events)
    python = await judge.interpreter()
    tell(interpreter_words(python, settings.python, here=place.is_here))
    tell(rules_words(settings))
    return judge


def rules_words(settings: AppsSettings) -> str:
    """One line that names the rules by which programs are judged."""
    limit = f"{settings.cpu_s:g} s of CPU a test"
    if settings.profile is not None:
        return f"judged by the rules of {settings.profile.name}: everything that it scores, in its own way; {limit}"
    tests = "tests up to the first failure" if settings.fail_fast else "all tests"
    return (
        f"judged by ioi_eval's own rules: outputs by {settings.comparator}, functions called, {tests}, {limit}"
        " (--compat NAME for another grader's)"
    )


def interpreter_words(python: Interpreter, asked: str, *, here: bool) -> str:
    """One line: which interpreter runs the programs, whether it has numpy, and which one a shell would have started.

    Args:
        python: the interpreter.
        asked: its command, as the user gave it.
        here: whether it is on this machine.
    """
    numpy = f"numpy {python.numpy}" if python.numpy else "without numpy"
    words = f"programs are run by {python.path}: {python.version}, {numpy}"
    first = shutil.which(asked) if here and "/" not in asked else None
    if first is None or _is_same(first, python.path):
        return words
    return (
        f"{words}. It is not {first}, which comes first on your PATH: boxes look in {PATH} only; for another one "
        "give its path with --python, where other users may read it"
    )


def _is_same(one: str, other: str) -> bool:
    """Whether two paths are one interpreter with the same packages. (A virtual environment has its own packages.)"""
    has_own = any((Path(path).parent.parent / "pyvenv.cfg").is_file() for path in (one, other))
    return one == other or (not has_own and os.path.realpath(one) == os.path.realpath(other))


def workers(place: Place, executor: AppsExecutor) -> int:
    """How many jobs run at once: as the user said, else as many as the slots of the targets that can run them.

    Raises:
        SetupError: no target can run them.
    """
    return place.workers or executor.slots or 1
