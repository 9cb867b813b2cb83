"""Rows of tens of megabytes: they are streamed, each is in memory only once, and damage in them is reported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ioi_eval.errors import InputError
from ioi_eval.rows import open_source
from tests.row_files import jsonl, rows_of


def large_parquet(path: Path, compression: str = "none") -> list[str]:
    """One row group of 40 MB, as pandas and the Hub write them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [f"{n}" * (10_000_000 + n) for n in range(4)]
    pq.write_table(pa.table({"n": range(4), "t": texts}), path, compression=compression)
    return texts


def test_large_row_groups_are_read_by_small_batches(tmp_path: Path) -> None:
    """The rows are the same, in order, and reading may stop in the middle."""
    texts = large_parquet(tmp_path / "d.parquet")
    source = open_source(tmp_path / "d.parquet")
    assert [row.values["t"] for row in source.iterate(["t"])] == texts
    assert rows_of(source, ["n"]) == [{"n": n} for n in range(4)]
    rows = source.iterate()
    assert next(rows).values["n"] == 0
    rows.close()  # type: ignore[attr-defined]


def test_damage_in_a_large_row_group_is_named(tmp_path: Path) -> None:
    """The message of Arrow about the file is shown to the user."""
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


def test_decoding_a_large_row_group_frees_its_memory(tmp_path: Path) -> None:
    """If this process decoded 160 MB of texts in one dictionary, the allocator would keep about twice as much."""
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
def test_a_year_of_tests_and_a_dump_need_little_memory(tmp_path: Path, tests: int, rows: int, megabytes: int) -> None:
    """All rows are read and stored under a kernel limit on anonymous memory that is far below the size of the data."""
    problems, data, dump, size = write_year(tmp_path, tests, rows)
    argv = [sys.executable, "-c", MEASURE, problems, data, dump, tmp_path / "cache", megabytes]
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=500, check=False)
    assert done.stdout.split() == [str(tests), str(size), str(rows)], done.stderr
    assert size > megabytes * 1_400_000
