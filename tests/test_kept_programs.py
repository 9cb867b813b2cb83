"""Compiled programs that are kept across runs: never those of another source, never damaged, never too many."""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.config import CompileLimits
from ioi_eval.errors import SetupError
from ioi_eval.jobs.recipes import Recipe, Step
from ioi_eval.jobs.runner_answer import CompileAnswer, StepLine
from ioi_eval.kept_programs import KeptPrograms
from ioi_eval.model import Isolation, Profile
from ioi_eval.sandbox import Target
from ioi_eval.toolchain import Toolchain

LIMITS = CompileLimits()
STEP = StepLine(code=0, signal=0, limit=None, cpu_ms=12.5, output="words")
BUILT = CompileAnswer(steps=(STEP,), artifacts={"a.out": b"program" * 1000, "b": b""}, isolation=Isolation.FULL)
REFUSED = CompileAnswer(steps=(replace(STEP, code=1, output="no"),), artifacts={}, isolation=Isolation.REDUCED)


def recipe(code: bytes = b"int main() {}", **other: object) -> Recipe:
    """A recipe that compiles this program."""
    usual: dict[str, object] = {
        "what": "submission",
        "steps": (Step(argv=("g++", "a.cpp", "-o", "a.out"), files=(("a.cpp", code),)),),
        "artifacts": ("a.out",),
    }
    return Recipe(**(usual | other))  # type: ignore[arg-type]


class Compiler:
    """The files of a compiler, and the target that has it."""

    def __init__(self, directory: Path) -> None:
        self.program, self.headers = directory / "g++", directory / "include"
        (self.headers / "deep").mkdir(parents=True)
        self.program.write_text("g++ 1.0.0 build A")
        self.header = self.headers / "deep" / "stdio.h"
        self.header.write_text("int printf();")
        self.toolchain = Toolchain(
            command=str(self.program),
            version="g++ 1",
            machine="x86_64-linux-gnu",
            static=True,
            sees=(str(self.headers),),
        )
        self.target = Target(
            name="local", profile=Profile.BUNDLED, toolchain=self.toolchain, slots=1, isolation=Isolation.FULL
        )

    def key(self, cache: Path, made: Recipe | None = None, limits: CompileLimits = LIMITS) -> str:
        """The key that a new run computes."""
        key = asyncio.run(KeptPrograms(cache).key(made or recipe(), self.toolchain, self.target, limits))
        assert key is not None
        return key


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    """A compiler for this test only."""
    return Compiler(tmp_path / "compiler")


def kept(
    cache: Path, compiler: Compiler, *answers: CompileAnswer, max_bytes: int = 1 << 30
) -> tuple[KeptPrograms, list[str]]:
    """A run that stores these answers, each under its own key."""

    async def run() -> tuple[KeptPrograms, list[str]]:
        programs, keys = KeptPrograms(cache, max_bytes=max_bytes), []
        for number, answer in enumerate(answers):
            made = recipe(f"// {number}".encode())
            key = await programs.key(made, compiler.toolchain, compiler.target, LIMITS)
            assert key is not None
            await programs.keep(key, answer, compiler.toolchain)
            keys.append(key)
        return programs, keys

    return asyncio.run(run())


def found(cache: Path, key: str) -> CompileAnswer | None:
    """The answer that a later run finds."""
    return asyncio.run(KeptPrograms(cache).answer(key))


def entries(cache: Path) -> list[Path]:
    """The stored files."""
    return sorted(path for path in (cache / "programs").glob("??/*") if path.is_file())


def test_a_kept_answer_is_found(tmp_path: Path, compiler: Compiler) -> None:
    """The answer is complete except for the times, which are 0, because nothing was compiled again."""
    _, keys = kept(tmp_path, compiler, BUILT, REFUSED)
    for key, answer in zip(keys, (BUILT, REFUSED), strict=True):
        steps = tuple(replace(step, cpu_ms=0.0) for step in answer.steps)
        assert found(tmp_path, key) == replace(answer, steps=steps)
    assert found(tmp_path, "0" * 64) is None


@pytest.mark.parametrize(
    "change",
    [
        {"limit": "cpu", "signal": 9},
        {"signal": 11},
        {"killed": 9, "code": 1},
        {"output": "g++: fatal error: Killed signal terminated program cc1plus"},
        {"output": "as: No space left on device"},
        {"output": "a.cpp:1:1: internal compiler error: Segmentation fault"},
        {"output": "error: internal compiler error: unexpected panic"},
        {"code": 0},
    ],
)
def test_a_failure_of_the_machine_is_not_kept(tmp_path: Path, compiler: Compiler, change: dict[str, object]) -> None:
    """If a limit or the machine stopped the compiler, the next attempt may have another result."""
    step = replace(REFUSED.steps[0], **change)  # type: ignore[arg-type]
    kept(tmp_path, compiler, replace(REFUSED, steps=(step,)), replace(REFUSED, steps=()))
    assert entries(tmp_path) == []


def write_again(path: Path, text: str) -> None:
    """Write other content of the same size, and keep the modification time."""
    before = path.stat()
    assert len(text) == before.st_size
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def put_in_place_of(path: Path, text: str) -> None:
    """Replace a file by another one with the same name, size and modification time."""
    before = path.stat()
    other = path.with_name("other")
    other.write_text(text)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda compiler: write_again(compiler.program, "g++ 1.0.0 build B"),
        lambda compiler: put_in_place_of(compiler.program, "g++ 1.0.0 build B"),
        lambda compiler: write_again(compiler.header, "int printg();"),
        lambda compiler: put_in_place_of(compiler.header, "int printg();"),
        lambda compiler: compiler.header.rename(compiler.headers / "stdio.h"),
        lambda compiler: (compiler.headers / "more.h").write_text(""),
        lambda compiler: compiler.header.unlink(),
    ],
    ids=["written", "replaced", "header written", "header replaced", "header moved", "header added", "header gone"],
)
def test_another_compiler_under_the_same_path_has_another_key(
    tmp_path: Path, compiler: Compiler, change: Callable[[Compiler], object]
) -> None:
    """The key depends on the contents of the compiler's files: times and sizes can be the same."""
    before = compiler.key(tmp_path)
    assert compiler.key(tmp_path) == before
    change(compiler)
    assert compiler.key(tmp_path) != before


def test_the_same_compiler_installed_again_has_the_same_key(tmp_path: Path, compiler: Compiler) -> None:
    """For example in a container that is created anew for each run."""
    before = compiler.key(tmp_path)
    for path in (compiler.program, compiler.header):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    assert compiler.key(tmp_path) == before


def test_everything_that_affects_a_program_is_in_its_key(tmp_path: Path, compiler: Compiler) -> None:
    """No two of these recipes, limits, targets and toolchains have the same key."""
    steps = recipe().steps
    recipes = [
        recipe(),
        recipe(b"int main() { }"),
        recipe(artifacts=("b.out",)),
        recipe(sees=("/usr/include",)),
        recipe(steps=(*steps, *steps)),
        recipe(steps=(replace(steps[0], argv=("g++", "-O3", "a.cpp", "-o", "a.out")),)),
        recipe(steps=(replace(steps[0], files=(*steps[0].files, ("a.h", b""))),)),
        recipe(steps=(replace(steps[0], files=(*steps[0].files, ("linked.o", b"grader"))),)),
    ]
    keys = [compiler.key(tmp_path, made) for made in recipes]
    keys.append(compiler.key(tmp_path, limits=CompileLimits(cpu_s=9.0)))
    compiler.target = replace(compiler.target, isolation=Isolation.REDUCED)
    keys.append(compiler.key(tmp_path))
    compiler.target = replace(compiler.target, narrowed="no io_uring")
    keys.append(compiler.key(tmp_path))
    compiler.target = replace(compiler.target, outer_filter=True)
    keys.append(compiler.key(tmp_path))
    compiler.toolchain = replace(compiler.toolchain, static=False)
    keys.append(compiler.key(tmp_path))
    assert len(set(keys)) == len(keys)


def test_programs_of_workers_are_not_kept(tmp_path: Path, compiler: Compiler) -> None:
    """The files of a worker's compiler are not known here."""
    target = replace(compiler.target, name="http://worker:2000")
    assert asyncio.run(KeptPrograms(tmp_path).key(recipe(), compiler.toolchain, target, LIMITS)) is None


def test_a_compiler_that_is_replaced_during_a_run(tmp_path: Path, compiler: Compiler) -> None:
    """What the new compiler makes is not stored under the key of the old one."""

    async def run() -> KeptPrograms:
        programs = KeptPrograms(tmp_path)
        key = await programs.key(recipe(), compiler.toolchain, compiler.target, LIMITS)
        assert key is not None
        write_again(compiler.program, "g++ 1.0.0 build B")
        await programs.keep(key, BUILT, compiler.toolchain)
        assert await programs.key(recipe(), compiler.toolchain, compiler.target, LIMITS) is None
        return programs

    programs = asyncio.run(run())
    assert entries(tmp_path) == []
    assert "the compiler was changed during the run" in programs.notes()[-1]


def flip(path: Path) -> None:
    """Change one bit of the content."""
    content = bytearray(path.read_bytes())
    content[-10] ^= 1
    path.write_bytes(content)


def rename(path: Path, key: str) -> Path:
    """Rename an entry so that the hash in its name is that of its content."""
    to = path.with_name(f"{key}.{hashlib.sha256(path.read_bytes()).hexdigest()}")
    return path.rename(to)


def replace_content(path: Path, content: bytes) -> None:
    """Replace the content, and change the name accordingly."""
    path.write_bytes(content)
    rename(path, path.name.partition(".")[0])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "one bit": flip,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "empty": lambda path: path.write_bytes(b""),
    "foreign": lambda path: replace_content(path, b"\x7fELF"),
    "foreign, empty": lambda path: replace_content(path, b""),
    "another format": lambda path: replace_content(path, b'{"key":1}\n'),
    "no program": lambda path: replace_content(path, path.read_bytes().partition(b"\n")[0]),
    "another step": lambda path: replace_content(path, path.read_bytes().replace(b'"signal"', b'"sigmal"', 1)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_entry_is_not_used(tmp_path: Path, compiler: Compiler, damage: Callable[[Path], object]) -> None:
    """The entry is not used, it is counted in the notes, and it is deleted."""
    _, (key,) = kept(tmp_path, compiler, BUILT)
    (path,) = entries(tmp_path)
    damage(path)
    programs = KeptPrograms(tmp_path)
    assert asyncio.run(programs.answer(key)) is None
    assert "damaged, so compiled again: 1 (the hash" in programs.notes()[1]
    assert entries(tmp_path) == []


def test_an_entry_copied_to_another_key_is_not_used(tmp_path: Path, compiler: Compiler) -> None:
    """If files of the cache are copied to other names, no program is taken for another one."""
    _, (key, other) = kept(tmp_path, compiler, BUILT, replace(BUILT, artifacts={"a.out": b"other"}))
    (path,) = (tmp_path / "programs").glob(f"??/{other}.*")
    (tmp_path / "programs" / key[:2] / f"{key}.{path.name.partition('.')[2]}").write_bytes(path.read_bytes())
    answer = found(tmp_path, key)
    assert answer is None or answer.artifacts == BUILT.artifacts
    again = found(tmp_path, key)
    assert again is not None
    assert again.artifacts == BUILT.artifacts


def test_a_directory_that_others_may_write_is_refused(tmp_path: Path) -> None:
    """Whoever may write there could replace programs by correct ones."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs").chmod(0o777)
    with pytest.raises(SetupError, match="others may write"):
        KeptPrograms(tmp_path)


def test_the_oldest_entries_are_deleted_above_the_bound(tmp_path: Path, compiler: Compiler) -> None:
    """Age counts from the last use. The remaining entries are within the bound."""
    answers = [replace(BUILT, artifacts={"a.out": os.urandom(10_000)}) for _ in range(20)]
    _, keys = kept(tmp_path, compiler, *answers)
    for age, key in enumerate(keys):
        (path,) = (tmp_path / "programs").glob(f"??/{key}.*")
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    assert found(tmp_path, keys[0]) is not None  # this use makes it the newest entry
    bound = 120_000

    async def one_more() -> None:
        programs = KeptPrograms(tmp_path, max_bytes=bound)
        key = await programs.key(recipe(), compiler.toolchain, compiler.target, LIMITS)
        assert key is not None
        await programs.keep(key, BUILT, compiler.toolchain)

    asyncio.run(one_more())
    assert sum(path.stat().st_size for path in entries(tmp_path)) <= bound
    there = [found(tmp_path, key) is not None for key in keys]
    assert there[0]
    assert there[1:] == sorted(there[1:])
    assert 5 < sum(there) < 12


def test_the_bound_holds_while_a_run_writes(tmp_path: Path, compiler: Compiler) -> None:
    """Also for a cache that was empty at the start."""
    answers = [replace(BUILT, artifacts={"a.out": os.urandom(5_000)}) for _ in range(60)]
    kept(tmp_path, compiler, *answers, max_bytes=50_000)
    assert 20_000 < sum(path.stat().st_size for path in entries(tmp_path)) <= 50_000


def test_a_run_continues_if_programs_cannot_be_stored(tmp_path: Path, compiler: Compiler) -> None:
    """For example on a full disk: one note says it, and the run continues without storing programs."""

    async def run() -> KeptPrograms:
        programs = KeptPrograms(tmp_path)
        key = await programs.key(recipe(), compiler.toolchain, compiler.target, LIMITS)
        assert key is not None
        (tmp_path / "programs" / key[:2]).write_text("a file where a directory should be")
        await programs.keep(key, BUILT, compiler.toolchain)
        assert await programs.answer(key) is None
        assert await programs.key(recipe(), compiler.toolchain, compiler.target, LIMITS) is None
        return programs

    assert "storing programs stopped during the run" in asyncio.run(run()).notes()[-1]


@pytest.mark.root
def test_nothing_is_kept_on_a_small_disk(tmp_path: Path, compiler: Compiler) -> None:
    """The journal may need the remaining space."""
    cache = tmp_path / "cache"
    cache.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "none", str(cache)], check=False).returncode:
        pytest.skip("may not mount a file system here")
    try:
        programs, _ = kept(cache, compiler, BUILT)
        assert "less than 1024 MiB are free" in programs.notes()[-1]
        assert entries(cache) == []
    finally:
        subprocess.run(["umount", str(cache)], check=True)


def fill_and_read(cache: Path, directory: Path, first: int) -> int:
    """Store and read the same entries as other processes do, without room for all. Returns how many
    entries were found.
    """
    compiler = Compiler(directory)
    number_found = 0

    async def run() -> None:
        nonlocal number_found
        programs = KeptPrograms(cache, max_bytes=100_000)
        for number in [(first + step) % 40 for step in range(200)]:
            key = hashlib.sha256(str(number).encode()).hexdigest()
            await programs.key(recipe(), compiler.toolchain, compiler.target, LIMITS)
            answer = await programs.answer(key)
            content = hashlib.shake_256(key.encode()).digest(4000)
            if answer is None:
                await programs.keep(key, replace(BUILT, artifacts={"a.out": content}), compiler.toolchain)
            else:
                number_found += 1
                assert answer.artifacts == {"a.out": content}
        assert len(programs.notes()) == 1, programs.notes()

    asyncio.run(run())
    return number_found


def test_several_runs_share_a_directory(tmp_path: Path) -> None:
    """A run finds the right program or nothing. Entries that another run writes or deletes are not
    reported as damaged.
    """
    with concurrent.futures.ProcessPoolExecutor(4) as pool:
        runs = [pool.submit(fill_and_read, tmp_path, tmp_path / f"compiler{n}", 10 * n) for n in range(4)]
        assert sum(run.result() for run in runs) > 0
    assert entries(tmp_path)
