"""The runner's parts by themselves: each header includes the headers that it uses, and compiles alone."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from tests.graders.runner_box import RUNNER_FILES, RUNNER_SOURCE
from tests.shared_work import compiled, kept

HEADERS = sorted((RUNNER_SOURCE.parent / "runner").glob("*.h"))
SYSTEM = RUNNER_SOURCE.parent / "runner" / "system.h"
STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Werror")


def own_includes(source: Path) -> set[str]:
    """The names of the runner's own headers that a file includes."""
    return set(re.findall(r'^#include "(?:runner/)?(\w+)\.h"$', source.read_text(encoding="utf-8"), re.MULTILINE))


@cache
def all_includes(header: Path) -> set[Path]:
    """The runner's own headers that a header includes, directly and through others."""
    direct = {header.with_name(f"{name}.h") for name in own_includes(header)}
    return direct.union(*map(all_includes, direct))


def listed_parts() -> list[str]:
    """The parts in the order of the comment at the top of `runner.cpp`."""
    essay = RUNNER_SOURCE.read_text(encoding="utf-8").partition("#include")[0]
    lines = re.findall(r"^// - [^:]+: (.+)$", essay.rpartition("bottom up:")[2], re.MULTILINE)
    return re.findall(r"\w+", " ".join(lines))


def chains() -> list[list[Path]]:
    """All headers, in few lists in which each header includes all those before it, directly or through others."""
    lists = []
    left = set(HEADERS)
    while left:
        chain: list[Path] = []
        while included := left & all_includes(chain[0]) if chain else left:
            chain.insert(0, max(included, key=lambda header: (len(all_includes(header)), header)))
            left.remove(chain[0])
        lists.append(chain)
    return lists


def test_every_header_compiles_alone(tmp_path: Path) -> None:
    """Each header includes all that it needs: a program that includes only this header compiles without warnings.

    One program includes all headers of a chain: what the earlier ones bring, the next one includes anyway.

    `system.h` includes the system's headers, and all others get them from it. The compiler reads it in compiled form.
    If an earlier test run compiled these headers, it is not done again.
    """
    precompiled = tmp_path / "system.h"
    precompiled.write_text(f'#include "{SYSTEM}"\n')

    def compile_(chain: list[Path]) -> str:
        text = "".join(f'#include "{header}"\n' for header in chain)
        system = ["-Winvalid-pch", "-include", str(precompiled)] if SYSTEM in all_includes(chain[0]) else []
        command = ["g++", *STRICT, *system, "-fsyntax-only", "-x", "c++", "-"]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr

    def compile_all(report: Path) -> None:
        command = ["g++", *STRICT, "-x", "c++-header", str(precompiled), "-o", f"{precompiled}.gch"]
        subprocess.run(command, check=True)
        with ThreadPoolExecutor(2) as pool:
            messages = "".join(pool.map(compile_, chains()))
        assert not messages, messages
        report.write_text("compiled")

    assert sorted(header for chain in chains() for header in chain) == HEADERS
    kept(tmp_path / "report", (*STRICT, "each alone"), RUNNER_FILES, compile_all)


def test_the_comment_lists_all_parts_from_the_bottom_up() -> None:
    """The comment lists all parts, and a part includes only earlier parts, so there are no cycles."""
    parts = listed_parts()
    assert sorted(parts) == [header.stem for header in HEADERS]
    for header in HEADERS:
        before = set(parts[: parts.index(header.stem)])
        assert own_includes(header) <= before, f"{header.name} includes a part that the essay names later"


def test_the_runner_has_no_global_variables(unoptimised: Path) -> None:
    """State is in objects that are passed to functions: no variable of ours is in a writable section.

    (Tables with addresses are in `.data.rel.ro`, which is read-only.)
    """
    done = subprocess.run(["objdump", "--syms", "--demangle", unoptimised], capture_output=True, text=True, check=True)
    symbols = [line for line in done.stdout.splitlines() if "runner::" in line or "comparators::" in line]
    assert any(" .text" in line for line in symbols)
    assert not [line for line in symbols if re.search(r"\s\.(data|bss|tdata|tbss)\s", line)]


def test_parts(built: Path) -> None:
    """Single parts of the runner: units.cpp has the expected results."""
    source = Path(__file__).with_name("units.cpp")
    program = compiled(built / "units", [*STRICT, str(source)], [source, *RUNNER_FILES])
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)
