"""Interactive tasks: an interactor is connected to stdin and stdout of the program; either of the two may end first.

The interactor is a script that executes the commands in the test's input. Its first word tells the program what to do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.model import (
    CheckerProtocol,
    Interactive,
    Isolation,
    JudgeProgram,
    Problem,
    SourceFile,
    StepRounding,
    TestOutcome,
    Verdict,
)

PROGRAM = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <unistd.h>
int main() {
  char word[100];
  if (std::scanf("%99s", word) != 1) return 3;
  if (!std::strcmp(word, "add")) {
    for (int a, b; std::scanf("%d %d", &a, &b) == 2;) {
      std::printf("%d\\n", a + b);
      std::fflush(stdout);
    }
  }
  if (!std::strcmp(word, "crash")) return 1;
  if (!std::strcmp(word, "segv")) raise(SIGSEGV);
  if (!std::strcmp(word, "loop")) for (volatile int i = 0;; i = i + 1) {}
  if (!std::strcmp(word, "wait")) for (;;) sleep(1);
  if (!std::strcmp(word, "late")) {
    while (std::getchar() != EOF) {}
    return 1;
  }
  if (!std::strcmp(word, "flood")) for (int i = 0; i < 30000; i++) std::puts("0123456789");
  return 0;
}
"""
INTERACTOR = SourceFile(path="interactor/interactor.sh", content=b"#!/bin/bash\n. ./input.txt\n")
AC, PA, WA, RE, TLE, JE = Verdict.AC, Verdict.PA, Verdict.WA, Verdict.RE, Verdict.TLE, Verdict.JE
Cases = dict[str, tuple[str, Verdict, float | None]]
"""By name: the interactor's commands, and the expected verdict and score."""

KATTIS: Cases = {
    "right": ("echo add; echo 2 3; read x; [[ $x == 5 ]] && exit 42; exit 43", AC, 1.0),
    "many questions": ("echo add; for i in {1..300}; do echo $i $i; read x; done; [[ $x == 600 ]] && exit 42", AC, 1.0),
    "wrong": ("echo add; echo 2 3; read x; [[ $x == 6 ]] && exit 42; exit 43", WA, 0.0),
    "score": ("echo add; echo 0.25 > $3/score.txt; exit 42", PA, 0.25),
    "crashes": ("echo crash; read x; exit 43", RE, 0.0),
    "crashes, though accepted": ("echo crash; read x; exit 42", RE, 0.0),
    "dies of a signal": ("echo segv; read x; exit 43", RE, 0.0),
    "gets no word": ("exec 1>&-; cat > /dev/null; exit 42", RE, 0.0),
    "fails after it was rejected": ("echo late; exit 43", WA, 0.0),
    "fails after it was accepted": ("echo late; exit 42", RE, 0.0),
    "loops": ("echo loop; read x; exit 43", TLE, 0.0),
    "loops after it was rejected": ("echo loop; exit 43", WA, 0.0),
    "loops after it was accepted": ("echo loop; exit 42", TLE, 0.0),
    "waits": ("echo wait; read x; exit 43", TLE, 0.0),
    "waits after it was rejected": ("echo wait; exit 43", WA, 0.0),
    "both wait": ("echo add; read x; exit 42", TLE, 0.0),
    "ends early": ("echo early; cat > /dev/null; exit 42", AC, 1.0),
    "ends before much is said": ("echo early; read x; head -c 1000000 /dev/zero; exit 42", AC, 1.0),
    "speaks on after it was accepted": ("echo flood; read x; exit 42", AC, 1.0),
    "speaks on after it was rejected": ("echo flood; read x; exit 43", WA, 0.0),
    "answer": ("[[ $(< $2) == secret ]] && echo early && cat > /dev/null && exit 42", AC, 1.0),
    "flags": ("[[ $4 == one && $5 == two && $# == 5 ]] && echo early && exit 42", AC, 1.0),
    "interactor fails": ("echo early; cat > /dev/null; exit 1", JE, None),
    "interactor dies": ("echo early; cat > /dev/null; kill -SEGV $$", JE, None),
    "interactor gives no score": ("echo early; cat > /dev/null; echo much > $3/score.txt; exit 42", JE, None),
}
TESTLIB: Cases = {
    "right": ("echo add; echo 2 3; read x; echo $x > $2; exit 0", AC, 1.0),
    "checker refuses": ("echo add; echo 2 4; read x; echo $x > $2; exit 0", WA, 0.0),
    "nothing was written": ("echo early; cat > /dev/null; exit 0", WA, 0.0),
    "rejected": ("echo add; echo 2 3; read x; echo $x > $2; exit 1", WA, 0.0),
    "presentation": ("echo early; exit 2", WA, 0.0),
    "points": ("echo early; cat > /dev/null; echo points 0.5 half >&2; exit 7", PA, 0.5),
    "interactor fails": ("echo early; cat > /dev/null; exit 3", JE, None),
    "crashes": ("echo crash; read x; exit 1", RE, 0.0),
    "answer": ("[[ $(< $3) == secret ]] && echo 5 > $2 && echo early && exit 0", AC, 1.0),
}
CHECKER = SourceFile(path="checker/checker.sh", content=b'#!/bin/bash\n[[ $(< "$2") == 5 ]] && exit 0\nexit 1\n')


def interactive(protocol: CheckerProtocol, args: tuple[str, ...] = ()) -> Interactive:
    """The method of an Interactive task whose interactor decides."""
    return Interactive(manager=JudgeProgram(source=INTERACTOR, protocol=protocol, args=args))


def task(problem_from: Any, cases: Cases, method: Interactive, **fields: Any) -> Problem:
    """An Interactive problem with a test for each case."""
    tests = {name: (does.encode(), b"secret\n") for name, (does, _, _) in cases.items()}
    problem: Problem = problem_from(tests, method=method, **fields)
    return problem


def wrong(cases: Cases, outcomes: dict[str, TestOutcome]) -> list[str]:
    """Descriptions of the cases with another outcome than expected."""
    return [
        f"{name}: {outcomes[name].verdict} {outcomes[name].score} {outcomes[name].message!r}, not {verdict} {score}"
        for name, (_, verdict, score) in cases.items()
        if (outcomes[name].verdict, outcomes[name].score) != (verdict, score)
    ]


def test_kattis_interactors(bench: Any, problem_from: Any) -> None:
    """Exit code 42 accepts if the program ends without failure; 43 rejects, whatever the program does after that."""
    problem = task(problem_from, KATTIS, interactive(CheckerProtocol.KATTIS, args=("one",)))
    problem = replace(
        problem, tests={name: replace(test, checker_args=("two",)) for name, test in problem.tests.items()}
    )
    outcomes = bench.outcomes(problem, PROGRAM)
    assert wrong(KATTIS, outcomes) == []
    assert {outcomes[name].failed_program for name in KATTIS if name.startswith("interactor")} == {"manager"}


def rounding_of(name: str) -> StepRounding:
    """The rounding that the name of a case ends with; down if it names none."""
    return StepRounding(name.partition(", ")[2] or "down")


def test_scores_are_scaled_and_rounded(full_bench: Any, problem_from: Any) -> None:
    """The score is points / full points, rounded to a step before the verdict is chosen. If scores do not count,
    an accepted output gets full marks.
    """
    scores = {
        "part": ("7.5", 15, 0, PA, 0.5),
        "full": ("15", 15, 0, AC, 1.0),
        "too much": ("15.1", 15, 0, JE, None),
        "step": ("0.999", 1, 30, PA, 29 / 30),
        "nothing": ("0.03", 1, 30, WA, 0.0),
        "all": ("1.0", 1, 30, AC, 1.0),
        "steps of another": ("29", 100, 100, PA, 0.29),
        "nudged": ("9.333334262e-01", 1, 30, PA, 28 / 30),
        "just below a step": ("7.333333333e+02", 1000, 30, PA, 21 / 30),
        "just below a step, leniently": ("7.333333333e+02", 1000, 30, PA, 22 / 30),
        "below a step, leniently": ("7.333333e+02", 1000, 30, PA, 21 / 30),
        "above a half, nearest": ("184", 1000, 30, PA, 6 / 30),
        "a half, nearest": ("750", 1000, 30, PA, 23 / 30),
        "a half, nearest-even": ("750", 1000, 30, PA, 22 / 30),
        "below a half, nearest": ("0.49999999999999994", 1, 1, WA, 0.0),
        "not counted": ("0", 0, 0, AC, 1.0),
        "not even a score": ("x", 0, 0, AC, 1.0),
    }
    cases: Cases = {
        name: (f"echo early; echo {text} > $3/score.txt; exit 42", verdict, score)
        for name, (text, _, _, verdict, score) in scores.items()
    }
    problem = task(problem_from, cases, interactive(CheckerProtocol.KATTIS))
    tests = {
        name: replace(problem.tests[name], full_score=full, score_steps=steps, step_rounding=rounding_of(name))
        for name, (_, full, steps, _, _) in scores.items()
    }
    assert wrong(cases, full_bench.outcomes(replace(problem, tests=tests), PROGRAM)) == []


def test_a_failure_after_a_rejection_does_not_count(full_bench: Any, problem_from: Any) -> None:
    """The program crashes because the interactor has ended, often at the same moment. A crash before it counts."""
    cases: Cases = {f"rejected {number}": ("read x; exit 43", WA, 0.0) for number in range(40)}
    cases |= {f"crashed {number}": ("read x; echo crash; read x; exit 43", RE, 0.0) for number in range(5)}
    cases |= {f"accepted {number}": ("read x; exit 42", RE, 0.0) for number in range(5)}
    problem = task(problem_from, cases, interactive(CheckerProtocol.KATTIS))
    program = '#include <cstdio>\n#include <cstdlib>\nint main() { puts("1"); fflush(stdout); getchar(); abort(); }'
    assert wrong(cases, full_bench.outcomes(problem, program)) == []


def test_an_interactor_that_opens_its_stdin_again(full_bench: Any, problem_from: Any) -> None:
    """That it closes what it opened by name does not count as its end: a failure of the program's own is RE."""
    again = "read x < /dev/stdin; echo {}; read x || exit {}"
    cases: Cases = {
        f"{how} {code}": (again.format(how, code), RE, 0.0) for how in ("crash", "segv") for code in (43, 42, 1)
    }
    cases |= {f"rejected {number}": ("read x < /dev/stdin; exit 43", WA, 0.0) for number in range(5)}
    cases |= {"closes both": ("read x; exec 0<&-; exec 1>&-; exit 43", WA, 0.0)}
    problem = task(problem_from, cases, interactive(CheckerProtocol.KATTIS))
    program = PROGRAM.replace("char word[100];", 'char word[100]; std::puts("1"); std::fflush(stdout);')
    assert wrong(cases, full_bench.outcomes(problem, program)) == []


def test_whole_scores_stand_for_points_of_a_table(full_bench: Any, problem_from: Any) -> None:
    """The points are those of the first entry that is not below the score. Without one, or without a score, their
    number is unknown. A rejected output has none.
    """
    accepts = "echo early; echo {} > $3/score.txt; exit 42"
    cases: Cases = {
        "least": (accepts.format("0"), AC, 1.0),
        "end of an entry": (accepts.format("3.0"), AC, 1.0),
        "next": (accepts.format("4"), PA, 0.4),
        "last": (accepts.format("9"), WA, 0.0),
        "over it": (accepts.format("10"), JE, None),
        "below 0": (accepts.format("-1"), JE, None),
        "between": (accepts.format("4.5"), JE, None),
        "no score": ("echo early; exit 42", JE, None),
        "a part": ("echo early; echo 0.5 > $3/score_multiplier.txt; exit 42", JE, None),
        "rejected": ("echo early; echo 0 > $3/score.txt; exit 43", WA, 0.0),
    }
    problem = task(problem_from, cases, interactive(CheckerProtocol.KATTIS))
    table = ((3, 10), (5, 4), (9, 0))
    tests = {name: replace(case, full_score=10, score_table=table) for name, case in problem.tests.items()}
    assert wrong(cases, full_bench.outcomes(replace(problem, tests=tests), PROGRAM)) == []


def test_testlib_interactors(full_bench: Any, problem_from: Any) -> None:
    """If the interactor accepts, the checker judges its output file. Otherwise the interactor's verdict counts."""
    checker = JudgeProgram(source=CHECKER, protocol=CheckerProtocol.TESTLIB)
    problem = task(problem_from, TESTLIB, replace(interactive(CheckerProtocol.TESTLIB), check=checker))
    assert wrong(TESTLIB, full_bench.outcomes(problem, PROGRAM)) == []


def test_a_grader_may_move_the_interactors_descriptors(full_bench: Any, problem_from: Any) -> None:
    """A grader moves its stdout to descriptor 100 and replaces 0 and 1: the submission's own output is ignored."""
    library = """
    #include <cstdio>
    #include <fcntl.h>
    #include <unistd.h>
    int answer();
    int main() {
      int hidden = fcntl(1, F_DUPFD, 100);
      if (hidden < 0 || dup2(2, 1) < 0 || close(0) != 0 || open("/dev/null", O_RDONLY) != 0) return 1;
      dprintf(hidden, "%d\\n", answer());
    }
    """
    cases: Cases = {"one": ("read x; [[ $x == 42 ]] && exit 42; exit 43", AC, 1.0)}
    linked = SourceFile(path="graders/grader.cpp", content=library.encode())
    problem = task(problem_from, cases, interactive(CheckerProtocol.KATTIS), linked=(linked,))
    program = '#include <cstdio>\nint answer() { std::puts("forged"); return 42; }'
    assert wrong(cases, full_bench.outcomes(problem, program)) == []


def test_message_is_that_of_the_interactor(full_bench: Any, problem_from: Any) -> None:
    """The message of the test is the text of Kattis's file `judgemessage.txt`."""
    cases: Cases = {"one": ("echo early; echo 7 of 10 > $3/judgemessage.txt; exit 43", WA, 0.0)}
    outcomes = full_bench.outcomes(task(problem_from, cases, interactive(CheckerProtocol.KATTIS)), PROGRAM)
    assert outcomes["one"].message == "7 of 10"


@pytest.mark.parametrize("isolation", [Isolation.FULL, Isolation.REDUCED])
def test_program_cannot_read_what_the_interactor_reads(benches: Any, problem_from: Any, isolation: Isolation) -> None:
    """The program has only the FIFOs. It cannot read the input, the answer or the interactor's directory."""
    spy = """
    #include <cstdio>
    #include <dirent.h>
    #include <fcntl.h>
    #include <string>
    int main() {
      int seen = 0;
      for (const char* name : {"input.txt", "correct_output.txt", "../input.txt", "/proc/1/root/input.txt"})
        seen += open(name, O_RDONLY) >= 0;
      for (int fd = 3; fd < 300; fd++) seen += fcntl(fd, F_GETFD) >= 0;
      DIR* here = opendir(".");
      while (dirent* entry = here ? readdir(here) : nullptr) seen += entry->d_name[0] != '.';
      std::printf("%d\\n", seen);
      std::fflush(stdout);
      std::getchar();
    }
    """
    cases: Cases = {"one": ("read x; [[ $x == 0 ]] && exit 42; exit 43", AC, 1.0)}
    bench = benches(isolation)
    assert wrong(cases, bench.outcomes(task(problem_from, cases, interactive(CheckerProtocol.KATTIS)), spy)) == []
