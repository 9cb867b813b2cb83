"""Classic answers: the mapping of huggingface/ioi, and our stricter verdict, on recorded and on forged answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ioi_eval.errors import SandboxError, TransientError, TransportError
from ioi_eval.jobs import scripts_answer
from ioi_eval.jobs.scripts_answer import score_and_feedback
from ioi_eval.model import Execution, Stage, Verdict
from tests.jobs.scripts_executions import execution, recorded, verdict_of

# name of the transcript | score and first line of feedback by the reference's mapping | our verdict. `JE!` is an error
# that is raised, and the job is repeated. Where v3 and v4 differ, v4's verdict follows after a slash.
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


@pytest.mark.parametrize("generation", ["v3", "v4"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_recorded_verdicts(shared: Path, name: str, generation: str) -> None:
    """Each recorded answer gives the reference's score and feedback, and our verdict."""
    feedback, verdicts = CASES[name]
    found = recorded(shared, generation, name)
    score, words = score_and_feedback(found)
    first_line = words.splitlines()[0] if words and "Segmentation" not in words.splitlines()[0] else ""
    assert f"{score.strip()} {first_line}".strip() == feedback
    assert verdict_of(found) == verdicts[generation]


def test_every_recorded_job_of_the_package_has_a_verdict(shared: Path) -> None:
    """No recorded answer of the cms_ioi package is missing, except two whose texts differ by generation
    (tested below).
    """
    names = {path.stem for path in (shared / "piston-transcripts" / "v3").glob("c*m*_*.json")}
    scripts_job = {name for name in names if name.startswith(("cms_", "comm_"))}
    assert scripts_job - set(CASES) == {"cms_big_output_10MB_ml64", "cms_hack_read_answer"}


def test_page_cache_counted_as_memory(shared: Path) -> None:
    """Under the problem's own limit, newer servers judge a right answer of 10 MB wrong. Therefore our jobs request more
    memory.
    """
    assert verdict_of(recorded(shared, "v3", "cms_big_output_10MB_ml64")) == "AC"
    assert verdict_of(recorded(shared, "v4", "cms_big_output_10MB_ml64")) == "WA"


@pytest.mark.parametrize("generation", ["v3", "v4"])
def test_stderr_of_the_program_changes_no_verdict(shared: Path, generation: str) -> None:
    """It is in the message, before the checker's."""
    found = recorded(shared, generation, "cms_hack_read_answer")
    assert score_and_feedback(found)[1].startswith("opened /proc/")
    assert verdict_of(found) == "WA"


def test_order_of_the_reference_s_mapping() -> None:
    """Compile error, MemoryError of Python, any output, SIGKILL, the rest: the first match counts."""
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
def test_invalid_scores_are_the_checker_s_fault(stdout: str) -> None:
    """Only a plain finite number in [0, 1] is a score."""
    outcome = scripts_answer.test_outcome(execution(stdout=f"{stdout}\n"), "t1")
    assert (outcome.verdict, outcome.score, outcome.failed_program) == (Verdict.JE, None, "checker")


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
    """The first line is the score. A number close to 1 is not 1."""
    outcome = scripts_answer.test_outcome(execution(stdout=stdout), "t1")
    assert (outcome.score, outcome.verdict) == (score, verdict)


def test_stderr_never_changes_a_score() -> None:
    """Whatever the program writes, a right answer stays right and a zero stays a zero."""
    for words in ("Time limit exceeded (1.0s)", "Runtime error with exit code 1", "Compilation error", "MemoryError"):
        assert scripts_answer.test_outcome(execution(stderr=words), "t1").verdict is Verdict.AC
        zero = scripts_answer.test_outcome(execution(stdout="0\n", stderr=f"{words}\nwrong"), "t1")
        assert (zero.verdict, zero.score) == (Verdict.WA, 0.0)


def test_a_score_with_an_exit_code_is_the_checkers_fault() -> None:
    """If a checker prints a score and then fails, its score does not count."""
    assert scripts_answer.test_outcome(execution(code=1), "t1").verdict is Verdict.JE


def test_answers_that_the_package_s_scripts_do_not_judge(shared: Path) -> None:
    """An exit code without a score, and a problem that does not compile. For other answers the reference's mapping
    applies.
    """
    for name in ("cms_ac", "cms_ce", "cms_tle", "cms_tle_ignores_sigterm", "cms_no_correct_output"):
        scripts_answer.require_judged_by_package(recorded(shared, "v3", name))
    scripts_answer.require_judged_by_package(execution(stdout="", code=1, stderr="MemoryError"))
    scripts_answer.require_judged_by_package(execution(stdout="", code=0))
    with pytest.raises(SandboxError, match="Unsupported task type"):
        scripts_answer.require_judged_by_package(execution(stdout="0\n", code=1, stderr='Unsupported task type ""\n'))
    for name in ("cms_bad_checker", "cms_missing_grader_config"):
        with pytest.raises(SandboxError, match="could not be judged"):
            scripts_answer.require_judged_by_package(recorded(shared, "v4", name))


def test_answers_that_our_own_pair_does_not_judge() -> None:
    """A failed compile stage counts only if its last line says what failed. A score counts only with exit code 0."""
    refused = Stage(stdout="Failed to compile sum\n", stderr="error", code=1)
    scripts_answer.require_judged(Execution(compile=refused, run=refused))
    scripts_answer.require_judged(execution())
    for stage in (replace(refused, stdout=""), replace(refused, code=None, signal="SIGKILL", status="TO")):
        with pytest.raises(TransientError, match="the compile script"):
            scripts_answer.require_judged(Execution(compile=stage, run=stage))
    for run in (
        {"code": 2},
        {"stdout": ""},
        {"code": None, "signal": "SIGKILL"},
        {"code": 3},
        {"stdout": "", "code": 2},
    ):
        with pytest.raises(TransportError, match="no score arrived"):
            scripts_answer.require_judged(execution(**run))
    with pytest.raises(SandboxError, match="the checker is at fault") as found:
        scripts_answer.require_judged(execution(stdout="", stderr="the checker is at fault: exit code 5", code=3))
    assert not isinstance(found.value, TransientError)
