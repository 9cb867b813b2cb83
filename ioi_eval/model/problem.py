"""What is asked: problems and submissions. Points and scores are unrounded unless a name says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ioi_eval.model.terms import CheckerProtocol, Language, ProcessIO, ScoreType, TaskType


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Bytes on disk, by reference. The file never changes while it is referred to.

    Args:
        path: where the bytes are.
        size: how many they are.
        sha256: their hash, hexadecimal.
    """

    path: Path
    size: int
    sha256: str


Content = bytes | Blob


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One of a problem's own files, by its path as the row gives it (`graders/nile.h`)."""

    path: str
    content: bytes

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """One test.

    Args:
        name: its name in the subtasks.
        input: what the submission reads.
        answer: the official output; `None` where the package has none.
        checker_args: further arguments of the checker on this test, after the problem's.
        full_score: what full marks are in the units in which a kattis checker or interactor gives its scores.
        score_steps: a score is rounded down to a multiple of 1 / `score_steps`; 0 for none.
    """

    __test__ = False  # not a test class, whatever pytest thinks of the name

    name: str
    input: Content
    answer: Content | None
    checker_args: tuple[str, ...] = ()
    full_score: int = 1
    score_steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtask:
    """A group of tests that is worth `points` times what the problem's score type makes of their scores.

    `tests` is in listed order, never empty, without repetition. `threshold` is for GroupThreshold only.
    """

    name: str
    points: float
    tests: tuple[str, ...]
    threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemKey:
    """What names a problem. Ids repeat over the years."""

    year: int
    id: str

    def __str__(self) -> str:
        return f"{self.year}/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem, ready to be judged.

    Args:
        key: year and id.
        name: its title.
        day: the contest day as the row gives it; `None` if unknown.
        task_type: how a submission meets its tests.
        time_limit_s: CPU seconds, all processes of a submission together.
        time_scale: what the official limit was multiplied with to give this one, for a slower or faster machine.
        memory_limit_bytes: peak resident bytes a process.
        output_limit_bytes: of what the submission may print; `None` for the policy's.
        code_limit_bytes: of the submission's source files together; `None` for that of the IOI's server, of each file.
        score_type: what a subtask makes of the scores of its tests.
        score_precision: decimals of a subtask's rounded points.
        subtasks: in the contest's order.
        tests: by name; every name that a subtask lists is there.
        linked: what a submission is linked with (grader or stub): a source for each language that the task allows; a
            Python one is the program that is started, and imports the submission.
        headers: what the submission may include.
        source_name: what a submission of one file is called, without its ending: a grader in Python imports it by that;
            the id, in lower case, if empty.
        checker: the program that judges an output; `None` for white-diff or when the manager decides.
        checker_files: what the checker's source may include.
        checker_protocol: how checker or manager tell the score.
        passes: how often a checker of kattis may have a program run on one test, each time on an input of its making.
        checker_args: further arguments of the checker, after its three files (Kattis: `validator_flags`).
        manager: the program that talks to the submission's processes; for an Interactive task the interactor.
        manager_protocol: how the manager is started and tells the score; `cms` but for Interactive tasks.
        manager_files: what the manager's source may include.
        manager_args: further arguments of the manager, after the FIFOs; of an interactor, after its files.
        checker_after_manager: the manager's stdout, or the file that an interactor wrote, is what the checker judges.
        input_file: under this name the submission finds its input in its working directory; empty for stdin (Batch).
        output_file: into the file of this name it writes its output; empty for stdout (Batch).
        output_tests: the tests for which a submission may hold the output instead of a program that makes it.
        output_only_tests: those of them for which no program is run.
        processes: how many processes of the submission run at once (Communication).
        process_io: how they get their FIFOs.
        cxx_std: the C++ standard (`gnu++17`).
        notes: what the reader mended or noticed, for the results (`final newline added to 3 tests`).
    """

    key: ProblemKey
    name: str
    day: str | None = None
    task_type: TaskType
    time_limit_s: float
    time_scale: float = 1.0
    memory_limit_bytes: int
    output_limit_bytes: int | None = None
    code_limit_bytes: int | None = None
    score_type: ScoreType = ScoreType.GROUP_MIN
    score_precision: int = 2
    subtasks: tuple[Subtask, ...]
    tests: Mapping[str, TestCase]
    linked: tuple[SourceFile, ...] = ()
    headers: tuple[SourceFile, ...] = ()
    source_name: str = ""
    checker: SourceFile | None = None
    checker_files: tuple[SourceFile, ...] = ()
    checker_protocol: CheckerProtocol = CheckerProtocol.CMS
    checker_args: tuple[str, ...] = ()
    passes: int = 1
    manager: SourceFile | None = None
    manager_files: tuple[SourceFile, ...] = ()
    manager_protocol: CheckerProtocol = CheckerProtocol.CMS
    manager_args: tuple[str, ...] = ()
    checker_after_manager: bool = False
    input_file: str = ""
    output_file: str = ""
    output_tests: tuple[str, ...] = ()
    output_only_tests: tuple[str, ...] = ()
    processes: int = 1
    process_io: ProcessIO = ProcessIO.STD_IO
    cxx_std: str
    notes: tuple[str, ...] = ()

    def linked_with(self, language: Language) -> tuple[SourceFile, ...]:
        """What a submission in a language is linked with."""
        return tuple(file for file in self.linked if file.name.endswith(language.endings))


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFile:
    """An output that was submitted in a program's stead, and the test that it is for."""

    test: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One program for one problem, or outputs for some of its tests, or both.

    Args:
        id: its name in the dump (the id column, as text).
        problem: which problem it is for.
        code: the program; `None` where the generation holds none (verdict NC, unless there are outputs).
        sources: its files, where the program has several; `code` is then their texts, one after the other.
        outputs: by the order of the problem's `output_tests`, none twice.
        language: what it is written in.
        extraction: which rule found the code (`fence:cpp`, `column:code`, `none`, …).
        fixes: what was changed in the code before compiling (`includes`), for the results.
        refused: why it is not even compiled (over our limit on its bytes), in words; then `code` is `None` and the
            verdict CE.
    """

    id: str
    problem: ProblemKey
    code: str | None
    sources: tuple[SourceFile, ...] = ()
    outputs: tuple[OutputFile, ...] = ()
    language: Language = Language.CPP
    extraction: str = "column:code"
    fixes: tuple[str, ...] = ()
    refused: str = ""

    def source_files(self, name: str = "") -> tuple[SourceFile, ...]:
        """The program's files. None without a program.

        Args:
            name: of a single one, without its ending; the problem's id if empty.
        """
        if self.sources or self.code is None:
            return self.sources
        path = f"{name or self.problem.id.lower()}{self.language.endings[0]}"
        return (SourceFile(path=path, content=self.code.encode("utf-8", "replace")),)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to judge."""
        return self.code is None and not self.outputs

    @property
    def size(self) -> int:
        """How much there is to judge: characters of the program, bytes of the outputs."""
        return len(self.code or "") + sum(len(output.content) for output in self.outputs)
