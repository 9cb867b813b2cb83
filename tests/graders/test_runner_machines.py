"""Machines without some kernel features, or with several user ids: the verdicts are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from tests.busy_processes import busy_processes
from tests.graders.runner_box import RUNNER_SOURCE, Box, batch_plan, run_batch, run_game
from tests.graders.test_runner_attacks import ATTACKS, DEADLY
from tests.graders.test_runner_warm import DIES, FILES, warm_plan
from tests.one_processor import one_processor
from tests.shared_work import compiled

GRADERS = RUNNER_SOURCE.parent


@pytest.mark.parametrize("level", ["full", "reduced"])
def test_without_seccomp_notify(boxes: Callable[[str], Box], program: Callable[..., Path], level: str) -> None:
    """Kernels before 5.0 have no seccomp notifications: calls are refused or kill as usual, but are not named."""
    box = replace(boxes("dir-full" if level == "full" else "fds-reduced-user"), more=("--without", "notify"))
    held = run_batch(box, program("attacker"), "forks", "signals", "sockets", "flood", "unknown", answer=b"held\n")
    assert held.verdicts == ["AC"] * 5
    assert all(entry["attempted"] == {} for entry in held.lines)
    deadly = run_batch(box, program("attacker"), "deadly ptrace", "deadly x32", "deadly i386", answer=b"held\n")
    assert deadly.verdicts == ["SV"] * 3
    assert all(entry["attempted"] == {"hidden_call": 1} for entry in deadly.lines)
    assert run_batch(box, program("contestant"), "honest 1", "system 1", "raise 9").verdicts == ["AC", "AC", "RE"]


def test_full_isolation_without_landlock(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """Full isolation does not need Landlock, because the namespace's root directory has no files to open."""
    box = replace(boxes("dir-full"), more=("--without", "landlock"))
    answer = run_batch(box, program("attacker"), "paths", "descriptors", "types", "execute", answer=b"held\n")
    assert answer.last["isolation"] == "full"
    assert answer.verdicts == ["AC"] * 4
    assert run_game(box, program, "play play", processes=2, io="fifo_io").verdicts == ["AC"]


def test_the_probe_finds_nothing_without_landlock(boxes: Callable[[str], Box], built: Path) -> None:
    """The doctor's program sees nothing in the root directory but what the runner puts there."""
    compiled(built / "probe", ("-static", str(GRADERS / "probe.cpp")), [GRADERS / "probe.cpp"])
    box = replace(boxes("dir-full"), more=("--without", "landlock"))
    answer = run_batch(box, built / "probe", "list-root", answer=b"denied: No such file or directory\n")
    assert answer.verdicts == ["AC"], answer.only["message"]


@pytest.mark.parametrize("io", ["std_io", "fifo_io"])
def test_who_ended_first_is_known_without_landlock(
    boxes: Callable[[str], Box], program: Callable[..., Path], io: str
) -> None:
    """A process that opens and closes its manager's ends of the FIFOs still counts as the first to end: if SIGPIPE
    then kills the manager, the score is 0, not JE. With `std_io`, it cannot open the FIFOs.
    """
    box = replace(boxes("dir-full"), more=("--without", "landlock"))
    answer = run_game(box, program, "default-sigpipe blame", "gives-up play 0", "play play", io=io)
    assert answer.verdicts == ["WA", "WA", "AC"]
    assert answer.lines[0]["stderr"] == ("opened 0 0\n" if io == "std_io" else "opened 1 1\n")


def test_reduced_isolation_needs_landlock(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """Without namespaces and Landlock, a program could read the machine's files: the isolation is `none`."""
    box = replace(boxes("fds-reduced-user"), more=("--without", "landlock"))
    answer = run_batch(box, program("contestant"), "sum 1")
    assert answer.last["isolation"] == "none"


HIDDEN_BY_CONTAINERS = {
    "unshare": 272, "mount": 165, "keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "socket": 41,
    "unknown_call": 999,
}  # fmt: skip
HIDDEN_AT_FULL = {name: HIDDEN_BY_CONTAINERS[name] for name in ("keyctl", "bpf", "perf_event_open", "userfaultfd")}


@dataclass(frozen=True)
class FilteredBox(Box):
    """A box in which an outer filter refuses some calls before our filter."""

    prefix: tuple[str, ...] = ()

    def command(self, *arguments: str) -> list[str]:
        """The command line, with the outer filter."""
        return [*self.prefix, *super().command(*arguments)]


@pytest.mark.parametrize(
    ("name", "calls"),
    [("fds-reduced-user", HIDDEN_BY_CONTAINERS), ("dir-full", HIDDEN_AT_FULL)],
    ids=["reduced", "full"],
)
def test_same_verdicts_with_an_outer_filter(
    boxes: Callable[[str], Box],
    program: Callable[..., Path],
    hidden: frozenset[str],
    name: str,
    calls: Mapping[str, int],
) -> None:
    """An error of an outer filter has priority over our notification, but not over a kill: SV stays, without a name."""
    prefix = (str(program("filtered")), *map(str, calls.values()), "--")
    box = FilteredBox(**{each.name: getattr(boxes(name), each.name) for each in fields(Box)}, prefix=prefix)
    probe = json.loads(subprocess.run(box.command(str(box.runner), "--probe"), capture_output=True, check=True).stdout)
    hidden |= calls.keys() - {"unknown_call"}
    assert set(probe["hidden"]) == hidden
    answer = run_batch(box, program("attacker"), *(f"deadly {call}" for call in DEADLY), answer=b"still alive\n")
    assert answer.verdicts == ["SV"] * len(DEADLY)
    assert answer.last["isolation"] == box.level
    for call, entry in zip(DEADLY, answer.lines, strict=True):
        unnamed = call in hidden or call in ("x32", "i386")
        assert entry["attempted"] == {"hidden_call" if unnamed else call: 1}
    held = run_batch(box, program("attacker"), *ATTACKS, answer=b"held\n", cpu_ms=5000)
    assert held.verdicts == ["AC"] * len(ATTACKS)
    assert run_batch(box, program("contestant"), "honest 1", "system 1", "raise 31").verdicts == ["AC", "AC", "RE"]


def test_programs_are_stopped_without_signals_by_descriptor(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """If an outer filter refuses pidfd_send_signal, a program without end is stopped at its limit all the same."""
    box = boxes("fds-reduced-user")
    refusing = (str(program("filtered")), "424", "--")  # pidfd_send_signal
    filtered = FilteredBox(**{each.name: getattr(box, each.name) for each in fields(Box)}, prefix=refusing)
    answer = run_batch(filtered, program("contestant"), "loop", "sum 1", cpu_ms=300)
    assert answer.verdicts == ["TLE", "AC"]


def test_refused_landlock_rules_are_our_failure(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """If the kernel refuses a rule, as without memory, the program could not use its directory: JE, not RE."""
    box = boxes("fds-reduced-user")
    refusing = (str(program("filtered")), "445", "--")  # landlock_add_rule
    filtered = FilteredBox(**{each.name: getattr(box, each.name) for each in fields(Box)}, prefix=refusing)
    test = run_batch(filtered, program("contestant"), "leave-file 1").only
    assert (test["verdict"], test.get("fault")) == ("JE", "start")
    assert "landlock" in test["explanation"]


def test_a_library_that_cannot_be_looked_at_is_our_failure(
    boxes: Callable[[str], Box], program: Callable[..., Path]
) -> None:
    """If a file server fails while a program's libraries are looked up, the program does not run without them."""
    box = boxes("dir-full")
    refusing = (str(program("filtered")), "4", "262:3", "--")  # stat, and newfstatat if it follows links
    filtered = FilteredBox(**{each.name: getattr(box, each.name) for each in fields(Box)}, prefix=refusing)
    answer = run_batch(filtered, program("contestant", static=False), "sum 1", static=0)
    assert answer.last.get("fault") == "system", answer
    assert "look at" in answer.last["explanation"]


def test_a_refused_landlock_ruleset_is_our_failure(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """If the kernel makes no ruleset, as without memory, a warm interpreter forks no program that nothing confines."""
    box = boxes("fds-reduced-user")
    refusing = (str(program("filtered")), "444:2", "--")  # landlock_create_ruleset, but not its question for the ABI
    filtered = FilteredBox(**{each.name: getattr(box, each.name) for each in fields(Box)}, prefix=refusing)
    answer = filtered.run(warm_plan(DIES, tests=1), FILES)
    assert answer.last.get("fault") == "system"
    assert "Landlock" in answer.last["explanation"]


@pytest.mark.parametrize(
    ("threads", "limit", "verdict"),
    [
        (32, 5000, "JE"),
        (500, 5000, "JE"),
        # an ordinary user may have more processes than that
        pytest.param(500, 100, "JE", marks=pytest.mark.root),
        pytest.param(64, 90, "RE", marks=pytest.mark.root),
    ],
)
def test_no_threads_left_is_our_failure(
    boxes: Callable[[str], Box], program: Callable[..., Path], threads: int, limit: int, verdict: str
) -> None:
    """If others use up the processes that may be started, a program that fails is JE. It is RE if the limit leaves
    it too few in any case; of many threads that a plan allows, only 64 count.
    """
    box = boxes("fds-reduced-user")
    prefix = ("prlimit", f"--nproc={limit}:{limit}", str(program("filtered")), "threads", "--")
    filtered = FilteredBox(**{each.name: getattr(box, each.name) for each in fields(Box)}, prefix=prefix)
    failed, right = run_batch(filtered, program("contestant"), "threads 5", "sum 1", threads=threads).lines
    assert (failed["verdict"], failed.get("fault")) == (verdict, "overload" if verdict == "JE" else None)
    assert right["verdict"] == "AC"


def test_a_filter_that_hides_many_calls(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """An outer filter refuses all unknown calls, like Docker's default: the line of `--probe` is still complete."""
    box = boxes("fds-reduced-user")
    unnamed = range(337, 424)  # numbers without a call
    prefix = (str(program("filtered")), *map(str, unnamed), "--")
    words = [*prefix, *box.command(str(box.runner), "--probe")]
    probe = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    assert set(probe["hidden"]) >= {f"syscall_{number}" for number in unnamed}


def test_a_program_cannot_send_itself_the_filters_signal(box: Box, program: Callable[..., Path]) -> None:
    """A program cannot send itself SIGSYS, with which the filter kills: the verdict is RE."""
    entry = run_batch(box, program("contestant"), "raise 31").only
    assert entry["verdict"] == "RE"
    assert entry["attempted"] == {"tgkill": 1}


class HidingBox(Box):
    """A box whose `/proc` hides processes that the runner may not trace, as isolate mounts it."""

    def command(self, *arguments: str) -> list[str]:
        """The command line, in namespaces with such a `/proc`."""
        return [*HIDING, *super().command(*arguments)]


HIDING = (
    *("unshare", "--mount", "--pid", "--fork"),
    *("sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh"),
)


@pytest.fixture
def hiding(boxes: Callable[[str], Box]) -> Box:
    """Such a box with reduced isolation. Skips if it cannot be made, for example as root of a container."""
    tried = subprocess.run([*HIDING, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"cannot be tested here: {tried.stderr.strip()}")
    box = boxes("fds-reduced-user")
    return HidingBox(**{each.name: getattr(box, each.name) for each in fields(box)})


@pytest.mark.root
def test_cpu_time_is_measured_where_processes_are_hidden(hiding: Box, program: Callable[..., Path]) -> None:
    """The CPU clock of a process can be read with its process id, so the CPU limit is enforced."""
    busy, idle = run_batch(hiding, program("contestant"), "burn 5000", "sleep 60000", cpu_ms=400).lines
    assert (busy["verdict"], busy["limit"], idle["verdict"], idle["limit"]) == ("TLE", "cpu", "TLE", "idle")
    assert busy["cpu_us"] < 1_200_000
    assert idle["idle_us"] >= 1_400_000


@pytest.mark.root
def test_page_tables_count_for_a_user_with_many_groups(
    boxes: Callable[[str], Box], program: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of groups comes first in /proc/PID/status, and can be longer than a page."""
    box = boxes("dir-reduced")
    groups = ",".join(str(0x6F100000 + number) for number in range(900))
    command = [f"--groups={groups}" if word == "--clear-groups" else word for word in box.command("{}")]
    monkeypatch.setattr(
        Box, "command", lambda _, *words: [*command[: command.index("{}")], *words, "--most", "reduced"]
    )
    entry = run_batch(box, program("contestant"), "loop-after-tables 12000", cpu_ms=2000, memory_bytes=64 << 20).only
    assert (entry["verdict"], entry["limit"]) == ("MLE", "memory")


@pytest.mark.root
def test_memory_is_measured_where_processes_are_hidden(hiding: Box, program: Callable[..., Path]) -> None:
    """Before it starts, a program passes the runner a descriptor of its main thread, so the limits are enforced."""
    memory: dict[str, Any] = {"memory_bytes": 100 << 20}
    tables = run_batch(hiding, program("contestant"), "loop-after-tables 8192", cpu_ms=2000, **memory).only
    threads = run_batch(hiding, program("contestant"), "threads 40").only
    assert (tables["verdict"], tables["limit"]) == ("MLE", "memory")
    assert (threads["verdict"], threads["limit"]) == ("RE", "threads")
    both = run_batch(hiding, program("contestant"), "loop-after-pages 1", cpu_ms=60_000, **memory).only
    time = run_batch(hiding, program("contestant"), "loop 1", cpu_ms=400, **memory).only
    assert (both["verdict"], both["limit"], time["verdict"], time["limit"]) == ("MLE", "memory", "TLE", "cpu")
    assert both["cpu_us"] < 30_000_000, "it was stopped for its memory, not at the end of its time"
    assert both["signal"] == 9


@pytest.mark.root
def test_waiting_for_a_processor_is_not_idle_where_processes_are_hidden(
    hiding: Box, program: Callable[..., Path]
) -> None:
    """Waiting for a processor on a busy machine is not idle. Sleeping is, and the program is not excused by the load.

    Only the waiting time of the main thread is known.
    """
    inputs = ("burn 150", "burn-in-thread 150", "sleep 60000", "burn-and-pause 100")
    with one_processor(), busy_processes(8, sessions=True):
        waiting, in_thread, *idle = run_batch(hiding, program("contestant"), *inputs, cpu_ms=200).lines
    for entry in (waiting, in_thread):
        assert entry["wall_us"] > 3 * entry["cpu_us"], "the machine was not busy"
        assert (entry["limit"], entry["idle_us"] < 200_000) == (None, True), entry
    for entry in idle:
        assert (entry["verdict"], entry["limit"]) == ("TLE", "idle"), entry


@pytest.mark.root
def test_root_is_noticed_on_a_kernel_without_user_namespaces(runner: Path) -> None:
    """Such a kernel has no `/proc/self/uid_map`. The machine's root gets no isolation there either."""
    without_map = 'mount --bind /dev/null "/proc/$$/uid_map" && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", without_map, "sh", str(runner), "--probe"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot be tested here: {done.stderr.strip()}")
    assert json.loads(done.stdout)["isolation"] == "none"


@pytest.mark.root
@pytest.mark.parametrize("most", ["full", "reduced"])
def test_contestants_have_another_user_id(runner: Path, program: Callable[..., Path], built: Path, most: str) -> None:
    """If several user ids are mapped, the contestant's differs from the judge's."""
    work = built / f"ids-{most}"
    work.mkdir()
    files = {
        "plan": batch_plan(["test id=0 input=in answer=ans", "test id=1 input=honest answer=two"]),
        "program": program("contestant").read_bytes(),
        "in": b"uid 1",
        "ans": b"1\n",
        "honest": b"honest 1",
        "two": b"2\n",
    }
    for name, content in files.items():
        (work / name).write_bytes(content)
        os.chown(work / name, 70000, 70000)
    os.chown(work, 70000, 70000)
    command = [sys.executable, "-c", WITH_TWO_IDS, str(runner), "--dir", str(work), "--most", most]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode in (77, 78):
        pytest.skip("no namespaces, or no /proc in them, can be made here")
    assert done.returncode == 0, done.stderr
    first, second, end = (json.loads(text) for text in done.stdout.splitlines())
    assert (first["verdict"], second["verdict"], end["isolation"]) == ("AC", "AC", most)


WITH_TWO_IDS = """
# Runs a command as 0 of a user namespace in which 0 and 1 are mapped, to 70000 and 70001.
import ctypes, os, sys

libc = ctypes.CDLL(None, use_errno=True)
ready, entered = os.pipe()
go, mapped = os.pipe()
child = os.fork()
if child == 0:
    if libc.unshare(0x30020000) != 0:  # CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS
        os._exit(77)
    os.write(entered, b"x")
    os.read(go, 1)
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    first = os.fork()
    if first:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]))
    if libc.mount(b"proc", b"/proc", b"proc", 0, None) != 0:
        os._exit(78)
    os.execv(sys.argv[1], sys.argv[1:])
os.close(entered)
if not os.read(ready, 1):
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for name in ("uid_map", "gid_map"):
    with open(f"/proc/{child}/{name}", "w") as file:
        file.write("0 70000 2")
os.write(mapped, b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_refused_execveat_is_our_failure(boxes: Callable[[str], Box], program: Callable[..., Path]) -> None:
    """If an outer filter forbids the exec of a program, the test is JE. Every correct program would be RE."""
    box = boxes("fds-reduced-user")
    refusing = (str(program("filtered")), "322", "--")  # execveat
    filtered = FilteredBox(**{each.name: getattr(box, each.name) for each in fields(Box)}, prefix=refusing)
    test = run_batch(filtered, program("contestant"), "sum 1").only
    assert (test["verdict"], test.get("fault")) == ("JE", "start")
    assert test["explanation"] == "execute the program: Operation not permitted"
