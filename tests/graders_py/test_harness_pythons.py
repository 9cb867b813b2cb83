"""The harness works in the same way with all versions of Python on this machine from 3.8 on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.toolchain import outermost

Run = Callable[..., Any]


def test_stdin(run: Run, python: str) -> None:
    """A program runs with threads and files, and its exit code is kept."""
    program = (
        "import sys, threading\nn = int(input())\nthreading.Thread(target=print, args=(n * 2,)).start()\n"
        "f = open(1, 'w', closefd=False)\nprint(len(str(10 ** 5000)))\nsys.stdout.flush()\nf.write('late')\nsys.exit(3)"
    )
    ended = run(program, b"21\n", python=python)
    assert (ended.code, sorted(ended.stdout.split())) == (3, [b"42", b"5001", b"late"]), ended.stderr
    assert (ended.phase, ended.report["exit"]) == ("run", True)


def test_streams_opened_by_path(run: Run, python: str) -> None:
    """`/dev/stdin` and `/dev/stdout` can be opened, also with `pathlib`, where `open` is an attribute of a class in
    Python 3.8 to 3.10.
    """
    program = (
        "import pathlib\nn = int(pathlib.Path('/dev/stdin').read_text())\n"
        "class Files:\n    open = open\nwith Files().open('/dev/stdout', 'w') as out: print(n + 1, file=out)"
    )
    ended = run(program, b"41\n", python=python)
    assert (ended.code, ended.stdout) == (0, b"42\n"), ended.stderr


def test_call(run: Run, python: str) -> None:
    """A method is called, and its result is returned."""
    program = (
        "import collections, fractions\nclass Solution:\n    def f(self, a: List[int], b) -> List[int]:\n"
        "        return [a, (b,), collections.Counter('aa'), fractions.Fraction(1, 3), 10 ** 30, {1}]"
    )
    ended = run(program, args=([1, 2], 0.1), fn_name="f", python=python)
    assert ended.phase == "done", ended.stderr
    assert ended.value[:3] == [[1, 2], (0.1,), {"a": 2}]
    assert ended.value[5].type_name == "set"


def test_conventions(run: Run, python: str) -> None:
    """With `conventions`, a top-level `return` is accepted."""
    program = (
        "x: int = 1\ndef f():\n    global x\n    x += 1\nf()\nprint(x, [x for x in [5]])\nif x:\n    return\nprint(3)"
    )
    ended = run(program, conventions=True, python=python)
    assert (ended.code, ended.stdout) == (0, b"2 [5]\n"), ended.stderr


@pytest.mark.parametrize("program", ["x = (", "1 / 0"])
def test_errors(run: Run, python: str, program: str) -> None:
    """Errors are printed and reported."""
    ended = run(program, python=python)
    assert ended.code == 1
    assert ended.phase == ("compile" if "(" in program else "run")
    assert "Error" in ended.stderr


def test_probe(archive: Path, python: str) -> None:
    """The harness reports its version of Python, and that of numpy if it is installed. It names no path inside another,
    because a package with hundreds of libraries would make the report longer than the runner keeps.
    """
    answer = subprocess.run([python, "-s", str(archive), "probe"], capture_output=True, check=True)
    report = json.loads(answer.stdout)
    assert report["python"].startswith("cpython 3.")
    assert report["numpy"] is None or report["numpy"][0].isdigit()
    assert report["reads"] == list(outermost(report["reads"]))


def test_the_bundle_imports_nothing_for_other_graders(archive: Path, python: str, tmp_path: Path) -> None:
    """Each run asks its interpreters for it: the library that only other graders need would double the CPU time."""
    command = [python, "-s", "-X", "importtime", str(archive), "bundle", str(tmp_path / "harness.bin")]
    imported = subprocess.run(command, capture_output=True, check=True, text=True).stderr
    assert "zipimport" in imported
    assert "unittest.mock" not in imported


def test_probe_identifies_installed_packages(archive: Path, python: str, tmp_path: Path) -> None:
    """A new package, or a new version of one, changes the interpreter's identity; a directory of bytecode does not."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(tmp_path)], check=True)
    (packages,) = tmp_path.glob("lib/python3*/site-packages")

    def installed_packages() -> str:
        command = [str(tmp_path / "bin" / "python"), "-s", str(archive), "probe"]
        return str(json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["packages"])

    seen = [installed_packages()]
    (packages / "__pycache__").mkdir(exist_ok=True)
    assert installed_packages() == seen[0]
    for name in ("sortedcontainers-2.3.0.dist-info", "sortedcontainers-2.4.0.dist-info"):
        (packages / name).mkdir()
        seen.append(installed_packages())
    assert len(set(seen)) == 3


def test_what_an_interpreter_reads(archive: Path, python: str, tmp_path: Path) -> None:
    """An interpreter reads its program, library, packages and their libraries; no directories above them, and no
    project of a `.pth` file.
    """
    environment, project = tmp_path / "environment", tmp_path / "project"
    project.mkdir()
    subprocess.run([python, "-m", "venv", "--without-pip", str(environment)], check=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    (packages / "project.pth").write_text(f"{project}\n")
    command = [str(environment / "bin" / "python"), "-s", str(archive), "probe"]
    reads = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["reads"]
    own = {path for path in reads if path.startswith(f"{tmp_path}/")}
    assert own == {str(environment / "bin" / "python"), str(packages), str(environment / "pyvenv.cfg")}
    assert any(Path(path, "os.py").is_file() for path in reads)
    assert any(Path(path).name.startswith("libc.so") for path in reads)
    assert not {"/", "/usr", "/usr/lib", "/usr/bin", "/usr/lib/x86_64-linux-gnu"} & {
        str(Path(p).resolve()) for p in reads
    }


def test_libraries_that_are_found_from_the_place_of_another_file(archive: Path, tmp_path: Path) -> None:
    """Conda's interpreters, and those of uv, find their libraries by `$ORIGIN/../lib` in the interpreter, and by
    `$ORIGIN` and several `..` in its extension modules. The loader names them so; the harness names them without `..`.
    """
    environment = tmp_path / "environment"
    command = [sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(environment)]
    subprocess.run(command, check=True)
    library, python = environment / "lib", environment / "bin" / "python"
    (packages,) = library.glob("python3*/site-packages")
    (library / "first").mkdir()
    (library / "linked").symlink_to("first")

    def link(source: str, *arguments: str) -> None:
        command = ["g++", "-x", "c++", "-", "-x", "none", "-Wl,--no-as-needed", f"-L{library}", f"-L{library}/first"]
        subprocess.run([*command, *arguments], input=source, text=True, check=True)

    link("", "-shared", "-o", str(library / "first" / "libfirst.so"))
    link("", "-shared", "-o", str(library / "libsecond.so"))
    link("", "-shared", "-lsecond", "-Wl,-rpath,$ORIGIN/../..", "-o", str(packages / "module.so"))
    real = python.resolve()
    python.unlink()
    source = (
        f'#include <unistd.h>\nint main(int, char** argv) {{ argv[0] = (char*)"{python}"; execv("{real}", argv); }}'
    )
    link(source, "-lfirst", "-Wl,-rpath,$ORIGIN/./../lib/linked", "-o", str(python))

    answer = subprocess.run([str(python), "-s", str(archive), "probe"], capture_output=True, check=True)
    reads = json.loads(answer.stdout)["reads"]
    assert {str(python), str(library / "linked" / "libfirst.so"), str(library / "libsecond.so")} <= set(reads)
    assert not [path for path in reads if "/./" in path or "/../" in path]
