"""Judge programs of packages, with the files that they need."""

from __future__ import annotations

from pathlib import Path

from ioi_eval.importers.judge_programs import judge_files
from ioi_eval.importers.package import open_package


def test_a_program_at_the_root_of_a_package(tmp_path: Path) -> None:
    """Headers beside it are taken as from a directory."""
    for name, text in {
        "problem.xml": "",
        "check.cpp": '#include "testlib.h"\n',
        "testlib.h": "h\n",
        "other.cpp": "x\n",
    }.items():
        (tmp_path / name).write_text(text)
    with open_package(tmp_path, "problem.xml") as package:
        files = judge_files(package, "check.cpp", "checker/checker.cpp")
    assert files == [("checker/checker.cpp", '#include "testlib.h"\n'), ("checker/testlib.h", "h\n")]
