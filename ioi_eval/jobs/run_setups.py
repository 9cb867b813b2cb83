"""How our runner runs and judges programs: submissions to contest problems, and Python programs for APPS. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import assert_never

from ioi_eval.config import JudgeLimits, RunPolicy
from ioi_eval.jobs.harness import InPython
from ioi_eval.jobs.plan import LONGEST_IN_PLAN_MS, Value, given_up_ms, word_list
from ioi_eval.jobs.run_job import JobTest, RunSetup, Values
from ioi_eval.model import (
    Batch,
    BatchAndOutput,
    CheckerProtocol,
    Communication,
    Content,
    Interactive,
    JobFile,
    JudgedByClient,
    JudgeProgram,
    OutputCheck,
    OutputOnly,
    Problem,
    RunRules,
    StepRounding,
    TestCase,
    TwoSteps,
)
from ioi_eval.model.methods import Comparator


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """How a compiled program is run: whether it is linked statically, else with the `libraries` that it needs."""

    static: bool = True
    libraries: tuple[str, ...] = ()


_STATIC = Compiled()


def problem_setup(
    problem: RunRules,
    policy: RunPolicy,
    *,
    runner: Content,
    program: Compiled | InPython | None = _STATIC,
    judges: Mapping[str, Content] = MappingProxyType({}),
    return_bytes: int = 0,
) -> RunSetup:
    """How submissions to a problem are run and judged. All programs are compiled on the target that will run them.

    Args:
        program: how programs are run; `None` if there is none, but a submitted output for each test.
        judges: the problem's `checker` and `manager`.
        return_bytes: how much of each output is returned; Batch tasks only.
    """
    method = problem.method
    is_batch = method.manager is None and method.processes == 1
    returned = return_bytes if is_batch else 0
    files = [JobFile(name=name, content=binary, executable=True) for name, binary in judges.items()]
    line: Values | None = None
    sees: tuple[str, ...] = ()
    if isinstance(program, InPython):
        line, sees = program.program_line(may_fork=is_batch), program.interpreter.sees
        files.insert(0, JobFile(name="harness", content=program.interpreter.harness))
    elif program is not None:
        sees = () if program.static else program.libraries
        line = {"file": "program", "static": int(program.static), "sees": sees or None}
    return RunSetup(
        runner=runner,
        least=policy.least_isolation,
        files=tuple(files),
        program=line,
        limits={
            "cpu_ms": round(problem.time_limit_s * 1000),
            "memory_bytes": problem.memory_limit_bytes,
            "output_bytes": problem.output_limit_bytes or policy.output_bytes,
            "stderr_bytes": policy.stderr_bytes,
            "processes": method.processes,
            "threads": policy.threads,
        },
        judging=tuple(_judging(problem, policy, returned)),
        judged_by_client=isinstance(method.check, JudgedByClient),
        has_interpreter=isinstance(program, InPython),
        may_share=isinstance(program, InPython) and is_batch and method.passes == 1,
        time_limit_s=problem.time_limit_s,
        longest_test_ms=longest_test_ms(problem, policy),
        return_bytes=returned,
        sees=sees,
    )


def job_tests(problem: Problem, outputs: Mapping[str, Content]) -> dict[str, JobTest]:
    """A problem's tests as a job sends them, by name, with the outputs that were submitted instead of a program."""
    return {
        name: JobTest(input=case.input, answer=case.answer, output=outputs.get(name), scoring=_scoring(case))
        for name, case in problem.tests.items()
    }


def _scoring(case: TestCase) -> Values:
    """How a test's checker is called, and how its score is read and rounded, if not in the usual way."""
    values: dict[str, Value | None] = {"args": word_list(case.checker_args)} if case.checker_args else {}
    values |= {"full": case.full_score} if case.full_score != 1 else {}
    if case.score_table:
        values["table"] = ",".join(f"{score}:{points}" for score, points in case.score_table)
    values |= {"steps": case.score_steps} if case.score_steps else {}
    return values | ({} if case.step_rounding is StepRounding.DOWN else {"rounding": case.step_rounding.value})


def _judging(problem: RunRules, policy: RunPolicy, return_bytes: int) -> Iterator[tuple[str, Values]]:
    """The lines that say how a test is judged: task, manager, checker."""
    judge = {
        "cpu_ms": round(policy.judge.cpu_s * 1000),
        "wall_ms": round(policy.judge.wall_s * 1000),
        "memory_bytes": policy.judge.memory_bytes,
    }
    method = problem.method
    match method:
        case Communication() | Interactive():
            manager = method.manager
            yield "task", {"kind": "communication", "io": method.process_io.value}
            yield (
                "manager",
                {
                    "file": "manager",
                    "cpu_ms": min(_manager_cpu_ms(problem, policy.judge), LONGEST_IN_PLAN_MS),
                    "wall_ms": min(longest_test_ms(problem, policy), LONGEST_IN_PLAN_MS),
                    "memory_bytes": judge["memory_bytes"],
                    "args": word_list(manager.args) if manager.args else None,
                    "protocol": None if manager.protocol is CheckerProtocol.CMS else manager.protocol.value,
                },
            )
        case TwoSteps():
            yield "task", {"kind": "two-steps"}
        case Batch() | OutputOnly() | BatchAndOutput():
            files = {"input_file": method.input_file or None, "output_file": method.output_file or None}
            yield "task", {"kind": "batch", **files}
        case _:
            assert_never(method)
    if (check := method.check) is not None:
        yield (
            "checker",
            {
                "protocol": plan_protocol(check),
                "rule": str(check) if isinstance(check, Comparator) else None,
                "file": "checker" if isinstance(check, JudgeProgram) else None,
                **({} if isinstance(check, Comparator | JudgedByClient) else judge),
                "args": word_list(check.args) if check.args else None,
                "passes": method.passes if method.passes > 1 else None,
                "return_bytes": return_bytes or None,
            },
        )


def plan_protocol(check: OutputCheck) -> str:
    """How the plan calls the way in which outputs are judged: a checker protocol, `compare` or `none`."""
    if isinstance(check, Comparator):
        return "compare"
    return "none" if isinstance(check, JudgedByClient) else check.protocol.value


def longest_test_ms(problem: RunRules, policy: RunPolicy) -> int:
    """The longest that one test can take by the runner's own rules, in ms of wall clock.

    Source: PROTOCOL.md: a test is given up at 10 (L + M) + 10 s, M being the manager's CPU limit, and its checker or
    manager has its own wall clock limit (a checker that judges again has it for both times). The manager's must not be
    lower than the test's: if a test is given up, we know that the machine was too busy; if a manager is stopped, we
    only know that it did not end.
    """
    run_ms = given_up_ms(problem.time_limit_s, _manager_cpu_ms(problem, policy.judge))
    return (run_ms + round(policy.judge.wall_s * 1000)) * problem.method.passes


def _manager_cpu_ms(problem: RunRules, judge: JudgeLimits) -> int:
    """A manager's CPU limit in ms; 0 if there is no manager.

    Source: CMS, `task_type_parameters_Communication`: the limits of all processes together, at least the usual limit.
    """
    if problem.method.manager is None:
        return 0
    return round(1000 * max(problem.method.processes * (problem.time_limit_s + 1.0), judge.cpu_s))
