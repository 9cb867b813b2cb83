"""Run jobs: one program or several, each on tests of its own, in one box. Pure.

The plan says what to run and when to stop (`judging.py` decides, the runner obeys); the answer is one line a test.
Judge programs, inputs and answers travel as files of the job: by reference, so that embedded nothing is copied and a
cluster gets each serialised once. How programs for contest problems, and for APPS, are run, say `bundled.py` and
`python_run.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ioi_eval.jobs import rules
from ioi_eval.jobs.compile import runner_files
from ioi_eval.jobs.plan import RunnerPlan, Value
from ioi_eval.model import Blob, Content, Isolation, Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox import Target

BUNDLE_TESTS = 64
"""Most tests a job: enough that a box's start (8 ms) is nothing, few enough that no job holds 200 descriptors."""

_START_MS = 10_000  # for starting the box, the runner and an interpreter, on a loaded machine
_LINE_BYTES = 40_000  # a test's longest line: 4,000 bytes of message and 2,000 of stderr, each byte up to 6 characters
_REPORTED_LINE_BYTES = 160 * 1024  # with an interpreter's report: 16 KiB more, each byte up to 6 characters
_REQUEST_BYTES = 64 * 1024  # a request's other parts: the plan, names, limits
_LEAST_OUTPUT_BYTES = 64 * 1024 * 1024  # that a job may return

Values = Mapping[str, Value | None]
"""What stands in a line of the plan; `None` for nothing."""

Places = tuple[tuple[int, int], ...]
"""Where a test stands: (group, position in the group's listed order)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """A test that is to be run.

    Args:
        test: its name.
        at: where it stands, for the stop rule.
    """

    __test__ = False

    test: str
    at: Places = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenTest:
    """A test as it travels.

    Args:
        input: what the program reads.
        answer: the official output, where the judging in the box needs one.
        output: what was submitted for it in a program's stead.
        scoring: how its checker is called and its score is read, where not as usual: `args`, `full`, `steps`.
    """

    input: Content
    answer: Content | None = None
    output: Content | None = None
    scoring: Values = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Its bytes, before any encoding."""
        return sum(size(content) for content in (self.input, self.answer, self.output) if content is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenProgram:
    """A program, and what it is run on.

    Args:
        content: the program; for an interpreter a task that it reads; `None` where all tests have submitted outputs.
        tests: in the order in which they run.
        at: where each of them stands.
    """

    content: Content | None
    tests: Sequence[GivenTest]
    at: Sequence[Places]

    @property
    def size(self) -> int:
        """The bytes of all of it, before any encoding."""
        return (0 if self.content is None else size(self.content)) + sum(test.size for test in self.tests)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """How programs are run and judged: what must be the same for those that share a job.

    Args:
        runner: of the target.
        least: the weakest isolation that is accepted.
        files: what the lines name, but for the program: judge programs, the harness.
        program: the line that says how programs are started; `None` where none is.
        limits: the line of limits, but for `ready_bytes` and `room_ms`.
        judging: the lines that say how a test is judged: their names, and what stands in them.
        stops: run only tests that are needed.
        by_reader: whoever reads the answer judges.
        reports: programs are run by an interpreter, which reports.
        shares: programs of several submissions may be in one box: each test is a process of its own, forked from an
            interpreter that has seen none of them. (A compiled program is the box's own file, one for all tests.)
        time_limit_s: CPU time of a test, in seconds.
        most_wall_ms: the longest that one test can take by the runner's own rules, in ms of wall clock.
        return_bytes: how much of each output comes back.
        sees: what of the machine programs see.
    """

    runner: Content
    least: Isolation
    files: tuple[JobFile, ...] = ()
    program: Values | None
    limits: Values
    judging: tuple[tuple[str, Values], ...]
    stops: bool
    by_reader: bool = False
    reports: bool = False
    shares: bool = False
    time_limit_s: float
    most_wall_ms: int
    return_bytes: int = 0
    sees: tuple[str, ...] = ()

    @property
    def line_bytes(self) -> int:
        """The longest line of an answer."""
        return (_REPORTED_LINE_BYTES if self.reports else _LINE_BYTES) + self.return_bytes * 4 // 3


def run_job(
    programs: Sequence[GivenProgram],
    setup: RunSetup,
    *,
    nonce: str,
    alone: bool = False,
    ready_bytes: int = 0,
    room_ms: int | None = None,
    enough_s: float | None = None,
) -> Job:
    """The job that runs programs on their tests. The tests of all of them are numbered through, in this order.

    Args:
        programs: at least one; several only where the setup lets them share a job.
        setup: how.
        nonce: 32 hexadecimal digits.
        alone: nothing else of ours may run on that machine meanwhile.
        ready_bytes: of memory, that the machine is made to have before the first test.
        room_ms: for all tests together, of wall clock, as `room` says; `None` for no bound.
        enough_s: after so much wall clock no other test is begun; `None` for no bound.
    """
    count = sum(len(program.tests) for program in programs)
    plan = RunnerPlan(mode="run", nonce=nonce, least=setup.least)
    files = [*_program_file(programs[0], setup), *setup.files]
    if setup.program is not None:
        plan.line("program", **setup.program)
    room_ms = None if room_ms is None else min(room_ms, rules.MOST_MS)
    plan.line("limits", **setup.limits, ready_bytes=ready_bytes or None, room_ms=room_ms)
    for name, values in setup.judging:
        plan.line(name, **values)
    enough_ms = None if enough_s is None else max(1, round(enough_s * 1000))
    plan.line("order", run="needed" if setup.stops else "all", enough_ms=enough_ms)
    files += _test_lines(plan, programs, same_once=setup.shares)
    wall_ms = _START_MS + ready_wall_ms(ready_bytes) + count * setup.most_wall_ms
    output_bytes = max(_LEAST_OUTPUT_BYTES, (count + 1) * setup.line_bytes)
    return Job(
        kind=JobKind.RUNNER,
        files=(*runner_files(setup.runner, plan), *files),
        run_limits=StageLimits(wall_ms=wall_ms, cpu_ms=wall_ms, output_bytes=output_bytes),
        alone=alone,
        sees=setup.sees,
    )


def _program_file(program: GivenProgram, setup: RunSetup) -> list[JobFile]:
    if program.content is None:
        return []
    return [JobFile(name="program", content=program.content, executable=not setup.reports)]


def _test_lines(plan: RunnerPlan, programs: Sequence[GivenProgram], *, same_once: bool) -> list[JobFile]:
    """Write the tests; returns their files. With `same_once` a content travels once, whatever it is for."""
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
    for place, program in enumerate(programs):
        task = None if place == 0 else name_of(program.content, f"program{place}")
        for test, at in zip(program.tests, program.at, strict=True):
            plan.line(
                "test",
                id=number,
                input=name_of(test.input, f"t{number}.in"),
                answer=name_of(test.answer, f"t{number}.ans"),
                program=task,
                output=name_of(test.output, f"t{number}.out"),
                at=",".join(f"{groups + group}:{position}" for group, position in at) or None,
                **test.scoring,
            )
            number += 1
        groups += 1 + max((group for at in program.at for group, _ in at), default=0)
    return files


# --------------------------------------------------------------------------- how much a job holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much one run job on a target may hold.

    Args:
        tests: at most so many.
        test_bytes: programs, inputs and answers together, before any encoding; `None` for no bound.
        wall_ms: all tests together; `None` for no bound.
    """

    tests: int
    test_bytes: int | None
    wall_ms: int | None


def room(target: Target, setup: RunSetup) -> Room:
    """What is left of a target's bounds for programs and their tests, after what travels along with all of them."""
    carried = (setup.runner, *(file.content for file in setup.files))
    return Room(
        tests=max(1, target.max_output_bytes // setup.line_bytes),
        test_bytes=_request_room(target, sum(map(size, carried))),
        wall_ms=None if target.max_wall_ms is None else max(0, target.max_wall_ms - _START_MS),
    )


def _request_room(target: Target, taken: int) -> int | None:
    """How many bytes fit into a request beside so many, before any encoding; `None` for no bound."""
    if target.max_body_bytes is None:
        return None
    return max(0, (target.max_body_bytes - _REQUEST_BYTES) * 3 // 4 - taken)


def usual_wall_ms(time_limit_s: float) -> int:
    """The longest that one test takes on a machine that is half ours, in ms of wall clock.

    A program is stopped at 1.25 L + 0.1 s of CPU time or L + 1 s of idle time, but for pages that cost much
    (PROTOCOL.md), which get no time that a server does not allow (`room_ms`). Jobs are sized by this and not by
    `RunSetup.most_wall_ms`, which a test reaches on a machine beyond use only: a job that meets a server's limit after
    all is cut in halves.
    """
    return rules.usual_wall_ms(time_limit_s)


def ready_wall_ms(ready_bytes: int) -> int:
    """The longest that it takes to make memory ready: PROTOCOL.md allows 20 µs for a page, each of 4 KiB."""
    return rules.pages_ms(ready_bytes)


def size(content: Content) -> int:
    """A content's bytes, before any encoding."""
    return content.size if isinstance(content, Blob) else len(content)
