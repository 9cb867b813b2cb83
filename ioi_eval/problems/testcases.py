"""Makes test cases from rows: reads them once, stores them on disk, and checks that every test of a subtask exists.

Test data that was stored in a Hub data set has lost its final newlines, which some graders need: a missing one is
added, and counted. The tests of an imported package are not changed (`as_is`). Rows of tests that no problem needs are
skipped first. Tests that an earlier run has read from the same files are not read again (`case_data.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ioi_eval.blobs import BlobStore
from ioi_eval.errors import InputError
from ioi_eval.model import ProblemKey, Subtask, TestCase
from ioi_eval.problems.case_data import Contents, KnownTests, TestData
from ioi_eval.problems.row import Row, Source, misspelling, warn_of_misspelled

TEST_COLUMNS = (
    "year",
    "problem_id",
    "test_name",
    "test_input",
    "test_output",
    "checker_args",
    "full_score",
    "score_steps",
    "lenient_steps",
    "as_is",
)


def collect_tests(
    source: Source,
    wanted: Mapping[ProblemKey, tuple[Subtask, ...]],
    store: BlobStore,
    *,
    when_complete: Callable[[ProblemKey, TestData], None] = lambda _key, _data: None,
) -> dict[ProblemKey, TestData]:
    """Read the tests that the subtasks name, in one pass over the source.

    Args:
        source: rows as in `open-r1/ioi-test-cases`.
        wanted: the subtasks of each problem.
        when_complete: is called for a problem when all of its tests have been read. A later row may still give it an
            error.

    Returns:
        The tests of each problem; with an `error` if a test is missing, has two different contents, or has no input.

    Raises:
        RowError: a row does not say which test it is.
    """
    if not wanted:
        return {}
    names = {key: {name for subtask in subtasks for name in subtask.tests} for key, subtasks in wanted.items()}
    chosen = source.with_configs(sorted({str(key.year) for key in wanted}))
    known, contents = KnownTests(chosen, store), Contents(store)
    collected: dict[ProblemKey, TestData] = {}
    left: dict[ProblemKey, TestData] = {}
    for key in wanted:
        found = known.find(key, names[key], contents)
        collected[key] = found or left.setdefault(key, TestData())
        if found is not None:
            when_complete(key, found)
    for row in chosen.iterate(TEST_COLUMNS) if left else ():
        key = ProblemKey(year=row.integer("year"), id=row.identifier("problem_id"))
        name = row.identifier("test_name")
        if key not in left or name not in names[key]:
            continue
        data, is_new = left[key], name not in left[key].cases
        try:
            _add(data, name, row, contents)
        except InputError as error:
            data.error = data.error or error
        if len(data.cases) == 1:
            warn_of_misspelled(chosen.describe(), row.names, TEST_COLUMNS, TEST_COLUMNS)
        if is_new and data.error is None and len(data.cases) == len(names[key]):
            when_complete(key, data)
    for key, data in left.items():
        data.error = data.error or _missing(wanted[key], data.cases, source)
        known.note(key, names[key], data)
    return collected


def _add(data: TestData, name: str, row: Row, contents: Contents) -> None:
    given, answer = _bytes(row, "test_input"), _bytes(row, "test_output")
    if given is None:
        raise row.error(
            f"test {name} has no test_input{misspelling('test_input', row.names)}; the row has: {row.columns}"
        )
    if not row.boolean("as_is", False):
        given = _mended(given, "input", data)
        answer = None if answer is None else _mended(answer, "output", data)
    case = TestCase(
        name=name,
        input=contents.put(given),
        answer=None if answer is None else contents.put(answer),
        checker_args=row.arguments("checker_args") or (),
        full_score=_whole(row, "full_score", 1),
        score_steps=_whole(row, "score_steps", 0),
        lenient_steps=row.boolean("lenient_steps", False),
    )
    if data.cases.setdefault(name, case) != case:
        raise row.error(f"test {name} occurs twice, with different contents")


def _whole(row: Row, column: str, default: int) -> int:
    value = row.integer(column, default)
    if not 0 <= value <= 10**9:
        raise row.error(f"{column} is {value}; it must be a whole number from 0 to 10^9")
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
