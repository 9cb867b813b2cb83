"""Answers of the classic profile in which a compilation failed: which program or machine is at fault."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import OverloadError, TransientError
from ioi_eval.jobs.scripts_answer import compile_outcome, is_doubtful
from ioi_eval.model import Verdict
from tests.jobs.scripts_executions import compilation, execution, recorded


def test_a_judge_program_that_does_not_compile_is_no_compile_error() -> None:
    """The stdout of the scripts names the source that did not compile."""
    for program in ("checker", "manager", "grader"):
        words = f"graders/{program}.cpp:3:1: error: x\nCould not compile {program}\n"
        outcome = compile_outcome(compilation(words, stdout=f"No checker\nCompiling {program}\n"))
        assert (outcome.verdict, outcome.final) == (Verdict.JE, True)
    outcome = compile_outcome(compilation("Compiling checker", stdout="Compiled checker\nProblem name: x\n"))
    assert outcome.verdict is Verdict.CE


@pytest.mark.parametrize("program", ["checker", "manager", "grader"])
def test_a_submission_cannot_blame_a_judge_program(tmp_path: Path, program: str) -> None:
    """The assembler prints what the submission asks it to print, on stdout, which is that of the scripts."""
    (tmp_path / "x.cpp").write_text(f'asm(".print \\"Compiling {program}\\"\\n.error \\"x\\"");\n')
    done = subprocess.run(
        ["g++", "-O2", "-pipe", "-c", "x.cpp", "-o", "x.o"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, f"Compiling {program}\n")
    before = "Compiling checker\nCompiled checker\nProblem name: x\n"
    outcome = compile_outcome(compilation(done.stderr, stdout=before + done.stdout))
    assert outcome.verdict is Verdict.CE
    stopped = compilation("", code=None, stdout=before + done.stdout, status="TO", cpu_ms=60_000.0, wall_ms=60_010.0)
    assert compile_outcome(stopped, cpu_limit_ms=60_000).verdict is Verdict.CE


@pytest.mark.parametrize("program", ["checker", "manager", "grader"])
@pytest.mark.parametrize("status", ["TO", "OL", "EL"])
def test_a_limit_while_a_judge_program_is_compiled_is_no_compile_error(program: str, status: str) -> None:
    """The submission was not compiled yet, however much CPU time was used."""
    stopped = compilation("", code=None, stdout=f"Compiling {program}\n", status=status, cpu_ms=60_000.0)
    with pytest.raises(TransientError, match=program):
        compile_outcome(stopped, cpu_limit_ms=60_000)


@pytest.mark.parametrize(
    ("measured", "is_compile_error"),
    [
        ({"cpu_ms": 59_000.0, "wall_ms": 60_010.0}, True),
        ({"cpu_ms": 9_900.0, "wall_ms": 10_030.0}, True),  # a server that allows less than we request
        ({"cpu_ms": 10_020.0, "wall_ms": 25_000.0, "message": "Time limit exceeded"}, True),
        ({"cpu_ms": 20_000.0, "wall_ms": 60_010.0, "message": "Time limit exceeded (wall clock)"}, False),
        ({"wall_ms": 60_010.0}, False),
        ({"cpu_ms": 59_000.0}, True),
        ({}, False),
    ],
)
def test_only_a_compiler_that_used_its_cpu_time_exceeds_the_limit(
    measured: dict[str, Any], is_compile_error: bool
) -> None:
    """Wall clock alone shows how busy the machine is, and is no evidence against the program."""
    stopped = compilation("", code=None, status="TO", **measured)
    if is_compile_error:
        outcome = compile_outcome(stopped, cpu_limit_ms=60_000)
        assert (outcome.verdict, outcome.message) == (
            Verdict.CE,
            "Compilation stopped: over the compile time limit",
        )
    else:
        with pytest.raises(TransientError):
            compile_outcome(stopped, cpu_limit_ms=60_000)


STARVED = "g++: fatal error: cannot execute '/usr/lib/gcc/cc1plus': vfork: Resource temporarily unavailable\n"

KILLED = "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n"

RECORDED_KILL = f"{KILLED}chmod: cannot access 'a.out': No such file or directory\nFailed to compile addup\n"


@pytest.mark.parametrize("program", ["checker", "manager", "grader"])
@pytest.mark.parametrize(
    "stderr",
    [
        STARVED,
        KILLED,
        f"{KILLED}chmod: cannot access 'checker': No such file or directory\nCould not compile checker\n",
        f"checker.cpp:1:5: warning: unused variable\n{KILLED}",
        "checker.cpp:1:5: error: x\ncc1plus: fatal error: error writing to /tmp/cc.s: No space left on device\n",
        "/tmp/cc.s: Fatal error: cannot write to checker.o\n",
        "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n",
        "cc1plus: out of memory allocating 65536 bytes after a total of 4096 bytes\n",
        "x.cpp:1:2: internal compiler error: Segmentation fault\n",
        "",
    ],
)
def test_a_fault_of_the_machine_at_a_judge_program_is_not_final(program: str, stderr: str) -> None:
    """A failure that may not occur again is repeated, and not stored as the problem's fault."""
    with pytest.raises(TransientError):
        compile_outcome(
            compilation(stderr, stdout=f"Compiling {program}\n", memory_bytes=4 << 30), memory_limit_bytes=4 << 30
        )


@pytest.mark.parametrize(
    "words",
    [
        "checker.cpp:1:10: fatal error: testlib.h: No such file or directory",
        "checker.cpp:12: Error: no such instruction: `x'",
        "/usr/bin/ld: /tmp/cc.o: in function `main':\nchecker.cpp:(.text+0x5): undefined reference to `f()'",
    ],
)
def test_a_compilers_error_on_a_judge_program_is_final(words: str) -> None:
    """The message of a compiler, assembler or linker about the source."""
    assert compile_outcome(compilation(words, stdout="Compiling checker\n")).final


@pytest.mark.parametrize(
    "stderr",
    [
        f"{STARVED}compilation terminated.\nFailed to compile x\n",
        STARVED.replace("'/usr/lib/gcc/cc1plus'", "‘/usr/lib/gcc/cc1plus’"),
        "/piston/packages/cms_ioi/1.0.0/compile: fork: retry: Resource temporarily unavailable\n",
        "/piston/packages/cms_ioi/1.0.0/compile: line 22: fork: Resource temporarily unavailable\n",
        f"/piston/packages/cms_ioi/1.0.0/compile: fork: retry: Resource temporarily unavailable\n{KILLED}",
    ],
)
def test_a_compiler_without_processes_is_overload(stderr: str) -> None:
    """If the compiler cannot start a process, it is no evidence against the program."""
    with pytest.raises(OverloadError):
        compile_outcome(compilation(stderr))


@pytest.mark.parametrize(
    ("code", "stderr"),
    [
        (127, "/bin/bash: /piston/packages/cms_ioi/1.0.0/compile: No such file or directory\n"),
        (127, "/piston/packages/cms_ioi/1.0.0/compile: line 22: g++: command not found\n"),
        (126, "/piston/packages/cms_ioi/1.0.0/compile: line 22: /usr/bin/g++: Permission denied\n"),
    ],
)
def test_an_absent_script_or_compiler_is_no_compile_error(code: int, stderr: str) -> None:
    """Piston v3 answers so while the package is removed: it still starts the job, whose script is deleted already."""
    with pytest.raises(TransientError, match="could not be started: "):
        compile_outcome(compilation(stderr, code=code, stdout=""))


FULL = (
    "{standard input}: Fatal error: can't fill 256 bytes in section .data of submission.o: 'No space left on device'\n"
)


@pytest.mark.parametrize(
    "stderr",
    [
        f"{{standard input}}: Assembler messages:\n{FULL}"
        "{standard input}: Fatal error: submission.o: No such file or directory\nFailed to compile x\n",
        FULL.replace("{standard input}", "/tmp/ccZ5WQjq.s").replace("fill 256 bytes in", "write 2 bytes to"),
        "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n",
    ],
)
def test_a_full_disk_is_no_compile_error(stderr: str) -> None:
    """Messages of real compilers. Even after repetitions it is no compile error. It is doubtful, because other jobs may
    fill the disk.
    """
    with pytest.raises(TransientError, match="no room on the disk"):
        compile_outcome(compilation(stderr))
    assert is_doubtful(compilation(stderr))


LINKER_KILLED = "collect2: fatal error: ld terminated with signal {} [{}]\ncompilation terminated.\n"


@pytest.mark.parametrize(
    "message",
    [
        RECORDED_KILL,
        RECORDED_KILL.replace("Killed", "Terminated"),
        LINKER_KILLED.format(9, "Killed"),
        LINKER_KILLED.format(15, "Terminated"),
    ],
)
def test_a_killed_compiler(message: str) -> None:
    """Killed at our memory limit it is CE, and the message names the limit. Killed below it, or without a measurement,
    it is our failure.
    """
    limit = 100 << 20
    at_limit = compile_outcome(compilation(message, memory_bytes=limit - 4096), memory_limit_bytes=limit)
    assert (at_limit.verdict, at_limit.message.splitlines()[0]) == (
        Verdict.CE,
        "Compilation stopped: over 100 MiB of memory",
    )
    for used in (limit // 2, None):
        with pytest.raises(TransientError):
            compile_outcome(compilation(message, memory_bytes=used), memory_limit_bytes=limit)


def test_recorded_memory_limit_of_the_compiler(shared: Path) -> None:
    """A compiler that v4 killed is recognised. With v3 the compiler crashed at its address space limit and printed an
    error.
    """
    v4 = recorded(shared, "v4", "compile_memory_limit")
    assert "over 28 MiB" in compile_outcome(v4, memory_limit_bytes=30_000_000).message
    with pytest.raises(TransientError):
        compile_outcome(v4, memory_limit_bytes=60_000_000)
    v3 = recorded(shared, "v3", "compile_memory_limit")
    assert compile_outcome(v3, memory_limit_bytes=30_000_000).verdict is Verdict.CE


@pytest.mark.parametrize(
    "source",
    [
        '#line 1 "g++: fatal error: Killed signal terminated program cc1plus"\n#error x\n',
        '#line 1 "g++: fatal error: Killed signal terminated program cc1plus\\ncompilation terminated."\n#error x\n',
        '#line 1 "g++: fatal error: Killed signal terminated program cc1plus\\nFailed to compile x"\n#error x\n',
        '#line 1 "g++: fatal error: Killed signal terminated program cc1plus\\nchmod: cannot access \'x"\n'
        "#error ': No such file or directory\n",
        "#line 1 \"g++: fatal error: cannot execute 'x': vfork: Resource temporarily unavailable\\nSee <x\"\n"
        "#error > for instructions.\n",
        '#line 1 "compile: fork: Resource temporarily unavailable\\nPlease submit a full bug report,"\n#error\n',
        "#error Resource temporarily unavailable\n",
        '#line 1 "/usr/bin/ld: final link failed: No space left on device"\n#error x\n',
        'asm(".warning \\"x\\\\n/usr/bin/ld: final link failed: No space left on device\\"\\n.err");\n',
        f'asm("# 1 \\"{FULL[:-27]}\\"\\n.error \\"No space left on device\\"");\n',
        '#line 1 "g++: fatal error: cannot execute"\n#error x: vfork: Resource temporarily unavailable\n',
    ],
)
def test_forged_messages_of_the_compiler(source: str, tmp_path: Path) -> None:
    """A program that makes the real compiler print such messages is CE. They only lead to a repetition."""
    (tmp_path / "x.cpp").write_text(source, encoding="utf-8")
    command = ["g++", "-c", "x.cpp"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 1
    forged = compilation(done.stderr)
    assert compile_outcome(forged).verdict is Verdict.CE
    assert is_doubtful(forged)


def test_doubtful_compilations() -> None:
    """A limit and a killed process are repeated once. An error of the compiler is not."""
    assert is_doubtful(compilation("", code=None, signal="SIGKILL", status="TO"))
    assert not is_doubtful(compilation("x.cpp:1:1: error: expected"))
    assert not is_doubtful(execution())
