"""Sources of rows: all kinds give the same rows, stream, and say what is wrong with them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import InputError, RowError
from ioi_eval.rows import Source, open_source

ROWS: list[dict[str, Any]] = [
    {"id": "a", "n": 1, "names": ["x", "y"], "files": [["p", "1"], ["q", None]]},
    {"id": "ü\n", "n": 2, "names": [], "files": []},
    {"id": "c", "n": 3, "names": ["z"], "files": [["r", ""]]},
]


def jsonl(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    """Rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def zipped(path: Path) -> Path:
    """Rows as gzipped JSON Lines."""
    path = path.with_suffix(".jsonl.gz")
    path.write_bytes(gzip.compress(jsonl(path.with_suffix(".plain")).read_bytes()))
    return path


def parquet(path: Path) -> Path:
    """Rows as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = path.with_suffix(".parquet")
    pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=2)
    return path


def folder(path: Path) -> Path:
    """Rows in files of several kinds, to be read in the order of their names, and things that are not rows."""
    (path / "part").mkdir(parents=True)
    (path / ".hidden").mkdir()
    jsonl(path / "part" / "1.jsonl", ROWS[:1])
    (path / "part" / "2.jsonl").write_text("")
    (path / "part" / "3.jsonl.gz").write_bytes(gzip.compress(jsonl(path / "x", ROWS[1:]).read_bytes()))
    jsonl(path / ".hidden" / "4.jsonl")
    (path / "README.md").write_text("no rows")
    return path


def saved(path: Path) -> Path:
    """Rows saved by `datasets`."""
    import datasets

    datasets.Dataset.from_list(ROWS).save_to_disk(str(path))
    return path


def saved_splits(path: Path) -> Path:
    """Rows saved by `datasets`, with two splits."""
    import datasets

    splits = {"test": datasets.Dataset.from_list(ROWS[2:]), "train": datasets.Dataset.from_list(ROWS[:2])}
    datasets.DatasetDict(splits).save_to_disk(str(path))
    return path


KINDS: list[Callable[[Path], Path]] = [jsonl, zipped, parquet, folder, saved]


def rows_of(source: Source, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """All rows, as plain values."""
    return [dict(row.values) for row in source.iterate(columns)]


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_every_kind_gives_the_same_rows_twice(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """Values, order and types are the same whatever the format, on each reading."""
    source = open_source(make(tmp_path / "data.jsonl"))
    assert rows_of(source) == ROWS
    assert rows_of(source) == ROWS


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_only_wanted_columns_come(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """Columns that are not there are no error: who needs them says so, with the row's place."""
    source = open_source(make(tmp_path / "data.jsonl"))
    assert rows_of(source, ["n", "absent"]) == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_rows_know_their_place(tmp_path: Path) -> None:
    """Numbers are those an editor shows: blank lines count, and so does each file for itself."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"n":1}\n\n  \n{"n":2}')
    assert [(row.source, row.number) for row in open_source(path).iterate()] == [(str(path), 1), (str(path), 4)]
    places = [(Path(row.source).name, row.number) for row in open_source(folder(tmp_path / "f")).iterate()]
    assert places == [("1.jsonl", 1), ("3.jsonl.gz", 1), ("3.jsonl.gz", 2)]


def test_rows_of_long_tables_know_their_place(tmp_path: Path) -> None:
    """Numbers go on over the batches that a table is read in."""
    import datasets
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = {"n": list(range(1, 2501))}
    datasets.Dataset.from_dict(values).save_to_disk(str(tmp_path / "saved"))
    pq.write_table(pa.table(values), tmp_path / "d.parquet")
    for path in (tmp_path / "saved", tmp_path / "d.parquet"):
        assert all(row.number == row.values["n"] for row in open_source(path).iterate())


def test_one_split_is_taken_and_named(tmp_path: Path) -> None:
    """Of a saved data set with splits, train is read unless all are wanted; what was taken can be shown."""
    path = saved_splits(tmp_path / "d")
    source = open_source(path)
    assert rows_of(source) == ROWS[:2]
    assert source.describe() == f"{path} (split train)"
    both = open_source(path, all_splits=True)
    assert rows_of(both) == [ROWS[2], *ROWS[:2]]
    assert both.describe() == f"{path} (split test, train)"


def test_splits_without_an_obvious_one_are_listed(tmp_path: Path) -> None:
    """Where neither train nor test is there, the user is told how to name one; a single split is taken."""
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
        (b'{"a": 1}\n{"a": }\n', r"d.jsonl, row 2: is not JSON: Expecting value: line 1 column 7 \(char 6\)$"),
        (b'{"a": 1}\n{"a": 2}\n{"a": "tor', r"row 3: is not JSON.*the file ends within this row: remove it"),
        (b'{"a": 1}\n{"a": "\xff"}\n', r"row 2: is not valid UTF-8 \(byte 8 of the line\)$"),
        (b'{"a": 1}\n[1, 2]\n', "row 2: is a JSON list, where an object with columns is needed"),
        (b'"text"\n', "row 1: is a JSON text"),
        (b"null\n", "row 1: is a JSON null"),
        (b"7\n", "row 1: is a JSON number"),
        (b"[" * 100_000 + b"\n", "row 1: is (not JSON|JSON that cannot be carried: lists are nested too deeply)"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    """A line that is no row ends the reading with file, line and reason."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(content)
    with pytest.raises(RowError, match=message):
        rows_of(open_source(path))


def test_rows_before_a_bad_line_have_been_given(tmp_path: Path) -> None:
    """Reading streams: what stands before a bad line arrives before the error."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'{"a": 1}\nrubbish\n')
    rows = open_source(path).iterate()
    assert next(rows).values == {"a": 1}
    with pytest.raises(RowError):
        next(rows)


def test_what_python_writes_is_read(tmp_path: Path) -> None:
    """NaN, infinities and half an emoji are no JSON, but what `json.dumps` writes; the emoji's half is replaced."""
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"a": float("inf"), "b": [{"c": "x\ud83d"}], "d": "\U0001f600"}) + "\n")
    assert rows_of(open_source(path)) == [{"a": float("inf"), "b": [{"c": "x�"}], "d": "\U0001f600"}]


def test_integers_are_exact(tmp_path: Path) -> None:
    """Beyond 64 bits, and beyond the digits that Python reads; floats stay floats."""
    path = tmp_path / "d.jsonl"
    long = "9" * 5000
    path.write_text(f'{{"a": {{"b": [18446744073709551616, -9223372036854775809]}}, "c": {long}, "d": 1e300}}\n')
    assert rows_of(open_source(path)) == [{"a": {"b": [2**64, -(2**63) - 1]}, "c": 10**5000 - 1, "d": 1e300}]


def test_the_split_that_is_meant(tmp_path: Path) -> None:
    """Of files, saved data sets: the one that was named, else the obvious one; else the folder as it is."""
    for name, row in (("train.jsonl", "a"), ("test-00000-of-00002.jsonl", "b"), ("test-00001-of-00002.jsonl", "c")):
        jsonl(tmp_path / name, [{"id": row}])

    def ids(**which: Any) -> list[str]:
        return [row["id"] for row in rows_of(open_source(tmp_path, **which))]

    assert ids() == ["b", "c", "a"]
    assert ids(obvious=("test", "train")) == ["b", "c"]
    assert ids(split="train") == ["a"]
    with pytest.raises(InputError, match="has no split 'dev'; there are: test, train"):
        ids(split="dev")
    jsonl(tmp_path / "more.jsonl", [{"id": "d"}])
    assert ids(obvious=("test", "train")) == ["d", "b", "c", "a"]
    assert ids(split="test") == ["b", "c"]


def test_the_split_of_a_saved_data_set(tmp_path: Path) -> None:
    """`test` where that is asked for, though `train` is there."""
    import datasets

    one = datasets.Dataset.from_list([{"id": "a"}])
    datasets.DatasetDict({"train": one, "test": one}).save_to_disk(str(tmp_path / "d"))
    assert open_source(tmp_path / "d").describe().endswith("(split train)")
    assert open_source(tmp_path / "d", obvious=("test", "train")).describe().endswith("(split test)")
    assert open_source(tmp_path / "d", split="train").describe().endswith("(split train)")
    with pytest.raises(InputError, match=r"has no split 'dev'; there are: train, test"):
        open_source(tmp_path / "d", split="dev")


@pytest.mark.parametrize("make", [jsonl, parquet, saved], ids=lambda make: make.__name__)
def test_no_rows_is_an_error(tmp_path: Path, make: Callable[..., Path]) -> None:
    """An empty file is a mistake, not a data set without problems."""
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


def test_empty_shards_are_none(tmp_path: Path) -> None:
    """A folder is empty only if all its files are."""
    (tmp_path / "1.jsonl").write_text("")
    (tmp_path / "2.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"2 files\) is empty"):
        rows_of(open_source(tmp_path))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("data.json", r"its ending must be one of \.jsonl, \.jsonl\.gz, \.parquet"),
        ("data.csv", "its ending must be one of"),
        ("noending", "its ending must be one of"),
    ],
)
def test_unknown_ending_lists_those_that_are_read(tmp_path: Path, name: str, message: str) -> None:
    """What cannot be read is refused before anything is judged."""
    (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=message):
        open_source(tmp_path / name)


@pytest.mark.parametrize(
    "spec", ["missing.jsonl", "data/missing.jsonl", "./a/b", "/no/such", "a/b/c", "../a", "~nobody"]
)
def test_missing_file_is_not_taken_for_a_hub_id(spec: str) -> None:
    """Whatever is plainly a path is said to be missing at once, without asking the Hub."""
    with pytest.raises(InputError, match=r"there is no file or folder .*check the path"):
        open_source(spec)


def test_folder_without_rows_says_what_is_read(tmp_path: Path) -> None:
    """A folder of something else is refused with the endings that would be read."""
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(InputError, match=r"holds nothing that can be read as rows: \.jsonl"):
        open_source(tmp_path)


def test_torn_gzip_is_named(tmp_path: Path) -> None:
    """A download that stopped is said to be cut off; one that is no gzip, too."""
    path = tmp_path / "d.jsonl.gz"
    whole = gzip.compress("".join(json.dumps({"n": n, "t": os.urandom(50).hex()}) + "\n" for n in range(999)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"is damaged or cut off after line \d+"):
        rows_of(open_source(path))
    path.write_bytes(b'{"n": 1}\n')
    with pytest.raises(InputError, match=r"is damaged or cut off after line 0"):
        rows_of(open_source(path))


def test_damaged_tables_are_named(tmp_path: Path) -> None:
    """A Parquet file or saved data set that is damaged says so, whatever the library raises."""
    path = parquet(tmp_path / "d.parquet")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"d\.parquet cannot be read as Parquet"):
        rows_of(open_source(path))
    for file in saved(tmp_path / "s").glob("*.arrow"):
        file.write_bytes(b"rubbish")
    with pytest.raises(InputError, match=r"the saved data set .*cannot be read.*save it again"):
        rows_of(open_source(tmp_path / "s"))


def test_text_in_a_table_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    """Parquet does not check its texts; we say which rows are affected."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = pa.Array.from_buffers(pa.string(), 2, pa.array([b"ok", b"\xff"], pa.binary()).buffers())
    pq.write_table(pa.table({"t": texts}), tmp_path / "d.parquet")
    with pytest.raises(InputError, match=r"rows 1 to 2: a text is not valid UTF-8"):
        rows_of(open_source(tmp_path / "d.parquet"))


# --------------------------------------------------------------------------- large data


def large_parquet(path: Path, compression: str = "none") -> list[str]:
    """One row group of 40 MB, as pandas and the Hub write them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [f"{n}" * (10_000_000 + n) for n in range(4)]
    pq.write_table(pa.table({"n": range(4), "t": texts}), path, compression=compression)
    return texts


def test_large_row_groups_are_decoded_apart(tmp_path: Path) -> None:
    """Rows that another process decodes are the same, in order, and reading may stop in the middle."""
    texts = large_parquet(tmp_path / "d.parquet")
    source = open_source(tmp_path / "d.parquet")
    assert [row.values["t"] for row in source.iterate(["t"])] == texts
    assert rows_of(source, ["n"]) == [{"n": n} for n in range(4)]
    rows = source.iterate()
    assert next(rows).values["n"] == 0
    rows.close()  # type: ignore[attr-defined]


def test_damage_in_a_large_row_group_is_named(tmp_path: Path) -> None:
    """What the decoding process says about the file reaches the user."""
    path = tmp_path / "d.parquet"
    large_parquet(path, compression="snappy")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 1000] = b"\xff" * 1000
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"d\.parquet cannot be read as Parquet: .+; get it again"):
        rows_of(open_source(path))


DECODE = """
import sys
from pathlib import Path
from ioi_eval.rows import open_source
for row in open_source(sys.argv[1]).iterate():
    pass
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(int(status["RssAnon"].split()[0]) // 1024, row.number)
"""


def test_decoding_a_large_row_group_leaves_no_memory_behind(tmp_path: Path) -> None:
    """Decoded in this process, 160 MB of texts in one dictionary stay with the allocator, about twice over."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"t": [f"{n}" + "x" * 20_000_000 for n in range(8)]}), tmp_path / "d.parquet")
    argv = [sys.executable, "-c", DECODE, str(tmp_path / "d.parquet")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True)
    megabytes, rows = map(int, done.stdout.split())
    assert rows == 8
    assert megabytes < 160


MEASURE = """
import resource, sys
from pathlib import Path
from ioi_eval.blobs import BlobStore
from ioi_eval.problems.ioi import load_problems
from ioi_eval.problems.submissions import submission_from_row
from ioi_eval.rows import open_source
problems, tests, dump, cache, megabytes = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_DATA, (int(megabytes) << 20, int(megabytes) << 20))
found = load_problems(open_source(problems), open_source(tests), BlobStore(Path(cache)))
(problem,) = found.problems.values()
size = sum(case.input.size + case.answer.size for case in problem.tests.values())
print(len(problem.tests), size, sum(1 for row in open_source(dump).iterate() if submission_from_row(row).code))
"""


def write_year(tmp_path: Path, tests: int, rows: int) -> tuple[Path, Path, Path, int]:
    """A problem with tests of 6 MB each, and a dump of generations of 5 kB each."""
    text = "1234567 " * 500_000 + "\n"
    problem = {
        **{"year": 2024, "id": "big", "subtask": "01", "score": 100, "task_type": "Batch"},
        **{"time_limit": 1.0, "memory_limit": 2**31, "test_names": [str(n) for n in range(tests)], "grader_files": []},
    }
    jsonl(tmp_path / "problems.jsonl", [problem])
    size = 0
    with (tmp_path / "tests.jsonl").open("w") as file:
        for n in range(tests):
            given, answer = f"{n} {text}", f"{n} {text[: len(text) // 2]}\n"
            size += len(given) + len(answer)
            row = {"year": 2024, "problem_id": "big", "test_name": str(n), "test_input": given, "test_output": answer}
            file.write(json.dumps(row) + "\n")
    with (tmp_path / "dump.jsonl").open("w") as file:
        for n in range(rows):
            words = "Let me think. " * 350 + f"\n```cpp\nint f() {{ return {n}; }}\n```\n"
            file.write(json.dumps({"uuid": n, "year": 2024, "problem_id": "big", "generation": words}) + "\n")
    return tmp_path / "problems.jsonl", tmp_path / "tests.jsonl", tmp_path / "dump.jsonl", size


@pytest.mark.parametrize(
    ("tests", "rows", "megabytes"),
    [(30, 2_000, 120), pytest.param(134, 100_000, 300, marks=pytest.mark.full)],
)
def test_a_year_of_tests_and_a_dump_pass_in_little_memory(
    tmp_path: Path, tests: int, rows: int, megabytes: int
) -> None:
    """Under a kernel limit on anonymous memory far below the size of the data, everything is read and kept."""
    problems, data, dump, size = write_year(tmp_path, tests, rows)
    argv = [sys.executable, "-c", MEASURE, problems, data, dump, tmp_path / "cache", megabytes]
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=500, check=False)
    assert done.stdout.split() == [str(tests), str(size), str(rows)], done.stderr
    assert size > megabytes * 1_400_000


# --------------------------------------------------------------------------- the Hub

CARD = """---
configs:
- config_name: '2023'
  data_files: [{split: train, path: 2023/train-*}]
- config_name: '2024'
  data_files: [{split: train, path: 2024/train-*}]
---
"""


@pytest.fixture
def by_year(tmp_path: Path) -> Path:
    """A data set in the layout of `open-r1/ioi-test-cases`: a configuration a year."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    root = tmp_path / "by_year"
    for year in (2023, 2024):
        (root / str(year)).mkdir(parents=True)
        table = pa.Table.from_pylist([{"year": year, "test_name": f"{n}"} for n in range(2)])
        pq.write_table(table, root / str(year) / "train-00000-of-00001.parquet")
    (root / "README.md").write_text(CARD)
    return root


@pytest.fixture
def two_splits(tmp_path: Path) -> Path:
    """A data set in the layout of `open-r1/ioi`: one configuration, train and test."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    root = tmp_path / "two_splits"
    (root / "data").mkdir(parents=True)
    for split, ids in (("train", ["a", "b"]), ("test", ["c"])):
        pq.write_table(pa.table({"id": ids}), root / "data" / f"{split}-00000-of-00001.parquet")
    return root


def through_datasets(tmp_path: Path, code: str, *args: object) -> str:
    """Run code with the caches of `datasets` in a place of their own and the network switched off."""
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    code = (
        "import sys\nfrom ioi_eval.rows import HubSource, open_source\nfrom ioi_eval.errors import InputError\n" + code
    )
    argv = [sys.executable, "-c", code, *map(str, args)]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_configurations_of_a_year_are_read(tmp_path: Path, by_year: Path) -> None:
    """Only the wanted years are loaded, and rows know where they came from."""
    code = """
source = HubSource(sys.argv[1]).with_configs(["2024", "2025"])
for row in [*source.iterate(["test_name"]), *source.iterate()]:
    print(row.source.replace(sys.argv[1], "ID"), row.number, dict(row.values))
print(source.describe().replace(sys.argv[1], "ID"))
try:
    HubSource(sys.argv[1]).with_configs(["2025"])
except InputError as error:
    print(error)
"""
    lines = through_datasets(tmp_path, code, by_year).splitlines()
    assert lines[0] == "the Hub data set ID (2024: train) 1 {'test_name': '0'}"
    assert lines[3] == "the Hub data set ID (2024: train) 2 {'year': 2024, 'test_name': '1'}"
    assert lines[4] == "the Hub data set ID (2024: train)"
    assert lines[5].endswith("has the configurations 2023, 2024, none of 2025")


def test_problems_are_read_from_all_splits(tmp_path: Path, two_splits: Path) -> None:
    """IOI 2024 is in the test split; a dump is read from train only. Years are no configurations here."""
    code = """
for all_splits in (True, False):
    source = HubSource(sys.argv[1], all_splits=all_splits).with_configs(["2024"])
    print([row.values["id"] for row in source.iterate()], source.describe().rpartition(" (")[2])
"""
    assert through_datasets(tmp_path, code, two_splits).splitlines() == [
        "['a', 'b', 'c'] train, test)",
        "['a', 'b'] train)",
    ]


def test_unreachable_hub_says_what_the_name_was_taken_for(tmp_path: Path) -> None:
    """A mistyped path of two parts looks like a Hub id: the message covers both."""
    code = """
for spec in ("open-r1/ioi", "open-r1/ioi-test-cases:2024"):
    try:
        list(open_source(spec).iterate())
    except InputError as error:
        print(error)
"""
    first, second = through_datasets(tmp_path, code).splitlines()
    assert "there is no file or folder open-r1/ioi, so it was taken for a data set of the Hub" in first
    assert "Check the path or the name, the network, and HF_TOKEN" in first
    assert "open-r1/ioi-test-cases" in second
