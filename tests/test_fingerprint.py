"""Fingerprints: everything that can change an outcome changes them, nothing else does."""

from __future__ import annotations

import ast
import hashlib
import re
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, make_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from ioi_eval import boxfiles
from ioi_eval import fingerprint as fingerprint_module
from ioi_eval.config import Policy
from ioi_eval.fingerprint import (
    Fingerprints,
    cpp_meaning,
    digest_of,
    python_meaning,
    rules_digest,
    script_meaning,
)
from ioi_eval.model import (
    Batch,
    BatchAndOutput,
    Blob,
    CheckerProtocol,
    Communication,
    Interactive,
    Isolation,
    JudgedByClient,
    JudgeProgram,
    Language,
    OutputCheck,
    OutputFile,
    OutputOnly,
    Problem,
    ProblemKey,
    ProcessIO,
    Profile,
    RunMethod,
    ScoreType,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
    Tokens,
    TwoSteps,
    WhiteDiff,
)
from ioi_eval.model.methods import Comparator, ComparatorKind
from tests.small_problems import small_problem
from tests.small_targets import small_target
from tests.test_architecture import PACKAGE, modules, nodes

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
    "method": Batch(check=Tokens()),
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
    "cxx_std": "gnu++20",
}
PROGRAM = JudgeProgram(source=SourceFile(path="graders/manager.cpp", content=b""))
FILES = {"input_file": "in.txt", "output_file": "out.txt"}
METHODS: dict[RunMethod, dict[str, Any]] = {
    Batch(): {"check": Tokens(), "passes": 2, **FILES},
    BatchAndOutput(): {"check": Tokens(), "output_tests": ("a",), "output_only_tests": ("a",), **FILES},
    OutputOnly(): {"check": Tokens(), "output_tests": ("a",)},
    TwoSteps(): {"check": Tokens()},
    Interactive(manager=PROGRAM): {"manager": replace(PROGRAM, args=("x",)), "check": PROGRAM},
    Communication(manager=PROGRAM): {
        **{"manager": replace(PROGRAM, args=("x",)), "check": PROGRAM},
        **{"processes": 2, "process_io": ProcessIO.FIFO_IO},
    },
}
CHECKS: dict[OutputCheck, dict[str, Any]] = {
    WhiteDiff(): {},
    Tokens(): {"args": ("x",)},
    Comparator(): {"kind": ComparatorKind.TOKENS, "absolute": "1", "relative": "1", "program": "x"},
    JudgedByClient(): {},
    PROGRAM: {
        "source": SourceFile(path="graders/manager.cpp", content=b"x"),
        "files": (SourceFile(path="graders/t.h", content=b""),),
        "protocol": CheckerProtocol.TESTLIB,
        "args": ("x",),
    },
}
WITHOUT_EFFECT: dict[str, Any] = {"name": "Another title", "day": "2", "notes": ("a note",)}


def fingerprint(problem: Problem = PROBLEM, submission: Submission = SUBMISSION, **target: Any) -> str:
    """The fingerprint under the default policy."""
    return Fingerprints(Policy()).of(problem, submission, replace(TARGET, **target))


def test_every_field_of_a_problem_is_classified() -> None:
    """A field added to `Problem` must be put into one of the two tables above."""
    assert {field.name for field in fields(Problem)} == CHANGES.keys() | WITHOUT_EFFECT.keys()


def test_every_parameter_of_a_method_is_classified() -> None:
    """A class or a parameter added to `RunMethod` or `OutputCheck` must be put into one of the two tables above."""
    for table, known in ((METHODS, RunMethod), (CHECKS, OutputCheck)):
        assert {type(value) for value in table} == set(get_args(known))
        assert all({field.name for field in fields(value)} == changes.keys() for value, changes in table.items())


@pytest.mark.parametrize("field", CHANGES)
def test_what_can_change_an_outcome_changes_the_fingerprint(field: str) -> None:
    """Tests, limits, judge programs, rules."""
    assert fingerprint(replace(PROBLEM, **{field: CHANGES[field]})) != fingerprint()


def test_each_parameter_of_a_method_changes_the_fingerprint() -> None:
    """Methods that differ in their class or in one parameter have different fingerprints."""
    changed = {replace(method, **{name: METHODS[method][name]}) for method in METHODS for name in METHODS[method]}
    checks = {replace(check, **{name: CHECKS[check][name]}) for check in CHECKS for name in CHECKS[check]}
    methods = {*METHODS, *changed, *(Batch(check=check) for check in {*CHECKS, *checks})}
    assert len({fingerprint(replace(PROBLEM, method=method)) for method in methods}) == len(methods) > 20


def test_the_class_of_a_method_changes_the_fingerprint() -> None:
    """Otherwise two task types with the same parameters would share their results."""
    methods = (Batch(), BatchAndOutput(), OutputOnly(), TwoSteps())  # all with white-diff
    assert len({fingerprint(replace(PROBLEM, method=method)) for method in methods}) == len(methods)
    alike = [make_dataclass(name, ["check"])(check="white-diff") for name in ("Batch", "TwoSteps")]
    assert digest_of(alike[0]) != digest_of(alike[1])


@pytest.mark.parametrize("field", WITHOUT_EFFECT)
def test_titles_do_not_change_the_fingerprint(field: str) -> None:
    """If a title is corrected, nothing is judged again."""
    assert fingerprint(replace(PROBLEM, **{field: WITHOUT_EFFECT[field]})) == fingerprint()


def test_submission_policy_and_target_count() -> None:
    """The program, settings, compiler and isolation change the fingerprint. The id does not, nor how the program was
    found.
    """
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
        fingerprint(outer_filter=True),
        fingerprint(profile=Profile.CLASSIC),
        fingerprint(profile=Profile.CLASSIC, has_own_scripts=True),
        fingerprint(toolchain=replace(TARGET.toolchain, version="13")),
        Fingerprints(Policy(output_bytes=1)).of(PROBLEM, SUBMISSION, TARGET),
        Fingerprints(Policy(near_limit_repeats=2)).of(PROBLEM, SUBMISSION, TARGET),
        Fingerprints(Policy(score_only=True)).of(PROBLEM, SUBMISSION, TARGET),
    ]
    assert len({reference, *others}) == len(others) + 1
    for same in ({"id": "y"}, {"extraction": "fence:cpp"}, {"fixes": ("includes",)}):
        assert fingerprint(submission=replace(SUBMISSION, **same)) == reference


def test_cached_parts_are_separate_for_each_target() -> None:
    """Each of these targets differs from the first in one field. The same program has another fingerprint on each."""
    targets = [
        TARGET,
        replace(TARGET, isolation=Isolation.REDUCED),
        replace(TARGET, outer_filter=True),
        replace(TARGET, narrowed="no counters"),
        replace(TARGET, profile=Profile.CLASSIC),
        replace(TARGET, profile=Profile.CLASSIC, has_own_scripts=True),
        replace(TARGET, toolchain=replace(TARGET.toolchain, version="13")),
    ]
    made = Fingerprints(Policy())
    for _ in range(2):
        found = [made.of(PROBLEM, SUBMISSION, target) for target in targets]
        assert found == [Fingerprints(Policy()).of(PROBLEM, SUBMISSION, target) for target in targets]
        assert len(set(found)) == len(targets)


def test_an_interpreter_counts_for_programs_in_python_only() -> None:
    """With another interpreter, programs in other languages are not judged again."""
    for language, ways in ((Language.CPP, 1), (Language.C, 1), (Language.PYTHON, 3)):
        is_python = language is Language.PYTHON
        submission = replace(SUBMISSION, language=language)
        found = {
            Fingerprints(Policy(python=command)).of(PROBLEM, submission, TARGET, tool=version if is_python else "")
            for command, version in (
                ("python3", "cpython 3.11"),
                ("python3", "cpython 3.12"),
                ("pypy3", "cpython 3.11"),
            )
        }
        assert len(found) == ways


MODULES = (
    "compiler_checks.py",
    "jobs/run_setups.py",
    "scorer/submission_run.py",
    "model/outcome.py",
    "compat/hendrycks.py",
    "engine/judging.py",
    "problems/judge_sources.py",
    "programs.py",
    "sandbox/local/scripts.py",
    "journal/codec.py",
)


WITHOUT_RULES = {
    # they store programs, each under a hash of its making
    *("artifacts", "kept_programs", "shipped", "precompiled_headers"),
    # what they give is in fingerprints: our programs in boxes, the policy, submissions' programs, a problem's files
    *("boxfiles", "config", "extract.cpp", "extract.fences", "extract.python"),
    *("problems.apps_submissions", "problems.grader_files", "problems.submissions"),
    # they refuse rows, and read their columns
    *("problems.limits", "problems.row"),
    # they bring a job's files into a box, and start processes; if they fail, there is no result
    *("sandbox", "sandbox.local.descriptors", "sandbox.local.work_directories", "sandbox.process"),
    *("sandbox.piston.endpoints", "sandbox.piston.literals", "sandbox.piston.problem_packages"),
    *("concurrency", "errors", "events", "fast_dataclass", "fingerprint", "slots"),
}
"""Modules that modules with rules import, and that decide no verdict."""


def dotted(path: Path) -> str:
    """A module's name in the package: `problems.row`, or `sandbox` for `sandbox/__init__.py`."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(path: Path, known: Collection[str]) -> set[str]:
    """Those of the known modules that a file imports, also inside functions and for types only."""
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            is_module = {name.removeprefix("ioi_eval.") in known for name in whole}
            names |= whole if is_module == {True} else {*whole, str(node.module)}
    return {name.removeprefix("ioi_eval.") for name in names if name.startswith("ioi_eval.")} & set(known)


def test_every_module_that_a_rule_imports_is_classified() -> None:
    """A new module is put into the table above, or into those with rules: a module may be split, and the part with
    rules moves.
    """
    known = {dotted(path) for path in modules()}
    paths = [PACKAGE / name for name in fingerprint_module._RULES]
    with_rules = [module for path in paths for module in (path.glob("*.py") if path.is_dir() else [path])]
    imported = {name for module in with_rules for name in imported_modules(module, known)}
    assert imported - set(map(dotted, with_rules)) == WITHOUT_RULES


def digest_of_changed(modules: Sequence[str], change: Callable[[str], str], copy: Path) -> str:
    """The digest of the rules if these modules are changed, in a copy of the package."""
    ignored = shutil.ignore_patterns("sample", "__pycache__", "cli", "importers")
    shutil.copytree(Path(fingerprint_module.__file__).parent, copy, ignore=ignored)
    for module in modules:
        (copy / module).write_text(change((copy / module).read_text()))
    return rules_digest(copy)


def test_a_changed_rule_changes_the_digest(tmp_path: Path) -> None:
    """One more statement in any module with rules changes the digest."""
    digests = {
        digest_of_changed([module], lambda text: f"{text}\nrule = 1\n", tmp_path / str(number))
        for number, module in enumerate(MODULES)
    }
    assert len(digests - {rules_digest()}) == len(MODULES)


def test_comments_do_not_change_the_digest(tmp_path: Path) -> None:
    """Changed comments, docstrings and blank lines do not change the digest, so an upgrade with them judges nothing
    again.
    """

    def reworded(text: str) -> str:
        better = re.sub(r'^( *""")(?=\w)', r"\1Better: ", text.replace("\n\n", "\n\n# so\n\n"), flags=re.MULTILINE)
        assert better.count("Better") > 2
        return f"{better}\n# the end\n"

    assert digest_of_changed(MODULES, reworded, tmp_path / "copy") == rules_digest()


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ('def f():\n    """Says it."""\n    return 1', "def f():\n\n    # says it\n    return 1  # it's 1", True),
        ('"""A module."""\n\nx = 1\n"""What\nx is."""\n', "x = 1", True),
        ('class A:\n    """An A."""\n\n    b: int\n    """A b."""\n', "class A:\n    b: int\n", True),
        ('x = """a\n# b\n\nc"""', 'x = """a\nc"""', False),
        ('x = ("""a""")\ny = 1\n"""What y is."""', 'x = ("""a""")', False),
        ("x = 'a # b'", "x = 'a '", False),
        ("x = '\\'' # '", "x = '\\''", True),
        ("x = 1", "x = 1.0", False),
        ("if a:\n    b()\nc()", "if a:\n    b()\n    c()", False),
        ("x = f'{a!r}'", "x = f'{a}'", False),
    ],
)
def test_python_meaning(before: str, after: str, same: bool) -> None:
    """It depends on the text, not on comments, docstrings and blank lines."""
    assert (python_meaning(before.encode()) == python_meaning(after.encode())) == same


def test_only_docstrings_are_left_out_of_modules() -> None:
    """No module with rules has another text in three quotes on lines of its own, which would be taken for one."""
    sources = [(PACKAGE / name).read_bytes() for name in MODULES] + [*boxfiles.harness_sources().values()]
    for text in map(bytes.decode, sources):
        values = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
        docstrings = [each for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        quotes = sum(str(ast.get_source_segment(text, each)).count('"""') for each in docstrings)
        assert text.count('"""') == quotes + python_meaning(text.encode()).count(b'"""')


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("int a;  // an a\nint b;\n", "int a;\n\n  int b;", True),
        ("int a; /* of\ntwo lines */\nint b;", "int a;\nint b;", True),
        ("f(a, /* the b */ b);", "f(a, b);", True),
        ("#define A \\\n  1\n", "#define A   1", True),
        ("int n = 1'000; // it's", "int n = 1'000;", True),
        ("char c = '\\'';  // \"", "char c = '\\'';", True),
        ('s = "a  b";', 's = "a b";', False),
        ('s = "// no comment";', 's = "";', False),
        ('s = R"x(a // b)" )x";', 's = R"x(a)" )x";', False),
        ("int n = 1'000;", "int n = 1'001;", False),
        ("#define A 1\nint b;", "#define A 1 int b;", False),
        ("int ab;", "int a b;", False),
    ],
)
def test_cpp_meaning(before: str, after: str, same: bool) -> None:
    """It depends on the tokens, not on comments and spaces. (A third of the runner's text is comments and spaces.)"""
    assert (cpp_meaning(before.encode()) == cpp_meaning(after.encode())) == same


def test_script_meaning() -> None:
    """Comment lines and indentation are left out; a `#` within a line stays. Our scripts have no here-documents, which
    need more.
    """
    assert script_meaning(b"#!/bin/bash\n# why\n\n  a=${b#c} # so\n") == b"a=${b#c} # so"
    assert not any(
        re.search(rb"<<-?\s*['\"]?[A-Za-z_]", boxfiles.read(name).replace(b"<<<", b"")) for name in ("run", "compile")
    )


def test_no_rule_reads_docstrings_or_line_numbers() -> None:
    """The digest ignores docstrings and line numbers. This is right only if no code reads them."""
    package = Path(fingerprint_module.__file__).parent
    texts = [path.read_text() for path in package.rglob("*.py") if path.name != "fingerprint.py"]
    texts += [source.decode() for source in boxfiles.harness_sources().values()]
    assert not any(re.search(r"__doc__|getsource|getdoc", text) for text in texts)
    assert b"__LINE__" not in boxfiles.runner_source()


def test_the_rules_are_in_a_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The digest of the harness is in it too, for programs in Python only."""
    before, python = fingerprint(), replace(SUBMISSION, language=Language.PYTHON)
    python_before = fingerprint(submission=python)
    with monkeypatch.context() as patched:
        patched.setattr(fingerprint_module, "rules_digest", lambda: "other")
        assert fingerprint() != before
    monkeypatch.setattr(fingerprint_module, "harness_digest", lambda: "other")
    assert fingerprint() == before
    assert fingerprint(submission=python) != python_before


def test_a_blob_counts_by_its_content(tmp_path: Path) -> None:
    """The location of test data does not matter, only its content."""
    digest = hashlib.sha256(b"1 2\n").hexdigest()
    first = TestCase(name="a", input=Blob(path=tmp_path / "x", size=4, sha256=digest), answer=b"3\n")
    second = TestCase(name="a", input=Blob(path=tmp_path / "y", size=4, sha256=digest), answer=b"3\n")
    assert fingerprint(replace(PROBLEM, tests={"a": first})) == fingerprint(replace(PROBLEM, tests={"a": second}))
    assert fingerprint(replace(PROBLEM, tests={"a": first})) == fingerprint()
