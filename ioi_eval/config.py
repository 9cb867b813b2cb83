"""Settings, with the source of every default.

Settings are read from the environment only here and in `config_file.py`. `squeue`, the server's script and trackers get
the environment as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from ioi_eval.config_file import VARIABLES, read_config_file
from ioi_eval.errors import InputError, unknown
from ioi_eval.model import Isolation

MIB = 1024 * 1024

ValueT = TypeVar("ValueT", bound=StrEnum)

PATIENCE_S = 120.0
"""How long jobs wait while no worker of a cluster is available, if the user does not say. Chosen: long enough to
restart the workers by hand, and short enough that a run without workers does not wait all night."""

KEPT_OUTPUT_BYTES = 4096
"""How much of an output is stored with the results of a contest, if the user asks for it (`--keep`)."""

KEPT_INPUT_BYTES = 1000
"""How much of an input is stored with results. Chosen: enough to see why a program is wrong on a small test, and at
most 100 MB for 100,000 programs, even if each fails another test."""


MAX_WORKERS = 100_000  # jobs at once: no machine can run so many, so more is a typing error
MAX_REPEATS = 100  # runs alone of a late test: more do not improve the measurement

LEAST_SECONDS, MAX_SECONDS, MAX_BYTES = 0.001, 86_400, 2**46  # the lowest and highest limits that the runner accepts
_RANGES: Mapping[str, tuple[float, float]] = {
    "cpu_s": (LEAST_SECONDS, MAX_SECONDS),
    "wall_s": (LEAST_SECONDS, MAX_SECONDS),
    "memory_bytes": (1, MAX_BYTES),
    "file_bytes": (1, MAX_BYTES),
    "output_bytes": (0, MAX_BYTES),
    "stderr_bytes": (0, MAX_BYTES),
    "processes": (1, 1_000_000),
    "threads": (1, 100_000),
    "near_limit_repeats": (1, MAX_REPEATS),
}
"""The lowest and the highest value of each limit. Source: those that the runner accepts (`plan_reader.h`)."""


def _check_ranges(limits: CompileLimits | JudgeLimits | RunPolicy, **own: tuple[float, float]) -> None:
    """Refuse a number that the runner would refuse in each job. `own`: other ranges than those of `_RANGES`."""
    ranges = {**_RANGES, **own}
    for name in ranges.keys() & {limit.name for limit in fields(limits)}:
        value, (least, most) = getattr(limits, name), ranges[name]
        if not least <= value <= most:
            raise InputError(f"{name} is {value}; it must be a number from {least} to {most}")


def value_of(kind: type[ValueT], text: str, name: str) -> ValueT:
    """The value with this text, which a caller may give instead of it; InputError, with the setting's name, if none has
    it."""
    try:
        return kind(text)
    except ValueError:
        raise InputError(unknown(name, str(text), kind)) from None


class Unscored(StrEnum):
    """The value that replaces a score that we failed to determine."""

    NULL = "null"
    ZERO = "zero"  # for training loops that need a number

    def of(self, score: float | None) -> float | None:
        """The score, or what replaces it."""
        return 0.0 if score is None and self is Unscored.ZERO else score


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileLimits:
    """What one compilation may use. A program that one of them stops, twice where the machine has an influence, is CE.

    Source: CMS's `compilation_sandbox_max_*`: 10 s of CPU, 512 MiB, 1,000 processes. CMS's wall clock limit is twice
    the CPU limit. Ours is longer, and exceeding it is JE, because a loaded machine must not decide a verdict. The size
    of objects is limited so that no submission fills our memory.

    Raises:
        InputError: a number is out of range.
    """

    cpu_s: float = 10.0
    wall_s: float = 60.0
    memory_bytes: int = 512 * MIB
    processes: int = 1000
    output_bytes: int = 64 * 1024
    file_bytes: int = 64 * MIB

    def __post_init__(self) -> None:
        _check_ranges(self, output_bytes=(0, 2**30))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLimits:
    """What a checker or manager may use. If it uses more, the judge program is at fault (JE).

    Source: CMS's `trusted_sandbox_max_*`: 10 s of CPU, 4 GiB.

    Raises:
        InputError: a number is out of range.
    """

    cpu_s: float = 10.0
    wall_s: float = 60.0
    memory_bytes: int = 4096 * MIB

    def __post_init__(self) -> None:
        _check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPolicy:
    """How programs are run and judged, for both families of problems.

    Args:
        least_isolation: the weakest that is accepted: an `Isolation`, or the name of one.
        python: the interpreter of programs in Python: its command on the target.
        judge: limits of checkers and managers.
        output_bytes: the most output of a program; more is OLE. Our choice: 64 MiB.
        stderr_bytes: how much of a program's stderr is kept until its test ends; a result has the first 2,000 bytes.
            Source: PROTOCOL.md, `stderr` of a test's line.
        threads: most threads of a program at once. Each needs memory, and the kernel's table of processes is shared.
        near_limit_repeats: how often a late test may be run again alone on the machine; the fastest counts.

    Raises:
        InputError: a number is out of range.
    """

    least_isolation: Isolation = Isolation.REDUCED
    python: str = "python3"
    judge: JudgeLimits = field(default_factory=JudgeLimits)
    output_bytes: int = 64 * MIB
    stderr_bytes: int = 64 * 1024
    threads: int = 64
    near_limit_repeats: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "least_isolation", value_of(Isolation, self.least_isolation, "isolation level"))
        _check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(RunPolicy):
    """How submissions to contest problems are judged: everything a user can set that may change an outcome.

    It has the settings of `RunPolicy` too.

    Args:
        std: a C++ standard for all problems; `None` for each problem's own.
        compile: limits of a compilation.
        score_only: only scores count: the tests of a subtask that most programs of the run have failed are run first.
            Scores are the same; verdicts and the tests that were run may differ.
    """

    std: str | None = None
    compile: CompileLimits = field(default_factory=CompileLimits)
    score_only: bool = False

    def as_dict(self) -> dict[str, object]:
        """The policy as plain values, for fingerprints and for the record of a run."""
        return asdict(self)


_NAMES = ("HOME", "XDG_CACHE_HOME", *VARIABLES)
"""The variables that `Environment` reads; others in `.env` are ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What this package reads from the process's environment.

    Args:
        cache: where blobs and artifacts are stored (`IOI_EVAL_CACHE`, else `$XDG_CACHE_HOME/ioi-eval`, else
            `~/.cache/ioi-eval`).
        compiler: the C++ compiler's command (`CXX`, else `g++`).
        piston_endpoints: the text of `PISTON_ENDPOINTS`; empty if unset.
        piston_slots: `PISTON_MAX_REQUESTS_PER_ENDPOINT`, 1 if unset (the reference's default).
        set_by: what sets each variable that is set, and not empty: `environment`, or a file.
    """

    cache: Path
    compiler: str
    piston_endpoints: str
    piston_slots: int
    set_by: Mapping[str, str]

    @classmethod
    def read(cls, environ: Mapping[str, str] | None = None) -> Environment:
        """Read the environment; for what it does not set, `.env` in the working directory, then `ioi-eval.toml`.

        Raises:
            InputError: a value that must be a number is not one; a line of a file cannot be understood; or there is no
                place for the cache, because this user has no home directory.
        """
        environ = os.environ if environ is None else environ
        file = read_config_file(environ)
        sources = ((file.environment, str(file.path)), (_dotenv(Path(".env")), ".env"), (environ, "environment"))
        found = {name: (given[name], source) for given, source in sources for name in _NAMES if name in given}
        values = {name: value for name, (value, _) in found.items()}
        cache = _cache(values)
        slots = values.get("PISTON_MAX_REQUESTS_PER_ENDPOINT") or "1"
        if not re.fullmatch("[1-9][0-9]{0,5}", slots):
            raise InputError(
                f"PISTON_MAX_REQUESTS_PER_ENDPOINT is {slots[:20]!r}; it must be a number from 1 to 999999"
            )
        return cls(
            cache=cache,
            compiler=values.get("CXX") or "g++",
            piston_endpoints=values.get("PISTON_ENDPOINTS", ""),
            piston_slots=int(slots),
            set_by={name: source for name, (value, source) in found.items() if value},
        )


def _cache(values: Mapping[str, str]) -> Path:
    if named := values.get("IOI_EVAL_CACHE"):
        return Path(os.path.expanduser(named))  # in a file no shell has replaced `~`
    if base := values.get("XDG_CACHE_HOME"):
        return Path(base) / "ioi-eval"
    home = values.get("HOME") or os.path.expanduser("~")
    if home == "~":
        raise InputError("HOME is not set, and this user has no home directory; set IOI_EVAL_CACHE to a directory")
    return Path(home) / ".cache" / "ioi-eval"


_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?(?P<name>[^\W\d]\w*)[^\S\n]*=(?P<value>.*)")
_QUOTED = re.compile(r"""\s*(?P<quote>['"])(?P<text>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)\s*(?:\#.*)?""")
_COMMENT = re.compile(r"\s#.*")
_ESCAPE = {"'": re.compile(r"\\([\\'])"), '"': re.compile(r"\\([\\'\"])")}


def _dotenv(path: Path) -> dict[str, str]:
    """The `NAME=value` lines of a `.env` file; other lines are ignored.

    A comment begins with a `#` after a blank, or after the closing quote; inside quotes, `#` is an ordinary character.

    Raises:
        InputError: the file cannot be read, a quote is not closed, or something follows it.

    Source: python-dotenv, "File format", without values of several lines, references to other names, and control
    characters, which none of our variables needs.
    """
    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace") if path.is_file() else ""
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = _ASSIGNMENT.fullmatch(line)
        if match is None or match["name"] not in _NAMES:
            continue
        quoted = _QUOTED.fullmatch(match["value"])
        if quoted is not None:
            values[match["name"]] = _ESCAPE[quoted["quote"]].sub(r"\1", quoted["text"])
        elif match["value"].lstrip().startswith(("'", '"')):
            raise InputError(
                f"{path}, line {number}: the value of {match['name']} must end with the quote it begins with"
            )
        else:
            values[match["name"]] = _COMMENT.sub("", match["value"]).strip()
    return values
