"""`scripts/bench`: stub benchmarks are run and recorded, and compared with the record."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.busy_processes import busy_processes
from tests.forked_commands import Ended, forked_commands

BENCHMARKS = Path(__file__).resolve().parent.parent.parent / "benchmarks"

NEXT = """
import sys
from pathlib import Path
from figures import Figure, arguments, report

values = Path(__file__).with_name(arguments()[0])
value, *later = values.read_text().split()
values.write_text(" ".join(later))
print("what else it says")
report(
    Figure(name="ratio", value=float(value), unit="×", bound=2.0),
    Figure(name="rate", value=10 * float(value), unit="/s", larger_is_better=True),
)
"""
"""A program whose figures are those of a file, one for each run."""

FAILS = "import sys\nsys.exit('nothing to measure here')\n"
SAYS_NOTHING = "print('no figures')\n"
WAITS = """
import time
from pathlib import Path

with Path(__file__).with_name("alive").open("w") as alive:
    alive.write("ready")
    alive.flush()
    time.sleep(3600)
"""
NO_PROCESS = 1 << 30
"""A process id that is larger than any."""
SLEEPS = (
    "import time\nfrom figures import Figure, report\ntime.sleep(0.5)\nreport(Figure(name='x', value=1, unit='×'))\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """A directory with benchmarks.

    Args:
        path: its path.
    """

    path: Path

    @classmethod
    def of(cls, path: Path, **programs: str) -> Directory:
        """Each program is a benchmark with five runs and one argument: the file with its values."""
        entries = []
        for name, text in programs.items():
            (path / f"{name}.py").write_text(text)
            entries.append(f'[{name}]\ncommand = ["{name}.py", "{name}.txt"]\nrepeats = 5\nminutes = 1\n')
        (path / "benchmarks.toml").write_text("\n".join(entries))
        return cls(path=path)

    def add(self, text: str) -> None:
        """Add lines to the list of benchmarks."""
        with (self.path / "benchmarks.toml").open("a") as file:
            file.write(text)

    def bench(self, *words: str, values: str = "") -> Ended:
        """Run `bench` as a fork, with these values for the benchmark `next`."""
        (self.path / "next.txt").write_text(values)
        environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}
        forked_commands().prepare(environment)
        return forked_commands().run_code(
            "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')",
            BENCHMARKS / "bench.py",
            "--directory",
            self.path,
            *words,
            cwd=self.path,
            env=environment,
        )

    def record(self) -> dict[str, dict[str, object]]:
        """The recorded figures, by benchmark."""
        found: dict[str, dict[str, object]] = json.loads((self.path / "results.json").read_text())
        return found

    def results(self) -> str:
        """The text of RESULTS.md."""
        return (self.path / "RESULTS.md").read_text()


def test_a_machine_without_git() -> None:
    """The commit is then unknown. Earlier, benchmarks ended with a traceback."""
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS), "PATH": "/nowhere"}
    command = [sys.executable, "-c", "import bench; print(bench.versions())"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "(git unknown)" in ended.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_changed_record_does_not_make_the_tree_dirty(tmp_path: Path) -> None:
    """The previous run wrote it. Any other change makes the tree dirty."""
    for name in ("results.json", "RESULTS.md", "bench.py"):
        (tmp_path / name).write_text("1")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    without_settings = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], env=without_settings, check=True)
    program = f"import bench, pathlib; bench.HERE = pathlib.Path({str(tmp_path)!r}); print(bench.versions())"
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}
    for name, is_dirty in (("results.json", False), ("RESULTS.md", False), ("bench.py", True)):
        (tmp_path / name).write_text("2")
        ended = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert ("-dirty)" in ended.stdout) is is_dirty, ended.stdout


def test_figures_are_recorded_with_median_and_spread(tmp_path: Path) -> None:
    """Of five runs, with machine and versions. A figure above its bound is marked, with the given reason."""
    directory = Directory.of(tmp_path, next=NEXT)
    directory.add('unreached = { ratio = "the kernel needs it" }\n')
    answer = directory.bench("--even-busy", values="2.5 2.1 2.4 2.4 2.2")
    assert answer.returncode == 0, answer.stderr
    (figures,) = (each["figures"] for each in directory.record().values())
    assert figures == [
        {"name": "ratio", "unit": "×", "bound": 2.0, "larger_is_better": False, "values": [2.5, 2.1, 2.4, 2.4, 2.2]},
        {
            "name": "rate",
            "unit": "/s",
            "bound": None,
            "larger_is_better": True,
            "values": [25.0, 21.0, 24.0, 24.0, 22.0],
        },
    ]
    lines = [re.sub(r" \(\*\*busy machine.*?\)", "", line) for line in directory.results().splitlines()]
    assert "| next | ratio | 2.4 × | 5: 2.1 to 2.5 | ≤ 2, **not reached** |" in lines
    assert "| next | rate | 24 /s | 5: 21 to 25 |  |" in lines
    assert "- `next`, ratio: the kernel needs it." in lines
    assert re.search(r"## .* processors, .*\n\nioi_eval .*, Python 3\.", directory.results())


def test_benchmarks_that_are_not_run_stay_recorded(tmp_path: Path) -> None:
    """A run of one benchmark replaces only its figures."""
    directory = Directory.of(tmp_path, next=NEXT, sleeps=SLEEPS)
    directory.bench("--even-busy", "--repeats", "1", values="1")
    before = directory.record()
    directory.bench("--even-busy", "next", values="2 3 4 3 3")
    after = directory.record()
    assert after["sleeps"] == before["sleeps"]
    assert "| next | ratio | 3 × | 5: 2 to 4 |" in re.sub(r" \(\*\*busy.*?\)", "", directory.results())


def test_a_check_names_figures_that_got_worse(tmp_path: Path) -> None:
    """By more than the noise: the recorded spread, at least 5 %, and twice that if there were fewer than five runs.

    Figures in seconds or per second are not compared.
    """
    directory = Directory.of(tmp_path, next=NEXT)
    directory.bench("--even-busy", values="1.0 1.1 1.3 1.1 1.1")  # 1.1 ± 0.3, and rates of 10 to 13
    recorded, shown = directory.record(), directory.results()
    for values, code in (("1.39", 0), ("1.41", 1), ("0.1", 0)):
        answer = directory.bench("--check", "--repeats", "1", values=values)
        assert answer.returncode == code, (values, answer.stderr)
        assert ("next: ratio: 1.41 ×, recorded 1.1 ± 0.3 ×" in answer.stderr) == (code == 1)
        assert "rate" not in answer.stderr
    assert directory.bench("--check", "--repeats", "3", values="9 1.1 1.1").returncode == 0
    assert (directory.record(), directory.results()) == (recorded, shown)
    for repeats, inside, outside in (("5", "1.04", "1.06"), ("1", "1.09", "1.11")):
        directory.bench("--even-busy", "--repeats", repeats, values="1 1 1 1 1")
        assert directory.bench("--check", "--repeats", "1", values=inside).returncode == 0
        assert directory.bench("--check", "--repeats", "1", values=outside).returncode == 1


def test_a_check_of_larger_is_better_and_of_a_missing_figure(tmp_path: Path) -> None:
    """A share that fell is worse. So is a recorded figure that is missing now, or a missing record."""
    share = NEXT.replace('unit="/s"', 'unit=""')
    directory = Directory.of(tmp_path, next=share)
    check = ("--check", "--repeats", "1")
    assert "next: there is no record of it" in directory.bench(*check, values="1").stderr
    directory.bench("--even-busy", values="1 1 1 1 1")
    answer = directory.bench(*check, values="0.9")
    assert (answer.returncode, "next: rate: 9, recorded 10 ± 0.5\n" in answer.stderr) == (1, True)
    assert directory.bench(*check, values="1").returncode == 0
    (tmp_path / "next.py").write_text(share.replace('"rate"', '"another rate"'))
    answer = directory.bench(*check, values="1")
    assert (answer.returncode, "rate: recorded, not measured now" in answer.stderr) == (1, True)


def test_other_benchmarks_run_if_one_fails(tmp_path: Path) -> None:
    """A failed one is listed with its last output. One without its input is skipped, with the option that gives it."""
    directory = Directory.of(tmp_path, fails=FAILS, nothing=SAYS_NOTHING, next=NEXT)
    directory.add('[asks]\ncommand = ["next.py", "{url}.txt"]\nrepeats = 1\nminutes = 1\n')
    answer = directory.bench("--even-busy", "--repeats", "1", values="1")
    assert answer.returncode == 1
    assert "fails: failed: exit code 1: nothing to measure here" in answer.stderr
    assert "nothing: failed: gave no figures: no figures" in answer.stderr
    assert "asks: skipped: needs --given url=…" in answer.stdout
    assert "\n3 of 4 benchmarks in " in answer.stdout
    assert list(directory.record()) == ["next"]
    shown = directory.results()
    assert "- `asks`: needs --given url=…." in shown
    assert "- `fails`: not run yet." in shown
    answer = directory.bench("--even-busy", "asks", "--given", "url=next", values="1")
    assert (answer.returncode, list(directory.record())) == (0, ["next", "asks"]), answer.stderr
    assert directory.bench("unknown").returncode == 2
    directory.add('[peer]\ncommand = ["next.py", "{piston_url}"]\nrepeats = 1\nminutes = 1\n')
    assert (
        "peer: skipped: needs --given piston_url=… (the URL of a real Piston server)\n"
        in directory.bench("peer").stdout
    )
    given = ("--given", "piston_url=next.txt", "--given", f"piston_pid={NO_PROCESS}")
    answer = directory.bench("--even-busy", "--repeats", "1", "peer", "next", *given, values="2")
    assert f"peer: failed: cannot read the CPU time of piston_pid={NO_PROCESS}: " in answer.stderr
    assert (answer.returncode, "| next | ratio | 2 ×" in directory.results()) == (1, True)


def test_figures_of_a_busy_machine_are_not_recorded(tmp_path: Path) -> None:
    """With `--even-busy` they are recorded and marked."""
    directory = Directory.of(tmp_path, sleeps=SLEEPS)
    with busy_processes(len(os.sched_getaffinity(0))):
        answer = directory.bench("--repeats", "1")
        assert answer.returncode == 1
        assert re.search(r"sleeps: not recorded: others kept [\d.]+ processors busy", answer.stderr)
        assert not (tmp_path / "results.json").exists()
        answer = directory.bench("--even-busy", "--repeats", "1")
    assert answer.returncode == 0, answer.stderr
    assert directory.record()["sleeps"]["is_busy"] is True
    assert re.search(r"\| 1 × \(\*\*busy machine\*\*: others used [\d.]+ processors\) \|", directory.results())


def test_a_benchmark_ends_with_the_command(tmp_path: Path) -> None:
    """If the command is terminated, no process of the benchmark stays."""
    directory = Directory.of(tmp_path, waits=WAITS)
    command = [sys.executable, str(BENCHMARKS / "bench.py"), "--directory", str(directory.path)]
    os.mkfifo(tmp_path / "alive")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process, (tmp_path / "alive").open() as alive:
        assert alive.read(5) == "ready"
        process.terminate()
        assert alive.read() == "", "nobody has it open any more"
    assert process.returncode == 143


def test_inputs_of_benchmarks_are_described() -> None:
    """All names that `benchmarks.toml` asks for, and no others, have a description. README.md has each, too."""
    asked = set(re.findall(r"\{(\w+)\}", (BENCHMARKS / "benchmarks.toml").read_text(encoding="utf-8")))
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}
    ended = subprocess.run(
        [sys.executable, "-c", "import bench; print(*bench.GIVEN)"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked == set(ended.stdout.split())
    text = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert {name for name in asked if f"`{name}`" not in text} == set()


def test_every_benchmark_is_listed() -> None:
    """All programs that give figures, and no others, are in `benchmarks.toml`. README.md has each, too."""
    commands = [entry["command"][0] for entry in tomllib.loads((BENCHMARKS / "benchmarks.toml").read_text()).values()]
    programs = {path.name for path in BENCHMARKS.glob("*.py") if re.search(r"^ +report\(", path.read_text(), re.M)}
    assert set(commands) == programs
    text = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert {name for name in programs if f"`{name}`" not in text} == set()
