"""The domain's values. Immutable, without behaviour beyond derived properties, and known to every layer.

The files, in the order in which a submission meets them: `terms` (the enumerations), `checks` (how an output is
judged), `methods` (how a submission is run), `problem` (problems and submissions; `apps` for those of APPS), `job`
(what a sandbox gets and returns), `outcome` (results). Units are in the names.
"""

from ioi_eval.model.checks import JudgedByClient, JudgeProgram, OutputCheck, SourceFile, Tokens, WhiteDiff
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
from ioi_eval.model.methods import (
    Batch,
    BatchAndOutput,
    Communication,
    Interactive,
    OutputOnly,
    RunMethod,
    TwoSteps,
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
    RunRules,
    Submission,
    Subtask,
    TestCase,
)
from ioi_eval.model.terms import CheckerProtocol, Isolation, Keep, Language, ProcessIO, ScoreType, TaskType, Verdict

__all__ = [
    "DEFAULT_YEAR",
    "Batch",
    "BatchAndOutput",
    "Blob",
    "CheckerProtocol",
    "Communication",
    "CompileOutcome",
    "Content",
    "Execution",
    "HarnessReport",
    "Interactive",
    "Isolation",
    "Job",
    "JobFile",
    "JobKind",
    "JudgeProgram",
    "JudgedByClient",
    "JudgedResult",
    "Keep",
    "Language",
    "OutputCheck",
    "OutputFile",
    "OutputOnly",
    "Problem",
    "ProblemKey",
    "ProblemPackage",
    "ProcessIO",
    "Retries",
    "RunDetails",
    "RunMethod",
    "RunRules",
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
    "Tokens",
    "TwoSteps",
    "Verdict",
    "WhiteDiff",
    "signal_name",
]
