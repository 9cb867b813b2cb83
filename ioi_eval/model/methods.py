"""How a submission is run on a test: a class for each task type, with its parameters.

    Batch, TwoSteps, OutputOnly, BatchAndOutput    `check` judges the output
    Communication, Interactive                     `manager` talks to the program and judges it, unless `check` judges
                                                   afterwards what the manager has written

The names are those of CMS's task types, except Interactive. `RunMethod` is one of them; a `match` over it ends with
`assert_never`, so that mypy names each place where a new class is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from ioi_eval.model.checks import WHITE_DIFF, JudgeProgram, OutputCheck
from ioi_eval.model.terms import ProcessIO, TaskType


class _Method:
    """The values of task types that have no such parameter."""

    __slots__ = ()

    task_type: ClassVar[TaskType]

    @property
    def processes(self) -> int:
        """How many processes of the submission run at once."""
        return 1

    @property
    def passes(self) -> int:
        """How often the program may run on one test."""
        return 1

    @property
    def input_file(self) -> str:
        """The file that the program reads in its working directory; empty for stdin."""
        return ""

    @property
    def output_file(self) -> str:
        """The file that it writes there; empty for stdout."""
        return ""

    @property
    def output_tests(self) -> tuple[str, ...]:
        """The tests for which a submission may contain the output itself."""
        return ()

    @property
    def output_only_tests(self) -> tuple[str, ...]:
        """Those of `output_tests` for which no program is run."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _WithoutManager(_Method):
    """The program runs, then `check` judges its output."""

    check: OutputCheck = WHITE_DIFF

    @property
    def manager(self) -> None:
        """No judge program runs beside the submission."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(_WithoutManager):
    """The program runs once.

    Args:
        input_file, output_file: names of the files in its working directory; empty for stdin and stdout.
        passes: how often a kattis checker may let it run on one test, each time on an input that the checker wrote.
    """

    task_type = TaskType.BATCH

    input_file: str = ""
    output_file: str = ""
    passes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAndOutput(_WithoutManager):
    """As Batch, but for some tests a submission may contain the output itself (`output_tests`)."""

    task_type = TaskType.BATCH_AND_OUTPUT

    input_file: str = ""
    output_file: str = ""
    output_tests: tuple[str, ...] = ()
    output_only_tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOnly(_WithoutManager):
    """No program runs: a submission is an output for each test."""

    task_type = TaskType.OUTPUT_ONLY

    output_tests: tuple[str, ...] = ()

    @property
    def output_only_tests(self) -> tuple[str, ...]:
        """All of them."""
        return self.output_tests


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSteps(_WithoutManager):
    """The program runs as two processes, of which the second reads what the first sends."""

    task_type = TaskType.TWO_STEPS

    @property
    def processes(self) -> int:
        """Both."""
        return 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Communication(_Method):
    """The manager talks to the program's processes through FIFOs, and gives the score.

    Args:
        manager: the manager; its protocol is `cms`.
        processes: how many processes run at once.
        process_io: how they get their FIFOs.
        check: a checker that judges what the manager printed; `None` if the manager decides.
    """

    task_type = TaskType.COMMUNICATION

    manager: JudgeProgram
    processes: int = 1
    process_io: ProcessIO = ProcessIO.STD_IO
    check: JudgeProgram | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactive(_Method):
    """The interactor is connected to the program's stdin and stdout, as in Kattis and testlib, and gives the score.

    Args:
        manager: the interactor; its protocol is `kattis` or `testlib`.
        check: a checker that judges the file that the interactor wrote; `None` if the interactor decides.
    """

    task_type = TaskType.INTERACTIVE

    manager: JudgeProgram
    check: JudgeProgram | None = None

    @property
    def process_io(self) -> ProcessIO:
        """Its own stdin and stdout."""
        return ProcessIO.STD_IO


RunMethod: TypeAlias = Batch | BatchAndOutput | OutputOnly | TwoSteps | Communication | Interactive
