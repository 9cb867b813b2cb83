"""Runs the attacks through scorer, sandbox and runner, and reports the result of each.

All programs of a campaign are judged in parallel, with many tests in a box, as in a real run. The state of the machine
is compared before and after. With `--full`, the programs are judged one by one: then the report says which program
left something behind.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import thread as _imported_early_too  # noqa: F401 - not readable after root is given up
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import MIB, CompileLimits
from ioi_eval.jobs.recipes import Recipe
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.kept_programs import KeptPrograms
from ioi_eval.model import Execution, Isolation, Job, Problem, Submission, SubmissionResult, TestOutcome, Verdict
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston import problem_packages as _imported_early  # noqa: F401 - not readable after root is given up
from ioi_eval.scorer import Scorer
from ioi_eval.toolchain import Toolchain
from tests.attacks.arena import COMPILING, HONEST, LONG_TIME_LIMIT_S, policy, sealed_problem, source, task_of
from tests.attacks.catalogue import Attack, Program, attacked_problems, programs
from tests.attacks.compile_attacks import ATTACKS as COMPILE_ATTACKS
from tests.attacks.compile_attacks import CompileAttack
from tests.attacks.harm import State
from tests.attacks.python_attack import HONEST as HONEST_PYTHON
from tests.attacks.python_attack import PythonAttack, honest_problem
from tests.attacks.python_attack import problem as python_problem
from tests.attacks.python_attacks import ATTACKS as PYTHON_ATTACKS
from tests.attacks.users import User
from tests.attacks.worker_packages import WorkerPackages
from tests.small_good_program import use_small_good_program

SLOTS = 4
"""Slots of each campaign: may be more than the processors, because many attacks use no CPU time while they wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one attack in one campaign.

    Args:
        attack: its name.
        verdict: as in the catalogue: a JE has the judge program (`JE:checker`).
        solved: whether it got full marks.
        message: the message of the checker, manager or compiler.
        final: whether a JE is final.
        attempted: refused calls that the result lists.
        honest: the verdict of the honest test after it.
        isolation: the isolation level that the result states.
    """

    attack: str
    verdict: str
    solved: bool
    message: str
    final: bool
    attempted: tuple[str, ...]
    honest: str
    isolation: Isolation | None

    @property
    def succeeded(self) -> bool:
        """Whether the program scored, or read or did something forbidden."""
        return self.solved or self.message.startswith("GOT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The results of a campaign.

    Args:
        by_attack: the result of each attack, by name.
        left: descriptions of what the attacks left on the machine.
        hidden: calls that an outer filter, for example a container's, refuses before ours: they are not reported.
        unused: the test data that a worker did not take from its packages, and their faults.
    """

    by_attack: Mapping[str, Finding]
    left: tuple[str, ...]
    hidden: frozenset[str]
    unused: tuple[str, ...]


@dataclass(slots=True)
class Campaign:
    """All attacks with one isolation level, one user and one kind of sandbox. They run when results are first needed.

    Args:
        level: the strongest isolation that is used, and the weakest that is accepted.
        user: the user who starts the sandbox.
        cache: the cache directory, which that user can write.
        programs: the cache directory with the attacking programs that an earlier campaign compiled.
        served: whether a worker judges, over HTTP, with the problems' packages. There, run jobs compile their program
            first (build jobs).
        problems: the problems that C++ programs attack; by default all.
        builds: whether the embedded sandbox gets build jobs too.
        compiler: whether to include the attacks on the compiler that do not reach its limits.
        python: whether to include the attacks by Python programs.
        slow: whether to include the attacks that reach the compiler's limits.
        one_by_one: whether to judge one program at a time.
    """

    level: Isolation
    user: User
    cache: Path
    programs: Path
    served: bool = False
    problems: Collection[str] = field(default_factory=attacked_problems)
    builds: bool = False
    compiler: bool = True
    python: bool = True
    slow: bool = True
    one_by_one: bool = False
    _found: Findings | None = field(default=None, init=False)
    _started: bool = field(default=False, init=False)

    @property
    def compiles_all(self) -> bool:
        """Whether it compiles all attacking programs itself: if run jobs compile, and if it judges one by one."""
        return self.served or self.builds or self.one_by_one

    @property
    def required_isolation(self) -> Isolation:
        """The isolation level in the policy. A worker's level is known only from its answers."""
        return Isolation.REDUCED if self.served else self.level

    def findings(self) -> Findings:
        """The results, computed by the first call.

        Raises:
            Exception: the campaign failed. It is started only once, because hundreds of tests need it.
        """
        if not self._started:
            self._started = True
            self._found = self.user.run(self._make)
        if self._found is None:
            pytest.fail("the campaign failed: see the first failed test of this campaign for the reason", pytrace=False)
        return self._found

    def _make(self) -> Findings:
        with pytest.MonkeyPatch.context() as patch:
            if not self.one_by_one:  # with `--full`, everything is as in a run
                use_small_good_program(patch)
            return asyncio.run(_judge_all(self))


class ProgramsOfAllLevels(KeptPrograms):
    """Attacking programs, compiled by the first campaign that needs them. What the compiler makes does not depend on
    the isolation.

    Args:
        root: the cache directory.
        level: that of the campaign that uses them. It is stated as that of the compilation.
    """

    def __init__(self, root: Path, level: Isolation) -> None:
        super().__init__(root)
        self._level = level

    async def key(self, recipe: Recipe, toolchain: Toolchain, target: Target, limits: CompileLimits) -> str | None:
        """A key that is the same for each isolation level."""
        return await super().key(recipe, toolchain, replace(target, isolation=Isolation.FULL), limits)

    async def answer(self, key: str) -> CompileAnswer | None:
        """The answer to the compilation in another campaign, as if it had been compiled in this one."""
        answer = await super().answer(key)
        return None if answer is None else replace(answer, isolation=self._level)


class _DeclaredRemote:
    """The embedded sandbox, declared as remote."""

    def __init__(self, local: LocalSandbox) -> None:
        self._local = local

    def targets(self) -> Sequence[Target]:
        """This machine."""
        return [replace(target, is_remote=True) for target in self._local.targets()]

    async def execute(self, job: Job, target: Target) -> Execution:
        """Execute a job here."""
        return await self._local.execute(job, target)


@asynccontextmanager
async def judging(
    level: Isolation, cache: Path, *, slots: int, builds: bool = False, packages: WorkerPackages | None = None
) -> AsyncIterator[Sandbox]:
    """A sandbox of that isolation level: the embedded one, or a cluster with one worker, over real sockets.

    Args:
        level: the isolation level.
        cache: the cache directory.
        slots: how many jobs run at once.
        builds: whether the embedded sandbox gets build jobs, as a cluster does.
        packages: the worker's packages; without them, the embedded sandbox is used.
    """
    async with LocalSandbox(slots=slots, least_isolation=level, strongest=level) as local:
        if packages is None:
            yield _DeclaredRemote(local) if builds else local
            return
        from ioi_eval.sandbox.piston.cluster import PistonCluster
        from ioi_eval.sandbox.serve.server import serving

        (target,) = local.targets()
        builder = Builder(local, ArtifactStore(cache), policy(level))
        await packages.install_all(builder, target)
        async with (
            serving(local, runner=await builder.runner(target), port=0, packages=packages) as address,
            PistonCluster([address], max_requests_per_endpoint=slots, profile="bundled") as cluster,
        ):
            yield cluster
            packages.faults = tuple(cluster.package_faults)


async def _judge_all(campaign: Campaign) -> Findings:
    before = State.now()
    found: dict[str, Finding] = {}
    left: list[str] = []
    slots = 1 if campaign.one_by_one else SLOTS
    chosen = [program for program in programs() if program.problem in campaign.problems]
    tasks = [(program, task_of(program, campaign.cache)) for program in chosen]
    packages = WorkerPackages(campaign.cache, [task for _, task in tasks]) if campaign.served else None
    async with judging(
        campaign.level, campaign.cache, slots=slots, builds=campaign.builds, packages=packages
    ) as sandbox:
        # The sandbox and its client keep files and connections for later jobs: only the check at the end counts these.
        during = replace(State.now(), descriptors=sys.maxsize)

        async def worker(queue: Iterator[tuple[str, Work]]) -> None:
            for name, work in queue:
                found.update(await work())
                if campaign.one_by_one:
                    left.extend(f"{name}: {words}" for words in await _harm_since(during))

        queue = iter(_work(campaign, sandbox, tasks))
        async with asyncio.TaskGroup() as group:
            for _ in range(slots):
                group.create_task(worker(queue))
        honest = await _honest_compilation(campaign, sandbox)
        hidden = await _hidden_calls(campaign, sandbox)
    for attack in COMPILE_ATTACKS:
        if attack.name in found:
            found[attack.name] = replace(found[attack.name], honest=honest)
    left.extend(await _harm_since(before))
    unused, changed = (packages.unused(), packages.changes()) if packages else ((), ())
    return Findings(by_attack=found, left=(*left, *changed), hidden=hidden, unused=unused)


Work = Callable[[], Awaitable[Mapping[str, Finding]]]


def _work(campaign: Campaign, sandbox: Sandbox, tasks: Sequence[tuple[Program, Problem]]) -> Iterator[tuple[str, Work]]:
    """What is judged in the campaign. Slow attacks on the compiler come last."""
    store = ArtifactStore(campaign.cache)
    kept = None if campaign.compiles_all else ProgramsOfAllLevels(campaign.programs, campaign.level)
    for program, task in sorted(tasks, key=lambda each: each[0].long_limit):  # a file's two programs are equal
        scorer = Scorer(
            sandbox,
            artifacts=store,
            policy=policy(campaign.required_isolation),
            bundle_tests=program.bundle,
            kept_programs=kept,
        )
        yield program.name, partial(attack_by_program, program, task, scorer)
    settings = replace(PYTHON, least_isolation=campaign.required_isolation)
    executor = AppsExecutor(sandbox, artifacts=store, settings=settings)
    long_limit = AppsExecutor(sandbox, artifacts=store, settings=replace(settings, time_limit_s=LONG_TIME_LIMIT_S))
    for python_attack in PYTHON_ATTACKS if campaign.python else ():
        judge = long_limit if python_attack.long_limit else executor
        yield python_attack.name, partial(_attack_by_python, python_attack, judge)
    # Attacks that use up the limit, most of them twice, are stopped sooner, but not on workers: there the whole known
    # good program is compiled, within six times this limit. It needs 2 s of CPU time, on a slow or busy machine 3 s.
    is_remote = campaign.served or campaign.builds
    for_slow = COMPILING if is_remote else replace(COMPILING, cpu_s=0.5)
    for slow, chosen, limits in ((False, campaign.compiler, COMPILING), (True, campaign.slow, for_slow)):
        compiler = Scorer(sandbox, artifacts=store, policy=policy(campaign.required_isolation, compiling=limits))
        for attack in COMPILE_ATTACKS:
            if chosen and attack.slow is slow:
                yield attack.name, partial(_attack_the_compiler, attack, compiler)


async def attack_by_program(program: Program, task: Problem, scorer: Scorer) -> Mapping[str, Finding]:
    """Judge all attacks of a program, each followed by an honest test."""
    result = honest = await _score(scorer, task, program.name, program.code)
    if not program.solves_honest:
        honest = await _score(scorer, task, "solver", source("solver.cpp").content.decode())
    return {attack.name: _finding(attack, result, honest) for attack in program.attacks}


PYTHON = AppsSettings(time_limit_s=0.4, memory_limit_bytes=192 * MIB, output_bytes=8 * MIB)
"""Limits that are reached in a short time."""


async def _attack_by_python(attack: PythonAttack, executor: AppsExecutor) -> Mapping[str, Finding]:
    """Judge an attacking Python program, then an honest program."""
    result = await executor.score(python_problem(called=attack.called), attack.code)
    honest = await executor.score(honest_problem(), HONEST_PYTHON)
    messages = [test.printed_text for test in result.tests if test.printed_text.startswith("GOT")]
    finding = Finding(
        attack=attack.name,
        verdict=str(result.verdict),
        solved=result.passed > 0,
        message=(messages or [result.tests[0].message])[0],
        final=False,
        attempted=tuple({call for test in result.tests for call in test.attempted}),
        honest=str(honest.verdict),
        isolation=result.isolation,
    )
    return {attack.name: finding}


_SECRET = secrets.token_hex(13)


async def _attack_the_compiler(attack: CompileAttack, scorer: Scorer) -> Mapping[str, Finding]:
    """Compile an attack on the compiler, and run it if it compiles."""
    result = await _score(scorer, sealed_problem(_SECRET), attack.name, attack.code())
    outcome = result.subtasks[0].tests[0] if result.compile.verdict is None else None
    finding = Finding(
        attack=attack.name,
        verdict=str(result.compile.verdict) if outcome is None else _verdict(outcome),
        solved=outcome is not None and outcome.score == 1.0,
        message=result.compile.message if outcome is None else outcome.message,
        final=result.compile.final if outcome is None else outcome.final,
        attempted=(),
        honest="",
        isolation=result.isolation,
    )
    return {attack.name: finding}


async def _honest_compilation(campaign: Campaign, sandbox: Sandbox) -> str:
    """The verdict of an honest program that is compiled after all attacks on the compiler."""
    scorer = Scorer(sandbox, artifacts=ArtifactStore(campaign.cache), policy=policy(campaign.required_isolation))
    code = f'const char *solve() {{ return "{_SECRET}"; }}\n'
    return str((await _score(scorer, sealed_problem(_SECRET), "honest", code)).verdict)


async def _hidden_calls(campaign: Campaign, sandbox: Sandbox) -> frozenset[str]:
    """The calls that an outer filter refuses before ours, as `runner --probe` lists them on this machine."""
    blob = await Builder(sandbox, ArtifactStore(campaign.cache), policy(campaign.required_isolation)).runner(
        sandbox.targets()[0]
    )
    return _hidden_from(blob.path.read_bytes())


def _hidden_from(runner: bytes) -> frozenset[str]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "runner"
        path.write_bytes(runner)
        path.chmod(0o700)
        done = subprocess.run([str(path), "--probe"], capture_output=True, check=True)
    return frozenset(json.loads(done.stdout)["hidden"])


async def _score(scorer: Scorer, task: Problem, name: str, code: str) -> SubmissionResult:
    return await scorer.score(task, Submission(id=name, problem=task.key, code=code), exhaustive=True)


def _verdict(outcome: TestOutcome) -> str:
    return f"JE:{outcome.failed_program}" if outcome.verdict is Verdict.JE else str(outcome.verdict)


NOT_LINKED = "relocation truncated to fit"
"""The linker's message for a program that is too large for this libc: the only accepted reason for a CE."""


def _finding(attack: Attack, result: SubmissionResult, honest: SubmissionResult) -> Finding:
    may_be_refused = any("CE" in expected for expected in attack.expect.values())
    refused = may_be_refused and NOT_LINKED in result.compile.message
    for each in (honest,) if refused else (result, honest):
        assert each.compile.verdict is None, f"{attack.program} does not compile: {each.compile.message}"
    outcome = next(one for one in result.subtasks[0].tests if one.test == attack.name)
    honest_outcome = next(one for one in honest.subtasks[0].tests if one.test == HONEST + attack.name)
    return Finding(
        attack=attack.name,
        verdict="CE" if refused else _verdict(outcome),
        solved=outcome.score == 1.0,
        message=outcome.message,
        final=outcome.final,
        attempted=tuple(outcome.attempted),
        honest=str(honest_outcome.verdict),
        isolation=honest.isolation if refused else result.isolation,
    )


async def _harm_since(before: State) -> list[str]:
    """What is left on the machine. Waits a while: the event loop closes descriptors of ended processes later."""
    harm = State.now().harm_since(before)
    for _ in range(50):
        if not harm:
            break
        await asyncio.sleep(0.02)
        harm = State.now().harm_since(before)
    return harm
