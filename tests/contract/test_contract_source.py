"""The reference's function `run_submission` on each sandbox that can run scripts: all answers, from real jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ioi_eval import run_submission
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.errors import InputError, RejectedError, SandboxError
from ioi_eval.model import Isolation

Entering = Callable[..., Any]

HEADER = "int twice(int);\n"
GRADER = """
#include "twice.h"
#include <cstdio>
int main() {
  int a;
  if (std::scanf("%d", &a) == 1) std::printf("%d\\n", twice(a));
}
"""
ROW = {
    "id": "Twice",
    "time_limit": 0.3,
    "memory_limit": 64 << 20,
    "grader_files": [["graders/twice.h", HEADER], ["graders/grader.cpp", GRADER], ["checker/testlib.h", ""]],
}
RIGHT = '#include "twice.h"\nint twice(int a) { return 2 * a; }\n'


@pytest.fixture
def ask(entering: Entering, artifacts: ArtifactStore) -> Callable[..., tuple[str, str]]:
    """A function that calls `run_submission` on a sandbox, with any profile. Skips if it cannot run scripts."""

    async def run(submission: str, test_output: str | None, row: dict[str, Any], **options: Any) -> tuple[str, str]:
        async with entering() as sandbox:
            (target, *_), stock = sandbox.targets(), options.pop("stock", False)
            if options.pop("only_stock", False) and not target.has_own_scripts:
                pytest.skip("the tests above try the same with our scripts")
            if target.name == "prefix":
                pytest.skip("its boxes belong to another user than the one who runs scripts in them")
            if target.name == "local" and target.isolation is not Isolation.FULL:
                pytest.skip("scripts need full isolation in the embedded sandbox")
            if target.has_own_scripts and not stock and not options.get("pair"):
                pytest.skip("the scripts of the cms_ioi package judge by rules of their own")
            if target.has_own_scripts and options.get("pair"):
                with pytest.raises(RejectedError, match="runs its own scripts only"):
                    await run_submission(sandbox, row, "21\n", submission, test_output, **options)
                pytest.skip("the cms_ioi package runs its own scripts only, and the client says so")
            return await run_submission(sandbox, row, "21\n", submission, test_output, artifacts=artifacts, **options)

    def judge(
        submission: str, test_output: str | None = "42\n", *, row: dict[str, Any] = ROW, **options: Any
    ) -> tuple[str, str]:
        return asyncio.run(run(submission, test_output, row, **options))

    return judge


def test_a_score_is_what_the_scripts_print(ask: Callable[..., tuple[str, str]]) -> None:
    """The score and the message of the judge for a correct and a wrong output."""
    assert ask(RIGHT) == ("1\n", "Output is correct\n")
    score, feedback = ask(RIGHT, "41\n")
    assert float(score) == 0
    assert feedback.startswith("Output isn't correct")


def test_a_program_that_does_not_compile(ask: Callable[..., tuple[str, str]]) -> None:
    """The score is 0; the feedback has the exit code and the compiler's message."""
    score, feedback = ask(RIGHT.replace(";", ""))
    assert score == "0"
    assert feedback.startswith("Compilation error exit code 1\n")
    assert "error: expected" in feedback


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("for (;;) {}", "Time limit exceeded"),
        ("volatile char* p = new char[1 << 28]; for (int i = 0; i < 1 << 28; i += 4096) p[i] = 1;", "Memory limit"),
    ],
    ids=["time", "memory"],
)
def test_limits(ask: Callable[..., tuple[str, str]], body: str, words: str) -> None:
    """The score is 0; the feedback is the reference's text for the limit."""
    score, feedback = ask(f'#include "twice.h"\nint twice(int a) {{ {body} return a; }}\n')
    assert float(score) == 0
    assert feedback.startswith(words)


def test_without_an_expected_output_the_program_prints_the_score(ask: Callable[..., tuple[str, str]]) -> None:
    """The score is the program's output. Source: the reference's script `run`."""
    assert ask(RIGHT, None)[0] == "42\n"


def test_a_program_that_crashes_scores_nothing(ask: Callable[..., tuple[str, str]]) -> None:
    """The score is 0, also without an expected output: the program's output before the crash does not count."""
    crash = '#include "twice.h"\n#include <cstdio>\nint twice(int) { std::puts("1"), std::fflush(stdout); throw 1; }\n'
    for expected in ("42\n", None):
        score, feedback = ask(crash, expected)
        assert float(score) == 0
        assert feedback.startswith("Runtime error")


def test_a_checker_that_fails_is_an_error(ask: Callable[..., tuple[str, str]]) -> None:
    """A checker without a score raises SandboxError, which names the checker."""
    checker = ["checker/checker.cpp", "int main() { return 5; }\n"]
    with pytest.raises(SandboxError, match="the checker is at fault"):
        ask(RIGHT, row={**ROW, "grader_files": [*ROW["grader_files"], checker]})  # type: ignore[misc]


@pytest.mark.parametrize(
    ("body", "expected", "score", "words"),
    [
        ("return 2 * a;", "42\n", 1.0, "Output is correct"),
        ("return a;", "42\n", 0.0, "Output isn't correct"),
        ("for (;;) {} return a;", "42\n", 0.0, "Time limit exceeded"),
        ("return 2 * a", "42\n", 0.0, "Compilation error exit code 1\n"),
        ("return 2 * a;", None, 42.0, ""),
    ],
    ids=["right", "wrong", "time", "compilation", "no expected output"],
)
def test_results_of_stock_scripts(
    ask: Callable[..., tuple[str, str]], body: str, expected: str | None, score: float, words: str
) -> None:
    """The scripts of the `cms_ioi` package give the scores and messages that ours give in the tests above."""
    program = f'#include "twice.h"\nint twice(int a) {{ {body} }}\n'
    found, feedback = ask(program, expected, stock=True, only_stock=True)
    assert float(found) == score
    assert feedback.startswith(words)


def test_a_row_without_grader_files_is_judged_by_all_scripts(ask: Callable[..., tuple[str, str]]) -> None:
    """The `cms_ioi` package finds the submission by the name of a header. It works for a row without headers too."""
    whole = '#include <cstdio>\nint main() { int a; if (std::scanf("%d", &a) == 1) std::printf("%d\\n", 2 * a); }\n'
    assert float(ask(whole, row={**ROW, "grader_files": []}, stock=True)[0]) == 1


def test_stock_scripts_refuse_a_program_of_a_row_without_grader_files(ask: Callable[..., tuple[str, str]]) -> None:
    """A program that does not compile scores nothing there too."""
    row = {**ROW, "grader_files": []}
    assert ask("int main(", row=row, stock=True, only_stock=True)[1].startswith("Compilation error exit code 1\n")


def test_a_checker_without_a_score_is_an_error_with_stock_scripts(ask: Callable[..., tuple[str, str]]) -> None:
    """SandboxError, not a pair of score and feedback."""
    checker = ["checker/checker.cpp", "int main() { return 5; }\n"]
    row = {**ROW, "grader_files": [*ROW["grader_files"], checker]}  # type: ignore[misc]
    with pytest.raises(SandboxError, match="could not be judged"):
        ask(RIGHT, row=row, stock=True, only_stock=True)


COMPILE = b"exit 0\n"


@pytest.mark.parametrize(
    ("run", "answer"),
    [
        (b"echo 0.5; echo half >&2\n", ("0.5\n", "half\n")),
        (b"cat input.txt correct_output.txt graders/twice.h\n", (f"21\n42\n{HEADER}", "")),
        (b"echo MemoryError >&2; exit 1\n", ("0", "Memory limit exceeded")),
        (b"sleep 600\n", ("0", "Time limit exceeded")),
        (b"exit 1\n", ("0", "Unknown error")),
    ],
    ids=["score", "files", "memory", "time", "unknown"],
)
def test_own_scripts(ask: Callable[..., tuple[str, str]], run: bytes, answer: tuple[str, str]) -> None:
    """Exit code and output of the scripts become score and feedback as in the reference."""
    assert ask(RIGHT, pair=(COMPILE, run)) == answer


def test_own_scripts_compile_and_run_the_submission(ask: Callable[..., tuple[str, str]]) -> None:
    """The scripts find the files with the names that the reference documents."""
    build = b"g++ -o program graders/twice.cpp graders/grader.cpp\n"
    run = b"./program < input.txt > output.txt; cmp -s output.txt correct_output.txt"
    run += b" && echo 1 || { echo 0; echo no >&2; }\n"
    assert ask(RIGHT, pair=(build, run)) == ("1\n", "")
    assert ask(RIGHT, "41\n", pair=(build, run)) == ("0\n", "no\n")
    score, feedback = ask(RIGHT.replace(";", ""), pair=(build, run))
    assert (score, feedback.splitlines()[0]) == ("0", "Compilation error exit code 1")


def test_a_missing_script_is_an_error(ask: Callable[..., tuple[str, str]]) -> None:
    """InputError, not a pair of score and feedback."""
    with pytest.raises(InputError, match="must not be empty"):
        ask(RIGHT, pair=(COMPILE, b""))


def test_a_grader_that_does_not_compile_is_an_error(ask: Callable[..., tuple[str, str]]) -> None:
    """SandboxError, not a score of 0 for the submission."""
    files = [["graders/twice.h", HEADER], ["graders/grader.cpp", "int main("]]
    with pytest.raises(SandboxError, match=r"could not be judged: the grader does not compile"):
        ask(RIGHT, row={**ROW, "grader_files": files})


def test_a_url_as_client_is_an_error() -> None:
    """A URL instead of a client is an InputError that names the class to use."""
    with pytest.raises(InputError, match=r"client is of type str.*PistonCluster"):
        asyncio.run(run_submission("http://127.0.0.1:2000", ROW, "", "", ""))  # type: ignore[arg-type]
