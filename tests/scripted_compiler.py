"""A sandbox with prepared answers, and what the compiler of its only target may answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from ioi_eval.model import Execution, Job, JudgeProgram, SourceFile, Stage
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Target
from tests.box_answers import step_answer
from tests.small_targets import small_target

TARGET = small_target(name="here")
Answer = Stage | Exception | Callable[[Job], Stage]


class Scripted:
    """A sandbox that gives prepared answers. The last one is repeated."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.asked = answers, 0

    def targets(self) -> Sequence[Target]:
        """One target."""
        return (TARGET,)

    async def execute(self, job: Job, _: Target) -> Execution:
        """The next answer, in the order of the calls. The event loop runs other tasks first."""
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return Execution(run=answer if isinstance(answer, Stage) else answer(job))


CHECKER = SourceFile(path="checker/checker.cpp", content=b"int main() {}\n")
NO: dict[str, Any] = {"code": 1, "output": "g++: error: unrecognized command-line option '-std=gnu++29'"}


GOOD, CHECKED = step_answer("good"), step_answer("checker")


async def ask(builder: Builder, source: SourceFile = CHECKER) -> None:
    """Request a checker that is compiled to a standard which the compiler may not know."""
    await builder.judge_program("checker", JudgeProgram(source=source), TARGET, std="gnu++29")
