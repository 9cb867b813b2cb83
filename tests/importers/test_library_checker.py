"""Problems in the layout of Library Checker: the rows they become, and the messages for incomplete ones."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from ioi_eval.errors import InputError, UnsupportedError
from ioi_eval.importers.library_checker import import_package
from ioi_eval.importers.task import ImportedTask
from ioi_eval.model import CheckerProtocol
from tests.importers.packages import loaded, write_package
from tests.small_problems import checker_of

INFO = """
title = "A + B"
timelimit = 2.0
[[tests]]
    name = "example.in"
    number = 1
[[tests]]
    name = "random.cpp"
    number = 2
[[solutions]]
    name = "wa.cpp"
    expect = "WA"
    allow_tle = true
[[solutions]]
    name = "slow.cpp"
    allow_tle = true
[[solutions]]
    name = "function.cpp"
    function = true
[params]
    N_MAX = 1_000
    RATIO = 0.5
    WORD = "abc"
"""
NAMES = ("example_00", "random_00", "random_01")
HASHES = {f"{name}.{end}": hashlib.sha256(f"{name}\n".encode()).hexdigest() for name in NAMES for end in ("in", "out")}
PROBLEM: dict[str, str | None] = {
    "info.toml": INFO,
    **{f"in/{name}.in": f"{name}\n" for name in NAMES},
    **{f"out/{name}.out": f"{name}\n" for name in NAMES},
    "checker.cpp": '#include "testlib.h"\n#include "params.h"\nint main() {}\n',
    "hash.json": json.dumps(HASHES),
    **{f"sol/{name}.cpp": "int main() {}\n" for name in ("correct", "wa", "slow", "function")},
    "../../common/testlib.h": '#include "more.h"\n',
    "../../common/more.h": "// more\n",
}


def read(tmp_path: Path, **changes: str | None) -> ImportedTask:
    """Import a problem with changes. `None` leaves a file out."""
    where = write_package(tmp_path / "repository" / "sample" / "aplusb", {**PROBLEM, **changes})
    return import_package(where, year=2026)


def test_problem_becomes_one_subtask(tmp_path: Path) -> None:
    """Its tests are in the order of `info.toml`. The checker has the headers of the repository and the
    generated one.
    """
    problem = loaded(tmp_path, read(tmp_path))
    assert [(one.name, one.tests) for one in problem.subtasks] == [("all", NAMES)]
    assert (problem.name, problem.time_limit_s, problem.cxx_std) == ("A + B", 2.0, "gnu++17")
    assert checker_of(problem).protocol is CheckerProtocol.TESTLIB
    assert {file.name: file.content.decode() for file in checker_of(problem).files} == {
        "testlib.h": '#include "more.h"\n',
        "more.h": "// more\n",
        "params.h": '#define N_MAX (long long)1000\n#define RATIO 0.5\n#define WORD "abc"\n',
    }


def test_expected_statuses(tmp_path: Path) -> None:
    """The verdicts that must occur and that may occur. Functions for a grader are left out, with a note."""
    task = read(tmp_path)
    assert {row["label"]: row["expected_subtasks"] for row in task.solution_rows} == {
        "correct.cpp": {"all": "AC"},
        "wa.cpp": {"all": "WA,TLE"},
        "slow.cpp": {"all": "AC,TLE"},
    }
    assert task.notes == ("sol/function.cpp is left out: it is a function for a grader",)


def test_wrong_solutions_of_older_problems(tmp_path: Path) -> None:
    """`wrong = true` means that the solution fails, whichever way. Such a solution was expected to be accepted."""
    task = read(tmp_path, **{"info.toml": INFO.replace('expect = "WA"', "wrong = true\n    wring = false")})
    stated = {row["label"]: row["expected_subtasks"] for row in task.solution_rows}
    assert stated["wa.cpp"] == {"all": "FAILED"}
    assert "not read, of the solution wa.cpp in info.toml: wring" in task.notes
    both = read(tmp_path / "both", **{"info.toml": INFO.replace('expect = "WA"', 'wrong = true\n    expect = "RE"')})
    assert {row["label"]: row["expected_subtasks"] for row in both.solution_rows}["wa.cpp"] == {"all": "RE,MLE,SV,TLE"}


def test_a_solution_in_another_language(tmp_path: Path) -> None:
    """It is left out, with a note."""
    task = read(tmp_path, **{"info.toml": INFO.replace("slow.cpp", "slow.d"), "sol/slow.d": "void main() {}\n"})
    assert [row["label"] for row in task.solution_rows] == ["correct.cpp", "wa.cpp"]
    assert "sol/slow.d is left out: it is not a source file" in task.notes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"info.toml": None}, "not a problem of Library Checker"),
        ({"info.toml": "title = "}, "info.toml is not TOML"),
        ({"info.toml": "timelimit = 1.0"}, "names no tests"),
        ({"in/random_01.in": None}, "there is no in/random_01.in (1 of 6 test files are missing); generate them"),
        ({"out/random_01.out": "other\n"}, "out/random_01.out is not what hash.json states; generate them"),
        ({"hash.json": "{}"}, "is not what hash.json states; generate them"),
        ({"checker.cpp": None}, "there is no checker.cpp"),
        ({"checker.cpp": '#include "lost.h"\n'}, "checker/checker.cpp includes lost.h"),
        ({"sol/wa.cpp": None}, "there is no sol/wa.cpp, which info.toml names"),
        ({"info.toml": INFO.replace('"WA"', '"Wrong"')}, "wa.cpp expects 'Wrong'"),
        ({"info.toml": INFO.replace('"WA"', '["WA"]')}, "wa.cpp expects ['WA']"),
        ({"info.toml": "params = 5\n" + INFO.partition("[params]")[0]}, "params in info.toml is 5; it must be a table"),
        (
            {"info.toml": "solutions = ['wa.cpp']\n" + INFO.replace("[[solutions]]", "[[others]]")},
            "[[solutions]] in info.toml is not a list of tables with a name",
        ),
        (
            {"info.toml": INFO.replace("RATIO = 0.5", "RATIO = [0.5]")},
            "the parameter RATIO in info.toml is [0.5], which no header can hold",
        ),
        ({"info.toml": INFO.replace("2.0", '"2"')}, "timelimit is '2' in info.toml"),
    ],
)
def test_invalid_problems(tmp_path: Path, changes: dict[str, str | None], words: str) -> None:
    """The message has the fault and what to do."""
    with pytest.raises(InputError, match=re.escape(words)):
        read(tmp_path, **changes)


def test_a_time_limit_of_the_user_that_is_not_allowed(tmp_path: Path) -> None:
    """The message does not blame the package's file, and names the package once."""
    read(tmp_path)
    where = tmp_path / "repository" / "sample" / "aplusb"
    with pytest.raises(InputError, match="time_limit is -1; it must be a number of CPU seconds above 0") as caught:
        import_package(where, year=2026, time_limit_s=-1.0)
    assert str(caught.value).count(str(where)) == 1


def test_tests_without_hashes_are_noted(tmp_path: Path) -> None:
    """Without hashes it cannot be checked that the tests are right."""
    assert "there is no hash.json" in read(tmp_path, **{"hash.json": None}).notes[0]


def test_headers_of_other_directories(tmp_path: Path) -> None:
    """Beside the solution, above it, in directories of these, and in those that the headers include: all become files
    of one directory.
    """
    task = read(
        tmp_path,
        **{
            "sol/correct.cpp": '#include "../acl.h"\n# include "beside.hpp"\n#include "../lib/deep.h"\nint main() {}\n',
            "sol/wa.cpp": '#include "../params.h"\n#include "shared/all.h"\n#include "no/where.h"\nint main() {}\n',
            "sol/beside.hpp": '#include "../acl.h"\n#include "beside.hpp"\n',
            "acl.h": "// acl\n",
            "lib/deep.h": '#include "deeper.h"\n',
            "lib/deeper.h": '#include "../acl.h"\n',
            "../../common/shared/all.h": '#include "some.h"\n#include "../more.h"\n',
            "../../common/shared/some.h": "// some\n",
            "../../secret": "secret",
        },
    )
    codes = {row["label"]: row["code"] for row in task.solution_rows}
    assert codes["correct.cpp"] == '#include "acl.h"\n# include "beside.hpp"\n#include "deep.h"\nint main() {}\n'
    assert codes["wa.cpp"] == '#include "params.h"\n#include "all.h"\n#include "no/where.h"\nint main() {}\n'
    headers = {path: text for path, text in task.problem_rows[0]["grader_files"] if path.startswith("graders/")}
    assert {name: headers[f"graders/{name}"] for name in ("acl.h", "beside.hpp", "deep.h", "deeper.h", "all.h")} == {
        "acl.h": "// acl\n",
        "beside.hpp": '#include "acl.h"\n#include "beside.hpp"\n',
        "deep.h": '#include "deeper.h"\n',
        "deeper.h": '#include "acl.h"\n',
        "all.h": '#include "some.h"\n#include "more.h"\n',
    }
    assert {"graders/some.h", "graders/more.h", "graders/params.h"} <= headers.keys()


def test_headers_outside_are_not_read(tmp_path: Path) -> None:
    """With any form of the path in the include."""
    (tmp_path / "secret.h").write_text("secret")
    words = ["../../../../secret.h", "../../common/../../secret.h", str(tmp_path / "secret.h"), "../../../secret.h"]
    correct = "".join(f'#include "{name}"\n' for name in words)
    task = read(tmp_path, **{"sol/correct.cpp": f"#if 0\n{correct}#endif\nint main() {{}}\n"})
    assert "secret" not in json.dumps(task.problem_rows)


def test_two_headers_with_one_name_are_refused(tmp_path: Path) -> None:
    """A row can contain only one of them."""
    changes = {
        "sol/correct.cpp": '#include "../a/x.h"\n#include "../b/x.h"\nint main() {}\n',
        "a/x.h": "// a\n",
        "b/x.h": "// b\n",
    }
    with pytest.raises(UnsupportedError, match=r"sol/correct\.cpp includes b/x\.h, and another header is called x\.h"):
        read(tmp_path, **changes)
