"""One hash of everything that determines an outcome. It is the key for resuming and for judging equal programs once.

Everything that could change a verdict is included: the program, the problem with its tests, judge programs and limits,
the policy, the runner, the compiler, the profile and the isolation, and the modules that contain the rules.
Not included are the names of the files that data was read from, the submission's id, and how the program was found: a
program has the same result whatever text it was extracted from.

Of our own programs, only the meaning is included: for Python the text without comments and docstrings; for C++ the text
without comments and with each run of blanks as one; for shell scripts the text without comment lines. So nothing is
judged again because a comment was improved. The hash is computed from the programs themselves: a version number can be
forgotten, and then wrong scores stay.
"""

from __future__ import annotations

import hashlib
import re
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path

import orjson

from ioi_eval import boxfiles
from ioi_eval.config import Policy
from ioi_eval.languages import CompiledLanguage, rules_of
from ioi_eval.model import Blob, Problem, Submission
from ioi_eval.sandbox import Target

_RULES = (
    *("compat", "engine", "jobs", "languages", "model", "scorer"),
    *("compiler_checks.py", "programs.py", "scores.py", "toolchain.py", "tools.py"),
    *("apps/execution.py", "apps/result.py", "apps/settings.py", "apps/verdicts.py", "journal/codec.py"),
    *("problems/apps_values.py", "problems/big_json.py", "problems/token_rules.py"),
    *("problems/judge_sources.py", "problems/task_parameters.py"),
    # contents and limits of a box, and how a stage ended
    *("sandbox/local/confinement.py", "sandbox/local/scripts.py", "sandbox/piston/answer.py"),
    *("sandbox/piston/two_stages.py", "sandbox/piston/wire.py"),
    # files of a machine that a compiler sees
    *("sandbox/local/compiler.py", "sandbox/piston/probing.py"),
)
"""Directories and modules whose code may change a verdict, or what a journal stores of a result. If it changes in more
than comments and docstrings, even by another name for a variable, all submissions are judged again."""

_REMEMBERED, _SMALL = 4096, 10_000  # programs, and their bytes: a dump holds many copies


class Fingerprints:
    """Makes fingerprints under one policy; a problem's own hash is computed once."""

    def __init__(self, policy: Policy) -> None:
        values = policy.as_dict()
        self._python = values.pop("python")  # does not affect compiled programs
        self._policy = digest_of(values)
        self._problems: dict[int, tuple[weakref.ref[Problem], str]] = {}
        self._found: dict[tuple[object, ...], str] = {}

    def of(self, problem: Problem, submission: Submission, target: Target, *, tool: str = "") -> str:
        """The fingerprint of judging this program for this problem on this target: 64 hexadecimal digits.

        `tool` is the fingerprint of the target's tool for a language that needs more than its C++ compiler.
        """
        program = submission.code or "", submission.sources, submission.outputs, submission.refused
        compiler = target.toolchain.fingerprint
        where = target.profile, target.isolation, compiler, target.has_own_scripts, target.narrowed, target.outer_filter
        key = program, submission.language, self.of_problem(problem), where, tool
        fingerprint = self._found.get(key)
        if fingerprint is None:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
                self._problems.clear()
            code, *others = program
            is_compiled = isinstance(rules_of(submission.language), CompiledLanguage)
            interpreted_by = [] if is_compiled else [self._python, harness_digest()]
            rules = (rules_digest(), self._policy, _judges_digest(target), interpreted_by)
            fingerprint = digest_of([code.encode("utf-8", "surrogatepass"), others, rules, *key[1:]])
            if submission.size <= _SMALL:
                self._found[key] = fingerprint
        return fingerprint

    def of_problem(self, problem: Problem) -> str:
        """`problem_digest`, computed once for each object. Problems are not kept: their tests may be in memory."""
        known = self._problems.get(id(problem))
        if known is None or known[0]() is not problem:  # Python reuses the id() of a problem that is gone
            known = self._problems[id(problem)] = (weakref.ref(problem), problem_digest(problem))
        return known[1]


def problem_digest(problem: Problem) -> str:
    """A hash of everything about a problem that can change an outcome: all except title, day and notes."""
    names = {field.name for field in fields(problem)} - {"name", "day", "notes"}
    return digest_of({name: getattr(problem, name) for name in names})


def _judges_digest(target: Target) -> str:
    """A hash of our programs that judge in the box or decide what it shows; empty if the target's own scripts judge."""
    if target.has_own_scripts:
        return ""
    return runner_meaning_digest() + _hash([script_meaning(boxfiles.read("compiler_files"))])


@lru_cache(maxsize=1)
def runner_meaning_digest() -> str:
    """A hash of the runner's meaning."""
    return _hash([cpp_meaning(boxfiles.runner_source())])


@lru_cache(maxsize=1)
def harness_digest() -> str:
    """A hash of the harness's meaning."""
    parts = boxfiles.harness_sources().items()
    return _hash(part for name, source in parts for part in (name.encode(), python_meaning(source)))


@lru_cache
def rules_digest(package: Path = Path(__file__).parent) -> str:
    """A hash of the modules that decide outcomes on our side of the box."""
    paths = [package / name for name in _RULES]
    modules = (module for path in paths for module in (sorted(path.glob("*.py")) if path.is_dir() else [path]))
    return _hash(python_meaning(module.read_bytes()) for module in modules)


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


_PYTHON = re.compile(
    rb"""(?P<token>"{3}(?:\\.|(?!"{3})[^\\])*"{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<blank>[ \t]*(?:\#[^\n]*)?\n                                             # the end of a line, and all lines
    (?:[ \t]*(?:\#[^\n]*|"{3}(?:\\.|(?!"{3})[^\\])*"{3}[ \t]*)?\n)*)             # of comments and docstrings after it
    """,
    re.DOTALL | re.VERBOSE,
)


def python_meaning(source: bytes) -> bytes:
    """A module's meaning: its text without comments, docstrings and blank lines. A text in three double quotes on lines
    of its own is a docstring: our modules have no other text there."""
    return _PYTHON.sub(lambda match: match["token"] or b"\n", b"\n" + source + b"\n")


_CPP = re.compile(
    rb"""(?P<token>(?:u8|[uUL])?R"(?P<ends>[^()\\\s]*)\(.*?\)(?P=ends)"  # raw texts, which may hold anything
    |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'                             # texts and characters
    |\d(?:'?[\w.])*|[A-Za-z_]\w*)                                     # 1'000: no character literal begins there
    |(?P<blank>(?:\s|//[^\n]*|/\*.*?\*/)+)""",
    re.DOTALL | re.VERBOSE,
)


def cpp_meaning(source: bytes) -> bytes:
    """A C++ file's meaning: its text without comments, each run of blanks as a newline if it has one, else a blank."""

    def replacement(match: re.Match[bytes]) -> bytes:
        blank = match["blank"]
        return match["token"] if blank is None else b"\n" if b"\n" in blank else b" "

    return _CPP.sub(replacement, source.replace(b"\\\n", b"")).strip()


def script_meaning(source: bytes) -> bytes:
    """A shell script's meaning: its text without comment lines, blank lines and indentation."""
    lines = (line.strip() for line in source.split(b"\n"))
    return b"\n".join(line for line in lines if line and not line.startswith(b"#"))


def digest_of(value: object) -> str:
    """A hash of a value. Where bytes are stored does not matter: in memory and as a blob they have the same hash."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
    return hashlib.sha256(orjson.dumps(value, default=_plain, option=options)).hexdigest()


def _plain(value: object) -> object:
    """A value of a type that JSON lacks, in plain types: bytes and blobs are replaced by their hash."""
    if isinstance(value, bytes):
        return {"sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, Blob):
        return {"sha256": value.sha256}
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):  # the class counts too: it may say how a submission is run
        return {"": type(value).__name__, **{field.name: getattr(value, field.name) for field in fields(value)}}
    raise TypeError(f"{type(value).__name__} has no place in a fingerprint")
