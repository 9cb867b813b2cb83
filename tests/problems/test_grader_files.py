"""The use of each file, by the paths of real rows. A submission never sees the source of a judge program."""

from __future__ import annotations

import pytest

from ioi_eval.errors import InputError
from ioi_eval.model import TaskType
from ioi_eval.problems.grader_files import GraderFiles, classify, config_text, includes, read_pairs, without_comments


def sort(
    *paths: str, task_type: TaskType = TaskType.BATCH, link: bool = True, **contents: str
) -> tuple[GraderFiles, dict[str, list[str]]]:
    """Classify files by path. `contents` gives the content of a file by its name without extension."""
    pairs = [(path, contents.get(path.rsplit("/", 1)[-1].split(".")[0], "x")) for path in paths]
    files = classify(read_pairs(pairs), "Nile", task_type, link=link)
    names = {
        "linked": [file.path for file in files.linked],
        "headers": [file.path for file in files.headers],
        "checker": [file.path for file in (files.checker, *files.checker_files) if file],
        "manager": [file.path for file in (files.manager, *files.manager_files) if file],
    }
    return files, names


def test_batch_as_in_real_rows() -> None:
    """The submission sees the header. Files in the checker's directory belong to the checker."""
    paths = ["checker/checker.cpp", "checker/testlib.h", "graders/grader.cpp", "graders/grader_config.json"]
    _, names = sort(*paths, "graders/nile.h")
    assert names == {
        "linked": ["graders/grader.cpp"],
        "headers": ["graders/nile.h"],
        "checker": ["checker/checker.cpp", "checker/testlib.h"],
        "manager": [],
    }
    assert config_text(read_pairs([("graders/grader_config.json", '{"code": "nile"}')])) == '{"code": "nile"}'


def test_communication_as_in_real_rows() -> None:
    """`testlib.h` below graders/ belongs to the manager, and no other program sees its source."""
    paths = ["graders/manager.cpp", "graders/nile.h", "graders/stub.cpp", "graders/testlib.h"]
    _, names = sort(*paths, "graders/stub.java", "graders/nile.cpp", task_type=TaskType.COMMUNICATION)
    assert names == {
        "linked": ["graders/stub.cpp"],
        "headers": ["graders/nile.h"],
        "checker": [],
        "manager": ["graders/manager.cpp", "graders/nile.h", "graders/testlib.h"],
    }


@pytest.mark.parametrize(
    ("task_type", "paths", "linked"),
    [
        (TaskType.BATCH, ["graders/stub.cpp", "graders/grader.cpp"], ["graders/grader.cpp"]),
        (TaskType.COMMUNICATION, ["graders/grader.cpp", "graders/stub.cpp"], ["graders/stub.cpp"]),
        (TaskType.COMMUNICATION, ["graders/grader.cpp"], ["graders/grader.cpp"]),
        (TaskType.BATCH, ["graders/grader.java", "grader.cpp", "other/grader.cpp"], []),
    ],
)
def test_one_source_is_linked(task_type: TaskType, paths: list[str], linked: list[str]) -> None:
    """Grader or stub, by the task type. CMS's loader also accepts a grader as a stub."""
    assert sort(*paths, task_type=task_type)[1]["linked"] == linked


def test_a_checker_built_by_a_script() -> None:
    """The script is the checker, and may read any file beside it, also one with the name of a checker."""
    _, names = sort("checker/build", "checker/checker.cpp", "checker/Makefile", "graders/nile.h")
    assert names["checker"] == ["checker/build", "checker/checker.cpp", "checker/Makefile"]
    assert sort("graders/build", "graders/checker.cpp")[1]["checker"][0] == "graders/checker.cpp"


def test_nothing_is_linked_with_stand_alone_submissions() -> None:
    """The problem may have a grader file all the same."""
    assert sort("graders/grader.cpp", "graders/nile.h", link=False)[1]["linked"] == []


def test_files_that_the_grader_includes_are_visible() -> None:
    """A grader that includes `testlib.h` or another file of its own needs them to compile."""
    _, names = sort(
        *("graders/grader.cpp", "graders/nile.h", "graders/testlib.h", "graders/lib.inc", "graders/secret.cpp"),
        grader='#include "nile.h"\n  # include "lib.inc"\n// #include "secret.cpp"\n#include <vector>',
        lib='#include "testlib.h"',
    )
    assert names["headers"] == ["graders/nile.h", "graders/testlib.h", "graders/lib.inc"]


def test_files_beside_a_header_are_visible() -> None:
    """A header in a directory includes others by their names there."""
    files = ("graders/lib/a.h", "graders/lib/part.inc", "graders/other.inc", "graders/up.inc")
    _, names = sort(*files, a='#include "part.inc"\n#include "../up.inc"\n#include "../../other.inc"')
    assert names["headers"] == ["graders/lib/a.h", "graders/lib/part.inc", "graders/up.inc"]


def test_a_checker_includes_files_with_any_ending() -> None:
    """A table, also from a directory. Other files beside it are not given to the compiler."""
    files = ("checker/checker.cpp", "checker/lib/table.dat", "checker/words.def", "checker/notes.dat")
    _, names = sort(*files, checker='#include "lib/table.dat"', table='#include "../words.def"')
    assert names["checker"] == ["checker/checker.cpp", "checker/lib/table.dat", "checker/words.def"]


def test_a_grader_that_includes_itself() -> None:
    """Cycles of includes end, and the grader's own source stays hidden."""
    _, names = sort(
        *("graders/grader.cpp", "graders/a.h", "graders/b.h"),
        grader='#include "a.h"\n#include "grader.cpp"',
        a='#include "b.h"',
        b='#include "a.h"',
    )
    assert names["headers"] == ["graders/a.h", "graders/b.h"]


@pytest.mark.parametrize("path", ["checker/checker", "checker/checker.py", "checker/checker.sh", "checker.py"])
def test_judge_programs_may_be_scripts(path: str) -> None:
    """A script is used unchanged, and may use any file beside it."""
    files, _ = sort(path, "checker/words.txt", checker="#!/bin/sh\n")
    assert files.checker is not None
    assert files.checker.path == path
    if path.startswith("checker/"):
        assert [file.path for file in files.checker_files] == ["checker/words.txt"]


def test_source_has_precedence_over_script() -> None:
    """A package may have both, as the result of compiling the source."""
    assert sort("graders/manager", "graders/manager.cpp", manager="#!/bin/sh")[1]["manager"] == ["graders/manager.cpp"]


def test_files_without_content_are_left_out() -> None:
    """The reference leaves them out of its requests. An empty header can be included, as in CMS's own tasks."""
    found = read_pairs([("a.h", None), ("b.h", ""), ("c.cpp", ""), ("d.cpp", "x")])
    assert [file.path for file in found] == ["b.h", "d.cpp"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.h", "graders/../../x.h", "", ".", "a\0b"])
def test_paths_outside_of_the_box_are_refused(path: str) -> None:
    """A row's paths become files in a box."""
    with pytest.raises(InputError, match="only paths inside the problem are allowed"):
        read_pairs([(path, "x")])


def test_a_path_has_one_content() -> None:
    """The same file twice counts once. Two contents for one path are an error."""
    assert len(read_pairs([("a.h", "x"), ("./a.h", "x")])) == 1
    with pytest.raises(InputError, match=r"holds a\.h twice"):
        read_pairs([("a.h", "x"), ("a.h", "y")])


def test_only_includes_in_quotes_count() -> None:
    """System headers belong to the compiler."""
    (file,) = read_pairs(
        [("a.cpp", '#include "x.h"\n#include <y.h>\n\t#  include\t"d/z.h" // why\n"#include \\"n.h\\""')]
    )
    assert includes(file) == ("x.h", "d/z.h")


@pytest.mark.parametrize("piece", ['"\\"', "'\\'", "/* "])
def test_literals_and_comments_without_an_end_take_linear_time(piece: str) -> None:
    """A source of 40 kB took four seconds."""
    for text in (piece * 500_000, piece * 500_000 + "\\"):
        assert without_comments(text) == (" " if piece == "/* " else text)


def test_comments_behind_a_literal_without_an_end() -> None:
    """Such a literal, as in a raw string, ends with its line."""
    assert without_comments('a = R"(")"; // x\nb; // y\n"//" /* " */ c') == 'a = R"(")"; // x\nb;  \n"//"   c'
