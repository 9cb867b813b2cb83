"""Runs the attacks through the whole path (scorer, sandbox, runner) and reports the result of each.

All programs of a campaign are judged side by side, a box holding many tests, as in a real run; the machine is looked at
before and after. One by one (`--full`), what is left behind can be laid to the program that left it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import MIB
from ioi_eval.jobs import problem_package as _imported_early  # noqa: F401 - a person that gives up root cannot read it later
from ioi_eval.model import Execution, Isolation, Job, Problem, Submission, SubmissionResult, TestOutcome, Verdict
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Sandbox, Target
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.scorer import Scorer
from tests.attacks.arena import COMPILING, HONEST, UNHURRIED_S, policy, problem, sealed_problem, source
from tests.attacks.catalogue import Attack, Program, programs
from tests.attacks.compile_attacks import ATTACKS as COMPILE_ATTACKS
from tests.attacks.compile_attacks import CompileAttack
from tests.attacks.harm import State
from tests.attacks.persons import Person
from tests.attacks.python_attack import HONEST as HONEST_PYTHON
from tests.attacks.python_attack import PythonAttack, honest_problem
from tests.attacks.python_attack import problem as python_problem
from tests.attacks.python_attacks import ATTACKS as PYTHON_ATTACKS

SLOTS = 4
"""Of each campaign. Many attacks wait rather than work, so there may be more than processors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What came of one attack in one campaign.

    Args:
        attack: its name.
        verdict: as the catalogue writes it: a JE with its program (`JE:checker`).
        solved: whether it scored full marks.
        message: the checker's or manager's words, or the compiler's.
        final: of a JE: whether it is judged for good.
        attempted: refused calls that were reported.
        honest: the verdict of the honest test behind it.
        isolation: what the result says.
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
        """Whether the program got what no program may get."""
        return self.solved or self.message.startswith("GOT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What came of a campaign.

    Args:
        by_attack: of each attack, by name.
        left: what is there that was not there before, in words.
        hidden: calls that a filter around the tests answers first, as a container's: nobody tells of them.
    """

    by_attack: Mapping[str, Finding]
    left: tuple[str, ...]
    hidden: frozenset[str]


@dataclass(slots=True)
class Campaign:
    """All attacks in one of the ways in which programs are judged. They are made when they are first asked for.

    Args:
        level: the strongest isolation that is used, and the weakest that is accepted.
        person: who starts the sandbox.
        cache: where compiled things are kept, for that person to write.
        served: by way of a worker, over HTTP.
        builds: the jobs that run a program compile it first, as on clusters.
        compiler: with the attacks on the compiler.
        slow: with those too that use up its limits.
        one_by_one: one program at a time.
    """

    level: Isolation
    person: Person
    cache: Path
    served: bool = False
    builds: bool = False
    compiler: bool = True
    slow: bool = True
    one_by_one: bool = False
    _found: Findings | None = field(default=None, init=False)
    _tried: bool = field(default=False, init=False)

    @property
    def asked(self) -> Isolation:
        """The level that the policy asks for. A worker's is known only from its answers."""
        return Isolation.REDUCED if self.served else self.level

    def findings(self) -> Findings:
        """What came of them.

        Raises:
            Exception: the campaign cannot be made. It is tried once: hundreds of tests ask for it.
        """
        if not self._tried:
            self._tried = True
            self._found = self.person.does(self._make)
        if self._found is None:
            pytest.fail("the campaign cannot be made: the first test that failed in it says why", pytrace=False)
        return self._found

    def _make(self) -> Findings:
        return asyncio.run(_judge_all(self))


class _Distant:
    """The embedded sandbox, as if files travelled to it."""

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
    level: Isolation, cache: Path, *, slots: int, served: bool, builds: bool = False
) -> AsyncIterator[Sandbox]:
    """A sandbox of that level: embedded, or a worker's over real sockets.

    Args:
        level: the isolation.
        cache: where compiled things are kept.
        slots: how many jobs it runs at once.
        served: whether there is a worker.
        builds: whether the embedded sandbox is used as a cluster is, where run jobs compile.
    """
    async with LocalSandbox(slots=slots, isolation=level, strongest=level) as local:
        if not served:
            yield _Distant(local) if builds else local
            return
        from ioi_eval.sandbox.piston.cluster import PistonCluster
        from ioi_eval.sandbox.serve.server import serving

        (target,) = local.targets()
        runner = await Builder(local, ArtifactStore(cache), policy(level)).runner(target)
        async with (
            serving(local, runner=runner, port=0) as address,
            PistonCluster([address], max_requests_per_endpoint=slots, profile="bundled") as cluster,
        ):
            yield cluster


async def _judge_all(campaign: Campaign) -> Findings:
    before = State.now()
    found: dict[str, Finding] = {}
    left: list[str] = []
    slots = 1 if campaign.one_by_one else SLOTS
    async with judging(
        campaign.level, campaign.cache, slots=slots, served=campaign.served, builds=campaign.builds
    ) as sandbox:
        during = State.now()

        async def worker(queue: Iterator[tuple[str, Work]]) -> None:
            for name, work in queue:
                found.update(await work())
                if campaign.one_by_one:
                    left.extend(f"{name}: {words}" for words in await _harm_since(during))

        queue = iter(_work(campaign, sandbox))
        async with asyncio.TaskGroup() as group:
            for _ in range(slots):
                group.create_task(worker(queue))
        honest = await _honest_compilation(campaign, sandbox)
        hidden = await _hidden_calls(campaign, sandbox)
    for attack in COMPILE_ATTACKS:
        if attack.name in found:
            found[attack.name] = replace(found[attack.name], honest=honest)
    left.extend(await _harm_since(before))
    return Findings(by_attack=found, left=tuple(left), hidden=hidden)


Work = Callable[[], Awaitable[Mapping[str, Finding]]]


def _work(campaign: Campaign, sandbox: Sandbox) -> Iterator[tuple[str, Work]]:
    """What is to be judged, what takes long alone at the end."""
    store = ArtifactStore(campaign.cache)
    for program in programs():
        scorer = Scorer(sandbox, artifacts=store, policy=policy(campaign.asked), bundle_tests=program.bundle)
        yield program.name, partial(attack_by_program, program, scorer, campaign.cache)
    settings = replace(PYTHON, isolation=campaign.asked)
    executor = AppsExecutor(sandbox, artifacts=store, settings=settings)
    unhurried = AppsExecutor(sandbox, artifacts=store, settings=replace(settings, time_limit_s=UNHURRIED_S))
    for python_attack in PYTHON_ATTACKS:
        judge = unhurried if python_attack.unhurried else executor
        yield python_attack.name, partial(_attack_by_python, python_attack, judge)
    compiler = Scorer(sandbox, artifacts=store, policy=policy(campaign.asked, compiling=COMPILING))
    for attack in sorted(COMPILE_ATTACKS, key=lambda attack: attack.slow):
        if campaign.compiler and (campaign.slow or not attack.slow):
            yield attack.name, partial(_attack_the_compiler, attack, compiler)


async def attack_by_program(program: Program, scorer: Scorer, cache: Path) -> Mapping[str, Finding]:
    """Judge all attacks of a program, each followed by an honest test."""
    task = problem(program.problem, [attack.name for attack in program.attacks], cache, unhurried=program.unhurried)
    result = honest = await _score(scorer, task, program.name, program.code)
    if not program.solves_honest:
        honest = await _score(scorer, task, "solver", source("solver.cpp").content.decode())
    return {attack.name: _finding(attack, result, honest) for attack in program.attacks}


PYTHON = AppsSettings(time_limit_s=0.4, memory_limit_bytes=192 * MIB, output_bytes=8 * MIB)
"""Limits that take no long time to reach."""


async def _attack_by_python(attack: PythonAttack, executor: AppsExecutor) -> Mapping[str, Finding]:
    """Judge an attack by a Python program, then an honest program."""
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
    """The verdict of an honest program behind all attacks on the compiler."""
    scorer = Scorer(sandbox, artifacts=ArtifactStore(campaign.cache), policy=policy(campaign.asked))
    code = f'const char *solve() {{ return "{_SECRET}"; }}\n'
    return str((await _score(scorer, sealed_problem(_SECRET), "honest", code)).verdict)


async def _hidden_calls(campaign: Campaign, sandbox: Sandbox) -> frozenset[str]:
    """What the runner says of the calls that it does not hear of, to whoever starts it here."""
    blob = await Builder(sandbox, ArtifactStore(campaign.cache), policy(campaign.asked)).runner(sandbox.targets()[0])
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
"""What the linker says of a program that is too large for this libc: the only reason why an attack may not compile."""


def _finding(attack: Attack, result: SubmissionResult, honest: SubmissionResult) -> Finding:
    may_be_refused = any("CE" in expected for expected in attack.expect.values())
    refused = may_be_refused and NOT_LINKED in result.compile.message
    for each in (honest,) if refused else (result, honest):
        assert each.compile.verdict is None, f"{attack.program} does not compile: {each.compile.message}"
    outcome = next(one for one in result.subtasks[0].tests if one.test == attack.name)
    behind = next(one for one in honest.subtasks[0].tests if one.test == HONEST + attack.name)
    return Finding(
        attack=attack.name,
        verdict="CE" if refused else _verdict(outcome),
        solved=outcome.score == 1.0,
        message=outcome.message,
        final=outcome.final,
        attempted=tuple(outcome.attempted),
        honest=str(behind.verdict),
        isolation=honest.isolation if refused else result.isolation,
    )


async def _harm_since(before: State) -> list[str]:
    """What is left. The event loop closes what belongs to an ended process in callbacks of its own: they get time."""
    harm = State.now().harm_since(before)
    for _ in range(50):
        if not harm:
            break
        await asyncio.sleep(0.02)
        harm = State.now().harm_since(before)
    return harm
