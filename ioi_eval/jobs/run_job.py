"""Run jobs: one or several programs, each with its own tests, in one box. Pure.

The plan says what to run and when to stop (`engine/judging.py` decides it); the answer has one line for each test.
Judge programs, inputs and answers are files of the job, by reference: the embedded sandbox copies nothing, and for a
cluster each is encoded once. `run_setups.py` says how programs are run.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from ioi_eval.jobs.compile import compile_plan, runner_files, stage_limits
from ioi_eval.jobs.plan import LONGEST_IN_PLAN_MS, RunnerPlan, Value, pages_ms, usual_wall_ms
from ioi_eval.jobs.recipes import Uncompiled
from ioi_eval.model import Content, Isolation, Job, JobFile, JobKind, ProblemPackage, StageLimits, size_of
from ioi_eval.sandbox import Target

BUNDLE_TESTS = 64
"""The largest number of tests in a job: so many that a box's start (8 ms) hardly counts, so few that a job
for one program needs less than 200 descriptors."""

_START_MS = 10_000  # for starting the box, the runner and an interpreter, on a loaded machine
_LINE_BYTES = 40_000  # the longest line: 4,000 bytes of message and 2,000 of stderr, each byte up to 6 characters
_REPORTED_LINE_BYTES = 160 * 1024  # with an interpreter's report: 16 KiB more, each byte up to 6 characters
_REQUEST_BYTES = 64 * 1024  # a request's other parts: the plan, names, limits
_LEAST_OUTPUT_BYTES = 64 * 1024 * 1024  # that a job may return

MAX_COMPILE_S = 10.0
"""If compiling a program takes longer than this wall clock, the job that compiles it runs no test."""

_STEPS, _PROGRAM = "steps", "program"
"""The files with the compile plan of a build job, and with the program that is run."""

Values = Mapping[str, Value | None]
"""The values of a line of the plan; those that are `None` are left out."""

Positions = tuple[tuple[int, int], ...]
"""A test's positions: (group, position in the group's listed order)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """A test that is to be run, and its positions in groups, for the stop rule."""

    __test__ = False

    test: str
    at: Positions = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTest:
    """A test as a job sends it.

    Args:
        answer: the official output, if judging in the box needs one.
        output: the output that was submitted instead of a program.
        scoring: `args`, `full`, `steps`, `rounding` and `table`, if its checker is called, or its score read, in an
            unusual way.
    """

    input: Content
    answer: Content | None = None
    output: Content | None = None
    scoring: Values = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Its bytes, before any encoding."""
        return sum(size_of(content) for content in (self.input, self.answer, self.output) if content is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """How programs are run and judged. Programs that share a job have the same setup.

    Args:
        files: the files that the lines name, except the program: judge programs, the harness.
        program: the plan's line on how programs are started; `None` if none is started.
        limits: the plan's line of limits, except `prefault_bytes` and `job_wall_ms`.
        judging: the plan's lines on how a test is judged: their names and values.
        needed_only: whether only needed tests are run (`engine/judging.py`). `ProgramRun` sets it, as the judging says.
        judged_by_client: whether our side judges the outputs, after reading the answer.
        has_interpreter: whether programs are run by an interpreter, which reports.
        may_share: whether programs of several submissions may be in one box. They may if each test is its own process,
            forked from an interpreter that has read none of them. (A compiled program is a file of the box, the same
            for all tests.)
        time_limit_s: CPU time of a test, in seconds.
        longest_test_ms: the longest that one test can take by the runner's own rules, in ms of wall clock.
    """

    runner: Content
    least: Isolation
    files: tuple[JobFile, ...]
    program: Values | None
    limits: Values
    judging: tuple[tuple[str, Values], ...]
    needed_only: bool = True
    judged_by_client: bool
    has_interpreter: bool
    may_share: bool
    time_limit_s: float
    longest_test_ms: int
    return_bytes: int
    sees: tuple[str, ...]

    @property
    def line_bytes(self) -> int:
        """The longest line of an answer."""
        return (_REPORTED_LINE_BYTES if self.has_interpreter else _LINE_BYTES) + self.return_bytes * 4 // 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program, and how it is run and judged.

    Args:
        problem: identifies its problem: tests of one problem take about equally long.
        content: as it is sent, or how the job compiles it; for an interpreter, the file that it reads; `None` if all
            tests have submitted outputs.
        tests: as they are sent, by name.
        setup: what it has in common with other programs.
        one_by_one: no two of its jobs run at once, because the outcomes of one decide whether another is wanted.
        package: of the problem, if workers may have its files.
    """

    problem: Hashable
    content: Content | Uncompiled | None
    tests: Mapping[str, JobTest]
    setup: RunSetup
    one_by_one: bool = False
    package: ProblemPackage | None = None

    @property
    def is_uncompiled(self) -> bool:
        """Whether the job compiles it."""
        return isinstance(self.content, Uncompiled)

    @property
    def size(self) -> int:
        """The bytes of the program, or of the files of which a job compiles it, before any encoding; 0 without one."""
        if self.content is None:
            return 0
        return self.content.size if isinstance(self.content, Uncompiled) else size_of(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedProgram:
    """A program, and those of its tests that a job runs, in this order. If the job compiles the program, `rest` are the
    tests that other jobs may run."""

    program: Program
    tests: Sequence[PlannedTest]
    rest: Sequence[PlannedTest] = ()

    @property
    def size(self) -> int:
        """The bytes of program and tests together, before any encoding."""
        return self.program.size + sum(self.program.tests[planned.test].size for planned in self.tests)


def run_job(
    programs: Sequence[PlannedProgram],
    target: Target,
    *,
    nonce: str,
    alone: bool = False,
    prefault_bytes: int = 0,
    enough_s: float | None = None,
) -> Job:
    """The job that runs programs on their tests. Tests are numbered across all programs, in this order.

    There are several programs only if they have the same setup, which lets them share a job. The runner touches
    `prefault_bytes` of memory before the first test, so that a virtual machine really has it. After `enough_s` of wall
    clock no further test is started.
    """
    first = programs[0].program
    setup, count = first.setup, sum(len(planned.tests) for planned in programs)
    plan = RunnerPlan(mode="run", nonce=nonce, least=setup.least)
    steps, files = _program_files(plan, programs[0], nonce)
    files += setup.files
    if setup.program is not None:
        plan.line("program", **setup.program)
    job_wall_ms = bounds_of(target, setup, compiles=first.is_uncompiled).wall_ms
    job_wall_ms = None if job_wall_ms is None else min(job_wall_ms, LONGEST_IN_PLAN_MS)
    plan.line("limits", **setup.limits, prefault_bytes=prefault_bytes or None, job_wall_ms=job_wall_ms)
    for name, values in setup.judging:
        plan.line(name, **values)
    enough_ms = None if enough_s is None else max(1, round(enough_s * 1000))
    plan.line("order", run="needed" if setup.needed_only else "all", enough_ms=enough_ms)
    files += _test_lines(plan, programs, same_once=setup.may_share)
    nothing = StageLimits(wall_ms=0, cpu_ms=0, output_bytes=0)
    compiling = nothing if steps is None else stage_limits(steps.recipe, steps.limits)
    wall_ms = _START_MS + compiling.wall_ms + pages_ms(prefault_bytes) + count * setup.longest_test_ms
    output_bytes = compiling.output_bytes + max(_LEAST_OUTPUT_BYTES, (count + 1) * setup.line_bytes)
    return Job(
        kind=JobKind.RUNNER,
        files=(*runner_files(setup.runner, plan), *files),
        run_limits=StageLimits(wall_ms=wall_ms, cpu_ms=wall_ms, output_bytes=output_bytes),
        alone=alone,
        sees=setup.sees if steps is None else tuple(dict.fromkeys((*setup.sees, *steps.recipe.sees))),
        returns=() if steps is None else (_PROGRAM,),
        package=first.package if len({planned.program.package for planned in programs}) == 1 else None,
        has_header=steps is not None and steps.recipe.precompiled is not None,
        nonce=nonce,
    )


def _program_files(plan: RunnerPlan, planned: PlannedProgram, nonce: str) -> tuple[Uncompiled | None, list[JobFile]]:
    """The files from which the job gets a program, and the program itself if the job compiles it. In that case the
    plan gets the lines `compile` and `rest`."""
    content, setup = planned.program.content, planned.program.setup
    if not isinstance(content, Uncompiled):
        is_program = not setup.has_interpreter
        return None, [] if content is None else [JobFile(name=_PROGRAM, content=content, executable=is_program)]
    steps, files = compile_plan(content.recipe, content.limits, setup.least, nonce=nonce, into=(_PROGRAM,))
    plan.line("compile", plan=_STEPS, max_ms=round(MAX_COMPILE_S * 1000))
    first: dict[int, int] = {}  # in each group: if it needs any of the other tests, it needs the one there
    for group, position in (pair for other in planned.rest for pair in other.at):
        first[group] = min(position, first.get(group, position))
    if first:
        plan.line("rest", at=",".join(f"{group}:{position}" for group, position in first.items()))
    return content, [JobFile(name=_STEPS, content=steps.encode()), *files]


def _test_lines(plan: RunnerPlan, programs: Sequence[PlannedProgram], *, same_once: bool) -> list[JobFile]:
    """Write the lines of tests, and return their files. With `same_once`, equal contents are sent once."""
    files: list[JobFile] = []
    names: dict[Content, str] = {}

    def name_of(content: Content | None, name: str) -> str | None:
        if content is None:
            return None
        if same_once and content in names:
            return names[content]
        names[content] = name
        files.append(JobFile(name=name, content=content))
        return name

    number = groups = 0
    for index, part in enumerate(programs):
        content = part.program.content
        if index and isinstance(content, Uncompiled):
            raise TypeError("a job compiles one program only")
        own = None if index == 0 or isinstance(content, Uncompiled) else name_of(content, f"program{index}")
        for planned in part.tests:
            test = part.program.tests[planned.test]
            plan.line(
                "test",
                id=number,
                input=name_of(test.input, f"t{number}.in"),
                answer=name_of(test.answer, f"t{number}.ans"),
                program=own,
                output=name_of(test.output, f"t{number}.out"),
                at=",".join(f"{groups + group}:{position}" for group, position in planned.at) or None,
                **test.scoring,
            )
            number += 1
        groups += 1 + max((group for planned in part.tests for group, _ in planned.at), default=0)
    return files


# --------------------------------------------------------------------------- how much a job holds


@dataclass(frozen=True, slots=True, kw_only=True)
class JobBounds:
    """How much one run job on a target may hold; `None` for no bound."""

    tests: int
    test_bytes: int | None  # of programs, inputs and answers together, before any encoding
    wall_ms: int | None  # of all tests together

    def allow(self, tests: int, size: int, wall_ms_per_test: int) -> bool:
        """Whether so many tests, with their programs of this size together, make a job within all limits."""
        return (
            tests <= self.tests
            and (self.test_bytes is None or size <= self.test_bytes)
            and (self.wall_ms is None or tests * wall_ms_per_test <= self.wall_ms)
        )


def bounds_of(target: Target, setup: RunSetup, *, compiles: bool = False) -> JobBounds:
    """What a target's bounds leave for programs and their tests, after the files that every job has."""
    start_ms = _START_MS + (round(MAX_COMPILE_S * 1000) if compiles else 0)
    output_bytes = target.max_output_bytes // (2 if compiles else 1)  # half is left for the program
    carried = sum(map(size_of, (setup.runner, *(file.content for file in setup.files))))
    body_bytes = target.max_body_bytes
    return JobBounds(
        tests=max(1, output_bytes // setup.line_bytes),
        test_bytes=None if body_bytes is None else max(0, (body_bytes - _REQUEST_BYTES) * 3 // 4 - carried),
        wall_ms=None if target.max_wall_ms is None else max(0, target.max_wall_ms - start_ms),
    )


def has_room_to_build(target: Target, setup: RunSetup) -> bool:
    """Whether a job on this target may be long enough to compile a program and then run a test."""
    wall_ms = bounds_of(target, setup, compiles=True).wall_ms
    return wall_ms is None or wall_ms >= usual_wall_ms(setup.time_limit_s)
