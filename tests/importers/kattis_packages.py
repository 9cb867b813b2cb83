"""Small problem packages of Kattis, which tests change."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ioi_eval.importers.kattis import import_package
from ioi_eval.importers.task import ImportedTask
from tests.importers.packages import write_package

MIB = 1024 * 1024

GROUP = "accept_score: {}\nrange: 0 {}\ngrader_flags: min\non_reject: break\n"

PASS_FAIL: dict[str, str | None] = {
    "problem.yaml": "name: A Different Sum\nvalidator_flags: float_tolerance 1e-6\nlimits:\n  memory: 256\n",
    ".timelimit": "2.5\n",
    **{f"data/{name}.{end}": f"{name}\n" for name in ("sample/1", "secret/02", "secret/10") for end in ("in", "ans")},
    "data/secret/02.hint": "not a test",
    "submissions/accepted/good.c": "int main(void) { return 0; }\n",
    "submissions/wrong_answer/bad.cc": "// @EXPECTED_RESULTS@: RUN-ERROR, TIMELIMIT\nint main() {}\n",
    "submissions/time_limit_exceeded/slow.py": "while 1: pass\n",
    "submissions/run_time_error/crash/main.cpp": "int main() { return 1; }\n",
    "submissions/run_time_error/crash/notes.txt": "why",
    "submissions/mixed/sums.h": "",
    "submissions/mixed/two/a.cpp": "",
    "submissions/mixed/two/b.java": "",
    "submissions/accepted/three/a.py": "def f(): pass\n",
    "submissions/accepted/three/main.py": "import a\n",
    "submissions/accepted/headed/a.cc": '#include "b.hpp"\n',
    "submissions/accepted/headed/b.hpp": "",
    "submissions/accepted/good.rb": "puts 1",
}

ANY = "grader_flags: min accept_if_any_accepted\n"

ANOTHER: dict[str, str | None] = {"data/secret/one/2.in": "", "data/secret/one/2.ans": ""}

SCORING: dict[str, str | None] = {
    "problem.yaml": "type: scoring\n",
    "domjudge-problem.ini": "timelimit = '1.5'\nexternalid='groups'\n",
    "data/testdata.yaml": "on_reject: continue\nrange: 0 100\ngrader_flags: ignore_sample\n",
    "data/secret/testdata.yaml": "grader_flags: first_error accept_if_any_accepted\n"
    "output_validator_flags: case_sensitive\n",
    "data/secret/one/testdata.yaml": GROUP.format(30, 30),
    "data/secret/two/testdata.yaml": GROUP.format(70, 70),
    **{
        f"data/{name}.{end}": "1\n"
        for name in ("sample/1", "secret/one/1", "secret/two/1", "secret/two/2")
        for end in ("in", "ans")
    },
    "submissions/accepted/all.cpp": "int main() {}\n",
    "submissions/partially_accepted/half.cpp": "// @EXPECTED_GRADES@ AC RTE\nint main() {}\n",
}


def package(tmp_path: Path, files: Mapping[str, str | None], **changes: str | None) -> Path:
    """A package as a directory. A change to `None` leaves a file out."""
    return write_package(tmp_path / "sums", {**files, **changes})


def read(tmp_path: Path, files: Mapping[str, str | None], **changes: str | None) -> ImportedTask:
    """Import a package with changes."""
    return import_package(package(tmp_path, files, **changes), year=2026)


def stated(task: ImportedTask) -> dict[str, Any]:
    """The expected results of each solution."""
    return {row["label"]: row["expected_subtasks"] or row["expected"] for row in task.solution_rows}
