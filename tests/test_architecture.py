"""The arrow: a module imports only from modules below its own, and nothing heavy at import time."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "ioi_eval"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "version"),
    ("model",),
    ("config", "toolchain", "expectations"),
    ("boxfiles", "cache_directory"),
    ("sandbox",),
    ("extract",),
    ("languages",),
    ("problems",),
    ("blobs", "rows"),
    ("importers",),
    ("artifacts",),
    ("reductions", "estimates"),
    ("scores",),
    ("jobs", "compat"),
    ("interpreters",),
    ("programs", "fingerprint"),
    ("headers",),
    ("engine",),
    ("scorer",),
    ("selection",),
    ("journal",),
    ("report",),
    ("pipeline",),
    ("validate", "doctor", "calibration"),
    ("apps",),
    ("sample",),
    ("cli",),
)
"""Bottom to top. Names on one line do not import each other."""

RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def modules() -> list[Path]:
    """Every module of the package but its front door."""
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def unit(path: Path) -> str:
    """The name in `LAYERS` that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_units(path: Path) -> set[str]:
    """The parts of the package that a file imports, at any depth, for types or not."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("ioi_eval.")}
    return found - {"__version__"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    """A module imports only from modules below its own, or from its own folder."""
    own = unit(path)
    assert own in RANK, f"{own} has no place in the arrow"
    upward = {name for name in imported_units(path) if name != own and RANK.get(name, 99) >= RANK[own]}
    assert not upward, f"{path.relative_to(PACKAGE)} imports {sorted(upward)}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_stay_readable(path: Path) -> None:
    """No module is over 400 lines."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_the_architecture_names_every_unit() -> None:
    """And the other way round: what `docs/architecture.md` lists is in the arrow."""
    text = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {name.rstrip("/") for line in lines for name in re.findall(r"`([a-z_/]+)`", line)}
    assert named == set(RANK) - {"sample"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_that_a_docstring_names_exist(path: Path) -> None:
    """A bare name is one of ours; `solution.py` is what everybody calls a program."""
    known = {one.name for one in modules()} | {"solution.py"}
    assert set(re.findall(r"`([a-z_]+\.py)`", path.read_text(encoding="utf-8"))) <= known


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_messages_name_no_document_of_the_checkout(path: Path) -> None:
    """Who has installed a wheel has no `docs/` and no README. (Two modules of `report/` write such documents.)"""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    named = [node.value for node in texts if id(node) not in docstrings and re.search(r"docs/|README", node.value)]
    assert not named or path in (PACKAGE / "report" / "fidelity.py", PACKAGE / "report" / "pages.py")


PURE = (
    *(
        "jobs",
        "engine/judging.py",
        "reductions.py",
        "estimates.py",
        "scores.py",
        "selection.py",
        "expectations.py",
        "extract",
        "compat",
    ),
    "sandbox/wire.py",
    *("sandbox/request_body.py", "sandbox/client_names.py"),
    *("sandbox/request.py", "sandbox/answer.py", "sandbox/pool.py", "sandbox/agenda.py", "sandbox/circuit.py"),
    *("sandbox/roster.py", "sandbox/budget.py"),
)
IMPURE = frozenset(
    {
        *("asyncio", "datetime", "fcntl", "io", "multiprocessing", "os", "pathlib", "secrets", "select", "shutil"),
        *("socket", "subprocess", "sys", "tempfile", "threading", "time"),
        *("aiohttp", "httpx", "datasets", "pandas", "pyarrow"),
    }
)


@pytest.mark.parametrize(
    "path",
    [path for path in modules() if str(path.relative_to(PACKAGE)).startswith(PURE)],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_what_is_called_pure_has_no_clock_and_no_files(path: Path) -> None:
    """Nothing that reads clocks, files, sockets or the environment is imported, and nothing is opened."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {alias.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    imported |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not imported & IMPURE
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"open", "print", "input"}


def test_front_door_is_light() -> None:
    """Importing the package pulls in none of the heavy libraries."""
    heavy = ("pandas", "pyarrow", "datasets", "aiohttp", "httpx", "numpy")
    code = f"import sys, ioi_eval, ioi_eval.cli.main; print([m for m in {heavy!r} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_class_name_has_one_meaning() -> None:
    """In the whole package: whoever searches for it finds one class."""
    found: dict[str, list[str]] = {}
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
