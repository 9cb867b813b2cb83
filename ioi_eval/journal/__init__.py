"""What has been judged, on disk: the one truth of a run.

Theory of operation
===================

A run of a million programs takes days, and it will be stopped: by its user, by a scheduler, by a full disk, by a
power cut. What it has found out by then must not be lost, and nothing may count twice. So a result is written
once, at the end of one file that only ever grows, before it is counted as done. `results.jsonl`, the summary
and the report are made from that file, and can be made again; the file itself is never rewritten.

**The file.** A line of magic, then records:

    ioi-eval journal 1
    <crc32> <length> <safe> <kind> <submission key> <program key> <json>\\n

`length` counts the bytes of the JSON, which holds no raw newline; the CRC covers everything after itself but
the newline. The two keys are digests, so that opening a journal of 100,000 records (gigabytes) checks every
CRC but parses no JSON, and keeps about 200 bytes of memory a record: key → offset. Records are read back by
offset, and checked again.

**Identity.** The submission key is a digest of problem, submission id, how the program was found (extraction
rule, fixes) and *fingerprint*: code, tests, judge programs, limits, policy, runner, toolchain, profile,
isolation. Whatever would change the outcome changes the key, so a resumed run can only find what it would
have found out itself. The program key is of problem and fingerprint only: by it a copy of a program, wherever
it was found, finds its leader: a copy's record says that its program is known, and the first result under its
program key is the one. So nothing depends on where in the file a record stands: lines that somebody left out, doubled,
or put together from several journals give the results that they hold, and what is not among them is judged again. Who
reads a record compares its kind and its keys with what was asked for, and believes no other.

**Done** means that `write` has returned: from then on a killed process (`kill -9`) loses nothing. A machine that
loses power may still lose what the kernel had not written, so the file is fsync'd in groups of some
seconds' work.

**A torn tail.** Whatever stops a writer leaves at most one unfinished record, at the end. Opening cuts it off,
and says so. A power cut is worse: within the last group the kernel may have written later pages and not
earlier ones, so that whole records follow a hole. Each record therefore tells, in `safe`, how many bytes were
known to be on disk when it was written. A hole that no later record calls safe is the work of a power cut: the
file is cut there, and those few are judged again. A hole in what was called safe was made by something else (a
bad disk, an editor, a second writer). That is not mended silently: opening fails with the offset, what still
can be read, and what to do.

**Two writers** would interleave. A lock (`flock` on `.lock` beside the journal, held by the process and so
released by any death) makes the second one fail at once, naming the first.

**What is not written.** A failure of ours (no sandbox, lost answer) says nothing about the submission, so it
never enters the journal, and the next run judges that submission again. The fault of a judge program, the same
twice, would only happen again: it is written as final, and repeated when the user asks (`--retry-failed`).
"""

from ioi_eval.journal.codec import decode_result, encode_result
from ioi_eval.journal.frames import Keys, RecordKind, keys_of, name_key
from ioi_eval.journal.opening import Index, StoredResult, check_writable, peek
from ioi_eval.journal.records import Record, TemporaryRecords
from ioi_eval.journal.store import Journal

__all__ = [
    "Index",
    "Journal",
    "Keys",
    "Record",
    "RecordKind",
    "StoredResult",
    "TemporaryRecords",
    "check_writable",
    "decode_result",
    "encode_result",
    "keys_of",
    "name_key",
    "peek",
]
