"""The journal: a file with every result of a run.

Theory of operation
===================

A run of a million programs takes days, and it will be interrupted: by its user, a scheduler, a full disk or a power
failure. Results that exist by then must not be lost, and none may count twice. So a result is appended to one file
before it is counted as done. `results.jsonl`, the summary and the report are made from that file, and can be made
again; the file itself is never rewritten.

**The file.** A first line that names the format and its version, then records:

    ioi-eval journal 1
    <crc32> <length> <safe> <kind> <submission key> <program key> <json>\\n

`length` counts the bytes of the JSON, which contains no raw newline; the CRC covers everything after itself except
the newline. The two keys are digests, so that opening a journal of 100,000 records (gigabytes) checks every
CRC but parses no JSON, and needs about 200 bytes of memory per record: key → offset. Records are read back by
offset, and checked again.

**Identity.** The submission key is a digest of problem, submission id, how the program was found (extraction
rule, fixes) and *fingerprint*: code, tests, judge programs, limits, policy, runner, toolchain, profile,
isolation. Everything that would change the outcome changes the key, so a resumed run takes over a result only if it
would itself have computed the same. The program key is a digest of problem and fingerprint only; with it, a copy of a
program finds the result of the first one (its leader), even if the two were found by different rules. A copy's record
only says that its program is known; its result is the first one with its program key. So the position of a record in
the file does not matter: if a user removed or doubled lines, or joined several whole journals, the results that are
there count, and the others are judged again. A reader compares a record's kind and keys with those that it wants, and
ignores other records.

**Done** means that `Journal.append` has returned: from then on a killed process (`kill -9`) loses nothing. A machine
that loses power may still lose what the kernel had not written, so the file is fsync'd after 64 records, or if the
oldest that is not on disk is 2 s old.

**A torn tail** is an unfinished record at the end, left by a writer that was stopped. Opening cuts it off, and reports
it. A power failure is worse: of what was appended since the last fsync, the kernel may have written later pages but not
earlier ones. Then complete records follow a *hole*, bytes that are no records. Therefore each record contains, in
`safe`, how many bytes were known to be on disk when it was written. If no later record says that the hole's bytes were
on disk, the hole comes from a power failure: the file is cut there, and those few submissions are judged again.
Otherwise the hole has another cause (a bad disk, an editor, a second writer). Then nothing is repaired silently:
opening fails with the offset, what can still be read, and what to do. If several journals were joined, `safe` is
counted from the first line of the journal that the record was written to. (A run that continues joined journals counts
from the file's first line, so a hole that a power failure makes there is an error.) A hole in front of another
journal's first line is an error too, as all of that journal would be cut off.

**Two writers** would mix their records. A lock (`flock` on `.lock` beside the journal, released when the process
ends in any way) makes the second one fail immediately; the message names the first.

**What is not written.** A failure of ours (no sandbox, lost answer) says nothing about the submission, so it is
never written, and the next run judges that submission again. If a judge program failed on a test, or does not compile,
it would fail again: this is written as final, and judged again only if the user asks for it
(`--retry-failed`).

**Errors.** An `InputError` says that a file is not a journal, is damaged in the middle, cannot be read, or that another
process writes it; a `SetupError` that a journal cannot be written. Both say what to do.
"""

from ioi_eval.journal.codec import decode_result, encode_result
from ioi_eval.journal.frames import Keys, RecordKind, keys_of, name_key
from ioi_eval.journal.opening import (
    Index,
    StoredLevel,
    StoredResult,
    check_writable,
    options_of_first_run,
    read_index,
)
from ioi_eval.journal.records import Record, TemporaryRecords
from ioi_eval.journal.store import Journal

__all__ = [
    "Index",
    "Journal",
    "Keys",
    "Record",
    "RecordKind",
    "StoredLevel",
    "StoredResult",
    "TemporaryRecords",
    "check_writable",
    "decode_result",
    "encode_result",
    "keys_of",
    "name_key",
    "options_of_first_run",
    "read_index",
]
