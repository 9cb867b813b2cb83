"""TwoSteps tasks: one program runs twice; the second run gets only the data that the first sends through a FIFO."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval.model import Language, SourceFile, Submission, TwoSteps, Verdict

MANAGER = b"""
#include <fstream>
#include <iostream>
#include <string>
std::string encode(std::string); std::string decode(std::string);
int main(int, char** argv) {
  std::string text;
  if (argv[1][0] == '0') {
    std::getline(std::cin, text);
    text = encode(text);
    std::ofstream(argv[2]) << text << std::endl;
  } else {
    std::ifstream in(argv[2]);
    std::getline(in, text);
    std::cout << decode(text) << std::endl;
  }
}
"""
ENCODE = """
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
std::string kept;
void spend(int ms) {  // from here on: the clock also has what the process spent before it became this program
  std::clock_t end = std::clock() + ms * (CLOCKS_PER_SEC / 1000);
  while (std::clock() < end) {}
}
std::string encode(std::string text) {
  kept = text;
  if (text == "crash") std::raise(SIGSEGV);
  if (text == "leave") std::exit(0);
  if (text == "fail") std::exit(3);
  if (text == "loop") for (volatile int i = 0;; i = i + 1) {}
  if (text == "forget") return "nothing";
  if (text == "spend") spend(250);
  return std::string(text.rbegin(), text.rend());
}
"""
DECODE = """
#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>
extern std::string kept;
void spend(int ms);
std::string decode(std::string text) {
  std::string back(text.rbegin(), text.rend());
  if (back == "die") std::abort();
  if (back == "spend") spend(250);
  if (back == "grow") { std::vector<char> grown(200 << 20, 1); asm volatile("" : : "r"(grown.data()) : "memory"); }
  if (back == "stdin") { char c; return read(0, &c, 1) == 0 ? back : "input"; }
  if (back == "answer") return open("/fifo/fifo", O_WRONLY | O_NONBLOCK) < 0 && errno == EACCES ? back : "open";
  return text == "nothing" ? kept : back;
}
"""
EXPECTED = {
    "hello": Verdict.AC,
    "spend": Verdict.AC,  # each run has its own time limit
    "stdin": Verdict.AC,  # the second run does not get the input
    "answer": Verdict.AC,  # the second run cannot write to the FIFO
    "forget": Verdict.WA,  # the first run's memory is lost
    "crash": Verdict.RE,
    "fail": Verdict.RE,
    "die": Verdict.RE,
    "leave": Verdict.TLE,  # the second run waits until the FIFO is opened
    "loop": Verdict.TLE,
    "grow": Verdict.MLE,
}


def submission(problem: Any, files: dict[str, str], language: Language) -> Submission:
    """A submission with these files."""
    sources = tuple(SourceFile(path=path, content=text.encode()) for path, text in files.items())
    return Submission(id="two", problem=problem.key, code="…", sources=sources, language=language)


def test_all_endings_of_the_two_runs(full_bench: Any, problem_from: Any) -> None:
    """Each way in which the two runs can end gets the expected verdict."""
    problem = problem_from(
        {word: (word.encode(), word.encode()) for word in EXPECTED},
        method=TwoSteps(),
        linked=(SourceFile(path="graders/manager.cpp", content=MANAGER),),
        memory_limit_bytes=32 << 20,  # reached before the time limit
    )
    judged = full_bench.score(problem, submission(problem, {"first.cpp": ENCODE, "second.cpp": DECODE}, Language.CPP))
    assert judged.compile.verdict is None, judged.compile.message
    assert {subtask.subtask: subtask.verdict for subtask in judged.subtasks} == EXPECTED
    spent = next(test for subtask in judged.subtasks for test in subtask.tests if test.test == "spend")
    assert spent.cpu_ms is not None
    assert 200 <= spent.cpu_ms < 480  # the longer run, not the sum


@pytest.mark.parametrize("isolation", ["full", "reduced"])
def test_two_steps_in_each_isolation(benches: Any, problem_from: Any, isolation: str) -> None:
    """The manager finds the FIFO at both levels. Two tests do not share a FIFO."""
    from ioi_eval.model import Isolation

    problem = problem_from(
        {word: (word.encode(), word.encode()) for word in ("one", "two")},
        method=TwoSteps(),
        linked=(SourceFile(path="graders/manager.cpp", content=MANAGER),),
    )
    bench = benches(Isolation(isolation))
    judged = bench.score(problem, submission(problem, {"first.cpp": ENCODE, "second.cpp": DECODE}, Language.CPP))
    assert judged.verdict is Verdict.AC
    assert judged.isolation == isolation


def test_two_steps_in_python(full_bench: Any, problem_from: Any) -> None:
    """A manager in Python is started, and imports both files."""
    manager = b"""import sys
import first, second
if sys.argv[1] == "0":
    print(first.encode(input()), file=open(sys.argv[2], "w"))
else:
    print(second.decode(open(sys.argv[2]).read().strip()))
"""
    problem = problem_from(
        {"abc": (b"abc\n", b"abc\n")},
        method=TwoSteps(),
        time_limit_s=2.0,
        linked=(SourceFile(path="graders/manager.py", content=manager),),
    )
    files = {"first.py": "def encode(t):\n    return t[::-1]\n", "second.py": "def decode(t):\n    return t[::-1]\n"}
    assert full_bench.score(problem, submission(problem, files, Language.PYTHON)).verdict is Verdict.AC
