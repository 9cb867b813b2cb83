"""Describes a target's compilers, and has the flags with which they are called.

The flags are CMS's (`-DEVAL -O2 -pipe -static -s`), so that a program is compiled as the official judge would compile
it. Source: CMS, `cms/grading/languages/cpp*_gpp.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ioi_eval.errors import InputError

_STD = re.compile(r"(c|gnu)\+\+(98|03|11|14|17|20|23|26)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """A compiler, as far as artifacts depend on it. Every target has a C++ compiler.

    Args:
        command: its command on the target.
        version: its version, as it prints it (`g++ (Debian 12.2.0-14) 12.2.0`); for Clang also the directory of the GCC
            whose headers and libraries it uses.
        machine: its target triple (`x86_64-linux-gnu`).
        static: whether it can link statically.
        sees: the files and directories of the target that it reads; a box shows them when it compiles.
        libraries: the libraries that a dynamically linked program needs.
        arguments: further arguments that every call needs on this target.
        linker: the C++ compiler that links, for a compiler of another language; `None` for the C++ compiler itself.
        added_headers: a hash of the headers that belong to no package (`/usr/local/include`); empty if there are none.
    """

    command: str
    version: str
    machine: str
    static: bool
    sees: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    linker: Toolchain | None = None
    added_headers: str = ""

    @property
    def fingerprint(self) -> str:
        """The text about the compiler in an artifact's key: with the same text, artifacts are interchangeable."""
        own = f"{self.version}|{self.machine}|{'static' if self.static else 'dynamic'}"
        own += f"|headers {self.added_headers}" if self.added_headers else ""
        return own if self.linker is None else f"{own}|linked by {self.linker.fingerprint}"

    def compile_argv(self, source: str, output: str, *, std: str) -> tuple[str, ...]:
        """The command that makes an object of one C++ source file."""
        return (self.command, f"-std={std}", "-DEVAL", "-O2", "-pipe", "-c", source, "-o", output)

    def read_headers_argv(self, source: str, output: str, *, std: str) -> tuple[str, ...]:
        """The command that reads all headers of a C++ source file and compiles nothing."""
        return (self.command, f"-std={std}", "-DEVAL", "-O2", "-E", source, "-o", output)

    def precompile_argv(self, header: str, output: str, *, std: str) -> tuple[str, ...]:
        """The command that precompiles a C++ header. GCC uses the result only with the options of `compile_argv`."""
        return (self.command, f"-std={std}", "-DEVAL", "-O2", "-pipe", "-x", "c++-header", header, "-o", output)

    def compile_c_argv(self, source: str, output: str, *, std: str) -> tuple[str, ...]:
        """The command that makes an object of one C source file, with the same compiler."""
        return (self.command, "-x", "c", f"-std={std}", "-DEVAL", "-O2", "-pipe", "-c", source, "-o", output)

    def link_argv(self, objects: tuple[str, ...], output: str, *, drop_unused: bool = False) -> tuple[str, ...]:
        """The command that links objects into a stripped program.

        `drop_unused`: leave out the libraries' functions that nothing calls, which are a fifth of a static program.
        Only for programs of the judge: a submission is linked as the official judge links it.

        `-fno-lto`: otherwise the linker would pass an object with sections of link-time optimisation back to the
        compiler. Assembly in a submission can contain such sections, with any bytes, also with compiler options.
        """
        static = ("-static",) if self.static else ()
        smaller = ("-Wl,--gc-sections",) if drop_unused else ()
        return (self.command, "-O2", "-pipe", "-fno-lto", *static, "-s", *smaller, *objects, "-pthread", "-o", output)


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that are not inside another one of them, sorted."""
    roots: list[str] = []
    for path in sorted(set(paths), key=lambda path: (len(path), path)):
        if not any(path.startswith(f"{root}/") for root in roots):
            roots.append(path)
    return tuple(sorted(roots))


def check_std(std: str | None) -> None:
    """Refuse a name that is not that of a C++ standard, with an InputError."""
    if std is not None and not _STD.fullmatch(std):
        raise InputError(f"{std!r} is not a C++ standard; give one as g++ calls it (gnu++17, c++20)")
