"""Decodes a Parquet file with large row groups in a separate process.

A page of Parquet, and especially a dictionary, must be decoded as a whole. pandas and the Hub write one row group for
hundreds of megabytes of tests. Decoding 750 MB of these takes 1.8 GB, which the allocator then never returns. Here that
memory is released when the process ends; our process reads small record batches from a pipe.

    python -m ioi_eval.rows.decoder FILE ROWS-A-BATCH COLUMN…   writes an Arrow IPC stream to stdout
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from ioi_eval.errors import InputError


def decoded(path: Path, batch_rows: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The record batches of a file with only these columns, decoded by another process."""
    argv = [sys.executable, "-P", "-m", __name__, str(path), str(batch_rows), *columns]
    with (
        tempfile.TemporaryFile() as stderr,
        subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr) as process,
    ):
        assert process.stdout is not None
        try:
            with pa.ipc.open_stream(process.stdout) as stream:
                yield from stream
            _check_end(path, process, stderr)
        except (pa.ArrowException, OSError) as error:
            process.stdout.close()  # otherwise a process that still writes would never end
            _check_end(path, process, stderr)
            raise InputError(f"{path} cannot be read as Parquet: {error}; get it again") from error
        finally:
            process.kill()


def _check_end(path: Path, process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    code = process.wait()
    if code == 0:
        return
    stderr.seek(0)
    lines = stderr.read().decode("utf-8", "replace").strip().splitlines()
    if code > 0 and lines:
        raise InputError(f"{path} cannot be read as Parquet: {lines[-1]}; get it again")
    raise InputError(
        f"{path} could not be decoded: the process that reads it was killed ({code}), perhaps because memory ran out;"
        " write it again with smaller row groups (row_group_size), or as .jsonl"
    )


def main() -> None:
    """Decode the file that is named on the command line."""
    path, batch_rows, *columns = sys.argv[1:]
    with pq.ParquetFile(path, pre_buffer=False) as file:
        schema = pa.schema([file.schema_arrow.field(column) for column in columns])
        with pa.ipc.new_stream(sys.stdout.buffer, schema) as stream:
            for batch in file.iter_batches(int(batch_rows), columns=columns, use_threads=False):
                stream.write_batch(batch)


if __name__ == "__main__":
    main()
