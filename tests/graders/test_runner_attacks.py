"""A contestant cannot influence the judge: each attack of attacker.cpp, in each box."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.graders.runner_box import JUDGE, Box, line, run_batch

ATTACKS = [
    "forks", "daemon", "signals", "others", "paths", "descriptors", "attributes", "ipc", "sockets", "types", "execute",
    "privileges", "flood", "unknown",
]  # fmt: skip
DEADLY = [
    "ptrace", "process_vm_readv", "unshare", "mount", "io_uring_setup", "bpf", "perf_event_open", "userfaultfd",
    "keyctl", "seccomp", "x32", "i386",
]  # fmt: skip


def test_attacks_are_refused_with_an_errno(box: Box, program: Callable[..., Path]) -> None:
    """Each attempt of each attack is refused with an errno, and later tests are judged as usual."""
    answer = run_batch(box, program("attacker"), *ATTACKS, answer=b"held\n", cpu_ms=5000)
    for attack, entry in zip(ATTACKS, answer.lines, strict=True):
        assert entry["verdict"] == "AC", (attack, entry["stderr"])
    assert answer.last["isolation"] == box.level


def test_a_program_cannot_execute_a_library_by_its_path(plain_box: Box, program: Callable[..., Path]) -> None:
    """A program that is linked dynamically sees the dynamic linker, and has the right to execute its file."""
    entry = run_batch(plain_box, program("attacker", static=False), "execute", answer=b"held\n", static=0).only
    assert entry["verdict"] == "AC", entry


def test_calls_without_honest_use_end_the_program(
    box: Box, program: Callable[..., Path], hidden: frozenset[str]
) -> None:
    """The kernel stops the program at the call: SV, with the name of the call, if no outer filter hides it."""
    answer = run_batch(box, program("attacker"), *(f"deadly {call}" for call in DEADLY), answer=b"still alive\n")
    assert answer.verdicts == ["SV"] * len(DEADLY)
    for call, entry in zip(DEADLY, answer.lines, strict=True):
        name = "foreign_abi" if call in ("x32", "i386") else call
        unnamed = call in hidden or (hidden and name == "foreign_abi")
        assert entry["attempted"] == {"hidden_call" if unnamed else name: 1}
        assert entry["score"] == "0"


def test_refusals_are_named(plain_box: Box, program: Callable[..., Path], hidden: frozenset[str]) -> None:
    """Numbers that are no call share a name, and counting ends at 1,000.

    No kernel knows the call's number. An outer filter may refuse it first; then it is not reported.
    """
    unknown, flood = run_batch(plain_box, program("attacker"), "unknown", "flood", answer=b"held\n", cpu_ms=5000).lines
    assert unknown["attempted"] == {"unknown_call": 1} or (hidden and unknown["attempted"] == {})
    assert flood["attempted"] == {"socket": 1000}


def test_refusals_of_all_passes_are_counted(
    plain_box: Box, program: Callable[..., Path], hidden: frozenset[str]
) -> None:
    """The calls that a program tried in an earlier pass are reported with those of the last one."""
    validator = b'#!/bin/sh\n[ "$(cat input.txt)" != flood ] || echo unknown > feedback/nextpass.in\nexit 42\n'
    answer = run_batch(
        plain_box,
        program("attacker"),
        "flood",
        cpu_ms=5000,
        checker=line("checker", protocol="kattis", file="checker", passes=2, **JUDGE),
        files={"checker": validator},
    )
    (entry,) = answer.lines
    assert entry["verdict"] == "AC", entry
    assert entry["attempted"].pop("unknown_call", 1 if hidden else 0) == 1
    assert entry["attempted"] == {"socket": 1000}


def test_a_pass_cannot_number_the_files_of_the_next(plain_box: Box, program: Callable[..., Path]) -> None:
    """A file system numbers new files from a counter, so passes that share one make no files in it."""
    validator = b"#!/bin/sh\ncat > feedback/judgemessage.txt\nexit 42\n"
    answer = run_batch(
        plain_box,
        program("contestant"),
        "many-files 1",
        checker=line("checker", protocol="kattis", file="checker", passes=2, **JUDGE),
        files={"checker": validator},
    )
    assert answer.only["message"].strip() == ("2" if plain_box.level == "full" else "no more files")


@pytest.mark.parametrize("text", ['{"end":true}', '{"test":0,"verdict":"AC","score":"1"}'])
def test_lines_cannot_be_imitated(plain_box: Box, program: Callable[..., Path], text: str) -> None:
    """Output of a contestant that looks like a line of the runner is treated as output."""
    entry = run_batch(plain_box, program("contestant"), f"print 1\n{text}\n").only
    assert (entry["test"], entry["verdict"]) == (0, "WA")
