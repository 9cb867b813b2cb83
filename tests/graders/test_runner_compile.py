"""Compile mode: steps, the files that they can read, limits, and what is returned."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.sandbox.local.compiler import detect
from tests.graders.runner_box import (
    COMPILE_LIMITS,
    Answer,
    Box,
    in_each_kind_of_box,
    line,
    plan,
    small_disk,
)

HELLO = b'#include <cstdio>\n#include "greet.h"\nint main() { puts(GREETING); }\n'
SECRET = b"xyzzy-plugh"


def compile_(
    box: Box, *lines: str, files: dict[str, bytes] | None = None, sees: Sequence[str] | None = None, **limits: int
) -> Answer:
    """Run a compile plan. Its steps can read these files of the machine; by default the whole system."""
    seen = ["system"] if sees is None else [line("sees", path=path) for path in sees]
    return box.run(plan("compile", line("limits", **{**COMPILE_LIMITS, **limits}), *seen, *lines), files or {})


def step(*argv: str) -> str:
    """The plan's line of a step."""
    return line("step", argv=list(argv))


def put(file: str, as_: str) -> str:
    """A `put` line of the plan."""
    return line("put", file=file, as_=as_)


def last_step(answer: Answer) -> dict[str, Any]:
    """The line of the last step. The answer must be complete."""
    assert answer.last.get("end") is True, answer
    return [entry for entry in answer.lines if "step" in entry][-1]


def test_a_program_is_built(box: Box, tmp_path: Path) -> None:
    """Steps run in order and find the files that were put before them. The artifact comes back unchanged, and runs."""
    answer = compile_(
        box,
        put("a", "main.cpp"),
        put("h", "greet.h"),
        step("g++", "-c", "main.cpp", "-o", "main.o"),
        step("g++", "-static", "-s", "main.o", "-o", "a.out"),
        "artifact path=a.out",
        "artifact path=main.o as=object",
        files={"a": HELLO, "h": b'#define GREETING "hello"\n'},
    )
    assert answer.last["end"] is True, answer
    first, second, program, object_ = answer.lines
    assert [(entry["step"], entry["code"], entry["signal"], entry["limit"]) for entry in (first, second)] == [
        (0, 0, 0, None),
        (1, 0, 0, None),
    ]
    assert first["cpu_us"] > 10_000
    assert first["memory_bytes"] > 10_000_000
    assert (program["artifact"], object_["artifact"]) == ("a.out", "object")
    content = base64.b64decode(program["base64"], validate=True)
    assert len(content) == program["bytes"]
    (tmp_path / "a.out").write_bytes(content)
    (tmp_path / "a.out").chmod(0o755)
    assert subprocess.run([tmp_path / "a.out"], capture_output=True, text=True, check=True).stdout == "hello\n"
    assert answer.last["isolation"] == box.level


def test_the_header_functional_changes_nothing(boxes: Callable[[str], Box], unoptimised: Path) -> None:
    """With <functional>, a call of `bind` was `std::bind`, without effect."""
    toolchain = detect("g++")
    compile_step = step(toolchain.command, "-c", "a.cpp")
    own = replace(boxes("dir-full"), runner=unoptimised)
    answer = compile_(own, put("a", "a.cpp"), compile_step, files={"a": b"int a;"}, sees=toolchain.sees)
    assert last_step(answer)["code"] == 0


def test_compile_error_has_the_compilers_message(box: Box) -> None:
    """The compiler's exit code and message come back, and later steps do not run."""
    answer = compile_(
        box,
        put("a", "main.cpp"),
        step("g++", "-c", "main.cpp"),
        step("true"),
        "artifact path=main.o",
        files={"a": b"int main( {"},
    )
    assert answer.last["lines"] == 1
    entry = last_step(answer)
    assert (entry["code"], entry["limit"]) == (1, None)
    assert "main.cpp:1:5: error" in entry["output"]


@pytest.mark.root
def test_full_disk(boxes: Callable[[str], Box], built: Path) -> None:
    """If a file that a step may write does not fit on the disk, that is a fault of the system, not a compile error."""
    with small_disk(built / "small-disk", 4) as disk:
        answer = assemble(replace(boxes("fds-reduced-user"), scratch=disk), b".data\n.fill 8388608\n")
    assert (answer.last["fault"], answer.lines) == ("system", []), answer
    assert "less than 128 MiB are free" in answer.last["explanation"]


@pytest.mark.root
def test_a_programs_own_objects_are_no_full_disk(boxes: Callable[[str], Box], built: Path) -> None:
    """Otherwise a program of many sources could fill a disk, and get a fault in place of a compile error."""
    names = ("a", "b", "c", "d")
    puts = [put("object", f"{name}.s") for name in names] + [put("error", "error.s")]
    steps = [step("g++", "-c", f"{name}.s") for name in (*names, "error")]
    sources = {"object": b".data\n.fill 8388608,1,65\n", "error": b'.error "No space left on device"\n'}
    box = boxes("fds-reduced-user")
    with small_disk(built / "disk-of-objects", 40) as disk:
        answer = compile_(replace(box, scratch=disk), *puts, *steps, files=sources, file_bytes=17 << 20)
    assert last_step(answer)["code"] == 1
    answer = compile_(box, *puts, *steps, files=sources, file_bytes=15 << 20)
    assert [(entry["code"], entry["limit"]) for entry in answer.lines] == [(0, None)] * 3 + [(0, "file")]


def test_message_of_a_full_disk(plain_box: Box) -> None:
    """A program that prints this message without a full disk is a compile error."""
    assert last_step(assemble(plain_box, b'.error "No space left on device"\n'))["code"] == 1


def assemble(box: Box, source: bytes) -> Answer:
    """Assemble a source file."""
    return compile_(box, put("a", "main.s"), step("g++", "-c", "main.s"), files={"a": source})


def test_unknown_command(plain_box: Box) -> None:
    """A missing compiler is a fault of the system, not a compile error."""
    answer = compile_(plain_box, step("no-such-compiler"))
    assert (answer.last["fault"], answer.code) == ("system", 3)
    assert "no-such-compiler" in answer.last["explanation"]


def test_a_step_whose_files_are_deleted(plain_box: Box) -> None:
    """If something cleans /tmp meanwhile, that is not a compile error: the step is run again, with its files."""
    script = "if test -e again; then cat main.s; else : > again; rm main.s; exit 1; fi"
    entry = last_step(compile_(plain_box, put("a", "main.s"), step("sh", "-c", script), files={"a": b"there"}))
    assert (entry["step"], entry["code"], entry["output"]) == (0, 0, "there")


def test_a_step_that_deletes_its_files(plain_box: Box) -> None:
    """A program can make a linker overwrite its source, and fail: that must not look like a fault of the machine."""
    script = "echo x >> runs; rm main.s; cat runs; exit 1"
    entry = last_step(compile_(plain_box, put("a", "main.s"), step("sh", "-c", script), files={"a": b""}))
    assert (entry["step"], entry["code"], entry["output"]) == (0, 1, "x\nx\n")


def test_files_are_not_put_where_a_link_of_a_step_leads(plain_box: Box) -> None:
    """A step that executes code of a program could choose the directory, also one that it cannot write to itself."""
    script = "if test -e other; then find other d; else mkdir other; rm -r d; ln -s other d; exit 1; fi"
    entry = last_step(compile_(plain_box, put("a", "d/e/a"), step("sh", "-c", script), files={"a": b""}))
    assert entry["output"] == "other\nd\nd/e\nd/e/a\n", entry


def test_a_file_is_put_where_a_step_has_made_a_directory(plain_box: Box) -> None:
    """The directory is replaced: that must not look like a fault of the machine."""
    steps = (step("mkdir", "-p", "a/b"), put("a", "a"), step("cat", "a"))
    assert last_step(compile_(plain_box, *steps, files={"a": b"there"}))["output"] == "there"


def test_a_failed_step_was_not_killed(plain_box: Box) -> None:
    """A step that failed by itself has `killed` 0."""
    entry = last_step(compile_(plain_box, step("false")))
    assert (entry["code"], entry["killed"]) == (1, 0)


def test_missing_artifact_has_no_line(plain_box: Box) -> None:
    """An artifact that no step made has no line, and is no fault."""
    answer = compile_(plain_box, step("true"), "artifact path=a.out")
    assert [entry for entry in answer.lines if "artifact" in entry] == []
    assert answer.last["end"] is True


def test_an_artifact_without_a_descriptor_is_in_its_line(box: Box) -> None:
    """If the descriptor of `into` is missing, the artifact is in a line. A file in the directory is not written to."""
    answer = compile_(
        box,
        put("a", "main.cpp"),
        step("sh", "-c", "echo made > made"),
        "artifact path=made into=nowhere",
        *(["artifact path=made as=again into=a"] if box.by_directory else []),
        files={"a": HELLO},
    )
    lines = [entry for entry in answer.lines if "artifact" in entry]
    assert lines[0] == {"artifact": "made", "base64": base64.b64encode(b"made\n").decode(), "bytes": 5}
    assert lines[1:] == ([lines[0] | {"artifact": "again"}] if box.by_directory else [])


def test_an_artifact_that_cannot_be_written_is_a_fault(plain_box: Box) -> None:
    """A descriptor that is only open for reading is a fault of the system."""
    if plain_box.by_directory:
        pytest.skip("nothing is inherited")
    answer = compile_(plain_box, step("sh", "-c", "echo made > made"), "artifact path=made into=a", files={"a": b""})
    assert (answer.last["fault"], answer.code) == ("system", 3)


READING = {
    "a file of this machine": b'#include "/etc/passwd"\n',
    "another user's file": b'asm(".incbin \\"/etc/shadow\\"");\nint main() {}\n',
    "a file of the job": b'asm(".incbin \\"secret\\"");\nint main() {}\n',
    "a descriptor of the runner": b'#include "/proc/1/fd/3"\n',
    "the plan": b'#include "plan"\n',
    "its environment": b'#include "/proc/self/environ"\n',
    "what lies above": b'#include "../plan"\n',
    "a file of a later step": b'#include "later.h"\n',
}


@pytest.mark.parametrize("what", READING)
def test_only_files_that_were_put_can_be_read(box: Box, what: str) -> None:
    """A program cannot make the compiler read other files of the machine, of the job, or of later steps."""
    answer = compile_(
        box,
        put("a", "main.cpp"),
        step("g++", "-c", "main.cpp", "-o", "main.o"),
        put("secret", "later.h"),
        step("true"),
        files={"a": READING[what], "secret": SECRET},
    )
    entry = last_step(answer)
    assert (entry["step"], entry["code"]) == (0, 1), entry
    assert SECRET.decode() not in entry["output"]
    assert "root:" not in entry["output"]


DESCRIPTORS = b"""
#include <fcntl.h>
#include <stdio.h>
int main() { for (int fd = 0; fd < 4096; fd++) if (fcntl(fd, F_GETFD) >= 0) printf("%d ", fd); }
"""


def test_runner_descriptors_are_closed(box: Box) -> None:
    """A step has only the descriptors 0, 1 and 2."""
    steps = (step("g++", "-static", "a.cpp", "-o", "a.out"), step("./a.out"))
    assert last_step(compile_(box, put("a", "a.cpp"), *steps, files={"a": DESCRIPTORS}))["output"] == "0 1 2 "


def _assembled(box: Box, path: str, *before: str) -> bytes:
    """What an assembler makes of a file that includes another one, and the compiler's messages."""
    step_and_later = (step("g++", "-c", "a.cpp", "-o", "a.o"), put("secret", "later.h"), step("true"))
    files = {"a": f'asm(".incbin \\"{path}\\"");\n'.encode(), "secret": SECRET}
    answer = compile_(box, *before, put("a", "a.cpp"), *step_and_later, "artifact path=a.o", files=files)
    assert answer.last["end"] is True
    made = [base64.b64decode(entry["base64"]) for entry in answer.lines if "artifact" in entry]
    return b"".join([*made, *(entry.get("output", "").encode() for entry in answer.lines)])


def test_descriptors_of_an_assembler_have_no_secret(box: Box) -> None:
    """No descriptor of an assembler is another file of the job. (A file that was put for its step is found.)"""
    assert SECRET in _assembled(box, "later.h", put("secret", "later.h"))
    for descriptor in range(3, 10):
        assert SECRET not in _assembled(box, f"/proc/self/fd/{descriptor}"), descriptor


def test_environment_of_a_step(plain_box: Box) -> None:
    """A step has four environment variables. `HOME` and `TMPDIR` are the work directory."""
    entry = last_step(compile_(plain_box, step("env")))
    names = dict(text.split("=", 1) for text in entry["output"].splitlines())
    assert set(names) == {"PATH", "HOME", "TMPDIR", "LANG"}
    assert names["HOME"] == names["TMPDIR"]


def test_no_network(plain_box: Box) -> None:
    """A step cannot make a socket."""
    entry = last_step(compile_(plain_box, step("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/80")))
    assert entry["code"] != 0
    assert "not permitted" in entry["output"]


REFUSED_CALLS = b"""#include <errno.h>
#include <initializer_list>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main() {
  for (int call : {SYS_ptrace, SYS_process_vm_readv, SYS_kcmp, SYS_unshare, SYS_setns, SYS_mount, SYS_bpf, SYS_keyctl,
                   SYS_perf_event_open, SYS_userfaultfd, SYS_io_setup, SYS_name_to_handle_at, 425 /* io_uring_setup */,
                   428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */,
                   433 /* fspick */, 438 /* pidfd_getfd */, 440 /* process_madvise */, 442 /* mount_setattr */}) {
    if (syscall(call, -1, -1, -1, -1, -1, -1) != -1 || errno != EPERM) printf("call %d: errno %d\\n", call, errno);
  }
  for (int kind : {CLONE_NEWNS, 0x02000000 /* CLONE_NEWCGROUP */, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                    CLONE_NEWUSER | CLONE_NEWPID, CLONE_NEWUSER | CLONE_NEWNET, CLONE_PARENT}) {
    long pid = syscall(SYS_clone, kind | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    if (pid > 0 || errno != EPERM) printf("clone with %x: errno %d\\n", kind, errno);
  }
  if (syscall(435 /* clone3 */, 0, 0) != -1 || errno != ENOSYS) printf("clone3: errno %d\\n", errno);
  long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  if (pid < 0) printf("no child: errno %d\\n", errno);
}
"""


def test_calls_that_no_compiler_needs(plain_box: Box) -> None:
    """A step can make neither namespaces nor mounts, and cannot reach into processes; it can start processes."""
    files = {"a": REFUSED_CALLS}
    entry = last_step(compile_(plain_box, put("a", "a.cpp"), step("g++", "a.cpp"), step("./a.out"), files=files))
    assert (entry["step"], entry["code"], entry["output"]) == (1, 0, "")


TOOLS = ["/usr", "/bin", "/lib", "/lib64"]
HARM = """
exec 2> /dev/null
python3 -c '' || echo no python3
kill -0 $$ && echo a signal
cp /usr/bin/true mine && ./mine && echo a program of its own
echo > file && chmod 000 file; stat -c %a file
touch -d @0 file && echo times
python3 -c 'import os; os.truncate("file", 2)' && echo a size by path
python3 -c 'import os; os.open("file", 3 | os.O_TRUNC)' && echo a file opened for nothing
python3 -c 'import os, resource; resource.prlimit(os.getppid(), 7)' && echo limits of others
python3 -c 'import fcntl; fcntl.fcntl(0, fcntl.F_SETOWN, 1)' && echo an owner
python3 -c 'import fcntl, os; fcntl.fcntl(os.pipe()[0], 1031, 1 << 17)' && echo a large pipe  # F_SETPIPE_SZ
python3 -c 'import fcntl, os; fcntl.fcntl(os.open(".", 0), fcntl.F_NOTIFY, fcntl.DN_ACCESS)' && echo a watched directory
echo > leased; python3 -c 'import fcntl; fcntl.fcntl(open("leased"), fcntl.F_SETLEASE, fcntl.F_RDLCK)' && echo a lease
python3 -c 'import fcntl; fcntl.lockf(open("leased", "w"), fcntl.LOCK_EX, 1)' && echo a record lock
python3 -c 'import fcntl; fcntl.fcntl(open("leased"), fcntl.F_OFD_SETLK, bytes(32))' && echo a lock of an open file
renice -n 5 $$ && echo priorities
python3 -c "$CALLS"
true
"""
CALLS = """
import ctypes
segments = dict(shmget=29, shmat=30, shmctl=31, semget=64, semop=65, semctl=66)
queues = dict(msgget=68, msgsnd=69, msgrcv=70, msgctl=71, mq_open=240, mq_unlink=241)
refused = {**segments, "semtimedop": 220, **queues}  # EPERM
groups = dict(setsid=112, setpgid=109, memfd_create=319, memfd_secret=447)
watching = dict(inotify_init=253, inotify_init1=294, fanotify_init=300)
messages = dict(bind=49, sendto=44, sendmsg=46, sendmmsg=307, socketpair=53)
refused |= groups | watching | messages | dict(landlock_create_ruleset=444, landlock_add_rule=445)
newer = dict(openat2=437, setxattrat=463, removexattrat=466, file_setattr=469)  # ENOSYS
libc = ctypes.CDLL(None, use_errno=True)
for error, calls in ((1, refused), (38, newer)):
    for call, number in calls.items():
        if libc.syscall(number, -1, -1, -1, -1) != -1 or ctypes.get_errno() != error: print(call)
for number in 162, 306, 74, 75:  # sync, syncfs, fsync, fdatasync
    if libc.syscall(number, -1): print(number)
import mmap, signal, os
try: mmap.mmap(-1, 4096); print("shared memory")
except PermissionError: pass
mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
made = 0
try:
    while made < 1000: made += len(os.pipe())
except OSError: pass
if made > 256: print("many pipes")
if os.fork() == 0: os._exit(7)
if os.wait()[1] >> 8 != 7: print("a child that nobody waits for")
"""


def test_a_step_cannot_harm_others(box: Box) -> None:
    """If a program's text makes a compiler execute code of its own, this cannot signal other processes of its user, or
    change files of its user. (A linker may believe that it has made a file executable.)
    """
    harm = step("env", f"CALLS={CALLS}", "bash", "-c", HARM)
    entry = last_step(compile_(box, harm, sees=TOOLS))
    assert (entry["code"], entry["output"].removeprefix("no python3\n")) == (0, "644\n")
    if entry["output"].startswith("no python3\n"):
        pytest.skip("boxes have no python3 in /usr/bin: only what the shell tried was tested")


SLOW = b"""constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
static_assert(f(60) > 0, "");
int main() {}
"""
LARGE = b"int a[100000000] = {1};\nint main() {}\n"


@in_each_kind_of_box
def test_template_bomb_is_stopped(box: Box) -> None:
    """An endless compilation is stopped at the CPU limit, children included. The answer names the limit."""
    flags = ("-fconstexpr-ops-limit=100000000000", "-fconstexpr-loop-limit=2000000000", "-fconstexpr-cache-depth=1")
    entry = last_step(
        compile_(box, put("a", "a.cpp"), step("g++", *flags, "-c", "a.cpp"), files={"a": SLOW}, cpu_ms=300)
    )
    assert entry["limit"] == "cpu"
    assert entry["cpu_us"] >= 300_000


def test_steps_share_the_cpu_limit(plain_box: Box) -> None:
    """A submission of many sources has no more CPU time than a submission of one source."""
    burn_a_second = step("bash", "-c", "(ulimit -t 1; while :; do :; done); true")
    answer = compile_(plain_box, burn_a_second, step("bash", "-c", "while :; do :; done"), cpu_ms=1500)
    assert [entry["limit"] for entry in answer.lines] == [None, "cpu"]
    assert answer.lines[-1]["cpu_us"] < 1_250_000


ENDS_AMONG_OTHERS = b"""#include <csignal>
#include <cstdio>
#include <ctime>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
long us(int who) {
  rusage used;
  getrusage(who, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}
int main() {
  int begin[2];
  if (pipe(begin) != 0) return 1;
  pid_t worker = fork(), others[200];
  if (worker == 0) {
    char byte;
    if (read(begin[0], &byte, 1) == 1) while (clock() < CLOCKS_PER_SEC / 10) {}
    _exit(0);
  }
  for (pid_t &other : others) if ((other = fork()) == 0) for (;;) pause();
  if (write(begin[1], "x", 1) != 1) return 1;
  waitpid(worker, nullptr, 0);
  for (pid_t other : others) kill(other, SIGKILL);
  for (pid_t other : others) waitpid(other, nullptr, 0);
  printf("%ld", us(RUSAGE_SELF) + us(RUSAGE_CHILDREN));
}
"""


def test_the_time_of_a_process_counts_once(boxes: Callable[[str], Box]) -> None:
    """A process ends while the others are looked at. Its time, which its parent has from then on, counts once."""
    files, steps = {"a": ENDS_AMONG_OTHERS}, [step("./a.out")] * 15
    box = boxes("fds-reduced-user")  # 3,000 processes are enough
    answer = compile_(box, put("a", "a.cpp"), step("g++", "a.cpp"), *steps, files=files, processes=300)
    assert last_step(answer)["step"] == len(steps), answer
    for entry in answer.lines[1:]:
        assert entry["cpu_us"] < 1.4 * int(entry["output"])


def test_wall_clock_limit(box: Box) -> None:
    """A step that waits is stopped by its wall clock limit."""
    entry = last_step(compile_(box, step("sleep", "1000"), wall_ms=300))
    assert entry["limit"] == "wall"
    assert entry["wall_us"] >= 300_000


def test_idle_limit(box: Box) -> None:
    """A step whose processes wait for each other is stopped after idle time, which the load does not increase."""
    entry = last_step(compile_(box, step("bash", "-c", "sleep 1000 | cat"), cpu_ms=300, wall_ms=600_000))
    assert entry["limit"] == "idle"
    assert entry["wall_us"] >= 300_000


WAITS_FOR_ITS_CHILD = b"""#include <unistd.h>
int main() {
  if (vfork() == 0) pause();
}
"""


def test_waiting_for_a_child_after_vfork_is_idle(plain_box: Box) -> None:
    """The kernel's state of such a process is that of one that waits for a disk, where a compiler may have to wait."""
    steps = (put("a", "a.cpp"), step("g++", "a.cpp"), step("./a.out"))
    entry = last_step(compile_(plain_box, *steps, files={"a": WAITS_FOR_ITS_CHILD}, cpu_ms=1000, wall_ms=600_000))
    assert (entry["step"], entry["limit"]) == (1, "idle")


def test_idle_time_is_added_up(plain_box: Box) -> None:
    """A step that now and then does something cannot wait for as long as it likes."""
    naps = step("bash", "-c", "while sleep 0.1; do :; done")
    entry = last_step(compile_(plain_box, naps, cpu_ms=500, wall_ms=600_000))
    assert entry["limit"] == "idle"


def test_orphans_of_a_step_are_measured(plain_box: Box) -> None:
    """A process whose parent has ended uses the CPU time of its step."""
    orphan = "(setsid bash -c 'while :; do :; done' &); sleep 1000"
    entry = last_step(compile_(plain_box, step("bash", "-c", orphan), cpu_ms=300, wall_ms=600_000))
    assert entry["limit"] == "cpu"


def test_memory_limit(box: Box) -> None:
    """A step is stopped if one of its processes is over the memory limit."""
    eat = "dd if=/dev/urandom bs=100M iflag=fullblock count=1 | sleep 60"  # `sleep` does not read: `dd` keeps it
    entry = last_step(compile_(box, step("bash", "-c", eat), memory_bytes=64 << 20))
    assert entry["limit"] == "memory"


def test_memory_limit_of_all_processes(plain_box: Box) -> None:
    """All processes together may use twice the memory limit: a program can make a compiler start many."""
    eat = "dd if=/dev/urandom bs=30M iflag=fullblock count=1 | sleep 60"
    many = step("bash", "-c", f"for i in {{1..6}}; do {eat} & done; wait")
    entry = last_step(compile_(plain_box, many, sees=TOOLS, memory_bytes=64 << 20))
    assert entry["limit"] == "memory"


def test_file_limit(box: Box) -> None:
    """A file over the limit stops the step, or fails it if it is found at the end."""
    entry = last_step(
        compile_(box, put("a", "a.cpp"), step("g++", "-c", "a.cpp"), files={"a": LARGE}, file_bytes=32 << 20)
    )
    assert entry["limit"] == "file"


def test_deleted_files_count(boxes: Callable[[str], Box]) -> None:
    """In a file system of its own, a program that a compiler executes cannot hide files by deleting them."""
    script = "for i in {1..3}; do exec {file}> a; rm a; yes | head -c 30M >&$file; done; sleep 1000"
    entry = last_step(compile_(boxes("dir-full"), step("bash", "-c", script), sees=TOOLS, file_bytes=32 << 20))
    assert entry["limit"] == "file"


@pytest.mark.parametrize(
    "script",
    [
        "mkdir -p a/b; yes | head -c 40M > a/b/large; sleep 1000",
        "mkdir a b c; for i in a b c; do yes | head -c 30M > $i/small; done; sleep 1000",
        "for i in {1..60}; do mkdir a; cd a; done; sleep 1000",
    ],
)
def test_files_in_directories_count(plain_box: Box, script: str) -> None:
    """A program that a compiler executes cannot fill the disk by files in directories."""
    entry = last_step(compile_(plain_box, step("bash", "-c", script), sees=TOOLS, file_bytes=32 << 20))
    assert entry["limit"] == "file"


@pytest.mark.parametrize(
    "script",
    [
        "rm a; mkdir a; for i in {1..60}; do mkdir a/a; cd a; done; sleep 1000",
        "rm a; mkdir a; for i in {1..3}; do yes | head -c 30M > a/$i; done; sleep 1000",
        "yes | head -c 40M > a; sleep 1000",
    ],
)
def test_what_replaces_a_put_file_counts(plain_box: Box, script: str) -> None:
    """The same below the name of a file that the step was given."""
    answer = compile_(
        plain_box, put("a", "a"), step("bash", "-c", script), sees=TOOLS, files={"a": b"x"}, file_bytes=32 << 20
    )
    assert last_step(answer)["limit"] == "file"


def test_output_is_cut(plain_box: Box) -> None:
    """The first bytes of stdout and stderr are kept. More output does not stop a step, but very much does."""
    entry = last_step(
        compile_(plain_box, step("bash", "-c", "echo one; echo two >&2; head -c 100000 /dev/urandom"), output_bytes=8)
    )
    assert (entry["output"], entry["limit"], entry["code"]) == ("one\ntwo\n", None, 0)
    entry = last_step(compile_(plain_box, step("yes"), output_bytes=8))
    assert (entry["output"], entry["limit"]) == ("y\ny\ny\ny\n", "output")


@pytest.mark.parametrize("start", ["sleep 1000 &", "(sleep 1000 &)"], ids=["children", "orphans"])
def test_process_limit(box: Box, start: str) -> None:
    """More processes than allowed stop the step or make it fail, also if their parents have ended."""
    script = f"for i in {{1..60}}; do {start} done; sleep 1000"
    entry = last_step(compile_(box, step("bash", "-c", script), processes=20))
    assert entry["limit"] == "processes" or (entry["code"] != 0 and "fork" in entry["output"])


def test_all_processes_of_a_step_end_with_it(box: Box) -> None:
    """Background processes, also in separate sessions, have ended when the next step runs."""
    answer = compile_(
        box,
        step("bash", "-c", "setsid sleep 4242 & (setsid sleep 4242 &) ; true"),
        step("bash", "-c", "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; done 2>/dev/null; true"),
    )
    assert last_step(answer)["step"] == 1
    assert "sleep 4242" not in last_step(answer)["output"]


def test_killed_step_is_not_a_limit(plain_box: Box) -> None:
    """A step that kills itself has the signal, and no limit."""
    entry = last_step(compile_(plain_box, step("bash", "-c", "kill -9 $$")))
    assert (entry["signal"], entry["limit"]) == (9, None)


def test_a_put_file_replaces_what_a_step_made(plain_box: Box) -> None:
    """A file that is put replaces a link with the same name that a step made."""
    answer = compile_(
        plain_box,
        step("ln", "-s", "target", "name"),
        put("a", "name"),
        step("bash", "-c", "cat name; test ! -e target"),
        files={"a": SECRET},
    )
    entry = last_step(answer)
    assert (entry["code"], entry["output"]) == (0, SECRET.decode())


def test_artifact_must_be_a_file(plain_box: Box) -> None:
    """A link is not returned as an artifact: its target may be a file that only the runner can read."""
    answer = compile_(plain_box, step("ln", "-s", "/etc/passwd", "a.out"), "artifact path=a.out")
    assert [entry for entry in answer.lines if "artifact" in entry] == []


def test_an_artifact_is_in_no_directory_behind_a_link(plain_box: Box) -> None:
    """The same for a link to a directory. A file in a directory that is none is returned."""
    script = "ln -s /etc link; ln -s dir other; mkdir -p dir/sub; echo made > dir/sub/made"
    paths = ("link/passwd", "other/sub/made", "dir/sub/made")
    answer = compile_(plain_box, step("sh", "-c", script), *(f"artifact path={path}" for path in paths))
    assert [entry["artifact"] for entry in answer.lines if "artifact" in entry] == ["dir/sub/made"]


def test_dynamic_linking_works(box: Box, program: Callable[..., Path]) -> None:
    """A program can be linked dynamically, with the libraries of the compiler."""
    answer = compile_(box, put("a", "a.cpp"), step("g++", "a.cpp", "-o", "a.out"), files={"a": b"int main() {}\n"})
    assert last_step(answer)["code"] == 0


# ---------------------------------------------------------------------- files of the machine

COMPILER = detect("g++")
DIALECTS = ("a.cpp", "gnu++17"), ("a.c", "gnu17")


@pytest.mark.parametrize(("name", "std"), DIALECTS)
def test_the_listed_files_of_a_compiler_are_enough(plain_box: Box, name: str, std: str) -> None:
    """C++ and C programs that use most of the library are compiled and linked, statically and dynamically."""
    toolchains = [replace(COMPILER, static=static) for static in (True, False) if COMPILER.static or not static]
    make = COMPILER.compile_c_argv if name == "a.c" else COMPILER.compile_argv
    programs = [f"{number}.out" for number in range(len(toolchains))]
    links = [step(*each.link_argv(("a.o",), out)) for each, out in zip(toolchains, programs, strict=True)]
    source = b"#include <math.h>\n#include <pthread.h>\nint main(void) { return sin(1) > 1; }\n"
    if name == "a.cpp":
        source = (
            b"#include <bits/stdc++.h>\nint main() { std::thread([] { std::cout << std::regex().flags(); }).join(); }\n"
        )
    answer = compile_(
        plain_box, put("a", name), step(*make(name, "a.o", std=std)), *links,
        *(f"artifact path={out}" for out in programs), files={"a": source}, sees=COMPILER.sees,
    )  # fmt: skip
    assert last_step(answer)["code"] == 0, answer.lines
    assert [entry["artifact"] for entry in answer.lines if "artifact" in entry] == programs


CHECKER = b"""#include <cstdio>
#include <iostream>
#include <thread>
struct AtEnd {
  ~AtEnd() { printf(" destroyed"); }
} at_end;
int main() {
  std::thread([] { std::cout << 1; }).join();
  try {
    throw 1;
  } catch (int thrown) {
    std::cout << ' ' << thrown;
  }
}
"""


def test_a_judge_program_is_linked_without_what_it_does_not_use(tmp_path: Path) -> None:
    """It does the same (threads, exceptions, what happens at the end, no explicit flush), and is a tenth smaller."""
    (tmp_path / "a.cpp").write_bytes(CHECKER)
    subprocess.run(COMPILER.compile_argv("a.cpp", "a.o", std="gnu++17"), cwd=tmp_path, check=True)
    sizes, outputs = [], []
    for drop_unused in (False, True):
        subprocess.run(COMPILER.link_argv(("a.o",), "a.out", drop_unused=drop_unused), cwd=tmp_path, check=True)
        sizes.append((tmp_path / "a.out").stat().st_size)
        outputs.append(subprocess.run([tmp_path / "a.out"], capture_output=True, check=True).stdout)
    assert outputs == [b"1 1 destroyed"] * 2
    assert sizes[1] < 0.9 * sizes[0] or not COMPILER.static


def parents(paths: Sequence[str]) -> set[str]:
    """All directories above these paths, and above their real paths."""
    both = {path for each in paths for path in (each, os.path.realpath(each))}
    above = {str(directory) for path in both for directory in Path(path).parents}
    return {path for path in above if not any(Path(path).is_relative_to(each) for each in both)}


def test_a_step_can_read_only_its_own_path_in_proc(box: Box) -> None:
    """A step can read `/proc/self/exe`, which rustc and loaders need, and no other file of /proc."""
    system = ("/usr", "/lib", "/lib64")
    entry = last_step(compile_(box, step("/usr/bin/readlink", "/proc/self/exe"), sees=system))
    assert entry["output"].strip() == os.path.realpath("/usr/bin/readlink")
    for path in ("/proc/self/environ", "/proc/self/maps", "/proc/1/environ", "/proc/mounts"):
        assert last_step(compile_(box, step("/usr/bin/cat", path), sees=system))["code"] != 0, path


def test_a_compiler_can_open_only_the_listed_files(box: Box, program: Callable[..., Path]) -> None:
    """It cannot open other files of the directories above. With full isolation, it cannot find their names either."""
    above = parents(COMPILER.sees)
    assert {"/", "/usr", "/usr/lib"} <= above
    beside = [str(path) for directory in sorted(above) for path in sorted(Path(directory).glob("*")) if path.is_file()]
    shown = {*COMPILER.sees, *map(os.path.realpath, COMPILER.sees)}
    hidden = [path for path in beside if path not in shown and os.path.realpath(path) not in shown]
    assert "/usr/lib/os-release" in hidden or not Path("/usr/lib/os-release").is_file()
    opens = b"".join(b'asm(".incbin \\"%s\\"");\n' % path.encode() for path in hidden)
    asks = b"".join(b'#if __has_include("%s")\n#error "%s"\n#endif\n' % ((path.encode(),) * 2) for path in hidden)

    def compiled(source: bytes) -> dict[str, Any]:
        steps = step(COMPILER.command, "-c", "a.cpp", "-o", "a.o")
        return last_step(
            compile_(box, put("a", "a.cpp"), steps, files={"a": source}, sees=COMPILER.sees, output_bytes=1 << 24)
        )

    opened = compiled(opens)
    assert (opened["code"], opened["limit"]) == (1, None), opened["output"][-2000:]
    assert set(re.findall(r"Error: file not found: (.+)", opened["output"])) == set(hidden)
    if box.level == "full":
        found = compiled(asks)
        assert (found["code"], found["limit"]) == (0, None), found["output"][-2000:]
