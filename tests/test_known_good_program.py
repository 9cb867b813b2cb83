"""The check of the compiler, by a program that is known to be good, before a compile error counts."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import LocalSandbox
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SetupError, TransientError, UnsuitableError
from ioi_eval.model import Isolation, Job, SourceFile, Stage
from ioi_eval.programs import Builder, ProblemProgramError
from ioi_eval.sandbox import Target
from tests.box_answers import built, not_started, plan_of, step_answer
from tests.scripted_compiler import CHECKED, GOOD, NO, TARGET, Answer, Scripted, ask


@pytest.mark.parametrize(
    "unsure",
    [
        step_answer(code=0, signal=9, limit="wall"),
        step_answer(code=1, killed=9),
        step_answer(code=0),
        step_answer(code=1, output="g++: fatal error: Killed signal terminated program cc1plus"),
        step_answer(code=1, output="fatal error: error writing to /tmp/x.s: No space left on device"),
    ],
)
def test_an_unfinished_compilation_decides_nothing(tmp_path: Path, unsure: Answer) -> None:
    """It is no evidence on the program or the standard. The error is transient, and the next caller compiles again."""

    async def scenario() -> None:
        builder = Builder(Scripted(built, step_answer(**NO), unsure, CHECKED), ArtifactStore(tmp_path), Policy())
        with pytest.raises(TransientError):
            await ask(builder)
        await ask(builder)

    asyncio.run(scenario())


@pytest.mark.parametrize("words", ["Cannot allocate memory", "Resource temporarily unavailable"])
def test_a_box_without_resources_decides_nothing(tmp_path: Path, words: str) -> None:
    """The compiler is taken neither for broken nor for too old."""
    sandbox = Scripted(built, not_started(words))
    with pytest.raises(TransientError, match=words):
        asyncio.run(ask(Builder(sandbox, ArtifactStore(tmp_path), Policy())))


def test_a_standard_is_unknown_only_if_the_compiler_says_so(tmp_path: Path) -> None:
    """Then this target is unsuitable for the whole run, and no caller compiles again. `--std`, which does not apply to
    checkers, is not advised.
    """

    async def scenario() -> None:
        sandbox = Scripted(built, step_answer(**NO), step_answer(**NO), GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for _ in range(2):
            words = (
                r"does not know -std=gnu\+\+29, which the problem's checker needs; .* another cxx_std in the .* row$"
            )
            with pytest.raises(UnsuitableError, match=words):
                await ask(builder)
            assert sandbox.asked == 4

    asyncio.run(scenario())


@pytest.mark.parametrize("name", ["checker.c", "build"])
def test_an_unknown_standard_does_not_concern_other_checkers(tmp_path: Path, name: str) -> None:
    """One in C has a standard of C, and a build script names its own."""

    async def scenario() -> None:
        sandbox = Scripted(built, step_answer(**NO), step_answer(**NO), GOOD, CHECKED)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        with pytest.raises(UnsuitableError):
            await ask(builder)
        await ask(builder, SourceFile(path=f"checker/{name}", content=b"int main() {}\n"))

    asyncio.run(scenario())


def test_an_error_of_a_checker_in_c_is_no_unknown_standard(tmp_path: Path) -> None:
    """The known good program is compiled as C too, before the error counts."""

    def compiles_c(job: Job) -> Stage:
        assert "-std=gnu17" in plan_of(job)
        return GOOD(job)

    source = SourceFile(path="checker/checker.c", content=b"int main(\n")
    sandbox = Scripted(built, step_answer(code=1, output="checker.c:1:1: error: no"), compiles_c)
    with pytest.raises(ProblemProgramError, match=r"checker does not compile: checker\.c:1:1: error: no"):
        asyncio.run(ask(Builder(sandbox, ArtifactStore(tmp_path), Policy()), source))


@pytest.mark.parametrize("answer", [step_answer(**NO), not_started("No such file or directory")])
def test_a_compiler_that_refuses_everything_is_a_setup_error(tmp_path: Path, answer: Answer) -> None:
    """It refuses the known good program, or it does not exist in the box."""
    with pytest.raises(SetupError, match="does not work inside a box"):
        asyncio.run(ask(Builder(Scripted(built, answer), ArtifactStore(tmp_path), Policy())))


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.REDUCED])
def test_a_compiler_that_boxes_hide_is_named_with_the_directory(tmp_path: Path, isolation: Isolation) -> None:
    """The advice for wrappers would mislead the user. Under reduced isolation nothing is hidden."""
    toolchain = replace(TARGET.toolchain, command="/tmp/gcc/bin/g++")
    target = replace(TARGET, toolchain=toolchain, isolation=isolation)
    builder = Builder(Scripted(built, not_started("No such file or directory")), ArtifactStore(tmp_path), Policy())
    words = "every box has a /tmp of its own.*such as in /opt" if isolation is Isolation.FULL else "so a wrapper"
    with pytest.raises(SetupError, match=f"the compiler /tmp/gcc/bin/g\\+\\+ does not work inside a box.*{words}"):
        asyncio.run(builder.checks.require_working_compiler("gnu++17", target))


def test_after_no_space_left_the_known_good_program_is_compiled_again(tmp_path: Path) -> None:
    """Its earlier success says nothing about the disk now. It is compiled again if the message blames the machine."""
    full = "ld: final link failed: No space left on device"

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, GOOD, step_answer(code=1, output=full))
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for words in ("x.cpp:1:1: error: no", "", full):
            await builder.checks.require_working_compiler("gnu++17", TARGET, message=words)
        assert sandbox.asked == 3
        with pytest.raises(TransientError, match="No space left"):
            await builder.checks.require_working_compiler("gnu++17", TARGET, message=full)

    asyncio.run(scenario())


def reads_headers(job: Job) -> Stage:
    """A compiler that reads large headers instead of compiling them, and compiles the rest."""
    assert re.search(r"^step .* argv=-E argv=headers.cpp ", plan_of(job), re.MULTILINE)
    return GOOD(job)


def compiles_headers(job: Job) -> Stage:
    """A compiler that compiles the whole known good program."""
    assert "argv=-E" not in plan_of(job)
    return GOOD(job)


@pytest.mark.parametrize(
    ("changed", "later"),
    [
        ({}, [reads_headers]),
        ({"is_remote": True}, [compiles_headers]),
        ({"toolchain": replace(TARGET.toolchain, version="another")}, [built, compiles_headers]),
    ],
)
def test_a_later_run_only_reads_the_large_headers_of_the_known_good_program(
    tmp_path: Path, changed: dict[str, Any], later: list[Answer]
) -> None:
    """If an earlier one compiled the program on this machine, with the same compiler."""

    async def run(answers: list[Answer], target: Target) -> None:
        builder = Builder(Scripted(*answers), ArtifactStore(tmp_path), Policy())
        await builder.checks.require_working_compiler("gnu++17", target, message="x.cpp:1:1: error: no")

    asyncio.run(run([built, compiles_headers], TARGET))
    asyncio.run(run(later, replace(TARGET, **changed)))


def test_a_refused_known_good_program_is_not_stored(tmp_path: Path) -> None:
    """The next run compiles all of it."""

    async def run(*answers: Answer) -> None:
        builder = Builder(Scripted(*answers), ArtifactStore(tmp_path), Policy())
        await builder.checks.require_working_compiler("gnu++17", TARGET, message="x.cpp:1:1: error: no")

    with pytest.raises(SetupError, match="does not work inside a box"):
        asyncio.run(run(built, step_answer(**NO)))
    asyncio.run(run(compiles_headers))


def test_after_a_missing_part_of_the_compiler_the_known_good_program_is_compiled_again(tmp_path: Path) -> None:
    """The compiler may have been removed or upgraded during the run: right programs were CE from then on. Most headers
    are only read again, as they were compiled before.
    """
    missing = "a.cpp:1:10: fatal error: vector: No such file or directory\n"

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, reads_headers, step_answer(code=1, output=missing))
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        for words in ("x.cpp:1:1: error: no", missing):
            await builder.checks.require_working_compiler("gnu++17", TARGET, message=words)
        assert sandbox.asked == 3
        with pytest.raises(TransientError, match=r"does not work any more: .*vector: No such file"):
            await builder.checks.require_working_compiler("gnu++17", TARGET, message=missing)

    asyncio.run(scenario())


def test_after_a_crash_of_the_compiler_the_known_good_program_is_compiled_again(tmp_path: Path) -> None:
    """A program can crash the compiler, and so can the machine. In the second case the known good program fails too."""

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, GOOD, step_answer(code=0, signal=7))
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        await builder.checks.require_working_compiler("gnu++17", TARGET)
        await builder.checks.require_working_compiler("gnu++17", TARGET, crashed=True)
        with pytest.raises(TransientError, match="did not finish"):
            await builder.checks.require_working_compiler("gnu++17", TARGET, crashed=True)

    asyncio.run(scenario())


def test_a_compiler_that_fails_later_is_a_failure_of_the_machine(tmp_path: Path) -> None:
    """It has compiled the known good program before, so the program that crashed it may be as good."""
    quota = "Cannot create temporary file in ./: Disk quota exceeded"

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, step_answer(code=1, output=quota), GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        await builder.checks.require_working_compiler("gnu++17", TARGET, crashed=True)
        assert sandbox.asked == 2
        with pytest.raises(TransientError, match="Disk quota"):
            await builder.checks.require_working_compiler("gnu++17", TARGET, crashed=True)
        await builder.checks.require_working_compiler("gnu++17", TARGET, crashed=True)

    asyncio.run(scenario())


def test_a_full_disk_is_not_the_problem_s_fault(tmp_path: Path) -> None:
    """The error is transient, although the compiler works: the disk has been filled since it was tried."""
    full = step_answer(code=1, output="ld: final link failed: No space left on device")

    async def scenario() -> None:
        sandbox = Scripted(built, GOOD, full, full, CHECKED)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        await builder.checks.require_working_compiler("gnu++29", TARGET)
        with pytest.raises(TransientError, match="could not finish compiling"):
            await ask(builder)
        await ask(builder)

    asyncio.run(scenario())


def test_the_known_good_program_is_not_compiled_without_a_failure(tmp_path: Path) -> None:
    """There is one job for the runner and one for the checker, whatever the number of callers."""

    async def scenario() -> int:
        sandbox = Scripted(built, CHECKED)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(ask(builder))
        return sandbox.asked

    assert asyncio.run(scenario()) == 2


def test_concurrent_callers_share_one_known_good_compilation(tmp_path: Path) -> None:
    """There is one job for the runner and one for the known good program."""

    async def scenario() -> int:
        sandbox = Scripted(built, GOOD)
        builder = Builder(sandbox, ArtifactStore(tmp_path), Policy())
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(builder.checks.require_working_compiler("gnu++17", TARGET))
        return sandbox.asked

    assert asyncio.run(scenario()) == 2


def test_a_header_that_the_box_hides_is_a_setup_error(cache: Path) -> None:
    """Submissions that include the header get no CE, because the compiler does not even compile the
    known good program.
    """

    async def main() -> None:
        async with LocalSandbox() as sandbox:
            (target,) = sandbox.targets()
            hidden = Path("/usr/include/pthread.h")
            beside = (str(path) for path in hidden.parent.iterdir() if path != hidden)
            sees = (*(path for path in target.toolchain.sees if path != str(hidden.parent)), *beside)
            blind = replace(target, toolchain=replace(target.toolchain, sees=sees))
            builder = Builder(sandbox, ArtifactStore(cache), Policy())
            await builder.checks.require_working_compiler("gnu++17", target)
            with pytest.raises(
                SetupError,
                match=r"(?s)does not work inside a box of local: .*pthread\.h: (No such file|Permission denied)",
            ):
                await Builder(sandbox, ArtifactStore(cache), Policy()).checks.require_working_compiler("gnu++17", blind)

    asyncio.run(main())
