"""Makes test cases from rows: reads them once, stores them, and checks that every test of a subtask exists.

Test data that was stored in a Hub data set has lost its final newlines, which some graders need: a missing one is
added, and counted. The tests of an imported package are not changed (`as_is`). Rows of tests that no problem needs are
skipped first. Small tests stay in memory, the others are stored on disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import InputError
from ioi_eval.model import Content, ProblemKey, StepRounding, Subtask, TestCase
from ioi_eval.problems.row import Row, Source, is_whole, misspelling, problem_key, warn_of_misspelled
from ioi_eval.problems.submissions import PROGRAM_COLUMNS

TEST_COLUMNS = (
    "year",
    "problem_id",
    "test_name",
    "test_input",
    "test_output",
    "checker_args",
    "full_score",
    "score_table",
    "score_steps",
    "step_rounding",
    "as_is",
)

_INLINE_BYTES = 4096  # below this size, a file costs more than it saves
_INLINE_TOTAL = 16 * 1024 * 1024
_MOST = 10**9  # points of a test


@dataclass(slots=True)
class TestData:
    """The tests of one problem that were read so far."""

    __test__ = False

    cases: dict[str, TestCase] = field(default_factory=dict)
    mended: Counter[str] = field(default_factory=Counter)  # to how many inputs and outputs a final newline was added
    names: Sequence[str] = ()  # the columns of the first row
    misspelled: tuple[str, ...] = ()  # what `warn_of_misspelled` returns for it
    error: InputError | None = None  # the first error that makes the problem unusable

    @property
    def notes(self) -> tuple[str, ...]:
        """What was added, and notes on columns that may be misspelled."""
        if not self.mended:
            return self.misspelled
        counts = [f"{count} {what}{'s' if count > 1 else ''}" for what, count in sorted(self.mended.items())]
        return (f"final newline added to {' and '.join(counts)}", *self.misspelled)


class _Contents:
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


def collect_tests(
    source: Source,
    wanted: Mapping[ProblemKey, tuple[Subtask, ...]],
    store: BlobStore,
    *,
    when_complete: Callable[[ProblemKey, TestData], None],
) -> dict[ProblemKey, TestData]:
    """Read the tests that the subtasks name, in one pass over the source.

    The tests of a problem get an `error` if one is missing, has two different contents, or has no input.
    `when_complete` is called when all of them have been read; a later row may still give them an error.
    """
    if not wanted:
        return {}
    names = {key: {name for subtask in subtasks for name in subtask.tests} for key, subtasks in wanted.items()}
    chosen = source.with_configs(sorted({str(key.year) for key in wanted}))
    contents = _Contents(store)
    collected = {key: TestData() for key in wanted}
    for row in chosen.iterate(TEST_COLUMNS):
        if "test_name" not in row.values:
            for kind, columns in (("a problem", ("test_names",)), ("a program", PROGRAM_COLUMNS)):
                if not set(columns).isdisjoint(row.names):
                    raise row.wrong_kind(kind, needed="tests")
        key = problem_key(row.integer("year"), row.identifier("problem_id"))
        name = row.identifier("test_name")
        if key not in collected or name not in names[key]:
            continue
        data, is_new = collected[key], name not in collected[key].cases
        try:
            _add(data, name, row, contents)
        except InputError as error:
            data.error = data.error or error
        if len(data.cases) == 1:
            data.names = row.names
            data.misspelled = warn_of_misspelled(chosen.describe(), row.names, TEST_COLUMNS, TEST_COLUMNS)
        if is_new and data.error is None and len(data.cases) == len(names[key]):
            when_complete(key, data)
    for key, data in collected.items():
        data.error = data.error or _missing(wanted[key], data.cases, source)
    return collected


def _add(data: TestData, name: str, row: Row, contents: _Contents) -> None:
    given, answer = _bytes(row, "test_input"), _bytes(row, "test_output")
    if given is None:
        raise row.error(
            f"test {name} has no test_input{misspelling('test_input', row.names)}; the row has: {row.columns}"
        )
    added: Counter[str] = Counter()
    if not row.boolean("as_is"):
        given = _mended(given, "input", added)
        answer = None if answer is None else _mended(answer, "output", added)
    full_score = _whole_number(row, "full_score", 1)
    case = TestCase(
        name=name,
        input=contents.put(given),
        answer=None if answer is None else contents.put(answer),
        checker_args=row.arguments("checker_args") or (),
        full_score=full_score,
        score_table=_score_table(row, full_score),
        score_steps=_whole_number(row, "score_steps", 0),
        step_rounding=_rounding(row),
    )
    if name not in data.cases:
        data.cases[name] = case
        data.mended += added
    elif data.cases[name] != case:
        raise row.error(f"test {name} occurs twice, with different contents; keep one of its rows")


def _whole_number(row: Row, column: str, default: int) -> int:
    value = row.integer(column, default)
    if not 0 <= value <= _MOST:
        raise row.error(f"{column} is {value}; it must be a whole number from 0 to 10^9")
    return value


def _score_table(row: Row, full_score: int) -> tuple[tuple[int, int], ...]:
    stated = row.plain_value("score_table")
    if not stated:  # in tables every row has all columns
        return ()
    try:
        table = tuple((score, points) for score, points in stated)
    except (TypeError, ValueError):
        table = ()
    numbers = all(is_whole(number) and 0 <= number <= _MOST for pair in table for number in pair)
    if not table or not numbers or any(low >= high for (low, _), (high, _) in pairwise(table)):
        raise row.error("score_table must be a list of [score, points], whole numbers from 0 to 10^9; scores increase")
    if (most := max(points for _, points in table)) > full_score:
        raise row.error(f"score_table gives {most} points, more than the full_score of {full_score}")
    return table


def _rounding(row: Row) -> StepRounding:
    stated = row.optional_text("step_rounding") or StepRounding.DOWN.value
    if stated not in set(StepRounding):
        raise row.error(f"step_rounding is {stated!r}; it must be one of {', '.join(StepRounding)}")
    return StepRounding(stated)


def _bytes(row: Row, column: str) -> bytes | None:
    value = row.values.get(column)
    if isinstance(value, bytes):
        return value
    text = row.optional_text(column)
    return None if text is None else text.encode("utf-8", "replace")


def _mended(content: bytes, what: str, added: Counter[str]) -> bytes:
    if not content or content.endswith(b"\n"):
        return content
    added[what] += 1
    return content + b"\n"


def _missing(subtasks: tuple[Subtask, ...], cases: Mapping[str, TestCase], source: Source) -> InputError | None:
    absent = [(subtask.name, name) for subtask in subtasks for name in subtask.tests if name not in cases]
    if not absent:
        return None
    subtask, name = absent[0]
    others = len({name for _, name in absent}) - 1
    more = f" (nor {others} more test{'' if others == 1 else 's'})" if others else ""
    return InputError(
        f"subtask {subtask} names the test {name}, which is not in {source.describe()}{more};"
        " give the tests that belong to this version of the problems"
    )
