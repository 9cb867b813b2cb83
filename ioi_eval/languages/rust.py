"""Rust, compiled by `rustc` alone, without Cargo and with no crates but the standard library.

Only for problems without a grader, in which programs read input and write output. If a program has several files, its
root is `main.rs`, else the first file; the others are its modules.

If the C++ compiler can link statically, programs are static, as in C++, and need no file of the machine. The edition is
2021. Warnings are not printed: they would fill the space for the message of a compile error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ioi_eval.extract.fences import LOOKED_AT, Extracted, extract_tagged
from ioi_eval.languages.rules import Command, OwnToolLanguage
from ioi_eval.model import Language
from ioi_eval.toolchain import Toolchain

_TAGS = frozenset({"rust", "rs"})
_SURE = re.compile(r"^[ \t]*(?:pub[ \t]+)?fn[ \t]+main[ \t]*\(", re.MULTILINE)

# Source of the places: Debian's and Ubuntu's packages `rustc` and `rustc-1.80`; the image `rust` of Docker Hub, whose
# commands on the PATH are rustup's, which needs its settings; Piston's package, with compiler and library in two
# directories, of which neither is the sysroot of the other.
_FINDER = r"""
export LC_ALL=C
unset RUSTFLAGS LD_LIBRARY_PATH LD_PRELOAD
linker=$1
say() { printf '%s\t%s\n' "$1" "$2"; }
real() { readlink -e -- "$1"; }

# libraries PROGRAM: what the loader loads for it
libraries() {
    LD_TRACE_LOADED_OBJECTS=1 "$1" 2> /dev/null < /dev/null |
        sed -n 's/^[[:space:]].*[[:space:]]\(\/.*\) (0x[0-9a-f]*)$/\1/p; s/^[[:space:]]\(\/.*\) (0x[0-9a-f]*)$/\1/p'
}

# sees PATH...: each without `..`, and where it leads
sees() {
    for path; do
        [[ $path == /* && -e $path ]] || continue
        [[ $path != */../* ]] || { cd -P -- "${path%/*}/" && path=$PWD/${path##*/}; }
        printf '%s\n' "$path" "$(real "$path")"
    done
}

for rustc in "$(type -P rustc)" /usr/local/rustup/toolchains/*/bin/rustc /usr/lib/rust-*/bin/rustc \
    /piston/packages/rust/*/bin/rustc /piston/packages/rust/*/*/rustc/bin/rustc; do
    [[ -x $rustc ]] || continue
    other=" other"
    said=$("$rustc" --version --verbose < /dev/null) || { echo "$rustc does not start" >&2; continue; }
    machine=$(sed -n 's/^host: //p' <<< "$said")
    version=${said%%$'\n'*}
    for root in "$("$rustc" --print sysroot)" "${rustc%/rustc/bin/rustc}/rust-std-$machine"; do
        library=$root/lib/rustlib/$machine
        compgen -G "$library/lib/libstd-*.rlib" > /dev/null && break 2
    done
    echo "$rustc has no standard library for $machine" >&2
    library=
done
[[ -n ${library-} ]] || { echo "there is no${other-} rustc (rustup's in a home directory is not used)" >&2; exit 1; }

say command "$(real "$rustc")"
say version "$version"
say machine "$machine"
say argument --sysroot
say argument "$root"
# Since 1.90, rustc would use its own linker, which needs files of /proc that a box does not have.
if "$rustc" -C linker-features=-lld --print sysroot > /dev/null 2>&1; then
    say argument -C
    say argument linker-features=-lld
fi
{
    sees "$rustc" "$library"
    find "$library" -type l -exec readlink -e -- {} +
    libraries "$rustc" | while read -r path; do sees "$path"; done
    for name in util rt pthread m dl c gcc_eh gcc gcc_s; do
        sees "$("$linker" "-print-file-name=lib$name.a")" "$("$linker" "-print-file-name=lib$name.so")"
    done
} | sort -u | while read -r path; do say sees "$path"; done
"""


class Rust(OwnToolLanguage):
    """Source of the flags: CMS, `cms/grading/languages/rust.py` (`-O`, which was level 2 when contests chose it)."""

    language = Language.RUST
    name = "Rust"
    names = re.compile(r"(?:rustc?|rs)(?![a-z]).*", re.IGNORECASE)
    takes_graders = False
    known_good_standard = "2021"  # it accepts nearly all programs of earlier editions
    known_good_program = (
        "main.rs",
        b"use std::collections::HashMap;\nuse std::io::Read;\n\nfn main() {\n    let mut text = String::new();\n"
        b"    std::io::stdin().read_to_string(&mut text).unwrap();\n    let mut counts = HashMap::new();\n"
        b"    *counts.entry(text).or_insert(0) += std::thread::spawn(|| 1).join().unwrap();\n"
        b'    println!("{:?} {}", counts, 2f64.sqrt());\n}\n',
    )
    finder = _FINDER
    advice = "Debian, Ubuntu: apt install rustc; on Piston: the package rust"

    def extract(self, generation: str) -> Extracted:
        """The last complete block tagged Rust, else the last untagged one with a `main` of Rust's."""
        return extract_tagged(generation, name="rust", tags=_TAGS, looks_right=_looks_right)

    def looks_unfenced(self, text: str) -> bool:
        """Whether it contains a Rust `main`."""
        return _looks_right(text)

    def flags(self, std: str) -> str:
        """The edition as a rustc option."""
        return f"--edition {std}"

    def commands(
        self,
        toolchain: Toolchain,
        sources: Sequence[str],
        objects: Sequence[str],  # noqa: ARG002 - there are none, as it takes no graders
        output: str,
        *,
        std: str,
    ) -> tuple[Command, ...]:
        """One command: rustc compiles, and calls the C++ compiler to link.

        One codegen unit, so that the program does not depend on the number of processors. `-fno-lto` for the reason in
        `Toolchain.link_argv`: assembly in a submission can contain any section.
        """
        root = "main.rs" if "main.rs" in sources else sources[0]
        linker = toolchain.linker or toolchain
        return (
            (
                *(toolchain.command, *toolchain.arguments, "--edition", std),
                *("--crate-type", "bin", "--crate-name", "submission", "-A", "warnings"),
                *("-C", "opt-level=2", "-C", "codegen-units=1", "-C", "strip=symbols"),
                *("-C", f"linker={linker.command}", "-C", "linker-flavor=gcc", "-C", "link-arg=-fno-lto"),
                *(_STATIC if toolchain.static else ()),
                *(root, "-o", output),
            ),
        )


_STATIC = ("-C", "target-feature=+crt-static", "-C", "relocation-model=static")


def _looks_right(text: str) -> bool:
    """Whether code without a tag is a Rust program, judged by its first 64 kB."""
    return _SURE.search(text, 0, LOOKED_AT) is not None
