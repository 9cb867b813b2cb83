"""Which programs get the precompiled header, and how their recipe changes."""

from __future__ import annotations

import pytest

from ioi_eval.jobs.recipes import begins_with_header, submission_recipe, with_header, with_workers_header
from ioi_eval.model import ProblemKey, SourceFile, Subtask, TestCase
from ioi_eval.precompiled_headers import can_precompile
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
def test_sources_that_begin_with_the_header(code: str) -> None:
    """Blanks and comments before it do not matter."""
    assert begins_with_header(code.encode())


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
def test_sources_that_do_not_begin_with_the_header(code: str) -> None:
    """The compiler would read something else before it."""
    assert not begins_with_header(code.encode())


def test_a_long_comment_is_read_in_linear_time() -> None:
    """Megabytes of comments take only the time of reading them."""
    assert begins_with_header(b"/* * / */ // x\n" * 200_000 + INCLUDE.encode())
    assert not begins_with_header(b"/* * / */ // x\n" * 200_000 + b"/*" * 200_000)


def test_only_sources_that_begin_with_it_get_the_header() -> None:
    """The recipe changes for each such source. Other sources and the link step stay the same."""
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
    first, second, link = with_header(plain, b"precompiled", ".there").steps
    at = first.argv.index("-include")
    assert first.argv[:at] + first.argv[at + 2 :] == plain.steps[0].argv
    assert first.argv[at + 1] == ".there/all.h"
    assert dict(first.files)[".there/all.h.gch"] == b"precompiled"
    assert first.files[: len(plain.steps[0].files)] == plain.steps[0].files
    assert (second, link) == plain.steps[1:]
    on_worker = with_workers_header(plain, "gnu++17", ".there")
    (at_worker, *others) = on_worker.steps
    assert at_worker.argv == (*first.argv[:at], "-include", ".there", *first.argv[at + 2 :])
    assert at_worker.files == (*plain.steps[0].files, (".there", b""))
    assert (*others,) == plain.steps[1:]


def test_other_compilers_get_no_precompiled_header() -> None:
    """They look for precompiled headers in other ways."""
    assert can_precompile(GCC)
    assert not can_precompile(Toolchain(command="c++", version="Debian clang version 14", machine="x", static=True))
