"""What determines an outcome, as one hash: the key of resuming and of judging identical programs once.

Whatever could change a verdict is in it: the program and how it was found, the problem with its tests, judge
programs and limits, the policy, the runner, the compiler, the profile and the isolation. Names of people's files and
the submission's id are not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache

import orjson

from ioi_eval import boxfiles
from ioi_eval.config import Policy
from ioi_eval.model import Blob, Problem, Submission
from ioi_eval.sandbox import Target

RULES = 1
"""Counts the rules of judging themselves: what `jobs`, `judging`, `scores` and `toolchain` do. Raise it with every
change of theirs that can change an outcome; `tests/test_fingerprint.py` holds the digests and reminds you."""


class Fingerprints:
    """Makes fingerprints under one policy; a problem's own hash is computed once.

    Args:
        policy: how submissions are judged.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = digest_of(policy.as_dict())
        self._problems: dict[int, tuple[Problem, str]] = {}

    def of(self, problem: Problem, submission: Submission, target: Target) -> str:
        """The fingerprint of judging this program for this problem on this target: 64 hexadecimal digits."""
        known = self._problems.get(id(problem))
        if known is None:
            # the problem is kept beside its hash, so that its id cannot be given to another meanwhile
            known = self._problems[id(problem)] = (problem, problem_digest(problem))
        return digest_of(
            [
                (submission.code or "").encode("utf-8", "surrogatepass"),
                submission.language,
                submission.extraction,
                submission.refused,
                submission.fixes,
                RULES,
                known[1],
                self._policy,
                _judges_digest(target),
                target.toolchain.fingerprint,
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
def _scripts_digest() -> str:
    digest = hashlib.sha256(boxfiles.runner_source())
    for name in ("compile", "run"):
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
