"""Jobs with several programs: fewer jobs are started, and programs neither see nor disturb one another."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.engine.packing import BUNDLE_S
from ioi_eval.errors import ExhaustedError
from ioi_eval.jobs.run_job import PlannedProgram
from ioi_eval.model import (
    Execution,
    Job,
    Language,
    Submission,
    SubmissionResult,
    Subtask,
    TestCase,
    Verdict,
)
from ioi_eval.model.apps import AppsProblem, StdinTest
from ioi_eval.model.job import RETRIES
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.small_problems import small_problem

TESTS = tuple(StdinTest(number=n, given=f"{n}\n", expected=f"{2 * n}\n") for n in range(3))
DOUBLE = AppsProblem(id="double", index=0, tests=TESTS, inputs=3, outputs=3)
RIGHT = "print(2 * int(input()))"


class Counting:
    """The embedded sandbox. It records its run jobs, and can lose the ends of answers to shared jobs."""

    def __init__(self, sandbox: LocalSandbox) -> None:
        self._sandbox = sandbox
        self.begin()

    def begin(self) -> None:
        """Reset the records."""
        self.jobs: list[Job] = []
        self.loses_shared = False
        self.is_exhausted_by_shared = False
        self.attempts: list[tuple[bool, int]] = []  # of each job: whether it is shared, and its number of attempts
        self.arrived = asyncio.Semaphore(0)
        self.gate = asyncio.Event()
        self.gate.set()

    def targets(self) -> Sequence[Target]:
        """This machine."""
        return self._sandbox.targets()

    async def execute(self, job: Job, target: Target) -> Execution:
        """Execute a job, and record it if it runs programs."""
        if b"mode run" not in _plan(job):
            return await self._sandbox.execute(job, target)
        self.jobs.append(job)
        is_shared = any(file.name == "program1" for file in job.files)
        assert job.retries is not None
        self.attempts.append((is_shared, job.retries.left + 1))
        if is_shared and self.is_exhausted_by_shared:
            while job.retries.take():
                pass
            raise ExhaustedError("no worker answered")
        self.arrived.release()
        await self.gate.wait()
        execution = await self._sandbox.execute(job, target)
        if not self.loses_shared or not is_shared:
            return execution
        return replace(execution, run=replace(execution.run, stdout=execution.run.stdout[:-40]))

    @property
    def tests(self) -> list[int]:
        """The number of tests of each job."""
        return [_plan(job).count(b"\ntest ") for job in self.jobs]


def _plan(job: Job) -> bytes:
    content = next((file.content for file in job.files if file.name == "plan"), b"")
    assert isinstance(content, bytes)
    return content


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """One event loop for all tests."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def embedded(loop: asyncio.Runner) -> Iterator[Counting]:
    """One sandbox with one slot for all tests."""
    sandbox = LocalSandbox(slots=1)
    loop.run(sandbox.__aenter__())
    yield Counting(sandbox)
    loop.run(sandbox.__aexit__(None, None, None))


@pytest.fixture
def sandbox(embedded: Counting) -> Counting:
    """The sandbox with reset records."""
    embedded.begin()
    return embedded


@pytest.fixture(autouse=True)
def no_time_limit_of_shared_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shared job does not end early on a busy machine."""
    monkeypatch.setattr("ioi_eval.engine.run_jobs._ENOUGH_S", 3600.0)


async def _all(executor: AppsExecutor, programs: Sequence[str]) -> list[AppsResult]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(executor.score(DOUBLE, program)) for program in programs]
    return [task.result() for task in tasks]


def _score(
    loop: asyncio.Runner, sandbox: Counting, cache: Path, programs: Sequence[str], **settings: object
) -> list[AppsResult]:
    executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache), settings=AppsSettings(**settings))  # type: ignore[arg-type]
    return loop.run(_all(executor, programs))


def test_programs_that_wait_share_a_job(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """The first program runs at once, the waiting ones together after it. Each gets its own result."""
    programs = [RIGHT, "print(0)", "1 / 0", RIGHT, "import decimal\nprint(0)", "print(int(input()) * 2)", "x ="]
    results = _score(loop, sandbox, cache, programs)
    assert [result.verdict.value for result in results] == ["AC", "WA", "RE", "AC", "WA", "AC", "CE"]
    assert [result.passed for result in results] == [3, 1, 0, 3, 1, 3, 0]
    assert sandbox.tests == [3, 15, 3]  # a program that imports decimal is in another job
    inputs = [file.name for file in sandbox.jobs[1].files if file.name.startswith("t")]
    assert len(inputs) == 4, "what is the same travels once"


def test_a_failure_stops_its_own_program_only(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """With fail-fast each program is a group of its own."""
    results = _score(loop, sandbox, cache, ["pass", "print(0)", RIGHT], fail_fast=True)
    assert [[test.verdict.value for test in result.tests] for result in results] == [
        ["WA", "SKIPPED", "SKIPPED"],
        ["AC", "WA", "SKIPPED"],
        ["AC", "AC", "AC"],
    ]
    assert sandbox.tests == [3, 6]


def test_after_a_lost_answer_programs_run_separately(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """A program that breaks a shared job does not affect the other programs a second time. The attempt is counted."""
    sandbox.loses_shared = True
    results = _score(loop, sandbox, cache, [RIGHT, RIGHT + "\n", "print(0)"])
    assert [result.verdict for result in results] == [Verdict.AC, Verdict.AC, Verdict.WA]
    assert sandbox.tests == [3, 6, 3, 3]
    assert [attempts for _, attempts in sandbox.attempts] == [RETRIES + 1, (RETRIES + 1) // 2, RETRIES, RETRIES]


def test_a_shared_job_does_not_add_attempts(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """Half of the attempts are for the shared job. If all fail, the other half are for a job of its own."""
    sandbox.is_exhausted_by_shared = True
    results = _score(loop, sandbox, cache, [RIGHT + "\n" * n for n in range(4)])
    assert [result.verdict for result in results] == [Verdict.AC] * 4
    most = RETRIES + 1
    assert {attempts for is_shared, attempts in sandbox.attempts if is_shared} == {most // 2}
    after = sandbox.attempts[[is_shared for is_shared, _ in sandbox.attempts].index(True) + 1 :]
    assert [attempts for is_shared, attempts in after if not is_shared] == [most // 2] * len(results[1:])


def test_a_cancelled_program_does_not_affect_the_others(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """Also if it is the one that sends the shared job, or one that has not started."""

    async def cancelling() -> list[AppsResult]:
        executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache))
        await executor.score(DOUBLE, RIGHT)
        await sandbox.arrived.acquire()
        sandbox.gate.clear()
        tasks = [asyncio.create_task(executor.score(DOUBLE, RIGHT + "\n" * n)) for n in range(6)]
        await sandbox.arrived.acquire()  # the job of the first program; the others wait
        tasks[3].cancel()
        tasks[0].cancel()
        await sandbox.arrived.acquire()  # the job of the second one, for all remaining programs
        assert sandbox.tests == [3, 3, 12]
        tasks[1].cancel()
        await sandbox.arrived.acquire()
        sandbox.gate.set()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [number for number, one in enumerate(ended) if isinstance(one, asyncio.CancelledError)] == [0, 1, 3]
        assert (await executor.score(DOUBLE, RIGHT)).verdict is Verdict.AC  # no slot was lost
        return [one for one in ended if isinstance(one, AppsResult)]

    assert [result.verdict for result in loop.run(cancelling())] == [Verdict.AC] * 3


class Failing(Counting):
    """No worker answers a job that runs programs."""

    async def execute(self, job: Job, target: Target) -> Execution:
        """Execute other jobs."""
        if b"mode run" in _plan(job):
            raise ExhaustedError("no worker answered")
        return await super().execute(job, target)


@pytest.mark.parametrize("kind", [Counting, Failing])
def test_programs_are_freed_when_their_job_has_ended(
    loop: asyncio.Runner, embedded: Counting, cache: Path, kind: type[Counting]
) -> None:
    """Without the garbage collector, which runs rarely while a cluster is entered: tests may have megabytes."""
    gc.collect()
    gc.disable()
    try:
        _score(loop, kind(embedded._sandbox), cache, [RIGHT, f"{RIGHT} "])
        assert not any(isinstance(each, PlannedProgram) for each in gc.get_objects())
    finally:
        gc.enable()


def test_slow_programs_do_not_share(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """If tests are known to be slow, each program gets its own job, so that no slot is idle while programs wait in one
    job.
    """
    slow = f"import time\ntime.sleep({BUNDLE_S / 5})\n" + RIGHT
    results = _score(loop, sandbox, cache, [slow, slow + "\n", slow + "\n\n"])
    assert all(result.verdict is Verdict.AC for result in results)
    assert sandbox.tests == [3, 3, 3]


SPY = """
import gc, os, sys
MARK = "margorp rehtona fo terces"[::-1]
texts = [x for held in gc.get_objects() for x in gc.get_referents(held) if type(x) in (str, bytes)]
found = [x for x in texts if (MARK if type(x) is str else MARK.encode()) in x and x is not MARK]
for fd in range(3, 1024):
    try:
        if MARK.encode() in os.pread(fd, 1 << 16, 0): found.append(fd)
    except OSError: pass
for folder in (".", "/", "/tmp", "/proc", "/proc/1", "/dev/shm"):
    try: found += [p for p in os.listdir(folder) if MARK.encode() in open(os.path.join(folder, p), "rb").read()]
    except OSError: pass
try:
    for line in open("/proc/self/maps"):
        first, last = (int(x, 16) for x in line.split()[0].split("-"))
        with open("/proc/self/mem", "rb") as memory:
            memory.seek(first)
            if MARK.encode() * 2 in memory.read(last - first): found.append(line)
except (OSError, ValueError, OverflowError): pass
print(found if found else 2 * int(input()))
"""


def test_programs_of_a_job_see_nothing_of_each_other(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """Neither in memory, nor through a descriptor or a file, whether earlier or later in the job."""
    other = "kept = ['secret of another program' * 9]\nopen('left', 'w').write(kept[0])\n" + RIGHT
    results = _score(loop, sandbox, cache, [RIGHT, other, SPY, other + "\n", SPY + "\n"])
    assert sandbox.tests == [3, 12]
    assert [result.verdict for result in results] == [Verdict.AC] * 5, results


def test_programs_that_a_shared_job_did_not_start_wait_again(
    loop: asyncio.Runner, sandbox: Counting, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that has taken its time starts no more tests. The next job runs the remaining ones."""
    monkeypatch.setattr("ioi_eval.engine.run_jobs._ENOUGH_S", 0.5)
    slow = "import time\ntime.sleep(0.5 if input() == '0' else 0)\nprint(0)"
    fast = "import time\nn = int(input())\nprint(n * 2)"
    results = _score(loop, sandbox, cache, [fast, slow, fast + "\n", fast + "\n\n"])
    assert [result.passed for result in results] == [3, 1, 3, 3]
    assert len(sandbox.tests) > 2


# --------------------------------------------------------------------------- contest problems

NAMES = tuple("abcdef")
CONTEST = small_problem(
    subtasks=(Subtask(name="1", points=40, tests=NAMES[:3]), Subtask(name="2", points=60, tests=NAMES)),
    tests={
        name: TestCase(name=name, input=f"{n}\n".encode(), answer=f"{2 * n}\n".encode()) for n, name in enumerate(NAMES)
    },
)


def _contest(
    loop: asyncio.Runner, sandbox: Counting, cache: Path, programs: Sequence[str], language: Language = Language.PYTHON
) -> list[SubmissionResult]:
    async def judge() -> list[SubmissionResult]:
        scorer = Scorer(sandbox, artifacts=ArtifactStore(cache))
        given = [
            Submission(id=str(number), problem=CONTEST.key, code=code, language=language)
            for number, code in enumerate(programs)
        ]
        return await asyncio.gather(*(scorer.score(CONTEST, submission) for submission in given))

    return loop.run(judge())


def test_contest_programs_in_python_share_too(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """Each stops by its own rule: a zero of one does not skip tests of another."""
    part = "n = int(input())\nprint(2 * n if n < 4 else 0)"
    results = _contest(loop, sandbox, cache, [RIGHT, "print(0)", part, "1 / 0", RIGHT + "\n"])
    assert [(result.verdict.value, result.score) for result in results] == [
        ("AC", 100.0), ("WA", 0.0), ("WA", 40.0), ("RE", 0.0), ("AC", 100.0),
    ]  # fmt: skip
    assert [len([test for test in result.subtasks[1].tests if test.cpu_ms is not None]) for result in results] == [
        6, 2, 5, 1, 6,
    ]  # fmt: skip
    assert sandbox.tests == [6, 24]


def test_contest_programs_of_a_job_see_nothing_of_each_other(
    loop: asyncio.Runner, sandbox: Counting, cache: Path
) -> None:
    """The same as for APPS."""
    other = "kept = ['secret of another program' * 9]\nopen('left', 'w').write(kept[0])\n" + RIGHT
    results = _contest(loop, sandbox, cache, [RIGHT, other, SPY, other + "\n", SPY + "\n"])
    assert sandbox.tests == [6, 24]
    assert [result.score for result in results] == [100.0] * 5, results


def test_compiled_programs_do_not_share_jobs(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """A box has one executable."""
    right = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n; }\n"
    results = _contest(loop, sandbox, cache, [right, right + "\n"], Language.CPP)
    assert [result.score for result in results] == [100.0] * 2
    assert max(sandbox.tests) <= len(NAMES)
