"""The scripts on machines where something is missing, and with test suites that fail.

The commands that the scripts call are stubs of these tests, which record their arguments.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REAL = ("bash", "cat", "cp", "dirname", "env", "mkdir", "rm", "sed", "sh", "touch", "tr")

PYTHON = """#!/bin/sh
case "$1" in
-c) exit {too_old} ;;
--version) echo "Python of the stub" ;;
-Ic) test -e "${{0%/*}}/ioi-eval" ;;
-Im) exit 0 ;;
-m)
    case "$2" in
    venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    pip) [ "$FAILING" != pip ] || {{ echo "words of pip" >&2; exit 1; }}
        printf '#!/bin/sh\\necho "ioi-eval $*"\\n' >"${{0%/*}}/ioi-eval" && chmod +x "${{0%/*}}/ioi-eval" ;;
    pytest) echo "pytest $*"; case " $* " in *"$FAILING"*) exit 1 ;; esac ;;
    esac ;;
esac
"""
APT_GET = """#!/bin/sh
echo "$*" >>"$CALLS"
echo "words of apt"
echo "more words of apt" >&2
[ "$1" = install ] || exit 0
shift
for package; do
    case "$package" in
    g++) cp "$STUBS/true" "$BIN/g++" ;;
    bubblewrap) cp "$STUBS/true" "$BIN/bwrap" ;;
    python3 | python3.1?) cp "$STUBS/python" "$BIN/$package" ;;
    esac
done
"""
APT_CACHE = """#!/bin/sh
for known in $CANDIDATES; do
    [ "$2" != "${known%%=*}" ] || printf '%s:\\n  Installed: (none)\\n  Candidate: %s\\n' "$2" "${known#*=}"
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A directory with a checkout, and with all commands that its scripts can find."""

    place: Path

    @classmethod
    def at(cls, place: Path) -> Machine:
        """A machine without Python, compiler, sudo or apt."""
        for name in ("bin", "stubs", "checkout"):
            (place / name).mkdir()
        for name in REAL:
            found = shutil.which(name)
            assert found, name
            (place / "bin" / name).symlink_to(found)
        shutil.copytree(ROOT / "scripts", place / "checkout/scripts")
        (place / "checkout/pyproject.toml").touch()
        machine = cls(place=place)
        machine.add("stubs/true", "#!/bin/sh\n")
        machine.add("stubs/python", PYTHON.format(too_old=0))
        machine.add("bin/nproc", "#!/bin/sh\necho 3\n")
        machine.add("bin/chmod", f'#!/bin/sh\nexec {shutil.which("chmod")} "$@"\n')
        return machine

    def add(self, name: str, text: str) -> None:
        """Write an executable file."""
        path = self.place / name
        path.write_text(text)
        path.chmod(0o755)

    def add_apt(self) -> None:
        """Add apt, as on Debian and Ubuntu."""
        self.add("bin/apt-get", APT_GET)
        self.add("bin/apt-cache", APT_CACHE)

    def add_tools_of_tests(self) -> None:
        """Add what `scripts/test` needs."""
        for name in ("g++", "bwrap"):
            self.add(f"bin/{name}", "#!/bin/sh\n")
        self.add("bin/python3", PYTHON.format(too_old=0))
        (self.place / "checkout/.venv/bin").mkdir(parents=True)
        for name in ("ruff", "mypy"):
            self.add(f"checkout/.venv/bin/{name}", "#!/bin/sh\n")

    def start(
        self, script: str, *words: str, uid: int = 1000, candidates: str = "", failing: str = "nothing"
    ) -> subprocess.CompletedProcess[str]:
        """Start a script as this user. `candidates` are the packages that apt has (`name=version`, separated by
        spaces).
        """
        self.add("bin/id", f"#!/bin/sh\necho {uid}\n")
        environment = {
            "PATH": str(self.place / "bin"),
            "BIN": str(self.place / "bin"),
            "STUBS": str(self.place / "stubs"),
            "CALLS": str(self.place / "calls"),
            "CANDIDATES": candidates,
            "FAILING": failing,
            "HOME": str(self.place),
        }
        command: list[str | Path] = [self.place / "checkout/scripts" / script, *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    def calls(self) -> list[str]:
        """The arguments of each call of apt-get."""
        path = self.place / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without Python, compiler, sudo or apt."""
    return Machine.at(tmp_path)


DEBIAN_12 = "python3-venv=3.11.2-1+b1"
UBUNTU_22_04 = "python3-venv=3.10.6-1~22.04.1 python3.11-venv=3.11.0~rc1-1~22.04.1"
DEBIAN_11 = "python3-venv=3.9.2-3"


@pytest.mark.parametrize(
    ("candidates", "python"),
    [
        (DEBIAN_12, "python3 python3-venv"),
        (UBUNTU_22_04, "python3.11 python3.11-venv"),
        ("python3-venv=3.14.3-0ubuntu1", "python3 python3-venv"),
        ("python3-venv=3.10.6 python3.14-venv=3.14.0-1 python3.11-venv=3.11.9-1", "python3.14 python3.14-venv"),
    ],
)
def test_all_missing_packages_are_reported_at_once(machine: Machine, candidates: str, python: str) -> None:
    """An ordinary user gets one command with all packages, to give to the administrator."""
    machine.add_apt()
    done = machine.start("quickstart", candidates=candidates)
    assert done.returncode == 1
    assert f"apt-get update && apt-get install g++ bubblewrap {python}\n" in done.stderr
    assert machine.calls() == []


@pytest.mark.parametrize(
    ("candidates", "python"), [(DEBIAN_12, "python3 python3-venv"), (UBUNTU_22_04, "python3.11 python3.11-venv")]
)
def test_root_installs_without_output_of_apt(machine: Machine, candidates: str, python: str) -> None:
    """The output of apt is not shown if it succeeds. A second start installs nothing."""
    machine.add_apt()
    done = machine.start("quickstart", "--seed", "1", uid=0, candidates=candidates)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ioi-eval demo --seed 1\n"
    assert "words of apt" not in done.stderr
    assert machine.calls() == ["update -qq", f"install -y -qq g++ bubblewrap {python}"]
    assert machine.start("quickstart", uid=0).stdout == "ioi-eval demo\n"
    assert len(machine.calls()) == 2


@pytest.mark.parametrize(
    ("script", "uid", "exit_code", "installed"),
    [("quickstart", 1000, 0, 0), ("quickstart", 0, 0, 2), ("test", 1000, 1, 0)],
)
def test_only_bubblewrap_is_missing(machine: Machine, script: str, uid: int, exit_code: int, installed: int) -> None:
    """A user who cannot install it can score with less isolation. Root gets it, and the tests need it."""
    machine.add_tools_of_tests()
    (machine.place / "bin/bwrap").unlink()
    machine.add_apt()
    done = machine.start(script, uid=uid)
    assert done.returncode == exit_code, done.stderr
    assert ("apt-get install bubblewrap" in done.stderr) == (exit_code == 1)
    assert len(machine.calls()) == installed


def test_output_of_apt_is_shown_if_it_fails(machine: Machine) -> None:
    """It names the cause."""
    machine.add_apt()
    machine.add("bin/apt-get", "#!/bin/sh\necho no network >&2\nexit 100\n")
    done = machine.start("quickstart", uid=0, candidates=DEBIAN_12)
    assert done.returncode == 1
    assert "no network" in done.stderr


def test_apt_without_a_new_python(machine: Machine) -> None:
    """On an old release, the script says what to do and installs nothing."""
    machine.add_apt()
    machine.add("bin/python3", PYTHON.format(too_old=1))
    for uid in (0, 1000):
        done = machine.start("quickstart", uid=uid, candidates=DEBIAN_11)
        assert done.returncode == 1
        assert "Python 3.11 or newer with venv; this system has no package for it" in done.stderr
        assert "apt-get update && apt-get install g++ bubblewrap\n" in done.stderr
    assert not any("install" in call for call in machine.calls())


def test_python_under_another_name(machine: Machine) -> None:
    """`python3` is too old, but `python3.14` exists. No package of Python is installed."""
    machine.add_apt()
    machine.add("bin/python3", PYTHON.format(too_old=1))
    machine.add("bin/python3.14", PYTHON.format(too_old=0))
    done = machine.start("quickstart", uid=0, candidates=DEBIAN_11)
    assert done.returncode == 0, done.stderr
    assert machine.calls() == ["update -qq", "install -y -qq g++ bubblewrap"]


def test_the_printed_commands_can_be_pasted(tmp_path: Path) -> None:
    """Also if the checkout is in a directory with blanks in its name."""
    place = tmp_path / "two words"
    place.mkdir()
    machine = Machine.at(place)
    machine.add_tools_of_tests()
    done = machine.start("quickstart")
    printed = re.fullmatch(r"To use the command: (.*), or ioi-eval after `\. (.*)`\.", done.stderr.splitlines()[-1])
    assert printed, done.stderr
    environment = place / "checkout/.venv/bin"
    assert [shlex.split(text) for text in printed.groups()] == [
        [str(environment / "ioi-eval")],
        [str(environment / "activate")],
    ]


def test_systems_without_apt(machine: Machine) -> None:
    """The message says what is missing, without names of packages."""
    done = machine.start("quickstart", uid=0)
    assert done.returncode == 1
    assert "Missing: g++ bubblewrap Python 3.11 or newer with venv\n" in done.stderr


@pytest.mark.parametrize(
    ("failing", "named"),
    [
        ("nothing", "Everything passed."),
        ("tests/test_architecture.py", "Failed: scripts/check"),
        ("tests/attacks", "Failed: the tests"),
        ("-q", "Failed: scripts/check, the tests"),
    ],
)
def test_all_suites_run_if_one_fails(machine: Machine, failing: str, named: str) -> None:
    """The last line names the suites that failed, and the exit code is 1."""
    machine.add_tools_of_tests()
    done = machine.start("test", failing=failing)
    assert [line.split(" --")[0] for line in done.stdout.splitlines() if line.startswith("pytest")] == [
        "pytest -m pytest -q -n 7",
        "pytest -m pytest -q tests/test_architecture.py tests/test_pages.py",
    ]
    missing = "The site was not built, because mkdocs could not be installed."
    assert (missing in done.stdout.splitlines()) is ("scripts/check" not in named)
    assert done.stderr.splitlines()[-1] == named
    assert done.returncode == (0 if failing == "nothing" else 1)


def test_a_part_of_the_tests_runs_without_the_checks(machine: Machine) -> None:
    """The arguments are passed to pytest, and nothing else is started."""
    machine.add_tools_of_tests()
    done = machine.start("test", "tests/journal", "-k", "torn")
    assert [line for line in done.stdout.splitlines() if line.startswith("pytest")] == [
        "pytest -m pytest tests/journal -k torn"
    ]
    assert done.returncode == 0


def test_a_failure_of_pip_is_explained(machine: Machine) -> None:
    """Without a network, pip prints twenty lines. The last lines of the script say what may be the cause and what to
    do.
    """
    machine.add_apt()
    done = machine.start("quickstart", uid=0, candidates=DEBIAN_12, failing="pip")
    assert done.returncode != 0
    assert "words of pip" in done.stderr
    assert done.stderr.endswith("package index, set https_proxy or PIP_INDEX_URL; then start this script again\n")


@pytest.mark.parametrize("script", ["test", "check", "quickstart", "attack-table", "bench"])
def test_help_prints_what_a_script_does_and_installs_nothing(machine: Machine, script: str) -> None:
    """Without the command it ends there, also on a machine where everything is missing."""
    for option in ("--help", "-h"):
        ended = machine.start(script, option)
        assert (ended.returncode, ended.stderr) == (0, "")
        comment = (ROOT / "scripts" / script).read_text(encoding="utf-8").splitlines()[1]
        assert ended.stdout.splitlines()[0] == comment.removeprefix("# ")
    assert not (machine.place / "checkout/.venv").exists()
