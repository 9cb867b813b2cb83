"""How many records a second the journal stores, and how many it finds when it is opened again.

    python benchmarks/journal_records.py [RECORDS]

100,000 records of 1 kB are appended one by one, then the journal is synced and opened again. Rates are per CPU second
of this process. The time of the disk is in the wall clock, which is printed too.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import orjson
from figures import Figure, arguments, report

from ioi_eval.journal import Journal, RecordKind, keys_of
from ioi_eval.model import ProblemKey

RECORDS, RECORD_BYTES = 100_000, 1_000


def main() -> None:
    """Append, sync, open."""
    args = arguments()
    records = int(args[0]) if args else RECORDS
    body = orjson.dumps({"text": "x" * (RECORD_BYTES - len('{"text":""}'))})
    problem = ProblemKey(year=2024, id="nile")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        started, wall = time.process_time(), time.monotonic()
        with Journal(Path(name), options={}) as journal:
            for number in range(records):
                journal.append(RecordKind.RESULT, keys_of(problem, str(number), f"fingerprint {number}"), body)
            journal.sync()
        appended_s, wall_s = time.process_time() - started, time.monotonic() - wall
        started = time.process_time()
        with Journal(Path(name), options={}) as journal:
            read = len(journal.index.submissions)
        opened_s = time.process_time() - started
    if read != records:
        raise SystemExit(f"{records} records were written, and {read} found")
    print(f"{records} records, the sync included: {wall_s:.2f} s of wall clock")
    for what, taken_s, bound in (("appended", appended_s, 20_000.0), ("found when it is opened", opened_s, None)):
        rate = records / taken_s
        report(Figure(name=f"records {what}", value=rate, unit="/CPU-s", bound=bound, larger_is_better=True))


if __name__ == "__main__":
    main()
