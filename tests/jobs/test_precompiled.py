"""Which programs get the precompiled header, and how their recipe changes."""

from __future__ import annotations

import pytest

from ioi_eval.jobs.precompiled import begins_with_it, can_precompile, with_header
from ioi_eval.jobs.recipes import submission_recipe
from ioi_eval.model import ProblemKey, SourceFile, Subtask, TestCase
from ioi_eval.toolchain import Toolchain
from tests.small_problems import small_problem

GCC = Toolchain(command="g++", version="g++ (Debian) 12", machine="x86_64-linux-gnu", static=True)
INCLUDE = "#include <bits/stdc++.h>"


@pytest.mark.parametrize(
    "code",
    [
        INCLUDE,
        f"\n\t{INCLUDE}\nint main() {{}}",
        f"// Task: nile\n/* two\n lines */ // more\n{INCLUDE}",
        "# include\t<bits/stdc++.h> // all",
        f"/**/{INCLUDE}\n{INCLUDE}",
        f"/* a */ /* b */\r\n{INCLUDE}",
    ],
)
def test_it_is_the_first_thing(code: str) -> None:
    """Blanks and comments before it change nothing."""
    assert begins_with_it(code.encode())


@pytest.mark.parametrize(
    "code",
    [
        "",
        "int main() {}",
        f"#include <vector>\n{INCLUDE}",
        f"#define int long long\n{INCLUDE}",
        f"#pragma GCC optimize(3)\n{INCLUDE}",
        f"using T = int;\n{INCLUDE}",
        f"/* a */ int x; /* b */\n{INCLUDE}",
        f"// the comment goes on \\\n{INCLUDE}",
        f"// the comment goes on \\ \n{INCLUDE}",
        f"// a trigraph ??/\n{INCLUDE}",
        f"/* never ends\n{INCLUDE}",
        f"// {INCLUDE}",
        "#include <bits/stdc++.hpp>",
        '#include "bits/stdc++.h"',
        f"\ufeff{INCLUDE}",
        f"??={INCLUDE[1:]}",
    ],
)
def test_it_is_not_the_first_thing(code: str) -> None:
    """The compiler would see something else before it."""
    assert not begins_with_it(code.encode())


def test_a_long_beginning_is_read_once() -> None:
    """Megabytes of comments cost no more than reading them."""
    assert begins_with_it(b"/* * / */ // x\n" * 200_000 + INCLUDE.encode())
    assert not begins_with_it(b"/* * / */ // x\n" * 200_000 + b"/*" * 200_000)


def test_only_sources_that_begin_with_it_look_for_it() -> None:
    """Each compilation for itself; the link step as it was."""
    problem = small_problem(
        key=ProblemKey(year=2026, id="Nile"),
        subtasks=(Subtask(name="01", points=100, tests=("a",)),),
        tests={"a": TestCase(name="a", input=b"", answer=b"")},
    )
    sources = [
        SourceFile(path="first.cpp", content=f"{INCLUDE}\n".encode()),
        SourceFile(path="second.cpp", content=b"int f() { return 1; }\n"),
    ]
    plain = submission_recipe(problem, sources, (), GCC, std=None)
    first, second, link = with_header(plain, b"precompiled").steps
    at = first.argv.index("-isystem")
    assert first.argv[:at] + first.argv[at + 2 :] == plain.steps[0].argv
    directory = first.argv[at + 1]
    assert dict(first.files)[f"{directory}/bits/stdc++.h.gch"] == b"precompiled"
    assert first.files[: len(plain.steps[0].files)] == plain.steps[0].files
    assert (second, link) == plain.steps[1:]


def test_other_compilers_do_without() -> None:
    """Their precompiled headers are found in other ways."""
    assert can_precompile(GCC)
    assert not can_precompile(Toolchain(command="c++", version="Debian clang version 14", machine="x", static=True))
