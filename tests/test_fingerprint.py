"""Fingerprints: everything that can change an outcome changes them, nothing else does."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import fingerprint as fingerprint_module
from ioi_eval.config import Policy
from ioi_eval.fingerprint import RULES, Fingerprints
from ioi_eval.model import (
    Blob,
    CheckerProtocol,
    Isolation,
    Language,
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
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain

PROBLEM = Problem(
    key=ProblemKey(year=2026, id="sum"),
    name="Sum",
    task_type=TaskType.BATCH,
    time_limit_s=1.0,
    memory_limit_bytes=1 << 28,
    subtasks=(Subtask(name="01", points=100, tests=("a",)),),
    tests={"a": TestCase(name="a", input=b"1 2\n", answer=b"3\n")},
    cxx_std="gnu++17",
)
SUBMISSION = Submission(id="x", problem=PROBLEM.key, code="int main(){}")
TARGET = Target(
    name="local",
    profile="bundled",
    toolchain=Toolchain(command="g++", version="12", machine="x86_64", static=True),
    slots=1,
    isolation=Isolation.FULL,
)

CHANGES: dict[str, Any] = {
    "key": ProblemKey(year=2025, id="sum"),
    "task_type": TaskType.COMMUNICATION,
    "time_limit_s": 2.0,
    "time_scale": 2.0,
    "memory_limit_bytes": 1,
    "output_limit_bytes": 1 << 20,
    "score_type": ScoreType.GROUP_MUL,
    "score_precision": 0,
    "subtasks": (Subtask(name="01", points=50, tests=("a",)),),
    "tests": {"a": TestCase(name="a", input=b"1 2\n", answer=b"4\n")},
    "linked": (SourceFile(path="graders/grader.cpp", content=b""),),
    "headers": (SourceFile(path="graders/sum.h", content=b""),),
    "checker": SourceFile(path="checker/checker.cpp", content=b""),
    "checker_files": (SourceFile(path="checker/t.h", content=b""),),
    "checker_protocol": CheckerProtocol.TESTLIB,
    "checker_args": ("x",),
    "manager": SourceFile(path="graders/manager.cpp", content=b""),
    "manager_files": (SourceFile(path="graders/t.h", content=b""),),
    "manager_args": ("x",),
    "manager_protocol": CheckerProtocol.KATTIS,
    "checker_after_manager": True,
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
    """The program, the rule that found it, settings, compiler, isolation; not the id."""
    reference = fingerprint()
    others = [
        fingerprint(submission=replace(SUBMISSION, code="int main(){return 1;}")),
        fingerprint(submission=replace(SUBMISSION, code=None)),
        fingerprint(submission=replace(SUBMISSION, language=Language.C)),
        fingerprint(submission=replace(SUBMISSION, code="\ud800")),
        fingerprint(submission=replace(SUBMISSION, code=None, refused="too long")),
        fingerprint(submission=replace(SUBMISSION, extraction="fence:cpp")),
        fingerprint(submission=replace(SUBMISSION, fixes=("includes",))),
        fingerprint(isolation=Isolation.REDUCED),
        fingerprint(profile="classic"),
        fingerprint(profile="classic", brings_pair=True),
        fingerprint(toolchain=replace(TARGET.toolchain, version="13")),
        Fingerprints(Policy(output_bytes=1)).of(PROBLEM, SUBMISSION, TARGET),
    ]
    assert len({reference, *others}) == len(others) + 1
    assert fingerprint(submission=replace(SUBMISSION, id="y")) == reference


def test_rules_are_counted() -> None:
    """The code that decides outcomes is what it was when RULES was last raised: else raise it, and pin it anew here.

    Docstrings and comments do not count. A change that cannot change an outcome needs a new pin only.
    """
    assert (RULES, rules_digest()) == (1, "7c3563d7147a0d5b")


def is_words(part: ast.stmt) -> bool:
    """Whether a statement is a string and nothing else."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)


def rules_digest() -> str:
    """A hash of the code, without its words, of everything that decides outcomes on our side of the box."""
    package = Path(fingerprint_module.__file__).parent
    names = ("jobs/bundled.py", "jobs/compile.py", "jobs/plan.py", "jobs/protocol.py", "judging.py", "scores.py")
    digest = hashlib.sha256()
    scorer = tuple(f"scorer/{name}.py" for name in ("__init__", "binding", "bundled", "classic", "run"))
    python = (
        "jobs/harness.py",
        "jobs/python_run.py",
        "jobs/returned.py",
        "apps/verdicts.py",
        "problems/apps_values.py",
    )
    for name in (*names, "jobs/classic.py", "jobs/classic_answer.py", "toolchain.py", *scorer, *python):
        tree = ast.parse((package / name).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                node.body = [part for part in node.body if not is_words(part)]
        digest.update(ast.unparse(tree).encode())
    return digest.hexdigest()[:16]


def test_a_blob_counts_as_its_bytes(tmp_path: Path) -> None:
    """Where test data lies does not matter, what it is does."""
    digest = hashlib.sha256(b"1 2\n").hexdigest()
    first = TestCase(name="a", input=Blob(path=tmp_path / "x", size=4, sha256=digest), answer=b"3\n")
    second = TestCase(name="a", input=Blob(path=tmp_path / "y", size=4, sha256=digest), answer=b"3\n")
    assert fingerprint(replace(PROBLEM, tests={"a": first})) == fingerprint(replace(PROBLEM, tests={"a": second}))
    assert fingerprint(replace(PROBLEM, tests={"a": first})) == fingerprint()
