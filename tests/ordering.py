"""The test files that take longest. Processes that share the tests begin with these, so that none of them runs last."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent

LONGEST = (
    "attacks/test_attacks.py",
    "contract/test_contract_source.py",
    "test_tutorials.py",
    "fidelity/test_loaded.py",
    "attacks/test_survival.py",
    "test_coming_from.py",
    "graders/test_runner_limits.py",
    "sandbox/piston/test_build_jobs.py",
    "cli/test_score.py",
    "test_scorer.py",
    "faults/test_cluster_faults.py",
    "cli/test_demo.py",
    "faults/test_cluster_workers.py",
    "scorer/test_precompiled_headers.py",
    "jobs/test_own_pair.py",
    "faults/test_misconfigured_workers.py",
    "apps/test_execution.py",
    "faults/test_score_faults.py",
    "cli/test_show.py",
    "test_wheel.py",
    "fidelity/test_memory.py",
    "validate/test_time_limit.py",
    "cli/test_run_tests.py",
    "cli/test_push_to_hub.py",
    "contract/test_contract_verdicts.py",
    "graders/test_runner_communication.py",
    "attacks/test_rust.py",
    "sample/test_sample_solutions.py",
    "apps/test_repetitions.py",
    "graders/test_runner_compile.py",
    "test_threads.py",
    "graders/test_runner_build.py",
    "rows/test_kept.py",
    "test_calibration.py",
    "graders_py/test_reference_solutions.py",
    "apps/test_evaluate.py",
    "cli/test_apps_recorded.py",
    "apps/test_python_attacks.py",
    "cli/test_rust_score.py",
    "cli/test_inherited_limits.py",
    "cli/test_apps_score.py",
    "compat/test_coming_from_mcpbr.py",
    "fidelity/test_determinism.py",
    "faults/test_cluster_commands.py",
    "sandbox/piston/test_stored_problems.py",
    "sandbox/serve/test_server_reference_client.py",
    "graders/test_runner_counters.py",
    "sample/test_sample_dump.py",
    "graders/test_runner_units.py",
    "scorer/test_many_targets.py",
    "graders/test_runner_machines.py",
    "jobs/test_own_pair_faults.py",
    "compat/test_coming_from_eval_protocol.py",
    "cli/test_time_scale.py",
    "test_readme.py",
    "piston/test_piston_package.py",
    "attacks/test_libraries.py",
    "rows/test_large_rows.py",
    "pipeline/test_edited_journal.py",
    "cli/test_output_files.py",
    "cli/test_validate_command.py",
    "cli/test_apps_explain.py",
    "cli/test_killed_and_grown.py",
    "cli/test_score_out.py",
    "fidelity/test_tokens.py",
)
"""The longest first, by the CPU time that their tests took."""


def rank(path: Path) -> int:
    """The position of a file in the order. All files that are not listed have the same rank."""
    name = path.relative_to(TESTS).as_posix()
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)
