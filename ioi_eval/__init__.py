"""Scores programs written for competitive-programming problems.

    async with LocalSandbox() as sandbox:
        result = await score_submission(sandbox, problem, submission)

The names here are the public interface. They are imported when they are first used, so that importing the package
costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ioi_eval.version import __version__

if TYPE_CHECKING:
    from ioi_eval import sample
    from ioi_eval.artifacts import ArtifactStore
    from ioi_eval.blobs import BlobStore
    from ioi_eval.config import Policy
    from ioi_eval.errors import IoiEvalError
    from ioi_eval.kept_programs import KeptPrograms
    from ioi_eval.model import (
        Batch,
        BatchAndOutput,
        CheckerProtocol,
        Communication,
        Interactive,
        Isolation,
        JudgeProgram,
        Language,
        OutputOnly,
        Problem,
        ProblemKey,
        ProcessIO,
        ScoreType,
        SourceFile,
        Submission,
        SubmissionResult,
        Subtask,
        SubtaskResult,
        TestCase,
        TestOutcome,
        Tokens,
        TwoSteps,
        Verdict,
        WhiteDiff,
    )
    from ioi_eval.problems.ioi import load_problems
    from ioi_eval.problems.submissions import submission_from_row
    from ioi_eval.report.frame import load_results
    from ioi_eval.rows import open_source
    from ioi_eval.sandbox.local.sandbox import LocalSandbox
    from ioi_eval.sandbox.piston.cluster import PistonCluster
    from ioi_eval.scorer import Scorer, score_submission
    from ioi_eval.scorer.one_test import run_submission

_MODULES = {
    "ArtifactStore": "ioi_eval.artifacts",
    "Batch": "ioi_eval.model",
    "BatchAndOutput": "ioi_eval.model",
    "BlobStore": "ioi_eval.blobs",
    "CheckerProtocol": "ioi_eval.model",
    "Communication": "ioi_eval.model",
    "Interactive": "ioi_eval.model",
    "IoiEvalError": "ioi_eval.errors",
    "Isolation": "ioi_eval.model",
    "JudgeProgram": "ioi_eval.model",
    "KeptPrograms": "ioi_eval.kept_programs",
    "Language": "ioi_eval.model",
    "LocalSandbox": "ioi_eval.sandbox.local.sandbox",
    "OutputOnly": "ioi_eval.model",
    "PistonCluster": "ioi_eval.sandbox.piston.cluster",
    "Policy": "ioi_eval.config",
    "Problem": "ioi_eval.model",
    "ProblemKey": "ioi_eval.model",
    "ProcessIO": "ioi_eval.model",
    "ScoreType": "ioi_eval.model",
    "Scorer": "ioi_eval.scorer",
    "SourceFile": "ioi_eval.model",
    "Submission": "ioi_eval.model",
    "SubmissionResult": "ioi_eval.model",
    "Subtask": "ioi_eval.model",
    "SubtaskResult": "ioi_eval.model",
    "TestCase": "ioi_eval.model",
    "TestOutcome": "ioi_eval.model",
    "Tokens": "ioi_eval.model",
    "TwoSteps": "ioi_eval.model",
    "Verdict": "ioi_eval.model",
    "WhiteDiff": "ioi_eval.model",
    "load_problems": "ioi_eval.problems.ioi",
    "load_results": "ioi_eval.report.frame",
    "open_source": "ioi_eval.rows",
    "run_submission": "ioi_eval.scorer.one_test",
    "score_submission": "ioi_eval.scorer",
    "submission_from_row": "ioi_eval.problems.submissions",
}

_NAMES_HERE = {
    "PistonClient": "PistonCluster",
    "get_piston_client_from_env": "PistonCluster",
    "score_subtasks": "score_submission",
    "score_subtask": "score_submission",
    "score_single_test_case": "run_submission",
    "TestResult": "TestOutcome",
    "add_includes": "extract.cpp.fix_includes",
    "load_ioi_tests": "load_problems",
    "load_ioi_tests_for_year": "load_problems",
    "get_slurm_piston_endpoints": "PistonCluster",
    "PistonError": "errors.SandboxError",
    "TestsRunner": "pipeline.score_dump",
    "simulate_round_robin": "selection.select",
    "get_problem_scores": "selection.selected_score",
    "parse_datasets_to_evaluate": "rows.named_sources",
}
"""The names in `run_tests` of huggingface/ioi, and the names that they have here."""

_IN_APPS = frozenset(
    {
        *("evaluate_apps_solution", "apps_dataset_to_evaluation_row"),
        *("EvaluateResult", "EvaluationRow", "Message", "MetricResult"),
    }
)
"""Eval Protocol's names, which `ioi_eval.apps` has."""

__all__ = [
    "ArtifactStore",
    "Batch",
    "BatchAndOutput",
    "BlobStore",
    "CheckerProtocol",
    "Communication",
    "Interactive",
    "IoiEvalError",
    "Isolation",
    "JudgeProgram",
    "KeptPrograms",
    "Language",
    "LocalSandbox",
    "OutputOnly",
    "PistonCluster",
    "Policy",
    "Problem",
    "ProblemKey",
    "ProcessIO",
    "ScoreType",
    "Scorer",
    "SourceFile",
    "Submission",
    "SubmissionResult",
    "Subtask",
    "SubtaskResult",
    "TestCase",
    "TestOutcome",
    "Tokens",
    "TwoSteps",
    "Verdict",
    "WhiteDiff",
    "__version__",
    "load_problems",
    "load_results",
    "open_source",
    "run_submission",
    "sample",
    "score_submission",
    "submission_from_row",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name == "sample":
        return import_module("ioi_eval.sample")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in _NAMES_HERE:  # not an AttributeError: `from ioi_eval import …` would not show its message
        raise ImportError(f"ioi_eval has no {name}; what huggingface/ioi calls so is ioi_eval.{_NAMES_HERE[name]} here")
    if name in _IN_APPS:
        raise ImportError(f"ioi_eval has no {name}; it is in ioi_eval.apps: from ioi_eval.apps import {name}")
    raise AttributeError(f"module 'ioi_eval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
