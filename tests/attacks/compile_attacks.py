"""Attacks on the compiler: on the files that it can read, its time and memory, and its messages.

They are source texts, most of them generated. The problem is `sealed`: the program must print a secret that is in the
grader's source. A program that compiles prints what it has found, and gets WA if that is not the secret.
"""

from __future__ import annotations

import glob
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import ioi_eval


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileAttack:
    """One attack on the compiler.

    Args:
        name: its name, also in docs/attacks.md.
        tries: what it does, for docs/attacks.md.
        code: returns its source.
        expect: the accepted verdicts.
        slow: whether it reaches the compiler's limits.
        forbidden_texts: texts that no message may contain.
    """

    name: str
    tries: str
    code: Callable[[], str]
    expect: frozenset[str]
    slow: bool = False
    forbidden_texts: tuple[str, ...] = ("root:x:0", "SECRET", "static const char secret")


_GUESS = '#include "sealed.h"\nconst char *solve() { return "GUESS"; }\n'


def _reads(name: str, tries: str, *lines: str, expect: str = "CE") -> CompileAttack:
    """A program that fails because a file cannot be read."""
    text = "\n".join(lines) + "\n" + _GUESS
    return CompileAttack(name=f"compile_{name}", tries=tries, code=lambda: text, expect=frozenset(expect.split()))


def _takes(name: str, tries: str, code: Callable[[], str], expect: str = "CE", *, slow: bool = False) -> CompileAttack:
    return CompileAttack(name=f"compile_{name}", tries=tries, code=code, expect=frozenset(expect.split()), slow=slow)


def _text(name: str, tries: str, *lines: str, expect: str = "CE", slow: bool = False) -> CompileAttack:
    """A program of these lines, followed by a wrong solution."""
    return _takes(name, tries, lambda: "\n".join(lines) + "\n" + _GUESS, expect, slow=slow)


def _assembly(name: str, tries: str, *lines: str, expect: str = "CE") -> CompileAttack:
    """A program with these lines of assembly in its data section."""
    whole = "\\n".join((".data", *lines, ".text"))
    return _takes(name, tries, lambda: f'asm("{whole}");\n' + _GUESS, expect)


def _incbin(path: str) -> str:
    """A program that prints what `.incbin` has read."""
    return (
        f'asm(".data\\n.globl loot\\nloot: .incbin \\"{path}\\"\\n.byte 0\\n.text");\n'
        'extern "C" char loot[];\n#include "sealed.h"\nconst char *solve() { return loot; }\n'
    )


_PACKAGES = (
    "/usr/local/lib/python3*/*-packages/*/*.py",
    "/usr/local/lib/python3*/os.py",
    "/usr/lib/python3/dist-packages/*/*.py",
)


def _first(*patterns: str) -> str:
    """The first file of this machine that matches a pattern; if there is none, a path that does not exist."""
    found = (path for pattern in patterns for path in sorted(glob.glob(pattern)))
    return next(found, "/usr/lib/python3/dist-packages/rows.jsonl")


def _sample() -> str:
    return str(Path(ioi_eval.__file__).parent / "sample" / "problems.jsonl")


def _embed(path: str) -> str:
    return (
        f'static const char loot[] = {{\n#embed "{path}"\n, 0}};\n'
        '#include "sealed.h"\nconst char *solve() { return loot; }\n'
    )


def _has_include() -> str:
    paths = ("grader.cpp", "../grader.cpp", "linked0.o", "plan", "correct_output.txt", "/etc/passwd")
    tests = "\n".join(f'#if __has_include("{path}")\nreturn "GOT {path}";\n#endif' for path in paths)
    return f'#include "sealed.h"\nconst char *solve() {{\n{tests}\nreturn "held";\n}}\n'


def _line_directive(path: str) -> str:
    """A program with an error that `#line` places in another file: compilers print the line of that file."""
    return f'#include "sealed.h"\n#line 1 "{path}"\nconst char *solve() {{ return undeclared; }}\n'


def _macro_bomb() -> str:
    levels = ["#define A0 x x x x x x x x x x\n"]
    levels += [f"#define A{n} {f'A{n - 1} ' * 10}\n" for n in range(1, 12)]
    return "".join(levels) + "A11\n"


def _template_bomb() -> str:
    return (
        "template <int N, int M> struct T { typename T<N - 1, 2 * M>::type a; typename T<N - 1, 2 * M + 1>::type b;"
        " using type = T; };\ntemplate <int M> struct T<0, M> { using type = int; };\nT<25, 0> bomb;\n" + _GUESS
    )


def _constexpr_bomb() -> str:
    return (
        "constexpr long slow(int n) { return n < 2 ? n : slow(n - 1) + slow(n - 2) + __COUNTER__ * 0 * n; }\n"
        "template <int N> constexpr long each() { if constexpr (N > 0) { long s = each<N - 1>();"
        " for (long i = 0; i < 250000; ++i) s += i ^ N; return s; } else return 0; }\n"
        "constexpr long value = each<800>();\n" + _GUESS
    )


def _many(line: str, count: int) -> str:
    return "".join(line.format(number) for number in range(count)) + _GUESS


def _sum(terms: int) -> str:
    return "int sum = " + "+".join(["1"] * terms) + ";\n" + _GUESS


def _switch(cases: int) -> str:
    body = "".join(f"case {n}: return {n * n % 7919};" for n in range(cases))
    return f"int f(int x) {{ switch (x) {{{body}}} return 0; }}\n{_GUESS}"


def _deep_braces(depth: int) -> str:
    return "void f() " + "{" * depth + "}" * depth + "\n" + _GUESS


def _deep(opening: str, closing: str, depth: int) -> str:
    return f"int deep = {opening * depth}1{closing * depth};\n{_GUESS}"


def _names_of_signals() -> str:
    return (
        '#error "\\nKilled signal terminated program cc1plus\\ncompilation terminated."\n'
        "#error Killed signal terminated program cc1plus\n" + _GUESS
    )


def _terminal_codes() -> str:
    return "#error \x1b[2J\x1b]0;AC\x07\x1b[31mred\x1b[0m\r1.0\n#warning \u202eright to left\n" + _GUESS


def _lto_sections() -> str:
    """A program with machine code, and with other code that only a compiler called by the linker (LTO) would read."""
    with tempfile.TemporaryDirectory() as directory:
        source, made = Path(directory, "a.cpp"), Path(directory, "a.o")
        source.write_text('const char *solve() { return "GOT a second compilation"; }\n')
        subprocess.run(["g++", "-O2", "-flto", "-ffat-lto-objects", "-c", source, "-o", made], check=True)
        listing = subprocess.run(["objdump", "-h", made], check=True, capture_output=True, text=True).stdout
        parts = []
        for name in re.findall(r" (\.gnu\.lto_\S+) ", listing):
            dumped = Path(directory, "section")
            subprocess.run(["objcopy", f"--dump-section={name}={dumped}", made, Path(directory, "copy.o")], check=True)
            values = ",".join(str(byte) for byte in dumped.read_bytes())
            parts.append(f'asm(".section {name},\\"e\\",@progbits\\n.byte {values}\\n.previous");\n')
    return "".join(parts) + 'const char *solve() { return "held"; }\n'


READING = (
    tuple(
        _reads(f"include_{name}", f"#include of {path}", f'#include "{path}"', expect=expect)
        for name, path, expect in (
            ("grader", "grader.cpp", "CE"),
            ("grader_above", "../grader.cpp", "CE"),
            ("graders", "graders/grader.cpp", "CE"),
            ("checker", "checker.cpp", "CE"),
            ("object", "linked0.o", "CE"),
            ("plan", "plan", "CE"),
            ("answer", "/box/t0.ans", "CE"),
            ("passwd", "/etc/passwd", "CE"),
            ("stdin", "/dev/stdin", "CE WA"),
            ("descriptor", "/proc/self/fd/5", "CE"),
            ("environ", "/proc/self/environ", "CE"),
            ("parents_environ", "/proc/1/environ", "CE"),
            ("maps", "/proc/self/maps", "CE"),
            ("zero", "/dev/zero", "CE"),
            ("urandom", "/dev/urandom", "CE"),
            ("tty", "/dev/tty", "CE"),
            ("directory", "/", "CE"),
            ("itself", "sealed.cpp", "CE"),
            ("system", "/usr/lib/os-release", "CE"),
        )
    )
    + tuple(
        _takes(f"incbin_{name}", f".incbin of {path}", partial(_incbin, path), expect)
        for name, path, expect in (
            ("grader", "grader.cpp", "CE"),
            ("object", "linked0.o", "CE"),
            ("above", "../grader.cpp", "CE"),
            ("passwd", "/etc/passwd", "CE"),
            ("stdin", "/dev/stdin", "CE WA"),
            ("zero", "/dev/zero", "CE"),
            ("urandom", "/dev/urandom", "CE WA"),
            ("descriptor", "/proc/self/fd/3", "CE WA"),  # the assembler's own output
            ("memory", "/proc/self/mem", "CE"),
            ("mounts", "/proc/mounts", "CE"),
            ("itself", "submission.o", "CE WA"),
            ("system", "/usr/lib/os-release", "CE"),
            ("program", "/usr/bin/env", "CE"),
            ("library_of_others", "/usr/share/common-licenses/GPL-3", "CE"),
        )
    )
    + (
        _takes("incbin_python", ".incbin of Python's library", lambda: _incbin(_first("/usr/lib/python3*/os.py"))),
        _takes("incbin_package", ".incbin of an installed package's file", lambda: _incbin(_first(*_PACKAGES))),
        _takes("incbin_sample", ".incbin of the sample contest, in the package", lambda: _incbin(_sample())),
    )
)

WATCHING = (
    _takes("embed_grader", "#embed of the grader", lambda: _embed("grader.cpp")),
    _takes("embed_passwd", "#embed of /etc/passwd", lambda: _embed("/etc/passwd")),
    _takes("has_include", "to ask for files by __has_include", _has_include, "WA CE"),
    _takes("line_passwd", "to have the compiler quote a line of /etc/passwd", lambda: _line_directive("/etc/passwd")),
    _takes("line_grader", "to have the compiler quote a line of the grader", lambda: _line_directive("grader.cpp")),
    _takes("line_environ", "to have the compiler quote its environment", lambda: _line_directive("/proc/self/environ")),
    _reads("dependency", "#pragma GCC dependency, which compares times", '#pragma GCC dependency "grader.cpp"'),
    _reads("dependency_passwd", "the same with /etc/passwd", '#pragma GCC dependency "/etc/passwd"'),
    _reads("pch", "to load a precompiled header", '#pragma GCC pch_preprocess "/etc/passwd"'),
    _reads("import", "#import", '#import "/etc/passwd"'),
    _reads("include_next", "#include_next", '#include_next "grader.cpp"'),
    _reads("assembler_include", "the assembler's .include", 'asm(".include \\"/etc/passwd\\"");'),
    _reads("assembler_grader", "the assembler's .include of the grader", 'asm(".include \\"grader.cpp\\"");'),
    _reads(
        "macro_path",
        "#include by way of a macro and a stringified path",
        "#define S(x) #x",
        "#define P S(/etc/passwd)",
        "#include P",
    ),
    _reads(
        "comment_lib",
        "#pragma comment(lib), as another linker understands it",
        '#pragma comment(lib, "grader")',
        expect="WA",
    ),
    _reads(
        "optimize",
        "to switch on plugins and dumps by #pragma GCC optimize",
        '#pragma GCC optimize ("plugin=x.so,dump-tree-all")',
        expect="CE WA",
    ),
    _reads(
        "target",
        "options through #pragma GCC target",
        '#pragma GCC target ("arch=/etc/passwd")',
        expect="CE WA",
    ),
)

EXHAUSTING = (
    _takes("macro_bomb", "a macro that doubles for ever", _macro_bomb, slow=True),
    _takes("template_bomb", "templates that double for ever", _template_bomb, slow=True),
    _text("template_depth", "templates without end", "template <int N> struct T : T<N + 1> {};", "T<0> t;"),
    _takes("constexpr_bomb", "a constant that takes for ever to compute", _constexpr_bomb, "CE WA", slow=True),
    _text(
        "constexpr_loop",
        "a constant without end",
        "constexpr int f() { for (;;) {} return 1; }",
        "constexpr int v = f();",
    ),
    _text(
        "include_itself_twice",
        "a file that includes itself twice",
        "#include __FILE__",
        "#include __FILE__",
        slow=True,
    ),
    _text("initialised_gigabyte", "an object of 1 GB", "char much[1u << 30] = {1};"),
    _assembly("assembled_gigabyte", "an object of 1 GB by the assembler", ".fill 1073741824, 1, 1"),
    _assembly("repeated_gigabyte", "the same by repetition", ".rept 100000000", ".quad 1", ".endr"),
    _assembly("almost_too_large", "an object just below the limit", ".fill 20971520, 1, 1", expect="WA CE"),
    _assembly("far_away", "an object with a hole of a terabyte", ".org 0x10000000000", ".byte 1"),
    _assembly("macro_recursion", "an assembler macro without end", ".macro m", "m", "m", ".endm", "m"),
    _assembly("alignment", "an object aligned to half of all addresses", ".p2align 40", ".byte 1", expect="CE RE WA"),
    _assembly("common_symbol", "uninitialised data of a terabyte", ".comm much, 1099511627776", expect="CE RE WA"),
    _takes("many_errors", "a flood of errors", lambda: "x\n" * 200_000),
    _takes("many_warnings", "a flood of warnings", lambda: _many("#warning {}\n", 100_000), "CE WA", slow=True),
    _takes("long_error", "one error of 10 MB", lambda: "#error " + "x" * 10_000_000 + "\n"),
    _takes("deep_parentheses", "100,000 parentheses", lambda: _deep("(", ")", 100_000), "CE WA", slow=True),
    _takes("deep_braces", "100,000 braces", lambda: _deep_braces(100_000), "CE WA"),
    _takes("long_sum", "a sum of 200,000 terms", lambda: _sum(200_000), "CE WA", slow=True),
    _takes("long_name", "a name of 10 MB", lambda: "int " + "x" * 10_000_000 + ";\n" + _GUESS, "CE WA"),
    _takes("many_functions", "250,000 functions", lambda: _many("int f{0}();\n", 250_000), "CE WA", slow=True),
    _takes("big_switch", "a switch that takes long to optimise", lambda: _switch(100_000), "CE WA", slow=True),
)

DELAYING = (
    _text(
        "include_output",
        "#include of its own output, which never ends, so that the machine looks too busy to compile",
        '#include "/dev/stdout"',
        slow=True,
    ),
    _text(
        "include_messages",
        "#include of the pipe for its messages, which never ends",
        '#include "/proc/self/fd/2"',
        slow=True,
    ),
)

FORGING = (
    _takes("words_of_a_kill", "to look like a compiler that the machine killed", _names_of_signals),
    _assembly("print_of_a_kill", "the same by .print", '.print \\"Killed signal terminated program as\\"', ".err"),
    _assembly("as_crash", "to crash the assembler", '.file 7 \\"a\\" md5 0x1', ".loc 7 1 1", ".byte 1", expect="CE WA"),
    _takes("terminal_codes", "terminal control codes in the compiler's messages", _terminal_codes),
    _takes(
        "lto_sections",
        "to make the linker call the compiler again, on sections that no compiler wrote",
        _lto_sections,
        "WA",
    ),
    _assembly(
        "warning_section",
        "a linker warning with a text of its choice",
        '.section .gnu.warning.puts,\\"\\",@progbits',
        '.asciz \\"Killed signal terminated program\\"',
        ".previous",
        expect="WA CE",
    ),
    _text("weak_main", "a main that gives way to others", "__attribute__((weak)) int main() {}", expect="WA"),
    _text("two_mains", "a main of its own beside the grader's", "int main() {}"),
    _text("own_start", "an entry point of its own", 'extern "C" void _start() {}'),
    _text(
        "ifunc",
        "an indirect function, which runs before everything else, to print before the grader",
        "#include <unistd.h>",
        'extern "C" int answer() { return 1; }',
        'extern "C" int (*choose())() { write(1, "1\\n", 2); _exit(0); return answer; }',
        'extern "C" int chosen() __attribute__((ifunc("choose")));',
        "int kept = chosen();",
        expect="CE WA RE",
    ),
    _text(
        "own_library",
        "its own versions of the library functions with which the grader compares and prints",
        'extern "C" unsigned long strlen(const char *) noexcept { return 27; }',
        'extern "C" int printf(const char *, ...) { return 0; }',
        'extern "C" int puts(const char *) { return 0; }',
        expect="CE WA RE",
    ),
    _assembly(
        "interpreter_section",
        "a section that names the program's loader",
        '.section .interp,\\"a\\"',
        '.asciz \\"/bin/sh\\"',
        ".previous",
        expect="CE WA RE",
    ),
    _assembly(
        "group_of_main",
        "a section group with a main, because linkers keep the first of equal groups",
        '.section .text.main,\\"axG\\",@progbits,main,comdat',
        ".globl main",
        "main: ret",
        ".previous",
        expect="CE WA RE",
    ),
    _assembly("end_of_assembly", "to end the assembly early", ".end", expect="CE WA RE"),
    _assembly("broken_assembly", "assembly that the assembler cannot read", "}}} $$$ \\x01"),
    _takes("nul_bytes", "NUL bytes in the program", lambda: "\0\0\0" + _GUESS, "CE WA"),
    _takes("surrogates", "a program that is not UTF-8", lambda: "// \udcff\udcfe\n" + _GUESS, "WA CE"),
    _takes("empty", "no program at all", lambda: ""),
    _text(
        "directory_names",
        "a line that names files with quotes and commands",
        '#line 1 "a\\"; touch /tmp/x; \\n$(id)"',
        "#error x",
    ),
    _text(
        "static_assert_words",
        "an error with the judge's messages",
        'static_assert(false, "Output is correct 1.0 Compilation stopped");',
    ),
)

ATTACKS: tuple[CompileAttack, ...] = READING + WATCHING + EXHAUSTING + DELAYING + FORGING
