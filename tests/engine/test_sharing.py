"""Jobs that several programs share: less is started, and no program knows of another or suffers for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.engine.packing import BUNDLE_S
from ioi_eval.errors import ExhaustedError
from ioi_eval.model import (
    CheckerProtocol,
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
    """The embedded sandbox; notes what run jobs it gets, and can lose the ends of answers to shared ones."""

    def __init__(self, sandbox: LocalSandbox) -> None:
        self._sandbox = sandbox
        self.begin()

    def begin(self) -> None:
        """Forget what was."""
        self.jobs: list[Job] = []
        self.loses_shared = False
        self.is_exhausted_by_shared = False
        self.attempts: list[tuple[bool, int]] = []  # of each job: whether it is shared, how often it may be sent
        self.arrived = asyncio.Semaphore(0)
        self.gate = asyncio.Event()
        self.gate.set()

    def targets(self) -> Sequence[Target]:
        """This machine."""
        return self._sandbox.targets()

    async def execute(self, job: Job, target: Target) -> Execution:
        """Execute it, and note it if it runs programs."""
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
        """How many tests each job had."""
        return [_plan(job).count(b"\ntest ") for job in self.jobs]


def _plan(job: Job) -> bytes:
    content = next((file.content for file in job.files if file.name == "plan"), b"")
    assert isinstance(content, bytes)
    return content


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """One loop for all."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def embedded(loop: asyncio.Runner) -> Iterator[Counting]:
    """One sandbox with one slot for all."""
    sandbox = LocalSandbox(slots=1)
    loop.run(sandbox.__aenter__())
    yield Counting(sandbox)
    loop.run(sandbox.__aexit__(None, None, None))


@pytest.fixture
def sandbox(embedded: Counting) -> Counting:
    """The sandbox, as if it were new."""
    embedded.begin()
    return embedded


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with much else to do is no reason to end a job."""
    monkeypatch.setattr("ioi_eval.engine.sharing._ENOUGH_S", 3600.0)


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
    """The first runs at once, the others together behind it; each gets its own result."""
    programs = [RIGHT, "print(0)", "1 / 0", RIGHT, "import decimal\nprint(0)", "print(int(input()) * 2)", "x ="]
    results = _score(loop, sandbox, cache, programs)
    assert [result.verdict.value for result in results] == ["AC", "WA", "RE", "AC", "WA", "AC", "CE"]
    assert [result.passed for result in results] == [3, 1, 0, 3, 1, 3, 0]
    assert sandbox.tests == [3, 15, 3]  # a program that imports decimal is in another job
    inputs = [file.name for file in sandbox.jobs[1].files if file.name.startswith("t")]
    assert len(inputs) == 4, "what is the same travels once"


def test_a_failure_stops_its_own_program_only(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """With fail-fast each of them is a group of its own."""
    results = _score(loop, sandbox, cache, ["pass", "print(0)", RIGHT], fail_fast=True)
    assert [[test.verdict.value for test in result.tests] for result in results] == [
        ["WA", "SKIPPED", "SKIPPED"],
        ["AC", "WA", "SKIPPED"],
        ["AC", "AC", "AC"],
    ]
    assert sandbox.tests == [3, 6]


def test_a_lost_answer_is_asked_for_program_by_program(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """Whoever broke a shared job breaks nothing for the others a second time."""
    sandbox.loses_shared = True
    results = _score(loop, sandbox, cache, [RIGHT, RIGHT + "\n", "print(0)"])
    assert [result.verdict for result in results] == [Verdict.AC, Verdict.AC, Verdict.WA]
    assert sandbox.tests == [3, 6, 3, 3]


def test_no_program_has_more_attempts_for_having_shared_a_job(
    loop: asyncio.Runner, sandbox: Counting, cache: Path
) -> None:
    """Half of them are for the job that it shared; if nobody answers that, the other half for a job of its own."""
    sandbox.is_exhausted_by_shared = True
    results = _score(loop, sandbox, cache, [RIGHT + "\n" * n for n in range(4)])
    assert [result.verdict for result in results] == [Verdict.AC] * 4
    most = RETRIES + 1
    assert {attempts for is_shared, attempts in sandbox.attempts if is_shared} == {most // 2}
    after = sandbox.attempts[[is_shared for is_shared, _ in sandbox.attempts].index(True) + 1 :]
    assert [attempts for is_shared, attempts in after if not is_shared] == [most // 2] * len(results[1:])


def test_whoever_is_cancelled_leaves_the_others_their_results(
    loop: asyncio.Runner, sandbox: Counting, cache: Path
) -> None:
    """Also the one that runs the job for all, and one that has not begun."""

    async def cancelling() -> list[AppsResult]:
        executor = AppsExecutor(sandbox, artifacts=ArtifactStore(cache))
        await executor.score(DOUBLE, RIGHT)
        await sandbox.arrived.acquire()
        sandbox.gate.clear()
        tasks = [asyncio.create_task(executor.score(DOUBLE, RIGHT + "\n" * n)) for n in range(6)]
        await sandbox.arrived.acquire()  # the job of the first; the others wait
        tasks[3].cancel()
        tasks[0].cancel()
        await sandbox.arrived.acquire()  # the second's, for all that are left
        assert sandbox.tests == [3, 3, 12]
        tasks[1].cancel()
        await sandbox.arrived.acquire()
        sandbox.gate.set()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [number for number, one in enumerate(ended) if isinstance(one, asyncio.CancelledError)] == [0, 1, 3]
        assert (await executor.score(DOUBLE, RIGHT)).verdict is Verdict.AC  # no slot was lost
        return [one for one in ended if isinstance(one, AppsResult)]

    assert [result.verdict for result in loop.run(cancelling())] == [Verdict.AC] * 3


def test_slow_programs_do_not_share(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """Once tests are known to take long, each program gets a job: no slot is left idle behind a queue."""
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
    """Neither in memory, nor by a descriptor, nor at a path: before or behind it in the job."""
    other = "kept = ['secret of another program' * 9]\nopen('left', 'w').write(kept[0])\n" + RIGHT
    results = _score(loop, sandbox, cache, [RIGHT, other, SPY, other + "\n", SPY + "\n"])
    assert sandbox.tests == [3, 12]
    assert [result.verdict for result in results] == [Verdict.AC] * 5, results


def test_who_was_not_begun_waits_again(
    loop: asyncio.Runner, sandbox: Counting, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that has taken long enough begins no other test: those behind it have their results from the next."""
    monkeypatch.setattr("ioi_eval.engine.sharing._ENOUGH_S", 0.5)
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
    checker_protocol=CheckerProtocol.WHITE_DIFF,
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
    """Each by its own stop rule: a zero of one says nothing of another's tests."""
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
    """As little as those of APPS."""
    other = "kept = ['secret of another program' * 9]\nopen('left', 'w').write(kept[0])\n" + RIGHT
    results = _contest(loop, sandbox, cache, [RIGHT, other, SPY, other + "\n", SPY + "\n"])
    assert sandbox.tests == [6, 24]
    assert [result.score for result in results] == [100.0] * 5, results


def test_compiled_programs_have_boxes_of_their_own(loop: asyncio.Runner, sandbox: Counting, cache: Path) -> None:
    """A box has one executable."""
    right = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n; }\n"
    results = _contest(loop, sandbox, cache, [right, right + "\n"], Language.CPP)
    assert [result.score for result in results] == [100.0] * 2
    assert max(sandbox.tests) <= len(NAMES)
