"""Multi-pass tasks of Kattis: a validator that accepts an output can request another pass with a new input."""

from __future__ import annotations

from typing import Any

from ioi_eval.model import Batch, CheckerProtocol, JudgeProgram, Language, SourceFile, Verdict

VALIDATOR = b"""#!/bin/sh
read -r word _ < input.txt
read -r said
count=$(($(cat feedback/count 2>/dev/null || echo 0) + 1))
echo "$count" > feedback/count
echo "pass $count: $said" >> feedback/judgemessage.txt
rm -f feedback/score.txt
case "$word$count" in
  half1|latehalf1) echo 0.5 > feedback/score.txt ;;
  zero1|latezero1) echo 0 > feedback/score.txt ;;
esac
case "$word$count" in
  forever*) echo "forever again" > feedback/nextpass.in; exit 42 ;;
  pipe*) mkfifo feedback/nextpass.in; exit 42 ;;
  liar*) echo again > feedback/nextpass.in; exit 43 ;;
  wrong2|latewrong2) exit 43 ;;
  *3) [ "$said" = "third 3" ] && exit 42; exit 43 ;;
  *2) echo "third 2" > feedback/nextpass.in; exit 42 ;;
  *) echo "$word second" > feedback/nextpass.in; exit 42 ;;
esac
"""
PROGRAM = """
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
int main() {
  std::string word, rest;
  std::cin >> word >> rest;
  if (word.rfind("late", 0) == 0 && rest == "first") while (std::clock() < 0.16 * CLOCKS_PER_SEC) {}
  if (word == "crash" && rest == "second") std::abort();
  if (word == "loop" && rest == "second") for (volatile int i = 0;; i = i + 1) {}
  if (word == "third") rest = "3";
  std::cout << word << " " << rest << std::endl;
}
"""
EXPECTED = {
    "right": Verdict.AC,
    "half": Verdict.AC,
    "zero": Verdict.AC,
    "wrong": Verdict.WA,
    "crash": Verdict.RE,
    "loop": Verdict.TLE,
    "forever": Verdict.JE,
    "liar": Verdict.JE,
    "pipe": Verdict.JE,
}
CHECKER = JudgeProgram(source=SourceFile(path="checker/checker.sh", content=VALIDATOR), protocol=CheckerProtocol.KATTIS)
THREE_PASSES = Batch(check=CHECKER, passes=3)


def test_passes(bench: Any, problem_from: Any) -> None:
    """The last pass decides, whatever score an earlier pass had. The validator's files are kept between passes.

    A request for too many passes, or for a pass after a rejection, is JE.
    """
    problem = problem_from(
        {word: (f"{word} first\n".encode(), b"") for word in EXPECTED},
        method=THREE_PASSES,
    )
    outcomes = bench.outcomes(problem, PROGRAM)
    assert {name: outcome.verdict for name, outcome in outcomes.items()} == EXPECTED
    assert outcomes["right"].message.split("\n") == ["pass 1: right first", "pass 2: right second", "pass 3: third 3"]
    assert "more than 3 passes" in outcomes["forever"].message
    assert "of an output that it rejects" in outcomes["liar"].message
    assert "nextpass.in is not a file" in outcomes["pipe"].message


LATE = {"late": 1.0, "latehalf": 1.0, "latezero": 1.0, "latewrong": 0.0}


def test_after_a_late_pass_the_last_pass_decides_the_in_time_score(bench: Any, problem_from: Any) -> None:
    """Otherwise a program with bad luck could exceed the limit on purpose, to be run again from the first pass."""
    problem = problem_from(
        {word: (f"{word} first\n".encode(), b"") for word in LATE},
        method=THREE_PASSES,
        time_limit_s=0.1,
    )
    outcomes = bench.outcomes(problem, PROGRAM)
    assert {name: outcome.verdict for name, outcome in outcomes.items()} == dict.fromkeys(LATE, Verdict.TLE)
    assert {name: outcome.in_time_score for name, outcome in outcomes.items()} == LATE
    assert not outcomes["latewrong"].reran


def test_passes_in_python(full_bench: Any, problem_from: Any) -> None:
    """A Python program runs in a new process for each pass."""
    problem = problem_from(
        {"right": (b"right first\n", b"")},
        method=THREE_PASSES,
    )
    code = "word, rest = input().split()\nprint(word, 3 if word == 'third' else rest)\n"
    assert full_bench.result(problem, code, Language.PYTHON).verdict is Verdict.AC


def test_passes_cannot_communicate(bench: Any, problem_from: Any) -> None:
    """A pass cannot encode data in the kernel's counters or in the time of its end: pipes and sleep are refused."""
    problem = problem_from(
        {"right": (b"right first\n", b"")},
        method=THREE_PASSES,
    )
    begins = "int main() {\n  int ends[2];\n  if (pipe(ends) == 0) std::abort();\n  usleep(1000);\n"
    code = "#include <unistd.h>\n" + PROGRAM.replace("int main() {\n", begins)
    outcome = bench.outcomes(problem, code)["right"]
    assert outcome.verdict is Verdict.AC
    assert set(outcome.attempted) == {"clock_nanosleep", "pipe2"}
