"""The tests of a problem as they are read, and where their bytes go: small ones into memory, the others on disk.

To read a year's tests takes longer than to judge a few programs. So what was read for a problem is noted in the store
of test data: the names of its tests, and the hashes of their contents. If the files are the same in a later run (by
device, inode, size and times of change), that is used, after the stored contents were compared with their hashes.

Nothing is noted of small files, of files that were changed just before they were read (a change in the same tick of
the clock could not be seen), or of problems with an error. Notes that another version of our code made are not used.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import InputError
from ioi_eval.model import Blob, Content, ProblemKey, TestCase
from ioi_eval.problems.row import Source

_INLINE_BYTES = 4096  # below this size, a file costs more than it saves
_INLINE_TOTAL = 16 * 1024 * 1024

_LEAST_BYTES = 16 * 1024 * 1024  # reading less takes a tenth of a second
_LEAST_AGE_NS = 10**8  # the clocks of file systems tick every 10 ms or faster
_LEAST_COARSE_AGE_NS = 2 * 10**9  # or, if they know whole seconds only, every two seconds

_FIELDS = tuple(field.name for field in fields(TestCase))

State = list[list[Any]]


@dataclass(slots=True)
class TestData:
    """The tests of one problem that were read so far.

    Args:
        cases: by name.
        mended: to how many inputs and outputs a final newline was added.
        error: the first error that makes the problem unusable.
    """

    __test__ = False

    cases: dict[str, TestCase] = field(default_factory=dict)
    mended: Counter[str] = field(default_factory=Counter)
    error: InputError | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was added, as a text."""
        if not self.mended:
            return ()
        counts = [f"{count} {what}{'s' if count > 1 else ''}" for what, count in sorted(self.mended.items())]
        return (f"final newline added to {' and '.join(counts)}",)


class Contents:
    """Keeps test data: small values in memory, up to a total size; the rest on disk. Equal contents are kept once."""

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._small: dict[bytes, bytes] = {}
        self._left = _INLINE_TOTAL

    def put(self, content: bytes) -> Content:
        """Keep the bytes."""
        if len(content) >= _INLINE_BYTES:
            return self._store.put(content)
        if content not in self._small:
            if len(content) > self._left:
                return self._store.put(content)
            self._left -= len(content)
            self._small[content] = content
        return self._small[content]


# --------------------------------------------------------------------------- tests that an earlier run has read


class KnownTests:
    """The tests that earlier runs read from the files of a source."""

    def __init__(self, source: Source, store: BlobStore) -> None:
        self._files, self._store = source.files(), store
        self._state = _state_of(self._files)

    def find(self, problem: ProblemKey, names: Collection[str], contents: Contents) -> TestData | None:
        """The problem's tests with these names; `None` if they must be read.

        Args:
            names: of its tests.
            contents: keeps small ones.

        Raises:
            SetupError: stored test data is damaged.
        """
        noted = None if self._state is None else self._store.recall(self._key(problem, names))
        if noted is None:
            return None
        values = orjson.loads(noted)
        stored = self._find_contents(
            {tuple(each) for case in values["cases"] for each in case[1:3] if isinstance(each, list)}
        )
        if stored is None:
            return None

        def content(value: Any) -> Content | None:
            if isinstance(value, list):
                return stored[tuple(value)]
            return None if value is None else contents.put(base64.b64decode(value))

        cases = {}
        for name, given, answer, arguments, *others in values["cases"]:
            decoded = (name, content(given), content(answer), tuple(arguments), *others)
            cases[name] = TestCase(**dict(zip(_FIELDS, decoded, strict=True)))
        return TestData(cases=cases, mended=Counter(values["mended"]))

    def note(self, problem: ProblemKey, names: Collection[str], data: TestData) -> None:
        """Note the tests that were read, if the files are still the same."""
        if self._state is None or data.error is not None or _state_of(self._files) != self._state:
            return
        cases = [[_encoded(getattr(case, name)) for name in _FIELDS] for case in data.cases.values()]
        self._store.remember(self._key(problem, names), orjson.dumps({"cases": cases, "mended": dict(data.mended)}))

    def _key(self, problem: ProblemKey, names: Collection[str]) -> str:
        return json.dumps([_code(), self._state, problem.year, problem.id, sorted(names)])

    def _find_contents(self, wanted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Blob] | None:
        """The stored contents; `None` if one is not there any more. Several are hashed at once."""
        pairs = sorted(wanted)
        with ThreadPoolExecutor() as threads:
            found = list(threads.map(lambda pair: self._store.find(*pair), pairs))
        stored = {pair: blob for pair, blob in zip(pairs, found, strict=True) if blob is not None}
        return stored if len(stored) == len(pairs) else None


def _encoded(value: object) -> object:
    """A value of a test for JSON: bytes as text, those on disk as a reference."""
    if isinstance(value, Blob):
        return value.sha256, value.size
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _state_of(files: Sequence[Path] | None) -> State | None:
    """What changes if one of the files changes; `None` if nothing is noted of them."""
    try:
        stats = [(path, path.stat()) for path in files or ()]
    except OSError:  # reading the rows will raise it
        return None
    changed_ns = max((max(each.st_mtime_ns, each.st_ctime_ns) for _, each in stats), default=0)
    least_age_ns = _LEAST_AGE_NS if changed_ns % 10**9 else _LEAST_COARSE_AGE_NS
    if sum(each.st_size for _, each in stats) < _LEAST_BYTES or time.time_ns() - changed_ns < least_age_ns:
        return None
    return [
        [str(path.absolute()), each.st_dev, each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns]
        for path, each in stats
    ]


@cache
def _code() -> str:
    """A hash of the modules that read rows and make tests of them."""
    here = Path(__file__).parent
    modules = sorted((*here.glob("*.py"), *(here.parent / "rows").glob("*.py")))
    return hashlib.sha256(b"".join(path.read_bytes() for path in modules)).hexdigest()
