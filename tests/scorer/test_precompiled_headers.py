"""The precompiled header on this machine: it gives the same objects, is built when that saves time, and is built again
when headers change.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from ioi_eval import ArtifactStore, LocalSandbox, Scorer, Submission
from ioi_eval.config import MIB, CompileLimits, Policy
from ioi_eval.errors import SandboxError, TransientError
from ioi_eval.jobs import recipes
from ioi_eval.jobs.recipes import Recipe, Step, with_header
from ioi_eval.model import Blob, Execution, Isolation, Job, JobFile, ProblemKey, Subtask, TestCase, Verdict
from ioi_eval.precompiled_headers import WORTH_BUILDING, PrecompiledHeaders
from ioi_eval.programs import MAX_ATTEMPTS, Builder
from ioi_eval.sandbox import Target
from tests.box_answers import plan_of
from tests.shared_work import copy_cache
from tests.small_problems import small_problem

POLICY = Policy(least_isolation=Isolation.NONE, compile=CompileLimits(cpu_s=60, wall_s=600))
"""Time enough on a busy machine: no limit of a compilation is tried here."""
PROBLEM = small_problem(
    key=ProblemKey(year=2026, id="Nile"),
    subtasks=(Subtask(name="01", points=100, tests=("a",)),),
    tests={"a": TestCase(name="a", input=b"", answer=b"")},
)
STD = "gnu++17"
INCLUDED, SMALL = "bits/stdc++.h", "cstdio"
INCLUDE = f"#include <{INCLUDED}>\n"
PROGRAMS = {
    "typical": INCLUDE
    + INCLUDE
    + """
    #if __has_include(<bits/stdc++.h.gch>)
    int found;
    #endif
    using namespace std;
    template <class T> struct Tree { vector<T> v; explicit Tree(size_t n) : v(n) {}
      T sum() { T s{}; for (auto x : v) s += x; return s; } };
    static int calls; namespace { int hidden(int x) { return x + ++calls; } }
    int main() {
      int n; cin >> n; Tree<long long> t(n); for (auto& x : t.v) cin >> x;
      map<string, set<int>> m; m["a"].insert(hidden(n)); mt19937 random(7); shuffle(t.v.begin(), t.v.end(), random);
      sort(t.v.begin(), t.v.end(), [](auto a, auto b) { return a > b; });
      printf("%lld %zu %s %d\\n", t.sum(), m.size(), __FILE__, __COUNTER__);
    }
    #define int long long
    #define all(x) begin(x), end(x)
    int largest(vector<int> v) { return *max_element(all(v)); }
    """,
    "pragmas": INCLUDE
    + """#pragma GCC optimize("O3,unroll-loops")
    #pragma GCC target("avx2")
    int f(std::vector<int>& v) { int s = 0; for (int x : v) s += x * x; return s; }
    """,
}


class Compiling:
    """What compiles on one machine with one cache, as in one run."""

    def __init__(self, sandbox: LocalSandbox, cache: Path) -> None:
        artifacts = ArtifactStore(cache)
        self.sandbox = sandbox
        self.builder = Builder(sandbox, artifacts, POLICY)
        self.headers = PrecompiledHeaders(self.builder, artifacts, POLICY.compile)
        self.target: Target = sandbox.targets()[0]

    def recipe(self, code: str) -> Recipe:
        """The recipe that compiles a program to an object."""
        argv = self.target.toolchain.compile_argv("a.cpp", "a.o", std=STD)
        return Recipe(
            what="submission",
            steps=(Step(argv=argv, files=(("a.cpp", code.encode()),)),),
            artifacts=("a.o",),
            sees=self.target.toolchain.sees,
        )

    async def header(self, times: int = 1) -> Blob | None:
        """The header for the last of this number of programs."""
        for _ in range(times - 1):
            await self.headers.header(self.target, STD)
        return await self.headers.header(self.target, STD)


def with_run(cache: Path, use: Callable[[Compiling], Awaitable[None]]) -> None:
    """A run with this cache."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Compiling]:
        async with LocalSandbox() as sandbox:
            yield Compiling(sandbox, cache)

    async def main() -> None:
        async with opened() as compiling:
            await use(compiling)

    asyncio.run(main())


def stored(cache: Path) -> list[Path]:
    """The precompiled headers in a cache."""
    return list((cache / "artifacts").glob("he/header-*"))


@pytest.fixture(scope="module")
def full_cache(cache_with_runner: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that contains the header."""
    cache = copy_cache(cache_with_runner, tmp_path_factory.mktemp("full"))

    async def use(compiling: Compiling) -> None:
        assert await compiling.header(WORTH_BUILDING - 1) is None  # building it would not save time yet
        assert not stored(cache)
        assert await compiling.header() is not None

    with_run(cache, use)
    return cache


@pytest.fixture
def small_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """`<cstdio>` takes the place of the large header: for tests that compile programs without it too, which takes a
    second with the large one.
    """
    monkeypatch.setattr(recipes, "HEADER", SMALL)
    monkeypatch.setattr(
        recipes, "_FIRST", re.compile(recipes._FIRST.pattern.replace(rb"bits/stdc\+\+\.h", SMALL.encode()))
    )


@pytest.fixture
def small_cache(small_header: None, cache_with_runner: Path, tmp_path: Path) -> Path:
    """A cache that contains the small header, precompiled."""
    cache = copy_cache(cache_with_runner, tmp_path / "small")

    async def use(compiling: Compiling) -> None:
        assert await compiling.header(WORTH_BUILDING) is not None

    with_run(cache, use)
    return cache


class Refusing:
    """This machine, which notes its jobs and runs none."""

    def __init__(self, sandbox: LocalSandbox) -> None:
        self._sandbox = sandbox
        self.jobs: list[Job] = []

    def targets(self) -> Sequence[Target]:
        """The machine's target."""
        return self._sandbox.targets()

    async def execute(self, job: Job, _: Target) -> Execution:
        """Refuse the job."""
        self.jobs.append(job)
        raise SandboxError("nothing is run")


def test_the_limits_of_its_compilation(small_header: None, cache_with_runner: Path) -> None:
    """It is compiled with the time and memory of programs whose authors are trusted, and may be larger than these."""

    async def main() -> Refusing:
        async with LocalSandbox() as sandbox:
            refusing = Refusing(sandbox)
            artifacts = ArtifactStore(cache_with_runner)
            headers = PrecompiledHeaders(Builder(refusing, artifacts, POLICY), artifacts, POLICY.compile)
            for _ in range(WORTH_BUILDING):
                assert await headers.header(sandbox.targets()[0], STD) is None
            return refusing

    (job,) = asyncio.run(main()).jobs
    words = plan_of(job).split()
    limits = ("cpu_ms=360000", "wall_ms=3600000", f"memory_bytes={2048 * MIB}", f"file_bytes={512 * MIB}")
    assert set(limits) <= set(words)


@pytest.mark.parametrize("name", PROGRAMS)
def test_objects_are_the_same_to_the_byte(full_cache: Path, name: str) -> None:
    """A later run has it from its first program on. With it GCC makes the same objects."""

    async def use(compiling: Compiling) -> None:
        header = await compiling.header()
        assert header is not None
        recipe = compiling.recipe(PROGRAMS[name])
        plain = await compiling.builder.compile(recipe, compiling.target)
        quick = await compiling.builder.compile(with_header(recipe, header, ".there"), compiling.target)
        assert quick.artifacts == plain.artifacts
        assert quick.artifacts["a.o"]

    with_run(full_cache, use)


def test_gcc_uses_it(full_cache: Path) -> None:
    """With another header in its place the program does not compile."""

    async def use(compiling: Compiling) -> None:
        header = await compiling.header()
        assert header is not None
        recipe = with_header(compiling.recipe(INCLUDE + "int main() {}\n"), header, ".there")
        step = recipe.steps[0]
        argv = (*step.argv, "-H")  # GCC prints `! PATH` for a precompiled header that it uses
        answer = await compiling.builder.compile(replace(recipe, steps=(replace(step, argv=argv),)), compiling.target)
        assert "! ./.there/all.h.gch" in answer.steps[0].output

    with_run(full_cache, use)


def test_a_changed_header_gets_another_precompiled_header(
    cache_with_runner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a file that the compiler reads has changed, the old one is not used. It is deleted after two weeks without
    use. (A smaller header is precompiled in a fraction of the time.)
    """
    monkeypatch.setattr(recipes, "HEADER", SMALL)
    cache = copy_cache(cache_with_runner, tmp_path / "cache")
    with tempfile.TemporaryDirectory() as more:
        Path(more).chmod(0o755)  # the user of boxes must be able to enter it

        async def use(compiling: Compiling) -> None:
            toolchain = compiling.target.toolchain
            toolchain = replace(toolchain, sees=(*toolchain.sees, more))
            compiling.target = replace(compiling.target, toolchain=toolchain)
            assert await compiling.header(WORTH_BUILDING) is not None

        with_run(cache, use)
        (first,) = stored(cache)
        (Path(more) / "new.h").write_text("int x;\n")
        with_run(cache, use)
        assert first in stored(cache)  # another machine with the same cache may have these headers
        assert len(stored(cache)) == 2
        for path in stored(cache):
            os.utime(path, (0, 0))
        (Path(more) / "newer.h").write_text("int y;\n")
        with_run(cache, use)
        (last,) = stored(cache)
    assert last != first


def test_a_damaged_one_is_not_used(full_cache: Path, tmp_path: Path) -> None:
    """The run continues, and programs are compiled without it."""
    (path,) = stored(full_cache)
    copy = tmp_path / "cache" / "artifacts" / path.parent.name / path.name
    for directory in (tmp_path / "cache", tmp_path / "cache" / "artifacts", copy.parent):
        directory.mkdir(mode=0o755)
    copy.write_bytes(path.read_bytes()[:-1] + b"!")

    async def use(compiling: Compiling) -> None:
        assert await compiling.header(2 * WORTH_BUILDING) is None

    with_run(tmp_path / "cache", use)


def is_header(file: JobFile) -> bool:
    """Whether it is a precompiled header of a cache."""
    return isinstance(file.content, Blob) and file.content.path.name.startswith("header-")


class Trouble:
    """This machine. Before each job that brings the header, a function is called with the header's path."""

    def __init__(self, sandbox: LocalSandbox, happens: Callable[[Path], None]) -> None:
        self._sandbox, self._happens = sandbox, happens
        self.jobs = self.others = 0

    def targets(self) -> Sequence[Target]:
        """The machine's target."""
        return self._sandbox.targets()

    async def execute(self, job: Job, target: Target) -> Execution:
        """Call the function, then run the job."""
        self.others += not any(map(is_header, job.files))
        for file in filter(is_header, job.files):
            assert isinstance(file.content, Blob)
            self.jobs += 1
            self._happens(file.content.path)
        return await self._sandbox.execute(job, target)


def no_room(_: Path) -> None:
    """The box has no space for it."""
    raise TransientError("no space left on device")


@pytest.mark.parametrize(
    ("happens", "jobs", "programs"), [(no_room, MAX_ATTEMPTS, 2), (Path.unlink, 1, WORTH_BUILDING + 1)]
)
def test_programs_are_judged_without_it(
    small_cache: Path, *, happens: Callable[[Path], None], jobs: int, programs: int
) -> None:
    """It does not fit into boxes, or is deleted before its job starts. It is then tried only once in a run: the second
    program does not try it again. If it was deleted, none of the later programs, for which one is built, builds it.
    """

    async def main() -> None:
        async with LocalSandbox(slots=2) as sandbox:  # with one slot, the job that compiles and runs also tries it
            trouble = Trouble(sandbox, happens)
            artifacts = ArtifactStore(small_cache)
            scorer = Scorer(trouble, artifacts=artifacts, policy=replace(POLICY, std=STD))
            for number in range(programs):
                code = f"#include <{SMALL}>\nint main() {{ return 0 * {number}; }}\n"
                submission = Submission(id=str(number), problem=PROBLEM.key, code=code)
                result = await scorer.score(PROBLEM, submission)
                assert result.compile.verdict is None, result.compile
            assert trouble.jobs == jobs

    asyncio.run(main())


@pytest.mark.parametrize(("share", "more"), [(1.0, 0), (0.0, 1)])
@pytest.mark.parametrize("slots", [1, 2])
def test_a_slow_compilation_is_done_without_it(
    small_cache: Path, monkeypatch: pytest.MonkeyPatch, share: float, more: int, slots: int
) -> None:
    """Whether a compilation exceeds its limit must not depend on earlier compilations, so it is repeated without the
    header.

    If no slot is idle, the job that compiles it also runs its test; otherwise another job does.
    """
    monkeypatch.setattr("ioi_eval.scorer.runner_judge._SURE_SHARE", share)

    async def main() -> None:
        async with LocalSandbox(slots=slots) as sandbox:
            trouble = Trouble(sandbox, lambda _: None)
            policy = replace(POLICY, std=STD)
            scorer = Scorer(trouble, artifacts=ArtifactStore(small_cache), policy=policy)
            submission = Submission(id="a", problem=PROBLEM.key, code=f"#include <{SMALL}>\nint main() {{}}\n")
            result = await scorer.score(PROBLEM, submission)
            assert (result.compile.verdict, trouble.jobs, trouble.others) == (None, 1, slots - 1 + more)
            used = f"the precompiled <bits/stdc++.h> was used for {1 - more} of 1 programs that begin with it"
            assert scorer.notes() == [used]

    asyncio.run(main())


def test_a_compile_error_comes_from_a_compilation_without_it(
    small_cache: Path, cache_with_runner: Path, tmp_path: Path
) -> None:
    """Also if the job that compiles with the header would have run the tests. The message is that of a machine without
    the header.
    """
    code = f"#include <{SMALL}>\nint main() {{ return undeclared; }}\n"

    async def main() -> None:
        async with LocalSandbox(slots=1) as sandbox:
            trouble = Trouble(sandbox, lambda _: None)
            results = []
            for cache in (small_cache, copy_cache(cache_with_runner, tmp_path / "without")):
                scorer = Scorer(trouble, artifacts=ArtifactStore(cache), policy=replace(POLICY, std=STD))
                results.append(await scorer.score(PROBLEM, Submission(id="a", problem=PROBLEM.key, code=code)))
            assert trouble.jobs == 1
            with_it, without = results
            assert (with_it.verdict, with_it.compile.message) == (Verdict.CE, without.compile.message)

    asyncio.run(main())


class RemoteWorker:
    """This machine as a cluster's worker. With a header, the lines of steps that may use it say that they could."""

    def __init__(self, sandbox: LocalSandbox, *, has_header: bool) -> None:
        self._sandbox, self._has_header = sandbox, has_header
        self.asked: list[bool] = []  # of the jobs that compile the submission: whether they may use the header

    def targets(self) -> Sequence[Target]:
        """The machine's target, as a remote one."""
        return [replace(target, name="piston", is_remote=True) for target in self._sandbox.targets()]

    async def execute(self, job: Job, _: Target) -> Execution:
        """Run the job here."""
        execution = await self._sandbox.execute(job, self._sandbox.targets()[0])
        if b"of a person" in b"".join(file.content for file in job.files if isinstance(file.content, bytes)):
            self.asked.append(job.has_header)
        if not (job.has_header and self._has_header):
            return execution
        *lines, last = map(json.loads, execution.run.stdout.splitlines())
        text = "".join(json.dumps(line | {"precompiled": True} if "step" in line else line) + "\n" for line in lines)
        end = last | {"sum": f"{zlib.crc32(text.encode()):08x}"}
        return replace(execution, run=replace(execution.run, stdout=text + json.dumps(end) + "\n"))


REFUSED = f"#include <{SMALL}>\nint main() {{ return undeclared; }} // of a person\n"
ACCEPTED = f"#include <{SMALL}>\nint main() {{}} // of a person\n"


@pytest.mark.parametrize(
    ("code", "has_header", "asked", "notes"),
    [
        (ACCEPTED, True, [True], "1 of 1"),
        (ACCEPTED, False, [True], None),
        (REFUSED, True, [True, False], "0 of 1"),
        (REFUSED, False, [True], None),
        (f"int x;\n{ACCEPTED}", True, [False], None),
    ],
)
def test_a_worker_s_header(
    small_header: None,
    cache_with_runner: Path,
    tmp_path: Path,
    code: str,
    *,
    has_header: bool,
    asked: list[bool],
    notes: str | None,
) -> None:
    """A compile error counts only without it. A worker that has none has compiled without it already."""
    cache = copy_cache(cache_with_runner, tmp_path / "cache")

    async def main() -> None:
        async with LocalSandbox(slots=1) as sandbox:
            worker = RemoteWorker(sandbox, has_header=has_header)
            scorer = Scorer(worker, artifacts=ArtifactStore(cache), policy=replace(POLICY, std=STD))
            result = await scorer.score(PROBLEM, Submission(id="a", problem=PROBLEM.key, code=code))
            assert result.compile.verdict is (Verdict.CE if code == REFUSED else None), result.compile
            assert worker.asked == asked
            used = f"the precompiled <bits/stdc++.h> was used for {notes} programs that begin with it"
            if code == REFUSED:
                used += "; 1 did not compile (compile errors always come from a compilation without it)"
            assert scorer.notes() == ([used] if notes else [])

    asyncio.run(main())


def test_a_build_that_was_cancelled_is_done_again(small_header: None, cache_with_runner: Path, tmp_path: Path) -> None:
    """A caller gives up a program (a reward with a deadline) while the header is built for it. The next program of the
    run has it."""
    cache = copy_cache(cache_with_runner, tmp_path / "cancelled")

    async def use(compiling: Compiling) -> None:
        assert await compiling.header(WORTH_BUILDING - 1) is None
        task = asyncio.ensure_future(compiling.header())
        while not compiling.sandbox.busy()[0]:  # noqa: ASYNC110 - the sandbox has no event for it
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert await compiling.header() is not None

    with_run(cache, use)


def test_small_machines_do_without(full_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each box that compiles would contain a copy."""
    monkeypatch.setattr("ioi_eval.precompiled_headers.memory_limit_bytes", lambda: 1 << 30)

    async def use(compiling: Compiling) -> None:
        assert await compiling.header(2 * WORTH_BUILDING) is None

    with_run(full_cache, use)


def test_concurrent_builds_keep_both_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes make headers that differ in some bytes. Either may be in use."""

    async def build(content: bytes) -> bytes:
        return content

    async def main() -> None:
        stores = [ArtifactStore(tmp_path) for _ in range(2)]
        for number, store in enumerate(stores):
            store.holds("header-a")
            monkeypatch.setattr(store, "_open", lambda _: None)  # it started before the other one ended
            blob = await store.ensure("header-a", partial(build, b"%d" % number), instead_of="header-")
            assert blob.path.read_bytes() == b"%d" % number
        assert len(list((tmp_path / "artifacts" / "he").iterdir())) == 2

    asyncio.run(main())
