"""Finding the C++ compiler of this machine and the files that it reads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local import compiler as local_compiler
from ioi_eval.sandbox.local.compiler import detect
from ioi_eval.sandbox.local.confinement import PATH
from ioi_eval.toolchain import outermost


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 0", "says nothing to --version"), ("echo >&2; exit 1", "does not answer --version")],
)
def test_a_command_that_is_not_a_compiler(tmp_path: Path, script: str, words: str) -> None:
    """The error names the command and the reason."""
    command = tmp_path / "mute"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    with pytest.raises(SetupError, match=f"the compiler {command} {words}"):
        detect(str(command))


def test_a_path_without_a_compiler(tmp_path: Path) -> None:
    """The message names the variable that has the path, not directories in which nothing was looked for."""
    missing = f"{tmp_path / 'nope'}, which CXX (compiler= in Python) names, is no program"
    with pytest.raises(SetupError, match=re.escape(missing)):
        detect(str(tmp_path / "nope"))


def test_an_ascii_locale() -> None:
    """It works with a locale whose encoding does not have all characters of our scripts."""
    code = "from ioi_eval.sandbox.local.compiler import detect; print(bool(detect('g++').sees))"
    old = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=old, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_compiler_that_does_not_answer_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message gives the deadline and says that the machine may be busy."""
    command = tmp_path / "slow"
    command.write_text("#!/bin/sh\nexec sleep 1000\n")
    command.chmod(0o755)
    monkeypatch.setattr(local_compiler, "_DEADLINE_S", 0.1)
    words = f"the compiler {command} does not answer --version: it took more than 0.1 s; try again when .* less busy"
    with pytest.raises(SetupError, match=words):
        detect(str(command))


def test_error_of_our_script_has_only_its_last_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the compiler and has the last line of the script's stderr, not the script."""
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\necho 12\n")
    compiler.chmod(0o755)
    monkeypatch.setattr(boxfiles, "read", lambda _: b"echo first >&2; echo no room >&2; exit 3")
    with pytest.raises(SetupError) as raised:
        detect(str(compiler))
    assert str(raised.value) == f"the files that the compiler {compiler} reads cannot be listed: exit code 3: no room"


def test_a_compiler_for_another_machine(tmp_path: Path) -> None:
    """The message names its machine, and what to do, before anything is compiled."""
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\n[ $1 = -dumpmachine ] && echo aarch64-linux-gnu || exec g++ "$@"\n')
    compiler.chmod(0o755)
    with pytest.raises(SetupError) as raised:
        detect(str(compiler))
    assert str(raised.value) == (
        f"the compiler {compiler} makes programs for aarch64-linux-gnu, and the runner is made for x86-64: use a "
        "machine with such a processor, or Piston workers that have one (--endpoints)"
    )


def test_the_system_s_compiler() -> None:
    """The version and the target machine of the system's g++ are found."""
    found = detect("g++")
    assert "g++" in found.version
    assert "-linux-" in found.machine


def test_what_a_compiler_reads_is_listed() -> None:
    """The list has the compiler, its parts, headers, and each library: no directory with files of other packages."""
    found = detect("g++")
    assert found.command in found.sees
    assert all(os.path.exists(path) and ".." not in path for path in (*found.sees, *found.libraries))
    assert "/usr/include" in found.sees
    wide = {"/", "/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/local", "/usr/share"}
    assert not wide & {os.path.realpath(path) for path in (*found.sees, *found.libraries)}
    assert any(os.path.basename(path) == "libstdc++.so.6" for path in found.libraries)
    assert all(os.path.isfile(path) for path in found.libraries)


def test_the_linker_on_path_is_listed(tmp_path: Path) -> None:
    """It is listed beside the linker that the compiler names, which GCC of Ubuntu 26.04 does not start."""
    linker = str(shutil.which("ld", path=PATH))
    named, command = tmp_path / "x86_64-linux-gnu-ld", tmp_path / "compiler"
    named.symlink_to(linker)
    command.write_text(f'#!/bin/sh\ncase $1 in\n-print-prog-name=ld) echo {named} ;;\n*) exec g++ "$@" ;;\nesac\n')
    command.chmod(0o755)
    assert {linker, str(named)} <= set(detect(str(command)).sees)


def test_clang_can_look_for_the_gcc_whose_headers_it_uses(tmp_path: Path) -> None:
    """Clang (here a stand-in that has its option) finds the headers of C++ only if it can list the versions of GCC."""
    command = tmp_path / "clang"
    command.write_text('#!/bin/sh\n[ $1 = -print-resource-dir ] && echo /usr/include || exec g++ "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(["g++", "-print-libgcc-file-name"], capture_output=True, text=True, check=True)
    versions = str(Path(done.stdout).parent.parent)
    assert versions in detect(str(command)).sees
    assert versions not in detect("g++").sees


def test_results_of_clang_depend_on_the_gcc_that_it_uses(tmp_path: Path) -> None:
    """Clang's own version does not say whose standard library it takes. (A stand-in that names another one.)"""
    versions = []
    for release in ("12", "13"):
        directory = tmp_path / release
        directory.mkdir()
        command = tmp_path / "clang"
        command.write_text(
            f"#!/bin/sh\ncase $1 in\n--version) echo clang version 14 ;;\n"
            f'-print-file-name=crtbegin.o) echo {directory}/crtbegin.o ;;\n*) exec g++ "$@" ;;\nesac\n'
        )
        command.chmod(0o755)
        versions.append(detect(str(command)).fingerprint)
    assert str(tmp_path / "12") in versions[0]
    assert versions[0] != versions[1]


def test_all_headers_of_the_compiler_are_listed() -> None:
    """All headers that the compiler reads for C++ and for the kernel's types are listed, also targets of links."""
    included = "#include <bits/stdc++.h>\n#include <pthread.h>\n#include <linux/types.h>\n"
    words = ["g++", "-M", "-x", "c++", "-std=gnu++20", "-"]
    done = subprocess.run(words, input=included, capture_output=True, text=True, check=True)
    headers = {os.path.realpath(word) for word in done.stdout.split() if word.startswith("/")}
    shown = [os.path.realpath(path) for path in detect("g++").sees]
    assert len(headers) > 100
    assert not [header for header in headers if not any(f"{header}/".startswith(f"{path}/") for path in shown)]


def test_targets_of_symbolic_links_are_listed(tmp_path: Path) -> None:
    """A target is listed as a file if its directory has other files too. A directory is listed if it has only targets,
    or is itself a target. Devices, and wide directories such as /etc, are not listed.
    """
    for name in ("include/asm", "include/alpha-linux-gnu", "some", "only", "all/below", "other"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("some/one.h", "some/secret", "only/two.h", "only/three.h", "all/below/four.h", "other/alpha.h"):
        (tmp_path / name).write_text("")
    links = {
        "one.h": "../some/one.h",
        "asm/two.h": "../../only/two.h",
        "asm/three.h": "../../only/three.h",
        "all": "../all",
        "itself": "asm",
        "wide": "..",
        "lost.h": "../absent.h",
        "masked.h": "/dev/null",
        "etc": "/etc",
        "alpha-linux-gnu/alpha.h": "../../other/alpha.h",
    }
    for name, target in links.items():
        (tmp_path / "include" / name).symlink_to(target)
    command = tmp_path / "with-headers"
    command.write_text(f'#!/bin/sh\nexec g++ -isystem {tmp_path}/include "$@"\n')
    command.chmod(0o755)
    sees = detect(str(command)).sees
    listed = {str(Path(path).relative_to(tmp_path)) for path in sees if path.startswith(f"{tmp_path}/")}
    assert listed == {"include", "some/one.h", "only", "all", "with-headers"}


def test_paths_inside_others_are_left_out() -> None:
    """Paths below a listed directory are left out. `/ab` is not below `/a`."""
    assert outermost(["/a/b", "/a", "/ab", "/c/d/e", "/c/d"]) == ("/a", "/ab", "/c/d")


@pytest.mark.root
def test_headers_of_no_package_are_part_of_the_toolchain() -> None:
    """Compiled programs are made again if a header in `/usr/local/include` was added, changed, or removed."""
    script = """
from ioi_eval.sandbox.local.compiler import detect
from pathlib import Path

header = Path("/usr/local/include/checker_lib.h")
prints = [detect("g++").fingerprint]
for text in ("int one();", "int two();", "int one();"):
    header.write_text(text)
    prints.append(detect("g++").fingerprint)
header.unlink()
prints.append(detect("g++").fingerprint)
print(*[prints.index(each) for each in prints])
"""
    mount = "mount -t tmpfs none /usr/local/include"
    words = ["unshare", "--mount", "sh", "-ec", f'{mount}; exec "$@"', "sh", sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.stderr.startswith(("unshare:", "mount:")):
        pytest.skip(f"cannot be tested here: {done.stderr.strip()[-200:]}")
    assert done.stdout == "0 1 2 1 0\n", done
