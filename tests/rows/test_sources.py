"""Sources of rows: all kinds give the same rows, stream them, and report errors in them."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ioi_eval.errors import InputError, NotReadWarning, RowError
from ioi_eval.rows import open_source, reads_all_files
from ioi_eval.rows.packages import FORMATS
from tests.row_files import KINDS, LFS_POINTER, ROWS, folder, jsonl, parquet, rows_of, saved, saved_splits


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_every_kind_gives_the_same_rows_twice(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """Values, order and types are the same in all formats and in each reading."""
    source = open_source(make(tmp_path / "data.jsonl"))
    assert rows_of(source) == ROWS
    assert rows_of(source) == ROWS


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_only_requested_columns_are_read(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """A missing column is no error here. The code that needs it reports it with the row."""
    source = open_source(make(tmp_path / "data.jsonl"))
    assert rows_of(source, ["n", "absent"]) == [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_a_source_without_the_requested_columns_has_its_rows(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """The rows are empty, and name the existing columns; the source itself is not called empty."""
    rows = list(open_source(make(tmp_path / "data.jsonl")).iterate(["absent"]))
    assert [(dict(row.values), set(row.names)) for row in rows] == [({}, set(values)) for values in ROWS]


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_all_files_of_a_directory_are_read_unless_it_is_a_saved_data_set(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    """Results may be written below a saved data set, whose other files are not read."""
    path = make(tmp_path / "data.jsonl")
    assert reads_all_files(str(path)) == (make is folder)
    if path.is_dir():
        jsonl(path / "results.jsonl")
        assert (rows_of(open_source(path)) == ROWS) == (make is not folder)


def test_files_whose_names_are_not_utf8_have_a_hash(tmp_path: Path) -> None:
    """Python represents the other bytes of such a name by characters that UTF-8 cannot encode."""
    directory = tmp_path / os.fsdecode(b"\xff")
    directory.mkdir()
    for name in (b"1.jsonl", b"\xe9.jsonl"):
        jsonl(directory / os.fsdecode(name))
    before = open_source(directory).digest()
    assert before is not None
    jsonl(directory / "1.jsonl", [{"n": 1}])
    assert open_source(directory).digest() not in {None, before}


def test_rows_have_line_numbers(tmp_path: Path) -> None:
    """As in an editor: blank lines count, and each file is counted separately."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"n":1}\n\n  \n\xef\xbb\xbf{"n":2}')  # as `cat` joins two files
    assert [(row.source, row.number) for row in open_source(path).iterate()] == [(str(path), 1), (str(path), 4)]
    places = [(Path(row.source).name, row.number) for row in open_source(folder(tmp_path / "f")).iterate()]
    assert places == [("1.jsonl", 1), ("3.jsonl.gz", 1), ("3.jsonl.gz", 2)]


def test_rows_of_long_tables_have_row_numbers(tmp_path: Path) -> None:
    """They continue over the batches in which a table is read."""
    import datasets
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = {"n": list(range(1, 2501))}
    datasets.Dataset.from_dict(values).save_to_disk(str(tmp_path / "saved"))
    pq.write_table(pa.table(values), tmp_path / "d.parquet")
    for path in (tmp_path / "saved", tmp_path / "d.parquet"):
        assert all(row.number == row.values["n"] for row in open_source(path).iterate())


def test_one_split_is_read_and_named(tmp_path: Path) -> None:
    """Of a saved data set with splits, `train` is read unless all are requested. The description names the split."""
    path = saved_splits(tmp_path / "d")
    with pytest.warns(NotReadWarning):
        source = open_source(path)
    assert rows_of(source) == ROWS[:2]
    assert source.describe() == f"{path} (split train)"
    both = open_source(path, all_splits=True)
    assert rows_of(both) == [ROWS[2], *ROWS[:2]]
    assert both.describe() == f"{path} (split test, train)"


def test_splits_without_a_default_are_listed(tmp_path: Path) -> None:
    """Without `train` and `test`, the message says how to name a split. A single split is read."""
    import datasets

    one = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict({"dev": one, "extra": one}).save_to_disk(str(tmp_path / "two"))
    with pytest.raises(InputError, match=r"the splits dev, extra.*two/<split>"):
        open_source(tmp_path / "two")
    assert len(rows_of(open_source(tmp_path / "two" / "dev"))) == 3
    datasets.DatasetDict({"dev": one}).save_to_disk(str(tmp_path / "one"))
    assert open_source(tmp_path / "one").describe() == f"{tmp_path / 'one'} (split dev)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n{"a": }\n', r"d.jsonl, row 2: is not JSON: Expecting value at character 7$"),
        (b'{"a": 1}\n{"a": 2}\n{"a": "tor', r"row 3: is not JSON.*the file ends within this row: remove it"),
        (b'{"a": 1}\n{"a": "\xff"}\n', r"row 2: is not valid UTF-8 \(byte 8 of the line\); write .* in UTF-8"),
        (b'{"a": 1}\n{"a": "\xc3', r"row 2: is not valid UTF-8 .*; the file ends within this row: remove it"),
        (
            b'{"a": "tor\n{"a": 1}\n',
            r"row 1: is not JSON: Unterminated string starting at character 7; the row is cut off: r",
        ),
        (
            b'{"a": 1, \r\n{"a": 1}\n',
            r"row 1: is not JSON: Expecting .*; the row is cut off: remove it, or get the file",
        ),
        (
            b'{"a": "\xc3\n{"a": 1}\n',
            r"row 1: is not valid UTF-8 \(byte 8 of the line\); the row is cut off: remove it",
        ),
        (b'{"a": 1}\n[1, 2]\n', "row 2: is a list; it must be an object with columns"),
        (b'"text"\n', "row 1: is a text"),
        (b"null\n", "row 1: is null"),
        (b"7\n", "row 1: is a number"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    """A line that is no row ends the reading with file, line and reason."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(content)
    with pytest.raises(RowError, match=message):
        rows_of(open_source(path))


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a": ' * 100_000, b'{"a": ' + b"7" * 1_000_001 + b"}"])
def test_a_row_too_large_to_parse_affects_only_itself(tmp_path: Path, content: bytes) -> None:
    """Other rows are read. Reading a column of this row raises an error with the reason."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'{"a": 1}\n' + content + b'\n{"a": 3}\n')
    first, broken, last = open_source(path).iterate(("a",))
    assert (first.values, broken.values, last.values) == ({"a": 1}, {}, {"a": 3})
    assert not broken.has("a")
    with pytest.raises(RowError, match=r"d.jsonl, row 2: is JSON that cannot be read: "):
        broken.identifier("a")


def test_rows_before_a_bad_line_are_returned(tmp_path: Path) -> None:
    """Reading streams, so these rows are returned before the error."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'{"a": 1}\nrubbish\n')
    rows = open_source(path).iterate()
    assert next(rows).values == {"a": 1}
    with pytest.raises(RowError):
        next(rows)


def test_json_as_written_by_python_is_read(tmp_path: Path) -> None:
    """`json.dumps` writes NaN, infinities and lone surrogates, which are no JSON. The surrogate is replaced."""
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"a": float("inf"), "b": [{"c": "x\ud83d"}], "d": "\U0001f600"}) + "\n")
    assert rows_of(open_source(path)) == [{"a": float("inf"), "b": [{"c": "x�"}], "d": "\U0001f600"}]


def test_integers_are_exact(tmp_path: Path) -> None:
    """Beyond 64 bits, and beyond the digits that Python parses. Floats stay floats."""
    path = tmp_path / "d.jsonl"
    long = "9" * 5000
    path.write_text(f'{{"a": {{"b": [18446744073709551616, -9223372036854775809]}}, "c": {long}, "d": 1e300}}\n')
    assert rows_of(open_source(path)) == [{"a": {"b": [2**64, -(2**63) - 1]}, "c": 10**5000 - 1, "d": 1e300}]


def test_the_split_that_is_read(tmp_path: Path) -> None:
    """Of files and saved data sets: the named one, otherwise the default one, otherwise the directory itself."""
    for name, row in (("train.jsonl", "a"), ("test-00000-of-00002.jsonl", "b"), ("test-00001-of-00002.jsonl", "c")):
        jsonl(tmp_path / name, [{"id": row}])

    def ids(**which: Any) -> list[str]:
        return [row["id"] for row in rows_of(open_source(tmp_path, **which))]

    assert ids() == ["b", "c", "a"]
    assert ids(obvious=("test", "train")) == ["b", "c"]
    assert ids(split="train") == ["a"]
    with pytest.raises(InputError, match="no such split 'dev'; there are: test, train"):
        ids(split="dev")
    jsonl(tmp_path / "more.jsonl", [{"id": "d"}])
    assert ids(obvious=("test", "train")) == ["d", "b", "c", "a"]
    assert ids(split="test") == ["b", "c"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (gzip.compress(b'{"id": 1}\n', mtime=0), r"is gzip: name it \.jsonl\.gz, or unpack it"),
        (b"\x28\xb5\x2f\xfd\x04\x00", "is zstd: unpack it"),
        (b'[\n  {"id": 1}\n]\n', "is JSON over several lines; write it again with one object per line"),
        (b'{\n  "id": 1\n}\n', "is JSON over several lines"),
        (
            b'[{"id": 1}, {"id": 2}]',
            r"rows.jsonl is a list in JSON; .* one object per line \(of a list: jq -c '.\[\]' FILE",
        ),
        (b'[{"id": 1},\n{"id": 2}]\n', "is a list in JSON"),
        (b'{"id": "x', "is not JSON: Unterminated string starting at character 8;"),
    ],
)
def test_files_in_other_formats_are_named(tmp_path: Path, content: bytes, words: str) -> None:
    """The parser's message about the first line would not say what kind of file it is."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        rows_of(open_source(path))


@pytest.mark.parametrize(
    ("name", "is_table", "words"),
    [
        ("rows.jsonl", True, r"rows\.jsonl is Parquet: name it \.parquet$"),
        ("rows.jsonl.gz", True, r"rows\.jsonl\.gz is Parquet: name it \.parquet$"),
        ("rows.jsonl.gz", False, r"rows\.jsonl\.gz is JSON: name it \.jsonl$"),
        ("rows.parquet", False, r"rows\.parquet is JSON: name it \.jsonl$"),
    ],
)
def test_a_file_with_the_ending_of_another_format_is_named(
    tmp_path: Path, name: str, is_table: bool, words: str
) -> None:
    """It is not damaged, so to get it again would not help. Programs that download may unpack a `.gz`."""
    written = parquet(tmp_path / "a") if is_table else jsonl(tmp_path / "a")
    written.rename(tmp_path / name)
    with pytest.raises(InputError, match=words):
        open_source(tmp_path)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz", "rows.parquet"])
def test_a_pointer_of_git_lfs_is_named(tmp_path: Path, name: str) -> None:
    """As in a data set that was cloned without Git LFS; also in a directory, and before any row is read."""
    path = tmp_path / name
    path.write_bytes(LFS_POINTER)
    for spec in (path, tmp_path):
        with pytest.raises(InputError, match=rf"{name} is a pointer of Git LFS, .*; run `git lfs pull`"):
            open_source(spec)


def test_a_split_of_a_file_is_refused(tmp_path: Path) -> None:
    """Otherwise it would be ignored. A file with the split's name is probably meant."""
    for name in ("rows.jsonl", "train.jsonl", "test-00000-of-00001.jsonl"):
        jsonl(tmp_path / name, ROWS)
    saved(tmp_path / "kept")
    with pytest.raises(InputError, match=r"rows\.jsonl has no splits, so there is none called 'test'; leave out"):
        open_source(tmp_path / "rows.jsonl", split="test")
    with pytest.raises(InputError, match=r"train\.jsonl is the split train, not 'test'"):
        open_source(tmp_path / "train.jsonl", split="test")
    with pytest.raises(InputError, match="kept has no splits"):
        open_source(tmp_path / "kept", split="test")
    assert rows_of(open_source(tmp_path / "test-00000-of-00001.jsonl", split="test")) == ROWS


def test_the_split_of_a_saved_data_set(tmp_path: Path) -> None:
    """`test` is read if it is requested, although `train` exists."""
    import datasets

    one = datasets.Dataset.from_list([{"id": "a"}])
    datasets.DatasetDict({"train": one, "test": one}).save_to_disk(str(tmp_path / "d"))
    with pytest.warns(NotReadWarning, match=r"d: only the split train is read, not test; to read another, give one of"):
        assert open_source(tmp_path / "d").describe().endswith("(split train)")
    assert open_source(tmp_path / "d", obvious=("test", "train")).describe().endswith("(split test)")
    assert open_source(tmp_path / "d", split="train").describe().endswith("(split train)")
    with pytest.raises(InputError, match=r"no such split 'dev'; there are: train, test"):
        open_source(tmp_path / "d", split="dev")


@pytest.mark.parametrize("make", [jsonl, parquet, saved], ids=lambda make: make.__name__)
def test_no_rows_is_an_error(tmp_path: Path, make: Callable[..., Path]) -> None:
    """An empty file is a mistake, and not a data set without problems."""
    if make is jsonl:
        path = jsonl(tmp_path / "d.jsonl", [])
    elif make is parquet:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = tmp_path / "d.parquet"
        pq.write_table(pa.table({"a": pa.array([], pa.string())}), path)
    else:
        import datasets

        path = tmp_path / "d"
        datasets.Dataset.from_dict({"a": []}).save_to_disk(str(path))
    with pytest.raises(InputError, match=r"is empty: it has no rows"):
        rows_of(open_source(path))


def test_empty_shards_are_ignored(tmp_path: Path) -> None:
    """A directory is empty only if all its files are."""
    (tmp_path / "1.jsonl").write_text("")
    (tmp_path / "2.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"2 files\) is empty"):
        rows_of(open_source(tmp_path))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("data.json", r"its ending must be one of \.jsonl, \.jsonl\.gz, \.parquet\. For a list in JSON: jq -c"),
        ("data.csv", r"its ending must be one of .*pandas\.read_csv\('FILE\.csv', dtype=str"),
        ("noending", r"its ending must be one of \.jsonl, \.jsonl\.gz, \.parquet$"),
    ],
)
def test_an_unknown_extension_lists_the_known_ones(tmp_path: Path, name: str, message: str) -> None:
    """The file is refused before anything is judged."""
    (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=message):
        open_source(tmp_path / name)


@pytest.mark.parametrize(
    "spec",
    ["missing.jsonl", "data/missing.jsonl", "./a/b", "/no/such", "a/b/c", "../a", "~nobody", "~no-such-user/x.jsonl"],
)
def test_missing_file_is_not_taken_for_a_hub_id(spec: str) -> None:
    """If the name can only be a path, the error is immediate, without a request to the Hub."""
    with pytest.raises(InputError, match=r"there is no file or directory .*check the path"):
        open_source(spec)


def test_two_files_with_a_comma_between_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says how to give several."""
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"no file or directory a.jsonl,a.jsonl; give one source .*directory with all"):
        open_source("a.jsonl,a.jsonl")


def test_an_empty_name_is_not_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of its files would be read."""
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    monkeypatch.chdir(tmp_path)
    assert len(list(open_source(".").iterate())) == 1
    with pytest.raises(InputError, match="the name of a source of rows is empty"):
        open_source("")


def test_a_directory_without_rows_lists_the_known_extensions(tmp_path: Path) -> None:
    """A directory with other files is refused."""
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(InputError, match=r"holds nothing that can be read as rows: \.jsonl"):
        open_source(tmp_path)


@pytest.mark.parametrize("name", ["sum.zip", "sum.tar.gz", "sum.tar.xz", *FORMATS])
def test_a_package_of_a_problem_is_not_rows(tmp_path: Path, name: str) -> None:
    """The message names the command that makes rows of it, be it an archive or a directory of any format."""
    (tmp_path / name).write_text("")
    with pytest.raises(InputError, match=r"\. `ioi-eval import` makes rows of the package of a problem$"):
        open_source(tmp_path / name if name.startswith("sum") else tmp_path)


@pytest.mark.parametrize(
    ("ending", "advice"),
    [
        ("jsonl.zst", "unzstd"),
        ("jsonl.bz2", "bunzip2"),
        ("jsonl.xz", "unxz"),
        ("ndjson", "Rename it: FILE.jsonl"),
        ("arrow", "save_to_disk"),
    ],
)
def test_a_directory_with_rows_that_cannot_be_read_is_refused(tmp_path: Path, ending: str, advice: str) -> None:
    """Its other files are not read alone: the rows of this one would be missing."""
    jsonl(tmp_path / "a.jsonl")
    (tmp_path / f"b.{ending}").touch()
    with pytest.raises(InputError, match=rf"b\.{ending} cannot be read as rows: .*{advice}"):
        open_source(tmp_path)


def test_tables_in_a_directory_are_not_read(tmp_path: Path) -> None:
    """They may have rows or something else, so a warning names them. If nothing else is there, it is an error."""
    (tmp_path / "below").mkdir()
    for name in ("b.csv", "below/c.csv", ".hidden.csv"):
        (tmp_path / name).write_text("id,code\n")
    with pytest.raises(InputError, match=r"holds nothing that can be read as rows: .*In Python: pandas\.read_csv"):
        open_source(tmp_path)
    jsonl(tmp_path / "a.jsonl", ROWS)
    with pytest.warns(NotReadWarning, match=r": not read: b\.csv, below/c\.csv\. In Python: pandas\.read_csv"):
        assert rows_of(open_source(tmp_path)) == ROWS


def test_json_with_rows_in_a_directory_is_not_read(tmp_path: Path) -> None:
    """A warning names such files. Other objects describe a data set."""
    jsonl(tmp_path / "a.jsonl", ROWS)
    (tmp_path / "b.json").write_text(f" {json.dumps(ROWS)}")
    jsonl(tmp_path / "c.json", [*ROWS, *ROWS])
    (tmp_path / "dataset_infos.json").write_text("{}\n")
    (tmp_path / "about.json").write_text(json.dumps({"splits": {}}, indent=1))
    with pytest.warns(NotReadWarning, match=r": not read: b\.json, c\.json\. For a list in JSON: jq -c"):
        assert rows_of(open_source(tmp_path)) == ROWS


@pytest.mark.parametrize("text", ["uuid,code\n", '"uuid";"code"\n', "problem id\tcode\n"])
def test_a_table_named_jsonl(tmp_path: Path, text: str) -> None:
    """The message says what it is, and how to convert it."""
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(InputError, match=r"a\.jsonl looks like CSV, .*pandas\.read_csv"):
        open_source(tmp_path / "a.jsonl")


def test_truncated_gzip_is_named(tmp_path: Path) -> None:
    """The message says that the file is cut off. A file that is no gzip is reported too."""
    path = tmp_path / "d.jsonl.gz"
    whole = gzip.compress("".join(json.dumps({"n": n, "t": os.urandom(50).hex()}) + "\n" for n in range(999)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"is damaged or cut off after line \d+"):
        rows_of(open_source(path))
    path.write_bytes(b"rubbish")
    with pytest.raises(InputError, match=r"is damaged or cut off after line 0"):
        rows_of(open_source(path))


def test_damaged_tables_are_named(tmp_path: Path) -> None:
    """The message says that the Parquet file or saved data set is damaged, whatever the library raises."""
    path = parquet(tmp_path / "d.parquet")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"d\.parquet cannot be read as Parquet"):
        rows_of(open_source(path))
    for file in saved(tmp_path / "s").glob("*.arrow"):
        file.write_bytes(b"rubbish")
    with pytest.raises(InputError, match=r"the saved data set .*cannot be read.*save it again"):
        rows_of(open_source(tmp_path / "s"))


def test_text_in_a_table_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    """Parquet does not check its texts. The message names the row and column."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = pa.Array.from_buffers(pa.string(), 2, pa.array([b"ok", b"\xff"], pa.binary()).buffers())
    pq.write_table(pa.table({"t": texts}), tmp_path / "d.parquet")
    with pytest.raises(InputError, match=r"row 2: column 't' has a text that is not valid UTF-8"):
        rows_of(open_source(tmp_path / "d.parquet"))


def test_a_date_that_python_does_not_have_is_named(tmp_path: Path) -> None:
    """The column may be one of a dump that is read only when the results are written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    days = pa.array([1, 10**7], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"day": days, "name": ["a", "b"]}), tmp_path / "d.parquet")
    assert [row.values for row in open_source(tmp_path / "d.parquet").iterate(["name"])] == [
        {"name": "a"},
        {"name": "b"},
    ]
    with pytest.raises(InputError, match=r"row 2: column 'day' has a date or time that Python does not have"):
        rows_of(open_source(tmp_path / "d.parquet"))


def test_fields_of_one_name_are_refused(tmp_path: Path) -> None:
    """Of two columns the last one was taken, and an object with two such fields gave a stack trace."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    one = pa.array([1])
    pq.write_table(pa.Table.from_arrays([one, one], names=["a", "a"]), tmp_path / "columns.parquet")
    with pytest.raises(InputError, match=r"columns\.parquet has two columns named 'a'; rename one"):
        rows_of(open_source(tmp_path / "columns.parquet"))
    pq.write_table(pa.Table.from_arrays([one, one, one], names=["a", "a", "b"]), tmp_path / "unread.parquet")
    assert [row.values for row in open_source(tmp_path / "unread.parquet").iterate(["b"])] == [{"b": 1}]
    pq.write_table(pa.table({"s": pa.StructArray.from_arrays([one, one], names=["a", "a"])}), tmp_path / "d.parquet")
    with pytest.raises(InputError, match=r"row 1: column 's' has a value that cannot be read \(.*duplicate field"):
        rows_of(open_source(tmp_path / "d.parquet"))


FORBIDDEN = """
import sys
from pathlib import Path

from ioi_eval.apps.solution_files import open_dump
from ioi_eval.errors import InputError, SetupError
from ioi_eval.journal import check_writable
from ioi_eval.rows import open_source

dump = sys.argv[1]
for use, path in (
    (open_source, dump),
    (open_source, f"{dump}/closed"),
    (open_source, f"{dump}/closed/rows.jsonl"),
    (lambda path: open_dump(path, ()), f"{dump}/closed/solution.py"),
    (lambda path: check_writable(Path(path)), f"{dump}/closed/out"),
):
    try:
        use(path)
    except (InputError, SetupError) as error:
        print(error)
"""


def test_what_may_not_be_read_is_an_error(tmp_path: Path) -> None:
    """A directory below a dump was skipped silently, and other paths ended in a stack trace."""
    dump = tmp_path / "dump"
    (dump / "closed").mkdir(parents=True)
    for directory in (dump, dump / "closed"):
        jsonl(directory / "rows.jsonl")
    (dump / "closed").chmod(0)
    if shutil.which("setpriv") is None:
        pytest.skip("no setpriv, which takes from root the right to read everything")
    command = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
    ended = subprocess.run(
        [*command, sys.executable, "-c", FORBIDDEN, str(dump)], capture_output=True, text=True, check=True, timeout=120
    )
    assert ended.stdout.splitlines() == [
        f"{dump}/closed cannot be read: Permission denied",
        f"{dump}/closed cannot be read: Permission denied",
        f"{dump}/closed/rows.jsonl cannot be read: Permission denied",
        f"{dump}/closed/solution.py cannot be read: Permission denied",
        f"{dump}/closed/out: {dump}/closed may not be written to; choose another --out",
    ]


def test_a_link_to_nothing_is_an_error(tmp_path: Path) -> None:
    """Its rows were missing silently: git-annex leaves such links, and so does a copy of a cache without its blobs."""
    jsonl(tmp_path / "1.jsonl")
    (tmp_path / "2.jsonl").symlink_to("absent")
    with pytest.raises(InputError, match=r"2\.jsonl cannot be read: No such file"):
        open_source(tmp_path)


def test_uuids_are_texts_and_decimals_are_numbers(tmp_path: Path) -> None:
    """DuckDB writes columns of these types. Each row was refused: its `uuid` was no name, its score no number."""
    name = UUID("85f5fbc8-3cb2-4e71-be8f-3847574fb8d8")
    columns = {
        "uuid": pa.array([name.bytes], pa.uuid()),
        "score": pa.array([Decimal("7.00")]),
        "scores": pa.array([[Decimal("1.50"), None]]),
    }
    pq.write_table(pa.table(columns), tmp_path / "d.parquet")
    assert rows_of(open_source(tmp_path / "d.parquet")) == [{"uuid": str(name), "score": 7, "scores": [1.5, None]}]


def test_a_link_to_a_directory_is_an_error(tmp_path: Path) -> None:
    """Its rows were missing silently. Hidden links are ignored, as hidden directories are."""
    dump, elsewhere = tmp_path / "dump", tmp_path / "elsewhere"
    for directory in (dump, elsewhere):
        directory.mkdir()
        jsonl(directory / "1.jsonl")
    (dump / ".cache").symlink_to(elsewhere)
    assert rows_of(open_source(dump)) == ROWS
    (dump / "part").symlink_to(elsewhere)
    with pytest.raises(InputError, match=r"dump/part is a link to a directory, and such links are not followed"):
        open_source(dump)


@pytest.mark.parametrize("hashes", [["", "", ""], ["-b42a775f407cee45", "-0a1b2c3d4e5f6789", "-fedcba9876543210"]])
def test_a_missing_part_is_an_error(tmp_path: Path, hashes: Sequence[str]) -> None:
    """The rows of a file that was not downloaded would be missing silently. Each of the others can be read alone.

    Older versions of `datasets` added a hash to each name.
    """
    names = [f"train-0000{number}-of-00003{added}.jsonl" for number, added in enumerate(hashes)]
    for name in (names[0], names[2]):
        jsonl(tmp_path / name)
    with pytest.raises(InputError, match=r"train-…-of-00003\.jsonl: only 2 of 3 files are there"):
        open_source(tmp_path)
    open_source(tmp_path / names[2])
    jsonl(tmp_path / names[1])
    assert "(3 files)" in open_source(tmp_path).describe()


def test_a_name_that_is_too_long_is_an_error() -> None:
    """No file can have it, and it is no id of the Hub."""
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        open_source("x" * 300)
