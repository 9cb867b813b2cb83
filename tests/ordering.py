"""Which files of tests take long: processes that share the tests begin with these, so that none is late alone."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent

LONGEST = (
    "attacks/test_attacks.py",
    "fidelity/test_loaded.py",
    "scorer/test_precompiled_headers.py",
    "cli/test_demo.py",
    "apps/test_repetitions.py",
    "cli/test_show.py",
    "faults/test_misconfigured_workers.py",
    "faults/test_cluster_faults.py",
    "faults/test_cluster_workers.py",
    "cli/test_apps_score.py",
    "compat/test_coming_from_eval_protocol.py",
    "compat/test_coming_from_mcpbr.py",
    "sample/test_sample_solutions.py",
    "faults/test_cluster_commands.py",
    "cli/test_score.py",
    "contract/test_contract_verdicts.py",
    "cli/test_run_tests.py",
    "rows/test_large_rows.py",
    "test_readme.py",
    "test_coming_from.py",
    "fidelity/test_determinism.py",
    "sample/test_sample_dump.py",
    "cli/test_time_scale.py",
    "pipeline/test_edited_journal.py",
    "scorer/test_many_targets.py",
    "cli/test_output_files.py",
    "cli/test_validate_command.py",
    "cli/test_apps_explain.py",
    "test_scorer.py",
    "cli/test_killed_and_grown.py",
    "piston/test_piston_package.py",
    "graders/test_runner_communication.py",
    "graders/test_runner_limits.py",
    "cli/test_score_out.py",
    "fidelity/test_tokens.py",
    "apps/test_execution.py",
)
"""The longest first."""


def rank(path: Path) -> int:
    """When the tests of a file have their turn; all that are not listed have the same."""
    name = path.relative_to(TESTS).as_posix()
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)
