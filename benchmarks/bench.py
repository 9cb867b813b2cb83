"""Run benchmarks one after another, each in its own process, and record their figures.

    scripts/bench [NAME…] [--short] [--repeats N] [--given NAME=VALUE…] [--check] [--even-busy] [--list]

It writes `results.json` and `RESULTS.md` after each benchmark, and keeps the recorded figures of those that it does not
run. `--check` writes nothing: it compares the figures that mean the same on every machine (ratios, sizes, counts) with
the record. Figures that were measured while others kept the machine busy are not recorded, except with `--even-busy`.

Exit code 1 if a benchmark failed, was not recorded, or (`--check`) got worse; 2 if the arguments are wrong.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

from figures import Figure
from record import Measured, Record, Series, page, read, write

from ioi_eval import __version__
from ioi_eval.calibration import MAX_OTHERS, OccupancyReading

HERE = Path(__file__).resolve().parent
RECORD, PAGE = "results.json", "RESULTS.md"
PLACEHOLDER = re.compile(r"\{(\w+)\}")
GIVEN = {
    "apps_generations": "a directory with real rows of APPS and programs for them",
    "apps_python": "a Python with numpy, pyext and tqdm, which boxes see",
    "eval_protocol_python": "a Python with eval-protocol and numpy",
    "hendrycks_apps": "a checkout of hendrycks/apps",
    "ioi_client": "a checkout of huggingface/ioi",
    "isolate": "the program of ioi/isolate",
    "livecodebench": "a checkout of LiveCodeBench/LiveCodeBench",
    "piston_pid": "the process id of that server",
    "piston_url": "the URL of a real Piston server",
    "repository": "the directory of its package repository",
    "repository_url": "where it finds that",
}
"""What benchmarks need that is not part of this project."""


class BenchmarkError(Exception):
    """A benchmark failed, or gave no figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """An entry of `benchmarks.toml`.

    Args:
        name: its name.
        command: the program in the directory of `benchmarks.toml`, and its arguments; `{NAME}` is replaced by the value
            of `--given NAME=VALUE`.
        repeats: how many runs.
        minutes: about how long a run takes on a quiet machine with 2 processors. One that takes ten times as long (and
            more than ten minutes) is killed.
        short: whether it belongs to the short set.
        unreached: for a figure whose bound is not reached: why, and what it would take.
    """

    name: str
    command: tuple[str, ...]
    repeats: int
    minutes: float
    short: bool = False
    unreached: dict[str, str]

    def absent(self, given: dict[str, str]) -> list[str]:
        """What it needs and was not given."""
        return sorted({need for word in self.command for need in PLACEHOLDER.findall(word)} - given.keys())

    def needs(self, absent: list[str]) -> str:
        """What to add to the command."""
        meanings = "; ".join(GIVEN[name] for name in absent if name in GIVEN)
        return "needs " + " ".join(f"--given {name}=…" for name in absent) + (f" ({meanings})" if meanings else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a benchmark.

    Args:
        figures: the printed figures.
        seconds: the wall clock.
        others: how many processors other programs kept busy.
    """

    figures: tuple[Figure, ...]
    seconds: float
    others: float


def read_benchmarks(directory: Path) -> dict[str, Benchmark]:
    """The benchmarks of a directory."""
    entries = tomllib.loads((directory / "benchmarks.toml").read_text(encoding="utf-8"))
    return {
        name: Benchmark(**{"name": name, "unreached": {}, **entry, "command": tuple(entry["command"])})
        for name, entry in entries.items()
    }


def run_once(benchmark: Benchmark, directory: Path, given: dict[str, str]) -> Run:
    """Run a benchmark in its own process.

    Raises:
        BenchmarkError: it fails, or gives no figures, or the given Piston server has ended.
    """
    program, *rest = (PLACEHOLDER.sub(lambda match: given[match[1]], word) for word in benchmark.command)
    command = [sys.executable, str(directory / program), *rest, "--json"]
    server = given.get("piston_pid") if "{piston_url}" in benchmark.command else None
    before, server_before_s = OccupancyReading.now(), server_cpu_s(server)
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(timeout=max(10, 10 * benchmark.minutes) * 60)
        except subprocess.TimeoutExpired as expired:
            raise BenchmarkError(f"did not end within {expired.timeout / 60:.0f} minutes") from expired
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        after = OccupancyReading.now()
        printed.seek(0)
        lines = printed.read().splitlines()
    figures = [Figure(**json.loads(line)) for line in lines if line.startswith('{"name": ')]
    last = " | ".join([line for line in lines if line.strip()][-3:])
    if code != 0:
        raise BenchmarkError(f"exit code {code}: {last}")
    if not figures:
        raise BenchmarkError(f"gave no figures: {last}")
    of_server = (server_cpu_s(server) - server_before_s) / (after.at_s - before.at_s)
    others = max(0.0, (after.others_since(before) or 0.0) - of_server)
    return Run(figures=tuple(figures), seconds=after.at_s - before.at_s, others=others)


def server_cpu_s(pid: str | None) -> float:
    """The CPU time of a Piston server, with its jobs, which is part of what is measured; 0 without a server.

    Raises:
        BenchmarkError: there is no such process.
    """
    if pid is None:
        return 0.0
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError as error:
        raise BenchmarkError(f"cannot read the CPU time of piston_pid={pid}: {error}") from error
    return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")


def measure(benchmark: Benchmark, directory: Path, given: dict[str, str], repeats: int) -> Measured:
    """Run a benchmark the requested number of times.

    Raises:
        BenchmarkError: one of the runs fails.
    """
    runs = []
    for number in range(1, repeats + 1):
        runs.append(run_once(benchmark, directory, given))
        seconds, others = runs[-1].seconds, runs[-1].others
        print(f"  run {number} of {repeats}: {seconds:.0f} s, others kept {others:.2f} processors busy", flush=True)
    names = dict.fromkeys(figure.name for run in runs for figure in run.figures)
    by_name = {name: [figure for run in runs for figure in run.figures if figure.name == name] for name in names}
    busy = statistics.median(run.others for run in runs)
    return Measured(
        day=datetime.datetime.now(datetime.UTC).date().isoformat(),
        machine=machine(),
        versions=versions(),
        seconds=round(statistics.median(run.seconds for run in runs), 1),
        others=round(busy, 3),
        is_busy=busy / len(os.sched_getaffinity(0)) > MAX_OTHERS,
        figures=tuple(Series.of(figures) for figures in by_name.values()),
    )


def machine() -> str:
    """Processors, memory and kernel."""
    model = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    memory_gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    name = model[1] if model else platform.machine()
    return f"{name}, {len(os.sched_getaffinity(0))} processors, {memory_gib:.0f} GiB, Linux {platform.release()}"


def versions() -> str:
    """The versions of this project (with its commit), of Python and of the compiler. A changed record does not make the
    tree dirty.
    """
    git = ["git", "-C", str(HERE)]
    commit, compiler = _first_line([*git, "describe", "--always"]), _first_line(["g++", "--version"])
    others = [":/", *(f":(exclude){name}" for name in (RECORD, PAGE))]
    dirty = ""
    if shutil.which("git"):
        changed = subprocess.run(
            [*git, "diff", "--quiet", "HEAD", "--", *others], check=False, stderr=subprocess.DEVNULL
        )
        dirty = "-dirty" if changed.returncode == 1 else ""
    return f"ioi_eval {__version__} ({commit}{dirty}), Python {platform.python_version()}, {compiler}"


def _first_line(command: list[str]) -> str:
    """The first line that a command prints; its name and "unknown" if it cannot be run."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return f"{command[0]} unknown"
    return answer.stdout.partition("\n")[0]


def regressions(before: Measured, now: Measured) -> list[str]:
    """What got worse since the record, and what is no longer measured."""
    by_name = {series.figure.name: series for series in now.figures}
    worse = []
    for series in before.figures:
        if series.figure.is_comparable:
            later = by_name.get(series.figure.name)
            problem = series.worse(later) if later is not None else f"{series.figure.name}: recorded, not measured now"
            worse += [problem] if problem is not None else []
    if worse and now.is_busy:
        worse.append(f"others kept {now.others:.2f} processors busy meanwhile: check again on a quiet machine")
    return worse


def show(measured: Measured) -> None:
    """Print the medians."""
    for series in measured.figures:
        spread = f"{min(series.values):.4g} to {max(series.values):.4g}" if len(series.values) > 1 else "one run"
        print(f"  {series.figure.line} [{spread}]", flush=True)


def write_record(directory: Path, benchmarks: dict[str, Benchmark], record: Record) -> None:
    """Write `results.json` and `RESULTS.md`."""
    ordered = {name: record[name] for name in benchmarks if name in record}
    missing = {
        name: benchmark.needs(benchmark.absent({})) if benchmark.absent({}) else "not run yet"
        for name, benchmark in benchmarks.items()
        if name not in record
    }
    write(directory / RECORD, ordered)
    reasons = {name: benchmark.unreached for name, benchmark in benchmarks.items()}
    (directory / PAGE).write_text(page(ordered, missing, reasons), encoding="utf-8")


def run_all(chosen: list[Benchmark], options: argparse.Namespace, benchmarks: dict[str, Benchmark]) -> list[str]:
    """Run, and record or compare. Returns the problems found, one line each."""
    directory, given = options.directory, dict(options.given)
    record, wrong = read(directory / RECORD), []
    for benchmark in chosen:
        name, absent = benchmark.name, benchmark.absent(given)
        if absent:
            print(f"{name}: skipped: {benchmark.needs(absent)}", flush=True)
            continue
        print(f"{name}:", flush=True)
        try:
            now = measure(benchmark, directory, given, options.repeats or benchmark.repeats)
        except BenchmarkError as error:
            wrong.append(f"{name}: failed: {error}")
            continue
        show(now)
        if options.check:
            before = record.get(name)
            wrong += [
                f"{name}: {problem}"
                for problem in (regressions(before, now) if before else ["there is no record of it"])
            ]
        elif now.is_busy and not options.even_busy:
            wrong.append(
                f"{name}: not recorded: others kept {now.others:.2f} processors busy; run it again on a quiet machine, "
                "or with --even-busy, which marks it"
            )
        else:
            record[name] = now
            write_record(directory, benchmarks, record)
    return wrong


def pair(text: str) -> tuple[str, str]:
    """A value of `--given`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text} should be NAME=VALUE")
    return name, value


def main() -> int:
    """Run the requested benchmarks."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run; all by default")
    parser.add_argument("--short", action="store_true", help="only those of the short set")
    parser.add_argument("--repeats", type=int, help="how many runs of each; each has its own default")
    parser.add_argument("--given", type=pair, action="append", default=[], metavar="NAME=VALUE", help="see --list")
    parser.add_argument("--check", action="store_true", help="compare with the record, write nothing")
    parser.add_argument("--even-busy", action="store_true", help="record what was measured on a busy machine, marked")
    parser.add_argument("--list", action="store_true", help="print the benchmarks")
    parser.add_argument("--directory", type=Path, default=HERE, help="with benchmarks.toml and the results")
    options = parser.parse_args()
    benchmarks = read_benchmarks(options.directory)
    unknown = [name for name in options.names if name not in benchmarks]
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}; --list prints all")
    if options.repeats is not None and options.repeats < 1:
        parser.error("--repeats should be at least 1")
    chosen = [
        benchmark
        for name, benchmark in benchmarks.items()
        if (not options.names or name in options.names) and (benchmark.short or not options.short)
    ]
    if options.list:
        for each in chosen:
            duration = f"{each.repeats} x {each.minutes:g} min"
            print(f"{each.name:22} {duration:12} {'short' if each.short else '':6} {' '.join(each.command)}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the running benchmark is killed too
    began = time.monotonic()
    wrong = run_all(chosen, options, benchmarks)
    ran = sum(not benchmark.absent(dict(options.given)) for benchmark in chosen)
    print(f"{ran} of {len(chosen)} benchmarks in {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    for line in wrong:
        print(f"scripts/bench: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
