"""Which target a submission is bound to: it is chosen by free capacity, among the targets that may judge it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import replace

import pytest

from ioi_eval.config import Policy
from ioi_eval.engine.target import Dispatcher
from ioi_eval.errors import BrokenTargetError, SetupError
from ioi_eval.fingerprint import problem_digest
from ioi_eval.model import (
    Batch,
    CheckerProtocol,
    Isolation,
    JudgeProgram,
    Language,
    Problem,
    Profile,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
    Tokens,
    TwoSteps,
)
from ioi_eval.sandbox import Target
from ioi_eval.scorer import why_unsuitable, why_unsuitable_for_submission
from ioi_eval.toolchain import Toolchain
from tests.small_problems import small_problem
from tests.small_targets import IdleSandbox

GCC = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
BIG = Target(name="big", profile=Profile.BUNDLED, toolchain=GCC, slots=6, isolation=Isolation.REDUCED)
SMALL = replace(BIG, name="small", slots=2)
STOCK = replace(BIG, name="stock", profile=Profile.CLASSIC, isolation=Isolation.NONE, has_own_scripts=True)
PROBLEM = small_problem(
    name="Sum",
    year=2026,
    subtasks=(Subtask(name="01", points=100, tests=("a",)),),
    tests={"a": TestCase(name="a", input=b"1 2\n", answer=b"3\n")},
)


def dispatcher_of(policy: Policy | None = None) -> Dispatcher[Problem]:
    """The dispatcher of contest problems."""
    sandbox, policy = IdleSandbox(BIG, SMALL, STOCK), policy or Policy()
    return Dispatcher(sandbox, lambda target, problem: why_unsuitable(target, problem, policy), problem_digest)


def test_every_slot_is_used() -> None:
    """Eight submissions fill six and two slots. Further submissions are divided in the same proportion."""
    dispatcher = dispatcher_of()
    with contextlib.ExitStack() as stack:
        for submissions in (8, 16, 24):
            while sum(bound.values() if (bound := _bound(dispatcher)) else ()) < submissions:
                target = dispatcher.choose([BIG, SMALL], PROBLEM)
                assert target is not None
                stack.enter_context(dispatcher.bound(target))
            assert _bound(dispatcher) == {"big": submissions * 6 // 8, "small": submissions * 2 // 8}
    assert not +_bound(dispatcher), "what is judged is counted no more"


def name_of(target: Target | None) -> str:
    """The name of a target, which is chosen."""
    assert target is not None
    return target.name


def _bound(dispatcher: Dispatcher[Problem]) -> Counter[str]:
    return Counter({name: len(held) for name, held in dispatcher._bound.items()})


def test_a_target_without_workers_comes_last() -> None:
    """It is chosen only if there is no other. Its jobs then wait until workers come back."""
    dispatcher = dispatcher_of()
    gone = replace(BIG, slots=0)
    assert name_of(dispatcher.choose([gone, SMALL], PROBLEM)) == SMALL.name
    assert name_of(dispatcher.choose([gone], PROBLEM)) == gone.name


def test_a_target_without_an_alternative_is_marked() -> None:
    """It is marked if no other target that may judge the problem is in service or untried. Its jobs then
    wait for it.
    """
    lax = dispatcher_of(Policy(least_isolation=Isolation.NONE))

    def is_only(*targets: Target, without: tuple[str, ...] = ()) -> bool:
        target = lax.choose(targets, PROBLEM, without=without)
        assert target is not None
        return target.is_only

    assert not is_only(BIG, SMALL)
    assert is_only(BIG)
    assert is_only(BIG, STOCK), "which does not judge C++20"
    assert is_only(BIG, replace(SMALL, slots=0))
    assert is_only(BIG, SMALL, without=("small",))


def test_a_target_that_failed_a_submission_is_not_chosen_again() -> None:
    """Unless no other target is left."""
    dispatcher = dispatcher_of()
    assert name_of(dispatcher.choose([BIG, SMALL], PROBLEM, without={"big"})) == SMALL.name
    assert dispatcher.choose([BIG, SMALL], PROBLEM, without={"big", "small"}) is None


def test_isolation_is_never_lowered_unrequested() -> None:
    """A target with less isolation than requested judges nothing. The reason says what to do."""
    strict = dispatcher_of()
    assert strict.choose([STOCK], PROBLEM) is None
    remote = replace(STOCK, name="far", is_remote=True)
    assert "install the ioi_eval package on its workers" in str(strict.why_unsuitable(remote, PROBLEM))
    assert "see `ioi-eval doctor`" in str(strict.why_unsuitable(STOCK, PROBLEM))


@pytest.mark.parametrize(
    ("first_line", "is_python"),
    [
        ("#!/usr/bin/env python3", True),
        ("#!/usr/bin/python3 -I", True),
        ("#!/usr/bin/env python3.11", False),
        ("#!/bin/sh", False),
    ],
)
def test_a_target_without_python_gets_no_checkers_in_python(first_line: str, is_python: bool) -> None:
    """A submission is judged where its checker can be started; without such a target, the reason says what to do."""
    dispatcher = dispatcher_of()
    source = SourceFile(path="checker/checker.py", content=f"{first_line}\nprint(1)  # python3\n".encode())
    method = Batch(check=JudgeProgram(source=source, protocol=CheckerProtocol.CMS))
    problem = replace(PROBLEM, method=method)
    bare = replace(BIG, name="bare", has_python=False)
    assert name_of(dispatcher.choose([bare, SMALL], problem)) == (SMALL.name if is_python else bare.name)
    assert ("bare has no python3" in str(dispatcher.why_unsuitable(bare, problem))) is is_python
    assert name_of(dispatcher.choose([bare, SMALL], PROBLEM)) == bare.name


def test_several_processes_in_python_need_full_isolation() -> None:
    """They could talk to each other otherwise. Other languages do not need it, and a row without a program neither."""
    two_steps = replace(PROBLEM, method=TwoSteps(check=Tokens()))
    python = Submission(id="x", problem=PROBLEM.key, code="print(3)", language=Language.PYTHON)
    reason = "submissions in Python with 2 processes need isolation 'full', and big offers 'reduced'"
    assert why_unsuitable_for_submission(BIG, two_steps, python) == reason
    assert why_unsuitable_for_submission(BIG, PROBLEM, python) is None
    assert why_unsuitable_for_submission(replace(BIG, isolation=Isolation.FULL), two_steps, python) is None
    for other in (replace(python, language=Language.CPP), replace(python, code=None)):
        assert why_unsuitable_for_submission(BIG, two_steps, other) is None


def test_the_stock_pair_refuses_problems_that_it_would_judge_wrongly() -> None:
    """C++20 is refused with a reason. A problem that the stock pair can judge is accepted."""
    lax = dispatcher_of(Policy(least_isolation=Isolation.NONE))
    reason = str(lax.why_unsuitable(STOCK, PROBLEM))
    assert "compiles with gnu++17, not gnu++20 (--std gnu++17 takes that for all problems)" in reason
    assert name_of(lax.choose([STOCK, SMALL], PROBLEM)) == SMALL.name
    older = dispatcher_of(Policy(least_isolation=Isolation.NONE, std="gnu++17"))
    assert "compiles with" not in str(older.why_unsuitable(STOCK, PROBLEM)), "--std holds there too"


def test_the_classic_profile_with_our_runner_refuses_nothing() -> None:
    """With our runner, one test a job is judged like many. A worker's own scripts pass no arguments to checkers."""
    dispatcher = dispatcher_of(Policy(least_isolation=Isolation.NONE))
    own = replace(BIG, name="own", profile=Profile.CLASSIC)
    with_arguments = replace(PROBLEM, method=Batch(check=Tokens(args=("case_sensitive",))))
    assert name_of(dispatcher.choose([STOCK, own], with_arguments)) == own.name
    assert "checker no arguments" in str(dispatcher.why_unsuitable(STOCK, with_arguments))


def test_a_broken_target_gets_no_more_submissions() -> None:
    """Others judge what it could not, and a note says why."""
    dispatcher = dispatcher_of()
    tried: list[str] = []

    async def judge(target: Target) -> str:
        tried.append(target.name)
        if target.name == BIG.name:
            raise BrokenTargetError("the runner does not compile:\n no compiler")
        return target.name

    async def scenario() -> None:
        assert [await dispatcher.judge_on_target(PROBLEM, judge) for _ in range(2)] == [SMALL.name] * 2
        assert tried == [BIG.name, SMALL.name, SMALL.name]
        assert dispatcher.notes() == ["big judged nothing more: the runner does not compile: no compiler"]

    asyncio.run(scenario())


@pytest.mark.parametrize("error", [BrokenTargetError("no compiler"), SetupError("another event loop")])
def test_nothing_can_be_judged(error: SetupError) -> None:
    """Each call says so: of a single target also the second, and of any target if the target is not the reason."""
    dispatcher = Dispatcher[Problem](IdleSandbox(BIG), lambda _, __: None, problem_digest)

    async def judge(_: Target) -> None:
        raise error

    async def scenario() -> None:
        for _ in range(2):
            with pytest.raises(SetupError, match=str(error)):
                await dispatcher.judge_on_target(PROBLEM, judge)
        assert dispatcher.notes() == []

    asyncio.run(scenario())
