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
    from ioi_eval import sample as sample
    from ioi_eval.artifacts import ArtifactStore as ArtifactStore
    from ioi_eval.blobs import BlobStore as BlobStore
    from ioi_eval.config import Policy as Policy
    from ioi_eval.errors import IoiEvalError as IoiEvalError
    from ioi_eval.kept_programs import KeptPrograms as KeptPrograms
    from ioi_eval.model import Batch as Batch
    from ioi_eval.model import BatchAndOutput as BatchAndOutput
    from ioi_eval.model import CheckerProtocol as CheckerProtocol
    from ioi_eval.model import Communication as Communication
    from ioi_eval.model import Interactive as Interactive
    from ioi_eval.model import Isolation as Isolation
    from ioi_eval.model import JudgeProgram as JudgeProgram
    from ioi_eval.model import Language as Language
    from ioi_eval.model import OutputOnly as OutputOnly
    from ioi_eval.model import Problem as Problem
    from ioi_eval.model import ProblemKey as ProblemKey
    from ioi_eval.model import ProcessIO as ProcessIO
    from ioi_eval.model import ScoreType as ScoreType
    from ioi_eval.model import SourceFile as SourceFile
    from ioi_eval.model import Submission as Submission
    from ioi_eval.model import SubmissionResult as SubmissionResult
    from ioi_eval.model import Subtask as Subtask
    from ioi_eval.model import SubtaskResult as SubtaskResult
    from ioi_eval.model import TestCase as TestCase
    from ioi_eval.model import TestOutcome as TestOutcome
    from ioi_eval.model import Tokens as Tokens
    from ioi_eval.model import TwoSteps as TwoSteps
    from ioi_eval.model import Verdict as Verdict
    from ioi_eval.model import WhiteDiff as WhiteDiff
    from ioi_eval.problems.ioi import load_problems as load_problems
    from ioi_eval.problems.submissions import submission_from_row as submission_from_row
    from ioi_eval.report.result_files import load_results as load_results
    from ioi_eval.rows import open_source as open_source
    from ioi_eval.sandbox.local.sandbox import LocalSandbox as LocalSandbox
    from ioi_eval.sandbox.piston.cluster import PistonCluster as PistonCluster
    from ioi_eval.scorer import Scorer as Scorer
    from ioi_eval.scorer import score_submission as score_submission
    from ioi_eval.scorer.one_test import run_submission as run_submission

_MODULES = {
    "ioi_eval.artifacts": ("ArtifactStore",),
    "ioi_eval.blobs": ("BlobStore",),
    "ioi_eval.config": ("Policy",),
    "ioi_eval.errors": ("IoiEvalError",),
    "ioi_eval.kept_programs": ("KeptPrograms",),
    "ioi_eval.model": (
        *("Batch", "BatchAndOutput", "CheckerProtocol", "Communication", "Interactive", "Isolation"),
        *("JudgeProgram", "Language", "OutputOnly", "Problem", "ProblemKey", "ProcessIO", "ScoreType"),
        *("SourceFile", "Submission", "SubmissionResult", "Subtask", "SubtaskResult", "TestCase"),
        *("TestOutcome", "Tokens", "TwoSteps", "Verdict", "WhiteDiff"),
    ),
    "ioi_eval.problems.ioi": ("load_problems",),
    "ioi_eval.problems.submissions": ("submission_from_row",),
    "ioi_eval.report.result_files": ("load_results",),
    "ioi_eval.rows": ("open_source",),
    "ioi_eval.sandbox.local.sandbox": ("LocalSandbox",),
    "ioi_eval.sandbox.piston.cluster": ("PistonCluster",),
    "ioi_eval.scorer": ("Scorer", "score_submission"),
    "ioi_eval.scorer.one_test": ("run_submission",),
}
"""The public names, by the module that has them."""

_HOMES = {name: module for module, names in _MODULES.items() for name in names}
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

_IN_APPS = (
    *("evaluate_apps_solution", "apps_dataset_to_evaluation_row"),
    *("EvaluateResult", "EvaluationRow", "Message", "MetricResult"),
)
"""Eval Protocol's names, which `ioi_eval.apps` has."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name == "sample":
        return import_module("ioi_eval.sample")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _NAMES_HERE:  # not an AttributeError: `from ioi_eval import …` would not show its message
        raise ImportError(f"ioi_eval has no {name}; what huggingface/ioi calls so is ioi_eval.{_NAMES_HERE[name]} here")
    if name in _IN_APPS:
        raise ImportError(f"ioi_eval has no {name}; it is in ioi_eval.apps: from ioi_eval.apps import {name}")
    raise AttributeError(f"module 'ioi_eval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
