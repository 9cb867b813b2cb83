"""`ioi-eval doctor`."""

from __future__ import annotations

from typing import Annotated

from ioi_eval.cli.endpoints import RequestsPerEndpoint
from ioi_eval.cli.grouped import option
from ioi_eval.errors import InputError

Endpoints = Annotated[
    str | None,
    option(
        "--endpoints E", "Examine Piston workers, not this machine: URLs with commas between them, file:PATH, or slurm."
    ),
]


def doctor(
    *,
    endpoints: Endpoints = None,
    max_requests_per_endpoint: RequestsPerEndpoint = None,
    calibrate: Annotated[
        bool, option("--calibrate", "Measure how fast this machine is, for --time-scale auto; takes 20 s.")
    ] = False,
) -> int:
    """Test whether this machine, or a cluster, can judge.

    It tests which isolation the machine, or each worker of a cluster, can give, and says what to do if any is missing.
    Exit code 2 if nothing can be judged here (or on any worker), or if the machine is too busy to be calibrated; 1 if
    some workers cannot judge.
    """
    if endpoints is None and max_requests_per_endpoint is not None:
        raise InputError("--max-requests-per-endpoint is for Piston workers, and none is named; add --endpoints")
    if calibrate and endpoints is not None:
        raise InputError("--calibrate measures this machine, and --endpoints names others: leave out one of them")
    from ioi_eval.cli import examining

    if calibrate:
        return examining.calibrate()
    if endpoints is None:
        return examining.examine_machine()
    return examining.examine_cluster(endpoints, max_requests_per_endpoint)
