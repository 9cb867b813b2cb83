"""Stores compiled programs of submissions for later runs, if the user asks for it.

`docs/sandboxes.md`, "Compiled programs can be kept", says for whom, and when a program is found again.

    scorer/runner_judge.py ── key ── <cache>/programs/<first two digits>/<key>.<sha256 of the entry>

A key is a hash of everything that decides what the compiler produces. That includes the contents of all files that the
compiler reads, which are hashed once in a run.

An entry has its key, the compiler's output, and the program. Before it is used, its content is compared with its hash
and its key with the wanted one. Several runs may share a directory: a program is read into memory as a whole, so
another run may delete its entry.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import orjson

from ioi_eval.cache_directory import LEAST_FREE_BYTES, make_store
from ioi_eval.concurrency import in_new_thread
from ioi_eval.config import MIB, CompileLimits
from ioi_eval.errors import SetupError
from ioi_eval.fingerprint import digest_of, runner_meaning_digest
from ioi_eval.jobs.compile import failed_by_itself, is_doubtful
from ioi_eval.jobs.recipes import Recipe
from ioi_eval.jobs.runner_answer import CompileAnswer, StepLine
from ioi_eval.model import Isolation
from ioi_eval.new_files import new_file
from ioi_eval.sandbox import LOCAL, Target
from ioi_eval.sandbox.local.compiler import contents_of, files_of_compiler, identity_of_compiler
from ioi_eval.slots import Once, TaskLock
from ioi_eval.toolchain import Toolchain

MAX_BYTES = 10_000 * MIB
_VERSION = 3  # of the entries' format
_RECOUNT = 16
"""When 1/16 of the bound has been written, the entries are counted again, because other runs write them too."""

_FAILED = "internal compiler error"  # in messages of gcc and rustc: it may not happen again
_LEFT = 7 / 8  # of the bound, after old entries have been deleted
_COMPRESSION = 1  # the level: half the bytes, for 2 % of the time of compiling


class KeptPrograms:
    """The store of compiled programs, for one run. Many tasks and threads may use it.

    Args:
        root: the cache directory, by default the user's; created if absent.
        max_bytes: of all entries together.

    Raises:
        SetupError: the directory cannot be used, or others may write to it.
    """

    def __init__(self, root: str | Path | None = None, *, max_bytes: int = MAX_BYTES) -> None:
        self._root = make_store(root, "programs")
        self._max_bytes = max_bytes
        self._compilers: Once[Toolchain, tuple[object, str]] = Once()
        self._writing = TaskLock()
        self._uncounted = max_bytes  # how many bytes were written since the entries were counted
        self._total = 0
        self._given_up = ""
        self._counts: Counter[str] = Counter()

    async def key(self, recipe: Recipe, toolchain: Toolchain, target: Target, limits: CompileLimits) -> str | None:
        """The key of the program that a recipe makes; `None` if it is not stored."""
        if target.name != LOCAL or self._given_up:
            return None
        try:
            _, compiler = await self._compilers.get(toolchain, lambda: in_new_thread(lambda: self._learn(toolchain)))
        except OSError as error:
            self._give_up(f"the compiler's files cannot be read ({error})")
            return None
        where = (target.isolation, target.narrowed, target.outer_filter)
        return digest_of(
            [_VERSION, recipe.key(toolchain), recipe.sees, compiler, limits, *where, runner_meaning_digest()]
        )

    async def answer(self, key: str) -> CompileAnswer | None:
        """The compiler's answer from an earlier run, with times of 0; `None` if it is not stored."""
        answer = await in_new_thread(lambda: self._read(key))
        self._counts["found"] += answer is not None
        return answer

    async def keep(self, key: str, answer: CompileAnswer, toolchain: Toolchain) -> None:
        """Store the compiler's answer, if it certainly depends on the program only."""
        last = answer.last
        has_error = last is not None and failed_by_itself(last) and _FAILED not in last.output
        if self._given_up or not (answer.artifacts or has_error) or is_doubtful(answer):
            return
        async with self._writing.take():
            try:
                await in_new_thread(lambda: self._write(key, answer, toolchain))
            except (OSError, SetupError) as error:
                self._give_up(str(error))

    def notes(self) -> Sequence[str]:
        """The lines about stored programs that a user sees at the end of a run."""
        reused, added, damaged = (self._counts[name] for name in ("found", "added", "damaged"))
        lines = [f"compilations: {reused} kept from earlier runs, {added} more kept now in {self._root}"]
        if damaged:
            lines.append(f"  damaged, so compiled again: {damaged} (the hash or the name did not match)")
        if self._given_up:
            lines.append(f"  storing programs stopped during the run: {self._given_up}")
        return lines

    def _give_up(self, why: str) -> None:
        self._given_up = self._given_up or why

    def _learn(self, toolchain: Toolchain) -> tuple[object, str]:
        """A compiler's identity, which is compared after each program, and the hash of all files that it reads."""
        return identity_of_compiler(toolchain), contents_of(files_of_compiler(toolchain))

    # ------------------------------------------------------------------ entries

    def _read(self, key: str) -> CompileAnswer | None:
        for path in sorted((self._root / key[:2]).glob(f"{key}.*")):
            try:
                content = path.read_bytes()
            except OSError:  # deleted by another run, or not readable: the program is compiled
                continue
            if hashlib.sha256(content).hexdigest() == path.name.rpartition(".")[2]:
                with contextlib.suppress(ValueError, KeyError, TypeError, zlib.error):
                    answer = _decode(content, key)
                    with contextlib.suppress(OSError):
                        os.utime(path)
                    return answer
            self._counts["damaged"] += 1
            with contextlib.suppress(OSError):
                path.unlink()
        return None

    def _write(self, key: str, answer: CompileAnswer, toolchain: Toolchain) -> None:
        if self._compilers.known[toolchain][0] != identity_of_compiler(toolchain):
            self._give_up("the compiler was changed during the run")
            return
        if shutil.disk_usage(self._root).free < LEAST_FREE_BYTES:
            self._give_up(f"less than {LEAST_FREE_BYTES // MIB} MiB are free in {self._root}")
            return
        content = _encode(answer, key)
        path = self._root / key[:2] / f"{key}.{hashlib.sha256(content).hexdigest()}"
        path.parent.mkdir(mode=0o755, exist_ok=True)
        with new_file(path, durable=False) as file:
            file.write(content)
        self._counts["added"] += 1
        self._total += len(content)
        self._uncounted += len(content)
        if self._total > self._max_bytes or self._uncounted > self._max_bytes / _RECOUNT:
            self._delete_old()

    def _delete_old(self) -> None:
        """Count the entries; if they are over the bound, delete those that were not used for longest."""
        entries = sorted(self._entries())
        self._total, self._uncounted = sum(size for _, size, _ in entries), 0
        if self._total <= self._max_bytes:
            return
        for _, size, path in entries:
            if self._total <= _LEFT * self._max_bytes:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            self._total -= size

    def _entries(self) -> Iterator[tuple[int, int, Path]]:
        """The time of last use, size and path of each entry, and of temporary files that a killed run left."""
        for directory in self._root.iterdir():
            for path in directory.iterdir():
                with contextlib.suppress(OSError):
                    status = path.stat()
                    yield status.st_mtime_ns, status.st_size, path


def _encode(answer: CompileAnswer, key: str) -> bytes:
    header = {
        "key": key,
        "isolation": answer.isolation,
        "steps": [asdict(step) for step in answer.steps],
        "sizes": {name: len(content) for name, content in answer.artifacts.items()},
    }
    return orjson.dumps(header) + b"\n" + zlib.compress(b"".join(answer.artifacts.values()), _COMPRESSION)


def _decode(content: bytes, key: str) -> CompileAnswer:
    """The answer in an entry, with times of 0, because the time was spent by an earlier run.

    Raises what `_read` suppresses if it is not an entry, or has another key.
    """
    line, _, packed = content.partition(b"\n")
    header = orjson.loads(line)
    if header["key"] != key:
        raise ValueError("an entry under another name")
    rest = zlib.decompress(packed)
    artifacts: dict[str, bytes] = {}
    sizes: Mapping[str, int] = header["sizes"]
    for name, size in sizes.items():
        artifacts[name], rest = rest[:size], rest[size:]
    steps = tuple(StepLine(**{**step, "cpu_ms": 0.0}) for step in header["steps"])
    return CompileAnswer(steps=steps, artifacts=artifacts, isolation=Isolation(header["isolation"]))
