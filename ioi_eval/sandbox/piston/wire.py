"""Makes requests for servers with Piston's API v2; `answer.py` reads the answers. Pure.

A request to `POST /api/v2/execute` is one JSON object, most of which is test data. So a body is never built as one
string: it is a sequence of segments. The large ones (each the JSON literal of one file's content) are serialised once
per run and then only referred to (`spool.py` stores them).

What servers of both generations do, and what is done about it here:

- The main file is the first one in utf8 and becomes the argument of the package's `run`: our script is the first file.
- Files arrive with mode 644: a line in front of the script makes files executable again.
- stdin is cut at about 219 kB, and becomes a newline if empty: it is not used; scripts read from /dev/null.
- Names that escape, clash or contain NUL get an empty 500: they are refused here, with a message.
- A file takes servers 0.7 ms of CPU time, however small: small files for the runner are sent as one (`_packed`).
- Missing limits are replaced by the server's (3 s of CPU since isolate): all six are always sent.
- Limits above the server's are refused with 400: `Ceilings` has the server's limits.
- A number that isolate or Node cannot represent stops a job before it starts: `_BOUNDS` keeps every limit in range.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

import orjson

from ioi_eval.errors import RejectedError
from ioi_eval.fast_dataclass import fast_dataclass
from ioi_eval.model import Job, JobFile, JobKind, StageLimits, size_of
from ioi_eval.model.job import word
from ioi_eval.sandbox import DEFAULT_MEMORY_BYTES, require_different_names
from ioi_eval.sandbox.piston.literals import Literal, Pieces
from ioi_eval.sandbox.piston.two_stages import was_joined

MAIN = "run"
SUMS, PACKED, DEFLATED = "sums", "packed", ".deflated"  # graders/PROTOCOL.md
_TITLE = b'"ioi-eval-runner '  # of a plan, which is never packed; graders/PROTOCOL.md
_READ_BY_OTHERS = frozenset({MAIN, "runner", "stored", SUMS})  # scripts and `ioi-eval serve` read them, not the runner

PROBLEM_PACKAGE_PREFIX = "ioi_eval_problem_"
"""The prefix of the names of problems' packages (`stored_files.py`)."""

RUN_PACKAGE = "ioi_eval_run"
"""Our package without a compile stage (`stored_files.without_runner`). Servers start that stage for every job of a
package that has one: this takes 13 ms of CPU time on v3, and about 40 ms on v4."""

IDLE_COMPILE = StageLimits(wall_ms=10_000, cpu_ms=10_000)
"""Sent for a compile stage that runs nothing of ours. Source: Piston's defaults, `api/src/config.js`."""

LONGEST_ON_SERVER_MS = (1 << 31) - 1
"""The longest time that a server can represent, in ms.

Source: Node's `setTimeout` fires immediately for longer times, so a job would be killed before it starts (v3); isolate
stores `--time` and `--wall-time` in ms in an `int` (`isolate.c`, `timeout = 1000*atof(optarg)`; v4)."""

SERVER_QUEUE_S = (60.0, 900.0)
"""How long a job may wait on a server behind jobs of other clients, the least and the most (`Ceilings.queue_s`). The
most is the longest job of a server that `piston/start-worker` started: 5 minutes to compile and 10 to run."""

MAX_MEMORY_BYTES = 1 << 40
"""The largest memory limit that is sent: 1 TiB, more than any task needs.

Source: Piston since isolate passes a thousandth of it as `--cg-mem` (`api/src/job.js`), and isolate refuses more than
2^31 - 1 there: "Numeric parameter out of range" (`isolate.c`, `opt_uint`). So 2 147 483 647 999 bytes is the most."""

LEAST_MEMORY_BYTES = 1 << 20
"""The smallest. Source: from less than 1,000 bytes Piston makes `--cg-mem=0`, which means no limit in isolate."""

_TIME = (1, LONGEST_ON_SERVER_MS)  # 0 means no limit in isolate
_MEMORY = (LEAST_MEMORY_BYTES, MAX_MEMORY_BYTES)
_BOUNDS = {
    f"{stage}_{limit}": bounds
    for stage in ("run", "compile")
    for limit, bounds in (("timeout", _TIME), ("cpu_time", _TIME), ("memory_limit", _MEMORY))
}
"""The range of each limit that can be sent; it is applied to every request."""

_MAX_DIGITS = 18  # of a number below 2^63; Python refuses to read one of 4,300
_NO_NAMES = frozenset({"", ".", ".."})
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
"""Names that need no further check: most of them. This saves time with thousands of jobs a second."""

_ENCODED = {encoding: f'{{"encoding":"{encoding}","name":'.encode() for encoding in ("utf8", "base64")}
_WORTH_A_SEGMENT = 16 * 1024  # below this, copying costs less than one more write


class Starter(StrEnum):
    """The Piston package that starts a worker's jobs, by the language in the request. Single jobs are started by
    `RUN_PACKAGE` or a problem's package instead (`stored_files.py`)."""

    IOI_EVAL = "ioi_eval"  # ours: starts the job's `compile` and `run`
    BASH = "bash"  # stock: no compile stage; starts the main file
    CMS_IOI = "cms_ioi"  # the reference's: has its own `compile` and `run`, which the job's cannot replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """One entry of `GET /api/v2/runtimes`."""

    language: str
    version: str
    aliases: tuple[str, ...] = ()
    package: str | None = None

    def answers_to(self, name: str) -> bool:
        """Whether a request for `name` finds this runtime."""
        return name == self.language or name in self.aliases


def number_in(text: str) -> int | None:
    """The number that a server has written; `None` if the text is no number, or one of more than 18 digits."""
    return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else None


def version_key(version: str) -> tuple[int, ...]:
    """A version as numbers, which can be compared."""
    return tuple(number_in(part) or 0 for part in version.split("."))


def is_problems(package: str) -> bool:
    """Whether a package is one of a problem."""
    return package.startswith(PROBLEM_PACKAGE_PREFIX)


def without_problems(runtimes: Iterable[Runtime]) -> tuple[Runtime, ...]:
    """The runtimes without problems' packages, as these do not change what a worker can do."""
    return tuple(each for each in runtimes if not is_problems(each.language))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """The largest limits that a server allows in a request; `None` if unknown."""

    run_timeout: int | None = None
    run_cpu_time: int | None = None
    run_memory_limit: int | None = None
    compile_timeout: int | None = None
    compile_cpu_time: int | None = None
    compile_memory_limit: int | None = None

    def lowered(self, name: str, value: int) -> int:
        """`value`, or the server's ceiling for `name` if that is lower."""
        ceiling = getattr(self, name)
        return value if ceiling is None else min(value, int(ceiling))

    @property
    def queue_s(self) -> float:
        """How long a job may wait on this server: as long as it lets a job of another client run.

        With less, two clients that fill all slots would lose jobs to each other's long ones. A request that is given up
        still runs on the server, and its retry waits behind the same jobs.
        """
        least_s, max_s = SERVER_QUEUE_S
        if self.compile_timeout is None or self.run_timeout is None:
            return max_s
        return min(max(least_s, (self.compile_timeout + self.run_timeout) / 1000), max_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledStarter:
    """A starter that is installed on a server: its version there, and the ceilings of the limits of jobs."""

    starter: Starter
    version: str
    ceilings: Ceilings = field(default_factory=Ceilings)


@fast_dataclass
class Body:
    """A request's body: its segments, their length together (the Content-Length), how long the job may run (the sum of
    its stages' hard limits), and how long it may wait on the server behind jobs of other clients."""

    segments: tuple[bytes | Pieces, ...]
    size: int
    max_run_s: float
    max_wait_s: float = 0.0


def _packed(files: Sequence[JobFile], literals: Sequence[Literal]) -> Iterable[tuple[str, Literal]]:
    """The names and literals of a job's files as they are sent to the runner: small texts as one file."""
    sent: list[tuple[str, Literal]] = []
    small: list[tuple[JobFile, bytes]] = []
    for file, content in zip(files, literals, strict=True):
        name = file.name
        if content.size < _WORTH_A_SEGMENT and content.encoding == "utf8" and name not in _READ_BY_OTHERS:
            data = content.whole()
            if not data.startswith(_TITLE):
                small.append((file, data))
                continue
        sent.append((name + DEFLATED if content.deflated else name, content))
    if len(small) == 1:
        sent.append((small[0][0].name, Literal(encoding="utf8", data=small[0][1], crc=0)))
    elif small:
        pieces = [b"%d %b\\n%b" % (size_of(file.content), word(file.name).encode(), data[1:-1]) for file, data in small]
        sent.append((PACKED, Literal(encoding="utf8", data=b'"%b"' % b"".join(pieces), crc=0)))
    return sent


def sent_files(job: Job, starter: Starter, *, package: str = "") -> tuple[JobFile, ...]:
    """The files of a request: first the one that starts the job, then the job's other files; `package` as in `body`."""
    _check_names(job.files)
    if is_problems(package):
        return job.files
    files = {file.name: file for file in job.files}
    if starter is Starter.CMS_IOI:
        if job.kind is not JobKind.SCRIPTS or job.args or {"compile", MAIN} & files.keys():
            raise RejectedError(
                "the cms_ioi package runs its own scripts only: no scripts of others, no runner, no arguments; "
                "install the ioi_eval package on the workers"
            )
        return job.files
    first = "compile" if "compile" in files and job.kind is JobKind.SCRIPTS else MAIN
    if first == "compile" and starter is Starter.BASH:
        raise RejectedError(
            "the stock bash package has no compile stage: a job with a `compile` script must be joined first"
        )
    if job.kind is JobKind.RUNNER:
        reserved = [name for name in files if name == PACKED or name.endswith(DEFLATED)]
        if reserved:
            raise RejectedError(f"the runner reads {reserved[0]!r} itself: give this file of the job another name")
        files.setdefault(MAIN, JobFile(name=MAIN, content=b'exec ./runner --dir . "$@"\n'))
    if MAIN not in files:
        raise RejectedError(f"a job of kind {job.kind.value!r} needs a file {MAIN!r} to start")
    main, modes = files.pop(MAIN), _modes(job)
    line = "exec < /dev/null; "
    if first == MAIN:
        line += modes
    elif modes:
        files[first] = JobFile(name=first, content=_prefixed(files[first], modes))
    return (JobFile(name=MAIN, content=_prefixed(main, line)), *files.values())


def sums_file(files: Sequence[JobFile], literals: Sequence[Literal]) -> JobFile:
    """The file with which the runner checks that the job's other files have arrived unchanged."""
    lines = (f"{each.crc:08x} {word(file.name)}\n" for file, each in zip(files, literals, strict=True))
    return JobFile(name=SUMS, content="".join(lines).encode())


def _modes(job: Job) -> str:
    """The command that makes files executable; of the runner's files, only the runner needs it."""
    executable = [file.name for file in job.files if file.executable]
    names = [f"./{name}" for name in executable if job.kind is not JobKind.RUNNER or name == "runner"]
    return f"chmod +x {shlex.join(names)}; " if names else ""


def _prefixed(script: JobFile, line: str) -> bytes:
    """A script with commands in front of its first line, so that line numbers do not change."""
    if not isinstance(script.content, bytes):
        raise RejectedError(f"the script {script.name!r} must be in memory, not a file on disk")
    return line.encode() + script.content


def _check_names(files: Sequence[JobFile]) -> None:
    """Refuse names that servers answer with an empty 500, or silently resolve."""
    names = [file.name for file in files]
    require_different_names(names)
    for name in names:
        if _PLAIN_NAME.fullmatch(name):
            continue
        parts = name.split("/")
        if "\0" in name or any(part in _NO_NAMES or len(part.encode()) > 255 for part in parts):
            raise RejectedError(f"{name!r} cannot be the name of a file in a box")
        for depth in range(1, len(parts)):
            if "/".join(parts[:depth]) in names:
                raise RejectedError(f"{'/'.join(parts[:depth])!r} is a file and a directory of one job")


def body(
    job: Job, installed: InstalledStarter, files: Sequence[JobFile], literals: Sequence[Literal], *, package: str = ""
) -> Body:
    """The request's body.

    Args:
        installed: the package that will start the job.
        files, literals: from `sent_files`; their contents.
        package: another package that will start it instead, in any version, and allows the same limits; empty for none.
    """
    starts = literals if installed.starter is Starter.CMS_IOI else literals[:1]
    if "utf8" not in [each.encoding for each in starts]:
        raise RejectedError(f"{files[0].name if files else 'a job'!r} must be text: servers start a utf8 file only")
    may_be_lowered = job.kind is JobKind.RUNNER or job.trusted or was_joined(job)
    limits = _limits(job.run_limits, job.compile_limits, installed.ceilings, may_be_lowered=may_be_lowered)
    language, version = (package, "*") if package else (installed.starter.value, installed.version)
    head = {"language": language, "version": version, "args": job.args, **limits}
    segments: list[bytes | Pieces] = []
    text = [orjson.dumps(head)[:-1], b',"files":[']
    size = 0
    names = [file.name for file in files]
    sent = _packed(files, literals) if job.kind is JobKind.RUNNER else zip(names, literals, strict=True)
    for name, content in sent:
        text += (_ENCODED[content.encoding], orjson.dumps(name), b',"content":')
        if isinstance(content.data, bytes) and content.size < _WORTH_A_SEGMENT:
            text.append(content.data)
        else:
            joined = b"".join(text)
            segments += (joined, content.data)
            size += len(joined) + content.size
            text = []
        text.append(b"},")
    text[-1] = b"}]}"
    closing = b"".join(text)
    segments.append(closing)
    run_ms = limits["run_timeout"] + (limits["compile_timeout"] if job.compile_limits is not None else 0)
    return Body(
        segments=tuple(segments),
        size=size + len(closing),
        max_run_s=run_ms / 1000,
        max_wait_s=installed.ceilings.queue_s,
    )


@lru_cache(maxsize=1024)  # most jobs of a problem have the same limits; to derive them took 5 µs per job
def _limits(
    run: StageLimits, compile_limits: StageLimits | None, ceilings: Ceilings, *, may_be_lowered: bool
) -> Mapping[str, int]:
    """The six limits.

    The runner enforces the real limits inside the box, so a lower hard limit of the server may prevent its answer but
    never change it. The same is true for two scripts that a third one starts (`two_stages`). Other jobs are stopped by
    the hard limit itself, so it is not lowered: the server must refuse a limit that it does not allow. A job's memory
    limit is not lowered to the server's either, as this would change verdicts.
    """
    limits: dict[str, int] = {}
    for name, stage, is_lowered in (
        ("run", run, may_be_lowered),
        ("compile", compile_limits or IDLE_COMPILE, compile_limits is None),
    ):
        for limit, asked in ((f"{name}_timeout", stage.wall_ms), (f"{name}_cpu_time", stage.cpu_ms)):
            limits[limit] = ceilings.lowered(limit, asked) if is_lowered else asked
        memory, limit = stage.memory_bytes, f"{name}_memory_limit"
        limits[limit] = ceilings.lowered(limit, DEFAULT_MEMORY_BYTES) if memory is None else memory
    return {name: max(least, min(limits[name], most)) for name, (least, most) in _BOUNDS.items()}
