"""The end of a compilation: only a compiler that ends by itself with an error is certain evidence against a program."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.config import MAX_BYTES, MAX_SECONDS, CompileLimits
from ioi_eval.jobs.compile import (
    compile_outcome,
    is_doubtful,
    may_lack_a_part,
    trusted_limits,
    with_time_for_known_good,
)
from ioi_eval.jobs.recipes import Recipe, Step, grader_recipes, known_good_recipe, submission_recipe
from ioi_eval.jobs.runner_answer import CompileAnswer, StepLine
from ioi_eval.model import (
    Isolation,
    ProblemKey,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
    Verdict,
)
from ioi_eval.toolchain import Toolchain
from tests.small_problems import small_problem

GCC = Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True)
RECIPE = Recipe(what="submission", steps=(Step(argv=("g++",)),), artifacts=("a.out",))
SECRET = SourceFile(path="graders/grader.cpp", content=b"// secret\n")
PROBLEM = small_problem(
    key=ProblemKey(year=2026, id="Nile"),
    name="Nile",
    subtasks=(Subtask(name="01", points=100, tests=("a",)),),
    tests={"a": TestCase(name="a", input=b"", answer=b"")},
    linked=(SECRET,),
    headers=(SourceFile(path="graders/nile.h", content=b"int f();\n"),),
)


def source(code: str) -> tuple[SourceFile, ...]:
    """The files of a submission with one file."""
    return Submission(id="s", problem=PROBLEM.key, code=code).source_files()


def answer(*, artifacts: dict[str, bytes] | None = None, **changes: Any) -> CompileAnswer:
    """The answer of a compilation that ended with this step."""
    step = StepLine(code=1, signal=0, limit=None, cpu_ms=500, output="a.cpp:1: no\n")
    return CompileAnswer(steps=(replace(step, **changes),), artifacts=artifacts or {}, isolation=Isolation.FULL)


@pytest.mark.parametrize(
    ("changes", "verdict", "words", "doubtful"),
    [
        ({}, Verdict.CE, "Compilation error exit code 1\na.cpp:1: no", False),
        ({"limit": "cpu", "signal": 9}, Verdict.CE, "over 10 s of CPU time", True),
        ({"limit": "memory", "signal": 9}, Verdict.CE, "over 512 MiB of memory", True),
        ({"limit": "file", "signal": 9}, Verdict.CE, "its files are too large, or too many", False),
        ({"limit": "output", "signal": 9}, Verdict.CE, "too many messages", False),
        ({"limit": "wall", "signal": 9}, Verdict.JE, "too busy", True),
        ({"signal": 9, "code": 0}, Verdict.JE, "killed by SIGKILL", True),
        ({"killed": 9}, Verdict.JE, "killed by SIGKILL, from outside: is there memory left?", True),
        ({"signal": 11, "code": 0}, Verdict.CE, "Compilation stopped: the compiler was killed by SIGSEGV", True),
        ({"code": 0}, Verdict.CE, "Compilation stopped: the compiler made no program", True),
        # words that a program can make the compiler print lead to a repetition, and change no verdict
        ({"output": "g++: fatal error: Killed signal terminated program cc1plus"}, Verdict.CE, "exit code 1", True),
        ({"output": "ld: final link failed: No space left on device"}, Verdict.CE, "exit code 1", True),
    ],
)
def test_verdict_by_the_end_of_the_compiler(
    changes: dict[str, Any], verdict: Verdict, words: str, doubtful: bool
) -> None:
    """CE if the compiler refuses the program or crashes on it, or the program exceeds a limit; else JE."""
    outcome = compile_outcome(RECIPE, answer(**changes), CompileLimits())
    assert outcome.verdict is verdict
    assert words in outcome.message
    assert outcome.cpu_ms == 500
    assert is_doubtful(answer(**changes)) is doubtful


@pytest.mark.parametrize(
    "words",
    [
        "thread '<unnamed>' panicked at 'failed to spawn thread: Resource temporarily unavailable'\n",
        "memory allocation of 4194304 bytes failed\n",
        "error: linking with `/usr/bin/g++` failed: signal: 15 (SIGTERM)\n",
        "error: linking with `/usr/bin/g++` failed: signal: 9 (SIGKILL)\n",
        "error: the compiler unexpectedly panicked. this is a bug.\n",
        "virtual memory exhausted: Cannot allocate memory\n",
    ],
)
def test_a_compiler_without_resources_is_run_again(words: str) -> None:
    """rustc then ends with its usual exit code for errors, so its message decides. It only leads to a repetition."""
    failed = answer(code=101, output=words)
    assert is_doubtful(failed)
    assert compile_outcome(RECIPE, failed, CompileLimits()).verdict is Verdict.CE


def test_a_success_is_not_repeated_for_its_warnings() -> None:
    """A program with such a `#warning` would keep all other jobs waiting."""
    said = "a.cpp:1:2: warning: #warning Cannot allocate memory\n"
    assert not is_doubtful(answer(code=0, output=said, artifacts={"program": b"ELF"}))


SAID_IN_A_PROGRAM = "Cannot allocate memory, Killed signal terminated program cc1plus"


@pytest.mark.parametrize(
    ("program", "doubtful"),
    [
        (f"#error {SAID_IN_A_PROGRAM}\n", False),
        (f"#warning {SAID_IN_A_PROGRAM}\nint main() {{ return missing; }}\n", False),
        (f'#line 1 "\\n{SAID_IN_A_PROGRAM}\\nb"\n#error x\n', False),
        (f"#include <{SAID_IN_A_PROGRAM}>\n", True),  # a fatal error may be the machine's: a file that cannot be opened
    ],
)
def test_a_program_with_an_error_is_not_compiled_alone(program: str, doubtful: bool, tmp_path: Path) -> None:
    """The program is wrong whatever else the compiler says, so no repetition alone is needed, for which other jobs
    would wait.
    """
    (tmp_path / "x.cpp").write_text(program, encoding="utf-8")
    done = subprocess.run(["g++", "-c", "x.cpp"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert SAID_IN_A_PROGRAM in done.stderr
    assert is_doubtful(answer(output=done.stderr)) is doubtful


@pytest.mark.parametrize(
    "words",
    [
        # the assembler reads the incomplete output of a killed compiler
        "g++: fatal error: Killed signal terminated program cc1plus\n{standard input}:7: Error: open CFI at the end\n",
        "g++: fatal error: Terminated signal terminated program cc1plus\ncompilation terminated.\n",
        "a.cpp:9:1: fatal error: error writing to -: No space left on device\ncompilation terminated.\n",
        "a.cpp:9:1: internal compiler error: Killed (program cc1plus)\n",
    ],
)
def test_errors_that_the_machine_may_have_caused_are_doubtful(words: str) -> None:
    """They name no place in the source."""
    assert is_doubtful(answer(output=words))


@pytest.mark.parametrize("signal", ["KILL", "TERM"])
def test_a_killed_linker_is_doubtful(signal: str, tmp_path: Path) -> None:
    """GCC's driver starts the linker through `collect2`, which has words of its own for that."""
    (tmp_path / "x.cpp").write_text("int main() {}\n", encoding="utf-8")
    linker = tmp_path / "ld"
    linker.write_text(f"#!/bin/sh\nkill -{signal} $$\n", encoding="utf-8")
    linker.chmod(0o755)
    command = ["g++", f"-B{tmp_path}/", "x.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert is_doubtful(answer(output=done.stderr))


@pytest.mark.parametrize(
    ("words", "may_lack"),
    [
        # what GCC 12 and its linker say if one of their files is missing
        ("g++: fatal error: cannot execute \u2018cc1plus\u2019: execvp: No such file or directory\n", True),
        ("g++: fatal error: cannot execute \u2018as\u2019: execvp: Permission denied\n", True),
        ("a.cpp:1:10: fatal error: vector: No such file or directory\n", True),
        ("a.cpp:1:10: fatal error: bits/stdc++.h: No such file or directory\n", True),
        ("a.cpp:1:10: fatal error: stdio.h: No such file or directory\n", True),
        ("In file included from a.cpp:1:\n/usr/y:39:10: fatal error: q.h: No such file or directory\n", True),
        ("In file included from a.cpp:1:\n/usr/y:39:10: fatal error: regex: Permission denied\n", True),
        ("/lib/cc1plus: error while loading shared libraries: libmpfr.so.6: file too short\n", True),
        ("/usr/bin/ld: cannot find -lstdc++: No such file or directory\n", True),
        ("/usr/bin/ld.gold: error: cannot find -lstdc++\n", True),
        ("collect2: fatal error: cannot find \u2018ld\u2019\n", True),
        ("error[E0463]: can't find crate for `std`\n", True),
        # what it says about programs
        ("a.cpp:1:10: fatal error: windows.h: No such file or directory\n", False),
        ("a.cpp:1:10: fatal error: nile.h: No such file or directory\n", False),
        ("a.cpp:1:10: fatal error: vector: No such file or directory\na.cpp:1:2: error: #error cannot find x\n", False),
        ("a.cpp:1:1: error: cannot find an overload\n", False),
        ("/usr/bin/ld: a.o: undefined reference to `f()'\n", False),
        ("error[E0425]: cannot find value `x` in this scope\n --> a.rs:1:13\n", False),
        ("error: cannot find macro `prinln` in this scope\n --> a.rs:1:13\n", False),
    ],
)
def test_messages_about_parts_of_the_compiler(words: str, may_lack: bool) -> None:
    """They lead to another check of the compiler. The usual errors of programs do not."""
    assert may_lack_a_part(words) is may_lack
    assert not is_doubtful(answer(output=words))


@pytest.mark.parametrize(("code", "verdict"), [(65, Verdict.CE), (1, Verdict.JE), (120, Verdict.JE)])
def test_only_the_exit_code_for_an_error_is_the_program_s_fault(code: int, verdict: Verdict) -> None:
    """An interpreter that cannot start, or has no disk space, also ends with another code. A broken one may crash."""
    recipe = replace(RECIPE, error_code=65)
    assert compile_outcome(recipe, answer(code=code), CompileLimits()).verdict is verdict
    assert compile_outcome(recipe, answer(code=0, signal=11), CompileLimits()).verdict is Verdict.JE


def test_an_answer_with_an_artifact_is_a_success() -> None:
    """With or without warnings."""
    outcome = compile_outcome(RECIPE, answer(code=0, artifacts={"a.out": b"x"}), CompileLimits())
    assert outcome.verdict is None


def test_a_compiler_that_was_not_started_is_our_failure() -> None:
    """Without a step there is no verdict on the program."""
    nothing = CompileAnswer(steps=(), artifacts={}, isolation=Isolation.FULL)
    assert compile_outcome(RECIPE, nothing, CompileLimits()).verdict is Verdict.JE


def test_of_a_long_message_both_ends_are_kept() -> None:
    """The first error of a checker causes most of the others. That the machine ended the compiler is said last."""
    first, last = "checker.cpp:1:1: error: the cause\n", "\ng++: fatal error: Killed signal terminated program cc1plus"
    message = answer(output=first + "x" * 9000 + last).output("")
    assert message.startswith(first)
    assert message.endswith(last)
    left_out = len(first + last) + 9000 - 4000
    assert f"x\n[… {left_out} more characters]\nx" in message
    assert answer(output="a" * 4000 + "\n").output("") == "a" * 4000


def test_long_messages_are_cut_at_a_line() -> None:
    """Many diagnostics are cut, with a note, so that results stay small."""
    outcome = compile_outcome(RECIPE, answer(output="error: x\n" * 10_000), CompileLimits())
    assert len(outcome.message) < 10_000
    assert "more characters" in outcome.message


def test_the_grader_s_source_is_not_in_the_box_of_a_submission() -> None:
    """The first step has the program and the headers. The grader's object file is only in the link step."""
    recipe = submission_recipe(PROBLEM, source("int f() {}"), (("linked0.o", b"object"),), GCC, std=None)
    first, second = recipe.steps
    assert [path for path, _ in first.files] == ["nile.cpp", "nile.h"]
    assert [path for path, _ in second.files] == ["linked0.o"]
    assert "-std=gnu++20" in first.argv
    assert all(
        b"secret" not in content for step in recipe.steps for _, content in step.files if isinstance(content, bytes)
    )


def test_no_file_of_the_problem_replaces_the_submission() -> None:
    """A grader may include the model solution, in a namespace. Of two headers with one name the problem's is used."""
    model = SourceFile(path="graders/model/nile.cpp", content=b"// model solution\n")
    problem = replace(PROBLEM, headers=(*PROBLEM.headers, model))
    sources = Submission(id="s", problem=PROBLEM.key, code="int g();").source_files()
    own = SourceFile(path="nile.h", content=b"// another header\n")
    recipe = submission_recipe(problem, (*sources, own), (), GCC, std=None)
    files = dict(recipe.steps[0].files)
    assert (files["nile.cpp"], files["nile.h"]) == (b"int g();", b"int f();\n")


def test_the_option_std_has_precedence_over_the_problem() -> None:
    """For the submission and the grader."""
    recipe = submission_recipe(PROBLEM, source(""), (), GCC, std="gnu++23")
    (grader,) = grader_recipes(PROBLEM, GCC, std="gnu++23")
    assert all("-std=gnu++23" in one.steps[0].argv for one in (recipe, grader))


def test_keys_differ_if_the_build_differs() -> None:
    """The name of an artifact depends on source, command and toolchain."""
    base = known_good_recipe(GCC)
    (first, second) = base.steps
    others = [
        base.key(replace(GCC, version="g++ 13")),
        base.key(replace(GCC, static=False)),
        replace(base, steps=(replace(first, argv=(*first.argv, "-g")), second)).key(GCC),
        replace(base, steps=(replace(first, files=(("good.cpp", b""),)), second)).key(GCC),
        replace(base, steps=(replace(first, files=(("other.cpp", first.files[0][1]),)), second)).key(GCC),
        replace(base, steps=(Step(argv=("a", "b")), Step(argv=("c",)))).key(GCC),
        replace(base, steps=(Step(argv=("a",)), Step(argv=("b", "c")))).key(GCC),
        replace(base, artifacts=("other",)).key(GCC),
    ]
    assert len({base.key(GCC), *others}) == len(others) + 1


def test_lone_surrogates_in_code_do_not_stop_a_compilation() -> None:
    """JSON can contain them, a file cannot."""
    recipe = submission_recipe(PROBLEM, source("// \ud800"), (), GCC, std=None)
    assert dict(recipe.steps[0].files)["nile.cpp"] == b"// ?"


def test_the_highest_limits_are_accepted_in_each_compilation() -> None:
    """A problem's own program has several times the limits, but no more than the runner accepts."""
    highest = CompileLimits(cpu_s=MAX_SECONDS, wall_s=MAX_SECONDS, memory_bytes=MAX_BYTES)
    assert trusted_limits(highest) == highest
    assert with_time_for_known_good(highest) == highest
