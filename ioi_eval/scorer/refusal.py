"""Which targets may judge submissions to a contest problem. Pure."""

from __future__ import annotations

from ioi_eval.config import Policy
from ioi_eval.jobs import classic
from ioi_eval.model import Problem
from ioi_eval.sandbox import Target


def refusal(target: Target, problem: Problem, policy: Policy) -> str | None:
    """Why a target may not judge submissions to a problem under a policy; `None` if it may."""
    if target.isolation.rank < policy.isolation.rank:
        return (
            f"{target.name} offers isolation {target.isolation.value!r}, and {policy.isolation.value!r} is asked for: "
            "install the ioi_eval package on its workers, or accept less with --isolation"
        )
    if not target.brings_pair:
        return None
    problem = classic.to_standard(problem, policy.std)
    reason = next(filter(None, (classic.refusal(problem, case) for case in problem.tests.values())), None)
    return reason and f"{target.name} cannot judge {problem.key}: {reason}; use the bundled profile"
