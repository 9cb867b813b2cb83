"""What is known of a target's compilers, and the flags of its C++ compiler that follow from it.

The flags are CMS's (`-DEVAL -O2 -pipe -static -s`), so that a program here is the program that the official
judge would have built. Source: CMS, `cms/grading/languages/cpp*_gpp.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ioi_eval.errors import InputError

_STD = re.compile(r"(c|gnu)\+\+(98|03|11|14|17|20|23|26)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """A compiler, as far as artifacts depend on it. Every target has one of C++.

    Args:
        command: how it is called on the target.
        version: what it says of itself (`g++ (Debian 12.2.0-14) 12.2.0`).
        machine: its target triple (`x86_64-linux-gnu`).
        static: whether it can link statically.
        sees: the files and directories of the target that it reads; a box shows them when it compiles.
        libraries: those that a program needs which it has linked dynamically.
        arguments: what every call of it needs on this target beside its flags.
        linker: the target's C++ compiler, by which one of another language links; `None` for that one itself.
    """

    command: str
    version: str
    machine: str
    static: bool
    sees: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    linker: Toolchain | None = None

    @property
    def fingerprint(self) -> str:
        """What an artifact's key must contain: the same fingerprint makes interchangeable artifacts."""
        own = f"{self.version}|{self.machine}|{'static' if self.static else 'dynamic'}"
        return own if self.linker is None else f"{own}|linked by {self.linker.fingerprint}"

    def compile_argv(self, source: str, output: str, *, std: str) -> tuple[str, ...]:
        """The command that makes an object of one C++ source file."""
        return (self.command, f"-std={std}", "-DEVAL", "-O2", "-pipe", "-c", source, "-o", output)

    def precompile_argv(self, header: str, output: str, *, std: str) -> tuple[str, ...]:
        """The command that precompiles a C++ header; GCC takes it with the options of `compile_argv` only."""
        return (self.command, f"-std={std}", "-DEVAL", "-O2", "-pipe", "-x", "c++-header", header, "-o", output)

    def compile_c_argv(self, source: str, output: str, *, std: str) -> tuple[str, ...]:
        """The command that makes an object of one C source file, with the same compiler."""
        return (self.command, "-x", "c", f"-std={std}", "-DEVAL", "-O2", "-pipe", "-c", source, "-o", output)

    def link_argv(self, objects: tuple[str, ...], output: str) -> tuple[str, ...]:
        """The command that links objects into a stripped program.

        `-fno-lto`, as the linker would otherwise hand an object with the sections of link-time optimisation back to the
        compiler: assembly in a submission can hold such sections, made up byte for byte, with options of their own.
        """
        static = ("-static",) if self.static else ()
        return (self.command, "-O2", "-pipe", "-fno-lto", *static, "-s", *objects, "-pthread", "-o", output)


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the paths that lie in none of the others, in order."""
    roots: list[str] = []
    for path in sorted(set(paths), key=lambda path: (len(path), path)):
        if not any(path.startswith(f"{root}/") for root in roots):
            roots.append(path)
    return tuple(sorted(roots))


def check_std(std: str | None) -> None:
    """Refuse what is no C++ standard.

    Raises:
        InputError: it is none.
    """
    if std is not None and not _STD.fullmatch(std):
        raise InputError(f"{std!r} is no C++ standard; give one as g++ calls it (gnu++17, c++20)")
