"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

from ioi_eval.cli.grouped import option
from ioi_eval.cli.messages import tell
from ioi_eval.config import MAX_REPEATS, MAX_WORKERS, Environment, Policy
from ioi_eval.errors import InputError
from ioi_eval.model.terms import Isolation, Keep

SOURCE = (
    "a .jsonl, .jsonl.gz or .parquet file, a directory of these, one made by `save_to_disk`, or a Hugging Face Hub id"
)

MAX_GB = 1e6  # no machine has as much: more is a typing error

Problems = Annotated[str, option("--problems P", f"The problems: {SOURCE} (open-r1/ioi).")]
Tests = Annotated[str, option("--tests T", f"Their tests: {SOURCE} (open-r1/ioi-test-cases).")]
Workers = Annotated[
    int | None,
    option(
        "--workers N",
        "How many jobs run at once (not the number of Piston workers); by default one per processor (or as a"
        " container's CPU quota allows), on a cluster as many as its workers accept.",
        min=1,
        max=MAX_WORKERS,
    ),
]
WorkersHere = Annotated[
    int | None,
    option(
        "--workers N",
        "How many jobs run at once; by default one per processor (or as a container's CPU quota allows).",
        min=1,
        max=MAX_WORKERS,
    ),
]
"""Of commands that never use a cluster."""

IdColumn = Annotated[str, option("--id-column C", "The column with the submission's id, unique within its problem.")]
IdColumnOfRun = Annotated[
    str | None, option("--id-column C", "The column with the submission's id; by default as in the run.")
]
AsJson = Annotated[bool, option("--json", "Print everything as JSON.")]
NoResume = Annotated[
    bool,
    option(
        "--no-resume",
        "Judge everything again; the old journal is kept under another name. To continue such a run after an "
        "interruption, leave this option out.",
    ),
]
Years = Annotated[list[int] | None, option("--year Y", "Only problems of this year; may be repeated.")]
ProblemIds = Annotated[
    list[str] | None, option("--problem ID", "Only this problem (nile, or 2024/nile); may be repeated.")
]
LeastIsolation = Annotated[
    Isolation | None,
    option("--isolation", "The weakest isolation to accept: reduced by default; `none` only for code that you trust."),
]
NearLimitRepeats = Annotated[
    int,
    option(
        "--near-limit-repeats N",
        "A test that is late, with an output that would score, is run again with no other job of ours on the machine: "
        "up to N times, while the fastest of these runs is late and near the limit (near_limit). The fastest counts.",
        min=1,
        max=MAX_REPEATS,
    ),
]
RetryFailed = Annotated[
    bool,
    option(
        "--retry-failed",
        "Judge again the submissions that have no score because a checker or manager failed, or does not compile.",
    ),
]
StandingsFile = Annotated[
    str | None,
    option(
        "--standings FILE",
        "The contestants: a .csv table with points (and contestant, medal, year), or rows as in"
        " LiveOIBench/LiveOIBench_contestants.",
    ),
]
KeepTexts = Annotated[
    Keep,
    option(
        "--keep",
        "Which inputs and outputs to store (the beginning of each). none: nothing. inputs: of each program, the "
        "input of the test that gave its verdict. failing: also the outputs of its failed tests. all: also its other "
        "outputs.",
    ),
]
KeepPrograms = Annotated[
    float | None,
    option(
        "--keep-programs GB",
        "Keep compiled programs in the cache, at most GB gigabytes; later runs do not compile them again.",
        min=0.01,
        max=MAX_GB,
    ),
]
Bar = Annotated[
    bool | None,
    option(
        "--progress/--no-progress",
        "Show a progress bar: by default on a terminal only; else print one line per minute.",
    ),
]
By = Annotated[
    list[str] | None,
    option(
        "--by COLUMN",
        "Report all numbers also for each group of rows with the same values in these columns (model,temperature;"
        " a.b for a field). By default, the column that names the model, if there is one. `--by none`: no groups.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestRules:
    """How programs for contest problems are compiled and run: a group of options."""

    std: Annotated[
        str | None, option("--std S", "The C++ standard (gnu++20) for all problems, instead of each problem's own.")
    ] = None
    python: Annotated[
        str, option("--python EXE", "The Python to run submissions with, as found on the machine that runs them.")
    ] = "python3"
    time_scale: Annotated[
        str,
        option(
            "--time-scale auto|X",
            "Multiply time limits by X; auto: by the factor that `doctor --calibrate` measured on this machine.",
        ),
    ] = "1"
    near_limit_repeats: NearLimitRepeats = 1

    def as_dict(self) -> dict[str, Any]:
        """The values that the journal and the summary record."""
        return {
            "std": self.std,
            "python": self.python,
            "time_scale": self.factor,
            "near_limit_repeats": self.near_limit_repeats,
        }

    def policy(self, isolation: Isolation) -> Policy:
        """These rules as the scorer's policy, with the weakest isolation that is accepted."""
        return Policy(
            least_isolation=isolation, std=self.std, python=self.python, near_limit_repeats=self.near_limit_repeats
        )

    @property
    def factor(self) -> float:
        """The number by which time limits are multiplied.

        Raises:
            InputError: the time scale is not a number, or is still `auto`: call `with_stored_time_scale` first.
        """
        from ioi_eval.problems.time_scale import read_time_scale

        return read_time_scale(self.time_scale)

    def with_stored_time_scale(self, *, is_here: bool) -> Self:
        """These rules with a number in place of `auto`: that of this machine's stored calibration, which is printed.

        Args:
            is_here: whether programs run on this machine; the speed of other machines is not known.
        """
        if self.time_scale != "auto":
            _ = self.factor  # it refuses what is no number
            return self
        if not is_here:
            raise InputError(
                "--time-scale auto was measured on this machine and does not hold for Piston workers; give a number"
            )
        from ioi_eval.calibration import find
        from ioi_eval.sandbox.local.compiler import detect

        environment = Environment.read()
        calibration = find(environment.cache, compiler=detect(environment.compiler).version)
        tell(f"time limits are multiplied by {calibration.time_scale:g} (calibrated {calibration.taken})")
        return replace(self, time_scale=str(calibration.time_scale))
