"""Fingerprints: everything that can change an outcome changes them, nothing else does."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from small_problems import small_problem
from small_targets import small_target

from ioi_eval import fingerprint as fingerprint_module
from ioi_eval.config import Policy
from ioi_eval.fingerprint import Fingerprints, digest_of_modules, rules_digest
from ioi_eval.model import (
    Blob,
    CheckerProtocol,
    Isolation,
    Language,
    OutputFile,
    Problem,
    ProblemKey,
    ProcessIO,
    ScoreType,
    SourceFile,
    Submission,
    Subtask,
    TaskType,
    TestCase,
)

PROBLEM = small_problem(
    name="Sum",
    year=2026,
    subtasks=(Subtask(name="01", points=100, tests=("a",)),),
    tests={"a": TestCase(name="a", input=b"1 2\n", answer=b"3\n")},
    cxx_std="gnu++17",
)
SUBMISSION = Submission(id="x", problem=PROBLEM.key, code="int main(){}")
TARGET = small_target()

CHANGES: dict[str, Any] = {
    "key": ProblemKey(year=2025, id="sum"),
    "task_type": TaskType.COMMUNICATION,
    "time_limit_s": 2.0,
    "time_scale": 2.0,
    "memory_limit_bytes": 1,
    "output_limit_bytes": 1 << 20,
    "code_limit_bytes": 1 << 18,
    "score_type": ScoreType.GROUP_MUL,
    "score_precision": 0,
    "subtasks": (Subtask(name="01", points=50, tests=("a",)),),
    "tests": {"a": TestCase(name="a", input=b"1 2\n", answer=b"4\n")},
    "linked": (SourceFile(path="graders/grader.cpp", content=b""),),
    "source_name": "other",
    "headers": (SourceFile(path="graders/sum.h", content=b""),),
    "checker": SourceFile(path="checker/checker.cpp", content=b""),
    "checker_files": (SourceFile(path="checker/t.h", content=b""),),
    "checker_protocol": CheckerProtocol.TESTLIB,
    "checker_args": ("x",),
    "passes": 2,
    "manager": SourceFile(path="graders/manager.cpp", content=b""),
    "manager_files": (SourceFile(path="graders/t.h", content=b""),),
    "manager_args": ("x",),
    "manager_protocol": CheckerProtocol.KATTIS,
    "checker_after_manager": True,
    "input_file": "in.txt",
    "output_file": "out.txt",
    "output_tests": ("a",),
    "output_only_tests": ("a",),
    "processes": 2,
    "process_io": ProcessIO.FIFO_IO,
    "cxx_std": "gnu++20",
}
WITHOUT_EFFECT = {"name": "Another title", "day": "2", "notes": ("a note",)}


def fingerprint(problem: Problem = PROBLEM, submission: Submission = SUBMISSION, **target: Any) -> str:
    """The fingerprint under the default policy."""
    return Fingerprints(Policy()).of(problem, submission, replace(TARGET, **target))


def test_every_field_of_a_problem_is_classified() -> None:
    """A field added to `Problem` must be put into one of the two tables above."""
    assert {field.name for field in fields(Problem)} == CHANGES.keys() | WITHOUT_EFFECT.keys()


@pytest.mark.parametrize("field", CHANGES)
def test_what_can_change_an_outcome_changes_the_fingerprint(field: str) -> None:
    """Tests, limits, judge programs, rules."""
    assert fingerprint(replace(PROBLEM, **{field: CHANGES[field]})) != fingerprint()


@pytest.mark.parametrize("field", WITHOUT_EFFECT)
def test_titles_do_not(field: str) -> None:
    """A corrected title judges nothing again."""
    assert fingerprint(replace(PROBLEM, **{field: WITHOUT_EFFECT[field]})) == fingerprint()


def test_submission_policy_and_target_count() -> None:
    """The program, settings, compiler, isolation; not the id, nor how the program was found."""
    reference = fingerprint()
    others = [
        fingerprint(submission=replace(SUBMISSION, code="int main(){return 1;}")),
        fingerprint(submission=replace(SUBMISSION, code=None)),
        fingerprint(submission=replace(SUBMISSION, language=Language.C)),
        fingerprint(submission=replace(SUBMISSION, code="\ud800")),
        fingerprint(submission=replace(SUBMISSION, outputs=(OutputFile(test="a", content=b"1"),))),
        fingerprint(submission=replace(SUBMISSION, outputs=(OutputFile(test="a", content=b"2"),))),
        fingerprint(submission=replace(SUBMISSION, outputs=(OutputFile(test="b", content=b"1"),))),
        fingerprint(submission=replace(SUBMISSION, code=None, refused="too long")),
        fingerprint(isolation=Isolation.REDUCED),
        fingerprint(profile="classic"),
        fingerprint(profile="classic", brings_pair=True),
        fingerprint(toolchain=replace(TARGET.toolchain, version="13")),
        Fingerprints(Policy(output_bytes=1)).of(PROBLEM, SUBMISSION, TARGET),
    ]
    assert len({reference, *others}) == len(others) + 1
    for same in ({"id": "y"}, {"extraction": "fence:cpp"}, {"fixes": ("includes",)}):
        assert fingerprint(submission=replace(SUBMISSION, **same)) == reference


def test_an_interpreter_counts_for_programs_in_python_only() -> None:
    """Another one judges none of the others again."""
    for language, ways in ((Language.CPP, 1), (Language.C, 1), (Language.PYTHON, 3)):
        submission = replace(SUBMISSION, language=language)
        found = {
            Fingerprints(Policy(python=command)).of(PROBLEM, submission, TARGET, python=version)
            for command, version in (
                ("python3", "cpython 3.11"),
                ("python3", "cpython 3.12"),
                ("pypy3", "cpython 3.11"),
            )
        }
        assert len(found) == ways


def test_the_rules_count_by_their_text(tmp_path: Path) -> None:
    """A changed module judges anew; the same text, elsewhere, does not."""
    shutil.copytree(
        Path(fingerprint_module.__file__).parent, tmp_path / "0", ignore=shutil.ignore_patterns("sample", "__pycache__")
    )
    digests = {digest_of_modules(tmp_path / "0")}
    assert digests == {rules_digest()}
    modules = (
        "jobs/bundled.py",
        "scorer/run.py",
        "model/outcome.py",
        "compat/hendrycks.py",
        "judging.py",
        "programs.py",
        "sandbox/scripts.py",
    )
    for number, module in enumerate(modules):
        with (tmp_path / str(number) / module).open("a") as file:
            file.write("\n")
        (tmp_path / str(number)).rename(tmp_path / str(number + 1))
        digests.add(digest_of_modules(tmp_path / str(number + 1)))
    assert len(digests) == 1 + len(modules)


def test_the_rules_are_in_a_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """As is the harness, for programs in Python only."""
    before, python = fingerprint(), replace(SUBMISSION, language=Language.PYTHON)
    python_before = fingerprint(submission=python)
    with monkeypatch.context() as patched:
        patched.setattr(fingerprint_module, "rules_digest", lambda: "other")
        assert fingerprint() != before
    monkeypatch.setattr(fingerprint_module, "harness_digest", lambda: "other")
    assert fingerprint() == before
    assert fingerprint(submission=python) != python_before


def test_a_blob_counts_as_its_bytes(tmp_path: Path) -> None:
    """Where test data lies does not matter, what it is does."""
    digest = hashlib.sha256(b"1 2\n").hexdigest()
    first = TestCase(name="a", input=Blob(path=tmp_path / "x", size=4, sha256=digest), answer=b"3\n")
    second = TestCase(name="a", input=Blob(path=tmp_path / "y", size=4, sha256=digest), answer=b"3\n")
    assert fingerprint(replace(PROBLEM, tests={"a": first})) == fingerprint(replace(PROBLEM, tests={"a": second}))
    assert fingerprint(replace(PROBLEM, tests={"a": first})) == fingerprint()
