"""Which C++ compiler this machine has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local import compiler as local_compiler
from ioi_eval.sandbox.local.compiler import detect
from ioi_eval.toolchain import outermost


@pytest.mark.parametrize(
    ("script", "words"),
    [("exit 0", "says nothing to --version"), ("echo >&2; exit 1", "does not answer --version")],
)
def test_a_command_that_is_no_compiler(tmp_path: Path, script: str, words: str) -> None:
    """It is named, with what to set."""
    command = tmp_path / "mute"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    with pytest.raises(SetupError, match=f"the compiler {command} {words}"):
        detect(str(command))


def test_an_old_locale() -> None:
    """One whose encoding does not have the characters of our scripts."""
    code = "from ioi_eval.sandbox.local.compiler import detect; print(bool(detect('g++').sees))"
    old = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=old, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_a_compiler_that_does_not_answer_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Maybe the machine is only busy: so the message says."""
    command = tmp_path / "slow"
    command.write_text("#!/bin/sh\nexec sleep 1000\n")
    command.chmod(0o755)
    monkeypatch.setattr(local_compiler, "_DEADLINE_S", 0.1)
    words = f"the compiler {command} does not answer --version: it took more than 0.1 s; try again when .* less busy"
    with pytest.raises(SetupError, match=words):
        detect(str(command))


def test_a_script_of_ours_that_fails_is_not_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the compiler that it asked, and has the script's last words."""
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\necho 12\n")
    compiler.chmod(0o755)
    monkeypatch.setattr(boxfiles, "read", lambda _: b"echo first >&2; echo no room >&2; exit 3")
    with pytest.raises(SetupError) as raised:
        detect(str(compiler))
    assert str(raised.value) == f"the files that the compiler {compiler} reads cannot be listed: exit code 3: no room"


def test_the_system_s_compiler() -> None:
    """It says its version and its target."""
    found = detect("g++")
    assert "g++" in found.version
    assert "-linux-" in found.machine


def test_what_a_compiler_reads_is_listed() -> None:
    """Itself, its parts, headers, and libraries one by one: no directory in which other packages have files."""
    found = detect("g++")
    assert found.command in found.sees
    assert all(os.path.exists(path) and ".." not in path for path in (*found.sees, *found.libraries))
    assert "/usr/include" in found.sees
    wide = {"/", "/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/local", "/usr/share"}
    assert not wide & {os.path.realpath(path) for path in (*found.sees, *found.libraries)}
    assert any(os.path.basename(path) == "libstdc++.so.6" for path in found.libraries)
    assert all(os.path.isfile(path) for path in found.libraries)


def test_headers_are_shown_where_they_really_are() -> None:
    """Each that the compiler reads for all of C++ and for the kernel's types, with the targets of links among them."""
    included = "#include <bits/stdc++.h>\n#include <pthread.h>\n#include <linux/types.h>\n"
    words = ["g++", "-M", "-x", "c++", "-std=gnu++20", "-"]
    done = subprocess.run(words, input=included, capture_output=True, text=True, check=True)
    headers = {os.path.realpath(word) for word in done.stdout.split() if word.startswith("/")}
    shown = [os.path.realpath(path) for path in detect("g++").sees]
    assert len(headers) > 100
    assert not [header for header in headers if not any(f"{header}/".startswith(f"{path}/") for path in shown)]


def test_headers_that_links_lead_to_are_listed(tmp_path: Path) -> None:
    """One by one where other files lie beside them; a directory if it has nothing else, or is linked itself.

    What is not a file or is as wide as /etc is not the compiler's.
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
    """A directory is shown with all below it; a name that only begins alike is another one."""
    assert outermost(["/a/b", "/a", "/ab", "/c/d/e", "/c/d"]) == ("/a", "/ab", "/c/d")
