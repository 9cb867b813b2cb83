"""What determines an outcome, as one hash: the key of resuming and of judging identical programs once.

Whatever could change a verdict is in it: the program, the problem with its tests, judge programs and limits, the
policy, the runner, the compiler, the profile and the isolation, and the text of the modules that hold the rules.
Names of people's files and the submission's id are not, nor is how the program was found: a program is worth the same
whatever text it stood in.

The modules count by their bytes. A version that changes no more than a comment there judges again what an earlier one
has judged; a number that somebody must remember to raise would, once forgotten, keep wrong scores for ever.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path

import orjson

from ioi_eval import boxfiles
from ioi_eval.config import Policy
from ioi_eval.model import Blob, Language, Problem, Submission
from ioi_eval.sandbox import Target

_RULES = (
    *("compat", "jobs", "model", "scorer"),
    *("interpreters.py", "judging.py", "programs.py", "reductions.py", "scores.py", "toolchain.py"),
    *("apps/bundles.py", "apps/execution.py", "apps/outcomes.py", "apps/running.py", "apps/verdicts.py"),
    *("problems/apps_values.py", "problems/big_json.py", "problems/token_rules.py"),
    *("sandbox/answer.py", "sandbox/confinement.py", "sandbox/scripts.py"),  # what a box holds, and how a stage ended
)


class Fingerprints:
    """Makes fingerprints under one policy; a problem's own hash is computed once.

    Args:
        policy: how submissions are judged.
    """

    def __init__(self, policy: Policy) -> None:
        values = policy.as_dict()
        self._python = values.pop("python")  # says nothing of programs that are compiled
        self._policy = digest_of(values)
        self._problems: dict[int, tuple[Problem, str]] = {}

    def of(self, problem: Problem, submission: Submission, target: Target, *, python: str = "") -> str:
        """The fingerprint of judging this program for this problem on this target: 64 hexadecimal digits.

        Args:
            problem, submission: what is judged.
            target: where.
            python: the fingerprint of its interpreter, which says something of submissions in Python only.
        """
        known = self._problems.get(id(problem))
        if known is None:
            # the problem is kept beside its hash, so that its id cannot be given to another meanwhile
            known = self._problems[id(problem)] = (problem, problem_digest(problem))
        return digest_of(
            [
                (submission.code or "").encode("utf-8", "surrogatepass"),
                submission.sources,
                submission.outputs,
                submission.language,
                submission.refused,
                rules_digest(),
                known[1],
                self._policy,
                _judges_digest(target),
                target.toolchain.fingerprint,
                (self._python, python, harness_digest()) if submission.language is Language.PYTHON else None,
                target.profile,
                target.isolation,
            ]
        )


def problem_digest(problem: Problem) -> str:
    """A hash of everything about a problem that can change an outcome: all but its title and day."""
    return digest_of(
        {
            field.name: getattr(problem, field.name)
            for field in fields(problem)
            if field.name not in ("name", "day", "notes")
        }
    )


def _judges_digest(target: Target) -> str:
    """What of ours judges in the box: the runner, and in the classic profile our scripts, or none of it."""
    if target.profile != "classic":
        return runner_digest()
    return "" if target.brings_pair else _scripts_digest()


@lru_cache(maxsize=1)
def runner_digest() -> str:
    """A hash of the runner as it travels."""
    return hashlib.sha256(boxfiles.runner_source()).hexdigest()


@lru_cache(maxsize=1)
def harness_digest() -> str:
    """A hash of what runs programs in Python in the box, as it travels."""
    return hashlib.sha256(boxfiles.harness_archive()).hexdigest()


def rules_digest() -> str:
    """A hash of the modules that decide outcomes on our side of the box."""
    return digest_of_modules(Path(__file__).parent)


@lru_cache
def digest_of_modules(package: Path) -> str:
    """`rules_digest` of the package in that directory."""
    digest = hashlib.sha256()
    for name in _RULES:
        path = package / name
        for module in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(hashlib.sha256(module.read_bytes()).digest())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _scripts_digest() -> str:
    digest = hashlib.sha256(boxfiles.runner_source())
    for name in ("compile", "run", "stages.cpp"):
        digest.update(boxfiles.read(name))
    return digest.hexdigest()


def digest_of(value: object) -> str:
    """A hash of a value: of its meaning, not of how it is kept."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
    return hashlib.sha256(orjson.dumps(value, default=_plain, option=options)).hexdigest()


def _plain(value: object) -> object:
    """What JSON cannot hold: bytes stand for themselves by their hash, as blobs do."""
    if isinstance(value, bytes):
        return {"sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, Blob):
        return {"sha256": value.sha256}
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no place in a fingerprint")
