"""Makes test cases from rows: reads them once, stores them on disk, and checks that every test of a subtask exists.

Test data that was stored in a Hub data set has lost its final newlines, which some graders need: a missing one is
added, and counted. Rows of tests that no problem needs are skipped first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ioi_eval.errors import InputError
from ioi_eval.model import Blob, Content, ProblemKey, Subtask, TestCase
from ioi_eval.problems.read_ahead import read_ahead
from ioi_eval.problems.row import Row, RowSource

TEST_COLUMNS = (
    "year",
    "problem_id",
    "test_name",
    "test_input",
    "test_output",
    "checker_args",
    "full_score",
    "score_steps",
)
_INLINE_BYTES = 4096  # below this size, a file costs more than it saves
_INLINE_TOTAL = 16 * 1024 * 1024


class BytesKeeper(Protocol):
    """Stores bytes on disk: a `BlobStore`, which this layer does not import."""

    def put(self, content: bytes) -> Blob:
        """Store the bytes, and return the reference to them."""
        ...


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


def collect_tests(
    source: RowSource, wanted: Mapping[ProblemKey, tuple[Subtask, ...]], blobs: BytesKeeper
) -> dict[ProblemKey, TestData]:
    """Read the tests that the subtasks name, in one pass over the source.

    Args:
        source: rows as in `open-r1/ioi-test-cases`.
        wanted: the subtasks of each problem.
        blobs: stores the test data.

    Returns:
        The tests of each problem; with an `error` if a test is missing, has two different contents, or has no input.

    Raises:
        RowError: a row does not say which test it is.
    """
    years = sorted({str(key.year) for key in wanted})
    names = {key: {name for subtask in subtasks for name in subtask.tests} for key, subtasks in wanted.items()}
    collected = {key: TestData() for key in wanted}
    store = _DataStore(blobs)
    rows = source.with_configs(years).iterate(TEST_COLUMNS) if wanted else iter(())
    for row in read_ahead(rows):
        key = ProblemKey(year=row.integer("year"), id=row.identifier("problem_id"))
        name = row.identifier("test_name")
        if name not in names.get(key, ()):
            continue
        try:
            _add(collected[key], name, row, store)
        except InputError as error:
            collected[key].error = collected[key].error or error
    for key, data in collected.items():
        data.error = data.error or _missing(key, wanted[key], data.cases, source)
    return collected


class _DataStore:
    """Stores test data: small values in memory, up to a total size; the rest on disk."""

    def __init__(self, blobs: BytesKeeper) -> None:
        self._blobs = blobs
        self._left = _INLINE_TOTAL

    def put(self, content: bytes) -> Content:
        if len(content) < _INLINE_BYTES and len(content) <= self._left:
            self._left -= len(content)
            return content
        return self._blobs.put(content)


def _add(data: TestData, name: str, row: Row, store: _DataStore) -> None:
    given = _bytes(row, "test_input")
    if given is None:
        raise row.error(f"test {name} has no test_input; the row has: {row.columns}")
    given = _mended(given, "input", data)
    answer = _bytes(row, "test_output")
    if answer is not None:
        answer = _mended(answer, "output", data)
    case = TestCase(
        name=name,
        input=store.put(given),
        answer=None if answer is None else store.put(answer),
        checker_args=row.arguments("checker_args") or (),
        full_score=_whole(row, "full_score", 1, least=0),
        score_steps=_whole(row, "score_steps", 0, least=0),
    )
    if data.cases.setdefault(name, case) != case:
        raise row.error(f"test {name} occurs twice, with different contents")


def _whole(row: Row, column: str, default: int, *, least: int) -> int:
    value = row.integer(column, default)
    if not least <= value <= 10**9:
        raise row.error(f"{column} is {value}; it must be a whole number from {least} to 10^9")
    return value


def _bytes(row: Row, column: str) -> bytes | None:
    value = row.values.get(column)
    if isinstance(value, bytes):
        return value
    text = row.optional_text(column)
    return None if text is None else text.encode("utf-8", "replace")


def _mended(content: bytes, what: str, data: TestData) -> bytes:
    if not content or content.endswith(b"\n"):
        return content
    data.mended[what] += 1
    return content + b"\n"


def _missing(
    key: ProblemKey, subtasks: tuple[Subtask, ...], cases: Mapping[str, TestCase], source: RowSource
) -> InputError | None:
    absent = [(subtask.name, name) for subtask in subtasks for name in subtask.tests if name not in cases]
    if not absent:
        return None
    subtask, name = absent[0]
    others = len({name for _, name in absent}) - 1
    more = f" (nor {others} more test{'' if others == 1 else 's'})" if others else ""
    return InputError(
        f"problem {key}: subtask {subtask} names the test {name}, which is not in {source.describe()}{more};"
        " give the tests that belong to this version of the problems"
    )
