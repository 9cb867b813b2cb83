"""The commands and examples of the README work as they are, and the page of the API has every public name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import ioi_eval
import ioi_eval.apps
from ioi_eval import sample
from ioi_eval.model import methods
from tests.forked_commands import ForkedCommands

README = Path(__file__).resolve().parent.parent / "README.md"
API_PAGE = README.parent / "docs" / "api.md"


def examples() -> list[str]:
    """The page's Python programs."""
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def printed(example: str, directory: Path, cache: Path) -> str:
    """What an example prints in this directory, with the cache of the tests."""
    (directory / "example.py").write_text(example)
    command, environment = [sys.executable, "example.py"], {**os.environ, "IOI_EVAL_CACHE": str(cache)}
    answer = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_the_apps_example_runs(tmp_path: Path, cache: Path) -> None:
    """The example is copied out of the page, and prints what the page says."""
    example = examples()[0]
    assert printed(example, tmp_path, cache).strip() == example.strip().rpartition("# ")[2]


def test_the_python_example_runs(tmp_path: Path, cache: Path) -> None:
    """Beside a program `mine.cpp`, the example prints a verdict and points."""
    program = sample.tasks() / "berths" / "solutions" / "model_solution" / "heap.cpp"
    (tmp_path / "mine.cpp").write_bytes(program.read_bytes())
    assert printed(examples()[1], tmp_path, cache) == "AC 100.0 [0.0, 15.0, 25.0, 20.0, 40.0]\n"


def test_every_command_it_names_exists(commands: ForkedCommands, tmp_path: Path) -> None:
    """Each `ioi-eval COMMAND` in the text answers `--help`. Each script or page in the text exists."""
    text = README.read_text(encoding="utf-8")
    names = set(re.findall(r"ioi-eval ((?:import )?[a-z]+)\b", text)) - {"import"}
    assert {"score", "demo", "doctor", "validate", "import cms"} <= names
    for name in names:
        answer = commands.run(*name.split(), "--help", cwd=tmp_path, env=os.environ)
        assert answer.returncode == 0, name
    for path in re.findall(r"`((?:scripts|docs|graders|benchmarks)/[\w./-]+)`", text):
        assert (README.parent / path).exists(), path
        if path.startswith("scripts/"):
            assert os.access(README.parent / path, os.X_OK), path


def test_every_path_in_the_contributors_guide_exists() -> None:
    """Each path in CONTRIBUTING.md exists, from the root of the checkout or of the package."""
    root = README.parent
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(
        r"`((?:ioi_eval|graders|tests|docs|benchmarks|scripts|cli|rows|compat|importers)/[\w./-]*)`", text
    )
    assert len(paths) > 25
    for path in paths:
        assert (root / path).exists() or (root / "ioi_eval" / path).exists(), path


def test_the_page_of_the_api_has_every_public_name() -> None:
    """By itself, or with all classes of methods."""
    documented = re.findall(r"^::: ([\w.]+)$", API_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert "ioi_eval.model.methods" in documented
    shown = {name.rpartition(".")[2] for name in documented} | set(vars(methods))
    assert {*ioi_eval.__all__, *ioi_eval.apps.__all__} - shown == {"__version__"}
