"""Run jobs of the bundled profile: one program, many tests, one box. Pure.

The plan says what to run and when to stop (`judging.py` decides, the runner obeys); the answer is one line a
test. Judge programs, inputs and answers travel as files of the job: by reference, so that embedded nothing is
copied and a cluster gets each serialised once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ioi_eval.config import JudgeLimits, Policy
from ioi_eval.jobs import rules
from ioi_eval.jobs.compile import runner_files
from ioi_eval.jobs.harness import Interpreter, program_line
from ioi_eval.jobs.plan import RunnerPlan, words
from ioi_eval.model import (
    Blob,
    CheckerProtocol,
    Content,
    Job,
    JobFile,
    JobKind,
    Problem,
    StageLimits,
    TaskType,
    TestCase,
)
from ioi_eval.sandbox import Target

BUNDLE_TESTS = 64
"""Most tests a job: enough that a box's start (8 ms) is nothing, few enough that no job holds 200 descriptors."""

_START_MS = 10_000  # for starting the box and the runner, on a loaded machine
_LINE_BYTES = 40_000  # a test's longest line: 4,000 bytes of message and 2,000 of stderr, each byte up to 6 characters
_REQUEST_BYTES = 64 * 1024  # a request's other parts: the plan, names, limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """What a run job starts: all compiled, on the target that will run them.

    Args:
        runner, checker, manager: the judge's.
        submission: the program; with an interpreter a task that it reads (`jobs.harness.task`); `None` for none.
        outputs: what was submitted in a program's stead, by test.
        static: whether the program needs no libraries.
        libraries: those that it may need, of the target's, where it is not static.
        interpreter: a Python, for a program in Python.
        preload: what it loads before it forks for each test (`jobs.harness.preloaded`).
    """

    runner: Content
    submission: Content | None
    outputs: Mapping[str, Content] = field(default_factory=dict)
    static: bool
    libraries: tuple[str, ...] = ()
    checker: Content | None = None
    manager: Content | None = None
    interpreter: Interpreter | None = None
    preload: str = ""

    @property
    def sees(self) -> tuple[str, ...]:
        """What of the target the submission sees."""
        if self.interpreter is not None:
            return self.interpreter.sees
        return () if self.static else self.libraries


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """A test of a run plan.

    Args:
        test: its name.
        at: where it stands: (group, position in the group's listed order), for the stop rule.
    """

    __test__ = False

    test: str
    at: tuple[tuple[int, int], ...] = ()


def run_job(
    problem: Problem,
    programs: Programs,
    tests: Sequence[PlannedTest],
    policy: Policy,
    *,
    nonce: str,
    exhaustive: bool = False,
    alone: bool = False,
    ready_bytes: int = 0,
    room_ms: int | None = None,
    enough_s: float | None = None,
    return_bytes: int = 0,
) -> Job:
    """The job that runs a submission on tests. Test number n of the plan is `tests[n]`.

    Args:
        problem: gives limits, inputs, answers and how they are judged.
        programs: what is started.
        tests: in the order in which they run.
        policy: the limits that are not the problem's.
        nonce: 32 hexadecimal digits.
        exhaustive: run every test, whatever its group's score is already.
        alone: nothing else of ours may run on that machine meanwhile.
        ready_bytes: of memory, that the machine is made to have before the first test.
        room_ms: for all tests together, of wall clock, as `room` says; `None` for no bound.
        enough_s: after so much wall clock no other test is begun; `None` for no bound.
        return_bytes: how much of each output comes back; of Batch tasks only.
    """
    plan = RunnerPlan(mode="run", nonce=nonce, least=policy.isolation)
    files = [*_program_files(programs), *_program_line(plan, problem, programs)]
    plan.line(
        "limits",
        cpu_ms=round(problem.time_limit_s * 1000),
        memory_bytes=problem.memory_limit_bytes,
        output_bytes=problem.output_limit_bytes or policy.output_bytes,
        stderr_bytes=policy.stderr_bytes,
        processes=problem.processes,
        threads=policy.threads,
        ready_bytes=ready_bytes or None,
        room_ms=None if room_ms is None else min(room_ms, rules.MOST_MS),
    )
    _task_lines(plan, problem, programs, policy, return_bytes)
    enough_ms = None if enough_s is None else max(1, round(enough_s * 1000))
    plan.line("order", run="all" if exhaustive else "needed", enough_ms=enough_ms)
    for number, planned in enumerate(tests):
        files += _test_line(plan, number, planned, problem.tests[planned.test], programs.outputs.get(planned.test))
    wall_ms = _START_MS + ready_wall_ms(ready_bytes) + len(tests) * most_wall_ms(problem, policy)
    return Job(
        kind=JobKind.RUNNER,
        files=(*runner_files(programs.runner, plan), *files),
        run_limits=StageLimits(wall_ms=wall_ms, cpu_ms=wall_ms),
        alone=alone,
        sees=programs.sees,
    )


def _program_line(plan: RunnerPlan, problem: Problem, programs: Programs) -> Sequence[JobFile]:
    """Write how the submission is started; returns the files that it needs beside itself."""
    if programs.submission is None:
        return ()  # every test of this job has an output that was submitted
    if programs.interpreter is None:
        plan.line("program", file="program", static=int(programs.static), sees=programs.sees or None)
        return ()
    warm = not problem.task_type.has_manager and problem.processes == 1
    return program_line(plan, programs.interpreter, warm=warm, preload=programs.preload)


def _test_line(
    plan: RunnerPlan, number: int, planned: PlannedTest, case: TestCase, submitted: Content | None
) -> list[JobFile]:
    """Write one test; returns its files."""
    contents = {"input": ("in", case.input), "answer": ("ans", case.answer), "output": ("out", submitted)}
    named = {key: (f"t{number}.{ending}", content) for key, (ending, content) in contents.items()}
    plan.line(
        "test",
        id=number,
        **{key: name if content is not None else None for key, (name, content) in named.items()},
        at=",".join(f"{group}:{position}" for group, position in planned.at) or None,
        args=words(case.checker_args) if case.checker_args else None,
        **_scale(case),
    )
    return [JobFile(name=name, content=content) for name, content in named.values() if content is not None]


def _program_files(programs: Programs) -> list[JobFile]:
    files = []
    carried = (("program", programs.submission), ("checker", programs.checker), ("manager", programs.manager))
    for name, content in carried:
        if content is not None:
            files.append(JobFile(name=name, content=content, executable=True))
    return files


def _task_lines(plan: RunnerPlan, problem: Problem, programs: Programs, policy: Policy, return_bytes: int) -> None:
    """The lines that say how a test is judged: task, manager, checker."""
    judge = policy.judge
    checker_ms = {"cpu_ms": round(judge.cpu_s * 1000), "wall_ms": round(judge.wall_s * 1000)}
    if problem.task_type.has_manager:
        plan.line("task", kind="communication", io=problem.process_io.value)
        plan.line(
            "manager",
            file="manager",
            cpu_ms=manager_cpu_ms(problem, policy.judge),
            wall_ms=most_wall_ms(problem, policy),
            memory_bytes=judge.memory_bytes,
            args=words(problem.manager_args) if problem.manager_args else None,
            protocol=None if problem.manager_protocol is CheckerProtocol.CMS else problem.manager_protocol.value,
        )
        if not problem.checker_after_manager:
            return
    elif problem.task_type is TaskType.TWO_STEPS:
        plan.line("task", kind="two-steps")
    else:
        plan.line("task", kind="batch", input_file=problem.input_file or None, output_file=problem.output_file or None)
    protocol = problem.checker_protocol
    if programs.checker is None and protocol.has_program:
        protocol = CheckerProtocol.WHITE_DIFF
    file = "checker" if protocol.has_program else None
    args = words(problem.checker_args) if problem.checker_args and protocol is not CheckerProtocol.WHITE_DIFF else None
    more = {"passes": problem.passes} if problem.passes > 1 else {}
    if return_bytes and not problem.task_type.has_manager and problem.processes == 1:
        more["return_bytes"] = return_bytes
    limits = {**checker_ms, "memory_bytes": judge.memory_bytes}
    plan.line("checker", protocol=protocol.value, file=file, **limits, args=args, **more)


def _scale(case: TestCase) -> dict[str, int]:
    """How the score of a test is read, where not as a part of 1."""
    full = {"full": case.full_score} if case.full_score != 1 else {}
    return {**full, "steps": case.score_steps} if case.score_steps else full


def most_wall_ms(problem: Problem, policy: Policy) -> int:
    """The longest that one test can take by the runner's own rules, in ms of wall clock.

    Source: PROTOCOL.md: a test is given up at 10 (L + M) + 10 s, M being the manager's CPU limit, and its checker or
    manager has a bound of its own. A manager's must not be the lower one: of a test that is given up it is known that
    the machine was too busy, of a manager that is stopped only that it did not end.
    """
    given_up_ms = rules.given_up_ms(problem.time_limit_s, manager_cpu_ms(problem, policy.judge))
    run_ms = given_up_ms + round(policy.judge.wall_s * 1000)
    return run_ms * problem.passes


def ready_wall_ms(ready_bytes: int) -> int:
    """The longest that it takes to make memory ready: PROTOCOL.md allows 20 µs for a page, each of 4 KiB."""
    return rules.pages_ms(ready_bytes)


def manager_cpu_ms(problem: Problem, judge: JudgeLimits) -> int:
    """How long a manager may compute, in ms of CPU time; 0 where there is none.

    Source: CMS, `task_type_parameters_Communication`: as long as all processes together, and not less than usual.
    """
    if not problem.task_type.has_manager:
        return 0
    return round(1000 * max(problem.processes * (problem.time_limit_s + 1.0), judge.cpu_s))


def usual_wall_ms(problem: Problem) -> int:
    """The longest that one test takes on a machine that is half ours, in ms of wall clock.

    A program is stopped at 1.25 L + 0.1 s of CPU time or L + 1 s of idle time, but for pages that cost much
    (PROTOCOL.md), which get no time that a server does not allow (`room_ms`). Bundles are sized by this and not
    by `most_wall_ms`, which a test reaches on a machine beyond use only: a bundle that meets a server's limit after all
    is cut in halves.
    """
    return rules.usual_wall_ms(problem.time_limit_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much one run job on a target may hold.

    Args:
        tests: at most so many.
        test_bytes: inputs and answers together, before any encoding; `None` for no bound.
        wall_ms: all tests together; `None` for no bound.
    """

    tests: int
    test_bytes: int | None
    wall_ms: int | None


def room(target: Target, programs: Programs, return_bytes: int = 0) -> Room:
    """What is left of a target's bounds for tests, after the programs that travel along.

    Args:
        target: where the job runs.
        programs: of the job.
        return_bytes: how much of each output comes back.
    """
    carried = (programs.runner, programs.submission, programs.checker, programs.manager)
    return Room(
        tests=max(1, target.max_output_bytes // (_LINE_BYTES + return_bytes * 4 // 3)),
        test_bytes=request_room(target, sum(size(content) for content in carried if content is not None)),
        wall_ms=None if target.max_wall_ms is None else max(0, target.max_wall_ms - _START_MS),
    )


def request_room(target: Target, taken: int) -> int | None:
    """How many bytes fit into a request beside so many, before any encoding; `None` for no bound."""
    if target.max_body_bytes is None:
        return None
    return max(0, (target.max_body_bytes - _REQUEST_BYTES) * 3 // 4 - taken)


def size(content: Content) -> int:
    """A content's bytes, before any encoding."""
    return content.size if isinstance(content, Blob) else len(content)
