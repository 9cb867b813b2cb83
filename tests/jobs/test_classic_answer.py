"""Classic answers: the source's mapping, and the stricter verdict, on recorded answers and on forgeries."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import OverloadError, SandboxError, TransientError
from ioi_eval.jobs import classic_answer
from ioi_eval.jobs.classic_answer import compile_outcome, is_doubtful, score_and_feedback
from ioi_eval.model import Execution, Stage, Verdict
from ioi_eval.sandbox import answer

# name of the transcript | score and first line of feedback by the source's mapping | our verdict; `JE!` is an error
# that is raised, and repeated. Where the generations differ, v4's verdict comes after a slash.
RECORDED = r"""
cms_ac | 1 Output is correct | AC
cms_ac_bits | 1 Output is correct | AC
cms_ac_diff | 1 Output is correct (diff) | AC
cms_ac_testlib | 1 ok Output is correct | AC
cms_bad_checker | 0 Compilation error exit code 1 | JE
cms_big_output_10MB_ml256 | 1 Output is correct (diff) | AC
cms_big_output_1MB_ml256 | 1 Output is correct (diff) | AC
cms_big_output_1MB_ml64 | 1 Output is correct (diff) | AC
cms_big_output_50MB_ml256 | 1 Output is correct (diff) | AC
cms_big_output_50MB_ml64 | 0 Unknown error | JE!
cms_ce | 0 Compilation error exit code 1 | CE
cms_deep_recursion | 1 Output is correct | AC
cms_empty_submission | 0 Compilation error exit code 1 | CE
cms_exit0_no_output | 0 Output isn't correct: no number | WA
cms_hack_checker | 1 Output is correct | AC
cms_hack_fd | 0 Time limit exceeded | JE!
cms_missing_grader_config | 0 Unknown error | JE!
cms_mle_malloc | 0 | RE SIGSEGV
cms_mle_new | 0 terminate called after throwing an instance of 'std::bad_alloc' | RE SIGABRT
cms_mle_static | 0 | RE SIGSEGV
cms_mle_tiny_16MB | 1 Output is correct | AC
cms_no_correct_output | 508084481519 | JE
cms_pa | 0.5 Off by one | PA
cms_re_exit7 | 0 Runtime error with exit code 7 | RE 7
cms_re_segv | 0 | RE SIGSEGV
cms_re_throw | 0 terminate called after throwing an instance of 'std::runtime_error' | RE SIGABRT
cms_tle | 0 Time limit exceeded (1.0s) | TLE
cms_tle_ignores_sigterm | 0 Time limit exceeded | JE! / TLE
cms_tle_sleep | 0 Time limit exceeded (1.0s) | TLE
cms_wa | 0 Output isn't correct: expected 508084481519 found 42 | WA
cms_wa_diff | 0 Output isn't correct (diff) | WA
comm_crash_fifo_io | 0 Output isn't correct: user process died | WA
comm_crash_std_io | 0 Output isn't correct: user process died | WA
comm_hang_fifo_io | 0 Time limit exceeded (2.0s) | TLE
comm_hang_std_io | 0 Time limit exceeded (2.0s) | TLE
comm_many_fifo_io | 0 Output isn't correct: too many queries | WA
comm_many_std_io | 0 Output isn't correct: too many queries | WA
comm_ok_fifo_io | 1 Output is correct | AC
comm_ok_std_io | 1 Output is correct | AC
comm_wa_fifo_io | 0 Output isn't correct | WA
comm_wa_std_io | 0 Output isn't correct | WA
compile_timeout | 0 Compilation error exit code None | JE!
limit_compile_errors | 0 Compilation error exit code None | JE! / CE
compile_error_cpp | 0 Compilation error exit code 1 | CE
limit_stdout_1025 | 0 Time limit exceeded | JE! / OLE
limit_stderr_slow | 0 Time limit exceeded | JE! / OLE
signal_run_script_term | x | JE!
stdin_unread_small | 0 Unknown error | JE!
nproc_limit | 0 Unknown error | JE!
"""

CASES = {
    name: (feedback, dict(zip(("v3", "v4"), (verdicts.split(" / ") * 2)[:2], strict=True)))
    for name, feedback, verdicts in (line.split(" | ") for line in RECORDED.strip().splitlines())
}


def recorded(shared: Path, generation: str, name: str) -> Execution:
    """The execution that a real server answered."""
    transcript = json.loads((shared / "piston-transcripts" / generation / f"{name}.json").read_bytes())
    return answer.execution(transcript["http_status"], json.dumps(transcript["response"]).encode())


def verdict_of(execution: Execution) -> str:
    """Our verdict, in the table's form."""
    try:
        compiled = compile_outcome(execution, memory_limit_bytes=30_000_000)
        if compiled.verdict is not None:
            return compiled.verdict.value
        outcome = classic_answer.test_outcome(execution, "t1")
    except SandboxError:
        return "JE!"
    assert (outcome.score is None) == (outcome.verdict is Verdict.JE)
    ended = outcome.signal or outcome.exit_code
    return outcome.verdict.value if ended is None else f"{outcome.verdict.value} {ended}"


def execution(**run: Any) -> Execution:
    """An execution whose run stage has these fields."""
    return Execution(run=Stage(**{"stdout": "1\n", "stderr": "", "code": 0, **run}))


def compilation(stderr: str, *, code: int | None = 1, stdout: str = "Problem name: x\n", **more: Any) -> Execution:
    """An execution whose compile stage failed with these words."""
    stage = Stage(stdout=stdout, stderr=stderr, code=code, **more)
    return Execution(run=stage, compile=stage)


@pytest.mark.parametrize("generation", ["v3", "v4"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_recorded_verdicts(shared: Path, name: str, generation: str) -> None:
    """Each recorded classic answer gives the source's score and feedback, and our verdict."""
    feedback, verdicts = CASES[name]
    found = recorded(shared, generation, name)
    score, words = score_and_feedback(found)
    first_line = words.splitlines()[0] if words and "Segmentation" not in words.splitlines()[0] else ""
    assert f"{score.strip()} {first_line}".strip() == feedback
    assert verdict_of(found) == verdicts[generation]


def test_every_recorded_job_of_the_package_has_a_verdict(shared: Path) -> None:
    """No answer of the cms_ioi package is left out but two whose words differ by generation (tested below)."""
    names = {path.stem for path in (shared / "piston-transcripts" / "v3").glob("c*m*_*.json")}
    classic = {name for name in names if name.startswith(("cms_", "comm_"))}
    assert classic - set(CASES) == {"cms_big_output_10MB_ml64", "cms_hack_read_answer"}


def test_page_cache_counted_as_memory(shared: Path) -> None:
    """Under the problem's own limit newer servers judge a right answer of 10 MB wrong; so our jobs send more."""
    assert verdict_of(recorded(shared, "v3", "cms_big_output_10MB_ml64")) == "AC"
    assert verdict_of(recorded(shared, "v4", "cms_big_output_10MB_ml64")) == "WA"


@pytest.mark.parametrize("generation", ["v3", "v4"])
def test_words_of_the_program_before_the_checkers(shared: Path, generation: str) -> None:
    """What a program wrote on stderr is in the message and changes nothing."""
    found = recorded(shared, generation, "cms_hack_read_answer")
    assert score_and_feedback(found)[1].startswith("opened /proc/")
    assert verdict_of(found) == "WA"


def test_order_of_the_sources_mapping() -> None:
    """Compilation, Python's memory, any output, the kill, the rest: the first that holds."""
    failed = Stage(stdout="1\n", stderr="words", code=2)
    assert score_and_feedback(Execution(run=Stage(stdout="1", stderr="", code=0), compile=failed)) == (
        "0",
        "Compilation error exit code 2\nwords",
    )
    killed = Stage(stdout="", stderr="", code=None, signal="SIGKILL")
    assert score_and_feedback(Execution(run=killed, compile=killed)) == ("0", "Compilation error exit code None\n")
    assert score_and_feedback(execution(code=1, stderr="MemoryError")) == ("0", "Memory limit exceeded")
    assert score_and_feedback(execution(code=2, stderr="MemoryError")) == ("1\n", "MemoryError")
    assert score_and_feedback(execution(code=None, signal="SIGKILL")) == ("1\n", "")
    assert score_and_feedback(execution(stdout="", code=None, signal="SIGKILL")) == ("0", "Time limit exceeded")
    assert score_and_feedback(execution(stdout="", code=None, signal="SIGTERM")) == ("0", "Unknown error")
    assert score_and_feedback(execution(stdout="", code=0)) == ("0", "Unknown error")


@pytest.mark.parametrize(
    "stdout",
    ["nan", "inf", "-0.5", "1.5", "1000", "1e3", "0x1", "1_0", "one", "1 point", "١", "1e-400000000000x", "+1", "-0"],
)
def test_what_is_no_score(stdout: str) -> None:
    """Anything but a plain finite number in [0, 1] is the checker's fault, never a score."""
    outcome = classic_answer.test_outcome(execution(stdout=f"{stdout}\n"), "t1")
    assert (outcome.verdict, outcome.score, outcome.judge_program) == (Verdict.JE, None, "checker")


@pytest.mark.parametrize(
    ("stdout", "score", "verdict"),
    [
        ("1", 1.0, Verdict.AC),
        ("1.0000\n", 1.0, Verdict.AC),
        ("0.9999\n", 0.9999, Verdict.PA),
        (".5\n", 0.5, Verdict.PA),
        ("1e-9\n", 1e-9, Verdict.PA),
        ("0.\n", 0.0, Verdict.WA),
        ("0.0\nmore\n", 0.0, Verdict.WA),
        ("  1  \n", 1.0, Verdict.AC),
    ],
)
def test_scores(stdout: str, score: float, verdict: Verdict) -> None:
    """The first line is the score; almost 1 is not 1."""
    outcome = classic_answer.test_outcome(execution(stdout=stdout), "t1")
    assert (outcome.score, outcome.verdict) == (score, verdict)


def test_words_on_stderr_never_decide_about_a_score() -> None:
    """A right answer stays right, whatever the program wrote; a zero stays a zero."""
    for words in ("Time limit exceeded (1.0s)", "Runtime error with exit code 1", "Compilation error", "MemoryError"):
        assert classic_answer.test_outcome(execution(stderr=words), "t1").verdict is Verdict.AC
        zero = classic_answer.test_outcome(execution(stdout="0\n", stderr=f"{words}\nwrong"), "t1")
        assert (zero.verdict, zero.score) == (Verdict.WA, 0.0)


def test_a_score_with_an_exit_code_is_the_checkers_fault() -> None:
    """A checker that prints a score and then fails is not believed."""
    assert classic_answer.test_outcome(execution(code=1), "t1").verdict is Verdict.JE


def test_a_judge_program_that_does_not_compile_is_no_compile_error() -> None:
    """The scripts' stdout, which no program reaches, tells whose source it was."""
    for program in ("checker", "manager", "grader"):
        words = f"graders/{program}.cpp:3:1: error: x\nCould not compile {program}\n"
        outcome = compile_outcome(compilation(words, stdout=f"No checker\nCompiling {program}\n"))
        assert (outcome.verdict, outcome.final) == (Verdict.JE, True)
    outcome = compile_outcome(compilation("Compiling checker", stdout="Compiling checker\nCompiled checker\n"))
    assert outcome.verdict is Verdict.CE


@pytest.mark.parametrize("program", ["checker", "manager", "grader", "runner"])
@pytest.mark.parametrize("status", ["TO", "OL", "EL"])
def test_a_limit_while_a_judge_program_is_compiled_is_no_compile_error(program: str, status: str) -> None:
    """The submission's turn had not come, however much CPU time was used."""
    stopped = compilation("", code=None, stdout=f"Compiling {program}\n", status=status, cpu_ms=60_000.0)
    with pytest.raises(TransientError, match=program):
        compile_outcome(stopped, cpu_limit_ms=60_000)


@pytest.mark.parametrize(
    ("measured", "is_compile_error"),
    [
        ({"cpu_ms": 59_000.0, "wall_ms": 60_010.0}, True),
        ({"cpu_ms": 9_900.0, "wall_ms": 10_030.0}, True),  # a server that allows less than we ask for
        ({"cpu_ms": 10_020.0, "wall_ms": 25_000.0, "message": "Time limit exceeded"}, True),
        ({"cpu_ms": 20_000.0, "wall_ms": 60_010.0, "message": "Time limit exceeded (wall clock)"}, False),
        ({"wall_ms": 60_010.0}, False),
        ({"cpu_ms": 59_000.0}, True),
        ({}, False),
    ],
)
def test_only_a_compiler_that_used_its_time_is_over_it(measured: dict[str, Any], is_compile_error: bool) -> None:
    """Wall clock alone says how busy the machine is, and nothing of the program."""
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


@pytest.mark.parametrize("program", ["checker", "manager", "grader", "runner"])
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
    """What may not happen again is asked for again, and not written down as the problem's fault."""
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
def test_a_compilers_word_on_a_judge_program_is_final(words: str) -> None:
    """A compiler, assembler or linker that speaks of the source; but never of the runner, which is ours."""
    assert compile_outcome(compilation(words, stdout="Compiling checker\n")).final
    with pytest.raises(TransientError):
        compile_outcome(compilation(words, stdout="Compiling runner\n"))


def test_a_configuration_that_cannot_be_read_is_not_final() -> None:
    """The scripts say no; and a machine that has no process left is overloaded then as well."""
    outcome = compile_outcome(compilation("time_limit is no number", stdout="Reading the configuration\n"))
    assert (outcome.verdict, outcome.final) == (Verdict.JE, False)
    with pytest.raises(OverloadError):
        compile_outcome(
            compilation(
                "compile: fork: retry: Resource temporarily unavailable\n", stdout="Reading the configuration\n"
            )
        )


@pytest.mark.parametrize(
    "stderr",
    [
        f"{STARVED}compilation terminated.\nFailed to compile x\n",
        STARVED.replace("'/usr/lib/gcc/cc1plus'", "‘/usr/lib/gcc/cc1plus’"),
        "/piston/packages/cms_ioi/1.0.0/compile: fork: retry: Resource temporarily unavailable\n",
        "/piston/packages/cms_ioi/1.0.0/compile: line 22: fork: Resource temporarily unavailable\n",
    ],
)
def test_a_starved_compiler_is_overload(stderr: str) -> None:
    """No process left for the compiler says nothing about the program."""
    with pytest.raises(OverloadError):
        compile_outcome(compilation(stderr))


def test_a_killed_compiler() -> None:
    """Killed at our memory limit is CE that names it; killed below it, or where nobody measured, is our failure."""
    limit = 100 << 20
    at_limit = compile_outcome(compilation(RECORDED_KILL, memory_bytes=limit - 4096), memory_limit_bytes=limit)
    assert (at_limit.verdict, at_limit.message.splitlines()[0]) == (
        Verdict.CE,
        "Compilation stopped: over 100 MiB of memory",
    )
    for used in (limit // 2, None):
        with pytest.raises(TransientError):
            compile_outcome(compilation(RECORDED_KILL, memory_bytes=used), memory_limit_bytes=limit)


def test_recorded_memory_limit_of_the_compiler(shared: Path) -> None:
    """v4's killed compiler is recognised; v3's, which crashed under its address space limit, is the compiler's word."""
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
        '#line 1 "g++: fatal error: cannot execute"\n#error x: vfork: Resource temporarily unavailable\n',
    ],
)
def test_forged_words_of_the_compiler(source: str, tmp_path: Path) -> None:
    """A program that makes the real compiler say such words is CE; the words buy a repetition and nothing else."""
    (tmp_path / "x.cpp").write_text(source, encoding="utf-8")
    command = ["g++", "-c", "x.cpp"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 1
    forged = compilation(done.stderr)
    assert compile_outcome(forged).verdict is Verdict.CE
    assert is_doubtful(forged)


def test_what_is_doubtful() -> None:
    """A limit and a killed process are doubted once; a compiler that says no is not."""
    assert is_doubtful(compilation("", code=None, signal="SIGKILL", status="TO"))
    assert not is_doubtful(compilation("x.cpp:1:1: error: expected"))
    assert not is_doubtful(execution())
