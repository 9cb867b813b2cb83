"""The least limits with which correct programs do not fail, on this machine and on the workers of a cluster alike."""

from __future__ import annotations

from ioi_eval.config import MIB

LEAST_STACK_BYTES = 64 * MIB
"""Recursion over a path of 10^6 vertices takes about as much. Official judges set no limit. The runner checks this and
the size of files in each job. Source: CMS (isolate); graders/runner/numbers.h, kLeastStackBytes."""

LEAST_FILE_BYTES = 64 * MIB + 256 * MIB
"""More than an output that is OLE. With less, a correct program with a long output would be OLE, and one with large
tables CE. Source: `Policy.output_bytes`; graders/runner/numbers.h, kFileSlackBytes, kLeastFileBytes."""

LEAST_CPU_S = 62
"""Compiling a checker may take this. Source: graders/runner/processes.h; `jobs/compile.py`, _TRUSTED_TIME_FACTOR."""
