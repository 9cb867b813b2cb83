"""Which C++ compiler this machine has."""

from __future__ import annotations

import os
import shutil
import subprocess

from ioi_eval.errors import SetupError
from ioi_eval.sandbox.confinement import PATH
from ioi_eval.toolchain import Toolchain

_DEADLINE_S = 20


def detect(command: str) -> Toolchain:
    """Ask the compiler for its version and target, and whether the static libraries are there.

    Args:
        command: how it is called (`g++`).

    Raises:
        SetupError: there is none, or it does not answer; with what to install.
    """
    path = shutil.which(command, path=PATH)
    if path is None:
        raise SetupError(
            f"no C++ compiler: {command!r} is not in {PATH}. Install one (Debian, Ubuntu: apt install g++), "
            "or name it in CXX"
        )
    version = _ask(path, "--version").splitlines()[0]
    libraries = [_ask(path, f"-print-file-name={name}").strip() for name in ("libc.a", "libstdc++.a")]
    return Toolchain(
        command=path,
        version=version,
        machine=_ask(path, "-dumpmachine").strip(),
        static=all(os.path.isabs(library) for library in libraries),
    )


def _ask(path: str, question: str) -> str:
    try:
        answer = subprocess.run(
            [path, question], capture_output=True, text=True, timeout=_DEADLINE_S, check=True, env={"PATH": PATH}
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError(f"the compiler {path} does not answer {question}: {error}") from error
    if not answer.stdout.strip():
        raise SetupError(f"the compiler {path} says nothing to {question}; name another one in CXX")
    return answer.stdout
