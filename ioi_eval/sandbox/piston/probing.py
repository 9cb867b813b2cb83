"""Makes the jobs that find out what a worker can do, and reads their answers. Pure; `discovery.py` sends them.

There are three kinds, which any server runs:

- the *probe*: a script (for the scripts of `cms_ioi`, a program) that prints compilers, kernel, clock, and padding;
- the *ceilings*: the probe with the largest limits that a server can store; its refusal names what is allowed;
- the *sizes*: smaller and smaller answers and requests, until one is accepted; but the smallest request first.
"""

from __future__ import annotations

import shlex
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ioi_eval import boxfiles
from ioi_eval.model import Execution, Job, JobFile, JobKind, Profile, StageLimits
from ioi_eval.sandbox.piston import wire
from ioi_eval.sandbox.piston.wire import Ceilings, InstalledStarter, Runtime, Starter
from ioi_eval.toolchain import Toolchain, outermost

PADDING = 64 * 1024
"""What every worker must be able to return; stock servers return 1,024 bytes."""

OUTPUT_LADDER = (4 << 20, 1 << 20)
"""A static program is 2.4 MB, 3.2 MB in base64."""

BODY_LADDER = (48 << 20, 16 << 20, 4 << 20, 1 << 20)
"""The largest official test, 22.4 MB of input and 9.6 MB of output, is 43 MB even in base64."""

STOCK_BODY_BYTES = 102_400  # express's default, "100kb"

PREFERENCE = {
    None: (Starter.IOI_EVAL, Starter.BASH, Starter.CMS_IOI),
    Profile.BUNDLED: (Starter.IOI_EVAL, Starter.BASH),
    Profile.CLASSIC: (Starter.IOI_EVAL, Starter.CMS_IOI),
}
"""The packages that are tried for a profile, best first. `None`: the best that a worker supports."""

# With other padding, only its size is of interest: the files of the compiler and of Python are not looked for again.
_PROBE_SCRIPT = r"""
tell() { printf '%s\t' "$@"; echo; }
tell begin NONCE
for compiler in g++ /piston/packages/gcc/*/bin/g++ /usr/local/bin/g++; do
  path=$(command -v "$compiler") || continue
  version=$("$path" --version | head -n 1) && machine=$("$path" -dumpmachine) || continue
  case $("$path" -print-file-name=libc.a):$("$path" -print-file-name=libstdc++.a) in
    /*:/*) static=static ;;
    *) static=dynamic ;;
  esac
  tell compiler "$path" "$version" "$machine" "$static"
  [ "$1" -ne PADDING ] || bash compiler_files "$path"
done
[ "$1" -ne PADDING ] || tell python "$(python3 -s -B -c '
import os, sys, zlib
places = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
names = sorted({name for path in places if os.path.isdir(path) for name in os.listdir(path)} - {"__pycache__"})
print(sys.version.split()[0], format(zlib.crc32("/".join(names).encode("utf-8", "replace")), "08x"))' 2> /dev/null)"
tell kernel "$(uname -r)"
tell processors "$(nproc)"
tell file_kib "$(ulimit -f)"
tell processes "$(ulimit -u)"
tell open_files "$(ulimit -Hn)"
tell stack_kib "$(ulimit -Hs)"
tell address_kib "$(ulimit -Hv)"
tell data_kib "$(ulimit -Hd)"
tell cpu_s "$(ulimit -Ht)"
tell clock "$(date +%s)"
head -c "$1" /dev/zero | tr '\0' x
echo
tell end NONCE
"""

_PROBE_PROGRAM = r"""
#include "probe.h"
#include <cstdio>
#include <ctime>
#include <string>
#include <sys/utsname.h>
#include <unistd.h>
void probe(long padding) {
  utsname kernel;
  uname(&kernel);
  std::printf("begin\tNONCE\n");
  std::printf("compiler\tg++\tg++ %s\t%s-linux-gnu\tdynamic\n", __VERSION__, kernel.machine);
  std::printf("kernel\t%s\n", kernel.release);
  std::printf("processors\t%ld\nclock\t%ld\n", sysconf(_SC_NPROCESSORS_ONLN), long(std::time(nullptr)));
  std::printf("%s\nend\tNONCE\n", std::string(padding, 'x').c_str());
}
"""
_PROBE_GRADER = (
    '#include "probe.h"\n#include <iostream>\nint main() { long padding; std::cin >> padding; probe(padding); }\n'
)
_PROBE_GRADER_CONFIG = '{"task_type": "Batch", "code": "probe", "time_limit": 10.0, "memory_limit": 1073741824}'


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """What a worker reports about itself.

    Args:
        compilers: those that a job can call, the system's first.
        clock_s: the worker's clock, in seconds since 1970.
        python: version and installed packages of its `python3`, for comparison; empty if there is none.
        file_kib, processes, open_files, stack_kib, address_kib, data_kib, cpu_s: limits of a job; `None` if there is
            none, or it is not known.
    """

    compilers: tuple[Toolchain, ...]
    kernel: str
    processors: int
    clock_s: int
    python: str = ""
    file_kib: int | None = None
    processes: int | None = None
    open_files: int | None = None
    stack_kib: int | None = None
    address_kib: int | None = None
    data_kib: int | None = None
    cpu_s: int | None = None


def probe_job(installed: InstalledStarter, nonce: str, padding: int) -> Job:
    """The probe, with the largest limits under the ceilings that are known."""
    known = installed.ceilings
    if installed.starter is Starter.CMS_IOI:
        texts = {
            "graders/probe.cpp": _PROBE_PROGRAM.replace("NONCE", nonce),
            "graders/probe.h": "void probe(long padding);\n",
            "graders/grader.cpp": _PROBE_GRADER,
            "graders/grader_config.json": _PROBE_GRADER_CONFIG,
            "input.txt": f"{padding}\n",  # without an expected output, the program's own is the answer
        }
    else:
        texts = {
            "run": _PROBE_SCRIPT.replace("PADDING", str(PADDING)).replace("NONCE", shlex.quote(nonce)),
            "compiler_files": boxfiles.read("compiler_files").decode(),
        }
    return Job(
        kind=JobKind.SCRIPTS,
        files=tuple(JobFile(name=name, content=text.encode()) for name, text in texts.items()),
        args=() if installed.starter is Starter.CMS_IOI else (str(padding),),
        compile_limits=_largest_limits(known, "compile"),
        run_limits=_largest_limits(known, "run"),
        trusted=True,
    )


def _largest_limits(known: Ceilings, stage: str) -> StageLimits:
    return StageLimits(
        wall_ms=known.lowered(f"{stage}_timeout", wire.LONGEST_ON_SERVER_MS),
        cpu_ms=known.lowered(f"{stage}_cpu_time", wire.LONGEST_ON_SERVER_MS),
        memory_bytes=known.lowered(f"{stage}_memory_limit", wire.MAX_MEMORY_BYTES),
    )


def with_ceiling(installed: InstalledStarter, refused: tuple[str, int]) -> InstalledStarter | None:
    """The starter with one more ceiling known; `None` if it is not new, so that another request would be useless."""
    name, most = refused
    if not hasattr(installed.ceilings, name) or getattr(installed.ceilings, name) is not None:
        return None
    return replace(installed, ceilings=replace(installed.ceilings, **{name: most}))


def is_for_another_request(execution: Execution, nonce: str) -> bool:
    """Whether this is no answer to the probe with this nonce: something else succeeded, and has printed something.

    (Of an answer that is over a limit, the server may have dropped the beginning or the end, with the nonce. But then
    it has stopped the probe.)
    """
    return execution.run.code == 0 and execution.run.stdout != "" and nonce not in execution.run.stdout


def read_probe(execution: Execution, nonce: str, padding: int) -> ProbeReport | None:
    """Read the probe's answer; `None` if it is not complete.

    A server drops the piece of output that exceeds its limit, but may return later pieces. So the end line alone does
    not prove that the answer is complete.
    """
    lines = [line.rstrip("\t").split("\t") for line in execution.run.stdout.splitlines()]
    frame = [*lines[:1], *lines[-2:]]  # of fewer than three lines it has one twice, and is refused
    if execution.run.code != 0 or frame != [["begin", nonce], ["x" * padding], ["end", nonce]]:
        return None
    values = {line[0]: line[1] for line in lines if len(line) == 2}
    numbers = {name: wire.number_in(value) for name, value in values.items()}
    starts = [number for number, line in enumerate(lines) if line[0] == "compiler" and len(line) == 5]
    compilers = [lines[start:end] for start, end in pairwise([*starts, len(lines)])]
    return ProbeReport(
        compilers=tuple(map(_toolchain, compilers)),
        kernel=values.get("kernel", ""),
        processors=numbers.get("processors") or 0,
        clock_s=numbers.get("clock") or 0,
        python=values.get("python", ""),
        file_kib=numbers.get("file_kib"),
        processes=numbers.get("processes"),
        open_files=numbers.get("open_files"),
        stack_kib=numbers.get("stack_kib"),
        address_kib=numbers.get("address_kib"),
        data_kib=numbers.get("data_kib"),
        cpu_s=numbers.get("cpu_s"),
    )


def _toolchain(lines: Sequence[Sequence[str]]) -> Toolchain:
    """A compiler, from its line and the lines after it that name its files."""
    _, path, version, machine, static = lines[0]
    sees, libraries = (
        outermost(line[1] for line in lines[1:] if len(line) == 2 and line[0] == kind) for kind in ("sees", "library")
    )
    return Toolchain(
        command=path, version=version, machine=machine, static=static == "static", sees=sees, libraries=libraries
    )


def starters(runtimes: tuple[Runtime, ...], profile: Profile | None) -> tuple[InstalledStarter, ...]:
    """The packages on this worker that support a profile, best first, each in its latest version."""
    result = []
    for starter in PREFERENCE[profile]:
        # ours also has the reference's name as an alias, for the reference's clients
        named = [each for each in runtimes if (each.language == Starter.IOI_EVAL) == (starter is Starter.IOI_EVAL)]
        if versions := [each.version for each in named if each.answers_to(starter.value)]:
            result.append(InstalledStarter(starter=starter, version=max(versions, key=wire.version_key)))
    return tuple(result)


def padded(body: bytes, size: int) -> bytes:
    """A request of `size` bytes, filled with blanks (JSON allows them at the end), compressed to at most a hundredth.

    Servers measure a body after they have unpacked it (recorded: `gzip_request_body`). A large announced length alone
    gets no answer: Piston reads the whole body before it answers that it is too large.
    """
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    blanks = b" " * (1 << 20)
    head = packer.compress(body)
    padding = [packer.compress(blanks[: size - start]) for start in range(len(body), size, len(blanks))]
    return b"".join((head, *padding, packer.flush()))
