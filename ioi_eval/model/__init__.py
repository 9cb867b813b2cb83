"""The domain's values. Immutable, without behaviour beyond derived properties, and known to every layer.

The files, in the order in which a submission meets them: `terms` (the enumerations), `problem` (problems and
submissions; `apps` for those of APPS), `job` (what a sandbox gets and returns), `outcome` (results). Units are in the
names.
"""

from ioi_eval.model.job import (
    Execution,
    Job,
    JobFile,
    JobKind,
    ProblemPackage,
    Retries,
    Stage,
    StageLimits,
    signal_name,
)
from ioi_eval.model.outcome import (
    CompileOutcome,
    HarnessReport,
    JudgedResult,
    RunDetails,
    SubmissionResult,
    SubtaskResult,
    TestOutcome,
)
from ioi_eval.model.problem import (
    DEFAULT_YEAR,
    Blob,
    Content,
    OutputFile,
    Problem,
    ProblemKey,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
)
from ioi_eval.model.terms import CheckerProtocol, Isolation, Keep, Language, ProcessIO, ScoreType, TaskType, Verdict

__all__ = [
    "DEFAULT_YEAR",
    "Blob",
    "CheckerProtocol",
    "CompileOutcome",
    "Content",
    "Execution",
    "HarnessReport",
    "Isolation",
    "Job",
    "JobFile",
    "JobKind",
    "JudgedResult",
    "Keep",
    "Language",
    "OutputFile",
    "Problem",
    "ProblemKey",
    "ProblemPackage",
    "ProcessIO",
    "Retries",
    "RunDetails",
    "ScoreType",
    "SourceFile",
    "Stage",
    "StageLimits",
    "Submission",
    "SubmissionResult",
    "Subtask",
    "SubtaskResult",
    "TaskType",
    "TestCase",
    "TestOutcome",
    "Verdict",
    "signal_name",
]
