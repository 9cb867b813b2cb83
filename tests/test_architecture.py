"""A module imports only from modules below its own, and imports nothing heavy at import time."""

from __future__ import annotations

import ast
import functools
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "ioi_eval"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("concurrency", "errors", "fast_dataclass", "new_files", "recent_values", "slots", "version"),
    ("model", "config_file", "events", "extensions"),
    ("config", "toolchain", "expectations"),
    ("boxfiles", "cache_directory", "tar_members"),
    ("shipped", "blobs"),
    ("sandbox",),
    ("extract",),
    ("languages",),
    ("problems",),
    ("rows",),
    ("importers",),
    ("artifacts",),
    ("scores", "estimates"),
    ("jobs", "compat"),
    ("tools",),
    ("compiler_checks",),
    ("programs", "fingerprint"),
    ("precompiled_headers", "kept_programs"),
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
    ("__main__",),
)
"""Bottom to top. Names on one line do not import each other."""

RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def modules() -> list[Path]:
    """Every module of the package except `__init__.py` at its top."""
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def name_of(path: Path) -> str:
    """The module's path below the package."""
    return str(path.relative_to(PACKAGE))


def unit(path: Path) -> str:
    """The name in `LAYERS` that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module's syntax tree."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported_units(path: Path) -> set[str]:
    """The parts of the package that a file imports, also inside functions and for types only."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("ioi_eval.")}
    return found - {"__version__"}


def test_imports_point_down() -> None:
    """A module imports only from modules below its own, or from its own directory."""
    assert {unit(path) for path in modules()} - RANK.keys() == set(), "these have no place in the arrow"
    upward = {}
    for path in modules():
        above = {name for name in imported_units(path) - {unit(path)} if RANK.get(name, 99) >= RANK[unit(path)]}
        if above:
            upward[name_of(path)] = above
    assert upward == {}


def test_the_embedded_sandbox_and_the_cluster_do_not_import_each_other() -> None:
    """Neither of them imports the server, which uses both."""
    forbidden = {"local": {"piston", "serve"}, "piston": {"local", "serve"}}
    found = {}
    for folder, others in forbidden.items():
        for path in (PACKAGE / "sandbox" / folder).glob("*.py"):
            text = path.read_text(encoding="utf-8")
            if named := set(re.findall(r"ioi_eval\.sandbox\.(\w+)", text)) & others:
                found[name_of(path)] = named
    assert found == {}


def test_no_module_starts_processes_in_tasks_of_asyncio() -> None:
    """`sandbox/process.py` says why."""
    started = ("create_subprocess_exec", "create_subprocess_shell")
    assert [
        name_of(path) for path in modules() if any(name in path.read_text(encoding="utf-8") for name in started)
    ] == []


def test_modules_have_at_most_400_lines() -> None:
    """No module is over 400 lines."""
    lines = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_the_architecture_names_every_unit() -> None:
    """All units that `docs/architecture.md` lists are in `LAYERS`, and all in `LAYERS` are listed."""
    text = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {name.rstrip("/") for line in lines for name in re.findall(r"`([a-z_/]+)`", line)}
    assert named == set(RANK) - {"sample"}


def test_modules_that_a_docstring_names_exist() -> None:
    """Every module name in a docstring is a module of ours. Exceptions: `solution.py`, the usual name of a program, and
    Library Checker's `generate.py`.
    """
    known = {path.name for path in modules()} | {"solution.py", "generate.py"}
    named = {path: set(re.findall(r"`([a-z_]+\.py)`", path.read_text(encoding="utf-8"))) for path in modules()}
    assert {name_of(path): names - known for path, names in named.items() if not names <= known} == {}


def test_messages_name_no_file_of_the_checkout() -> None:
    """Users of an installed wheel have no `docs/`, no README and no scripts. (Not checked:
    `report/markdown_pages.py`, which writes documents.)
    """
    of_the_checkout = re.compile(r"(?<![\w/.-])(?:docs|scripts|piston|benchmarks)/\w|README|CONTRIBUTING")
    naming = {}
    for path in modules():
        docstrings = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
        others = [node.value for node in nodes(path) if isinstance(node, ast.Constant) and id(node) not in docstrings]
        named = [text for text in others if isinstance(text, str) and of_the_checkout.search(text)]
        if named:
            naming[name_of(path)] = named
    assert naming.keys() <= {"report/markdown_pages.py"}, naming


def test_no_group_is_repeated_possessively() -> None:
    """A pattern means the same in each Python. Before 3.11.5 (Debian 12 has 3.11.2), if a group is repeated
    possessively and a try of it fails behind a repetition inside it, matching goes on there, not where the try began.

    `json_bodies` has such a group, in which nothing follows the repetition.
    """
    possessive_group = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
    found = set()
    for path in modules():
        texts = [node.value for node in nodes(path) if isinstance(node, ast.Constant)]
        patterns = [text.decode("latin-1") if isinstance(text, bytes) else str(text) for text in texts]
        if any(map(possessive_group.search, patterns)):
            found.add(name_of(path))
    assert found == {"sandbox/serve/json_bodies.py"}


PURE = (
    *(
        "jobs",
        "engine/judging.py",
        "estimates.py",
        "scores.py",
        "selection.py",
        "expectations.py",
        "extract",
        "compat",
        "languages",
    ),
    *("sandbox/piston/wire.py", "sandbox/piston/literals.py"),
    *("sandbox/serve/json_bodies.py", "sandbox/serve/request.py"),
    *("sandbox/piston/answer.py", "sandbox/piston/client_clock.py", "sandbox/piston/pool.py"),
    *("sandbox/piston/endpoint_state.py", "sandbox/piston/job_end.py", "sandbox/piston/retries.py"),
)
IMPURE = frozenset(
    {
        *("asyncio", "datetime", "fcntl", "io", "multiprocessing", "os", "pathlib", "secrets", "select", "shutil"),
        *("socket", "subprocess", "sys", "tempfile", "threading", "time"),
        *("aiohttp", "httpx", "datasets", "pandas", "pyarrow"),
    }
)


def test_pure_modules_use_no_clock_and_no_files() -> None:
    """These modules import nothing that reads clocks, files, sockets or the environment, and open no file."""
    pure = {begin: [path for path in modules() if name_of(path).startswith(begin)] for begin in PURE}
    assert [begin for begin, paths in pure.items() if not paths] == [], "these are nowhere"
    impure = {}
    for path in itertools.chain.from_iterable(pure.values()):
        found = {alias.name.split(".")[0] for n in nodes(path) if isinstance(n, ast.Import) for alias in n.names}
        found |= {str(node.module).split(".")[0] for node in nodes(path) if isinstance(node, ast.ImportFrom)}
        called = [node.func for node in nodes(path) if isinstance(node, ast.Call)]
        found &= IMPURE
        found |= {name.id for name in called if isinstance(name, ast.Name)} & {"open", "print", "input"}
        if found:
            impure[name_of(path)] = found
    assert impure == {}


def test_importing_the_package_is_fast() -> None:
    """Importing the package imports none of the heavy libraries."""
    heavy = ("pandas", "pyarrow", "datasets", "aiohttp", "httpx", "numpy")
    code = f"import sys, ioi_eval, ioi_eval.cli.main; print([m for m in {heavy!r} if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


NOT_OF_EVERY_RUN = {
    *("apps", "calibration", "compat", "doctor", "importers", "kept_programs", "sample", "validate"),
    *("events.lines", "events.tracking", "jobs.scripts_job", "rows.hub", "rows.tables"),
    *("report.html", "report.hub", "report.markdown_pages", "report.submission_text", "report.result_sets"),
    *("sandbox.piston", "sandbox.serve", "scorer.scripts_judge"),
}
"""Parts that scoring contest problems in the embedded sandbox needs only if an option or the dump asks for them, or
(`report.html`) when all is judged."""
NOT_OF_CONTESTS = {"pipeline.contest", "pipeline.contest_dump", "problems.ioi", "problems.submissions", "scorer"}
"""Parts for contest problems: scoring programs for APPS needs none."""


@pytest.mark.parametrize(
    ("work", "unneeded"),
    [
        ("scoring", NOT_OF_EVERY_RUN),
        ("apps_scoring", (NOT_OF_EVERY_RUN - {"apps", "compat"}) | NOT_OF_CONTESTS),
    ],
)
def test_a_run_imports_only_what_it_uses(work: str, unneeded: set[str]) -> None:
    """A command and the embedded sandbox import neither other commands nor parts of the package that
    they do not use.
    """
    code = f"import sys, ioi_eval.cli.main, ioi_eval.cli.{work}, ioi_eval.sandbox.local.sandbox; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = {name.removeprefix("ioi_eval.") for name in answer.stdout.split() if name.startswith("ioi_eval.")}
    assert {name for name in ours if any(f"{name}.".startswith(f"{part}.") for part in unneeded)} == set()
    commands = {"compare", "config", "demo", "export", "imports", "merge", "report", "select", "serve", "show"}
    assert ours & {f"cli.{name}" for name in commands} == set()


def test_a_class_name_has_one_meaning() -> None:
    """No class name is used twice in the package, so a search for a class finds one definition."""
    found: dict[str, list[str]] = {}
    for path in modules():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(name_of(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
