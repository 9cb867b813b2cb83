"""Submissions that try to get at secrets through our own pair of scripts."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import pytest

from ioi_eval.model import ProcessIO, SourceFile, TestCase
from tests.jobs.own_pair import Boxes, judged, talking, with_checker

OF_THE_MACHINE = (  # a system file, a program that is not part of a compiler, and files of two installed packages
    *("/usr/lib/os-release", "/usr/bin/env"),
    *("/usr/share/common-licenses/GPL-3", os.__file__),
)
INCLUDED = ("../input.txt", "grader.cpp", "../checker/checker.cpp", *OF_THE_MACHINE)
TAKEN = (
    *("correct_output.txt", "../correct_output.txt", "/box/correct_output.txt", "/box/compile", "/proc/self/environ"),
    *OF_THE_MACHINE,
)


def test_the_compiler_cannot_read_tests_or_judge_programs(boxes: Boxes) -> None:
    """These files are not in the box while the submission is compiled. Nor are other files of the machine."""
    problem = dataclasses.replace(
        with_checker('int main() { puts("1"); }'),
        linked=(SourceFile(path="graders/grader.cpp", content=b"int main() {}"),),
    )
    asked = "".join(f'#if __has_include("{path}")\n#error found {path}\n#endif\n' for path in INCLUDED)
    assert judged(boxes, problem, asked)[0] == "AC"
    taken = "".join(f'__asm__(".incbin \\"{path}\\"");\n' for path in TAKEN)
    verdict, _, message = judged(boxes, problem, taken)
    assert verdict == "CE"
    assert set(re.findall("Error: file not found: (.+)", message)) == set(TAKEN)


ATTACK = """#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <unistd.h>
// Looks at every file that it can open anywhere near and in every process, and writes to whatever can be written.
static std::string found;
static bool only_processes = false;
static void visit(const std::string &path, int depth) {
    DIR *directory = opendir(path.c_str());
    if (!directory) {
        int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK);
        char text[64] = "";
        if (fd >= 0 && read(fd, text, 63) >= 0 && strstr(text, "42")) found = text;
        if (fd >= 0) close(fd);
        fd = open(path.c_str(), O_WRONLY | O_NONBLOCK);
        if (fd >= 0 && write(fd, "1\\n", 2) < 0) {}
        if (fd >= 0) close(fd);
        return;
    }
    while (dirent *entry = readdir(directory))
        if (entry->d_name[0] != '.' || entry->d_name[1] == 'j')
            if (depth > 0) visit(path + "/" + entry->d_name, depth - 1);
    closedir(directory);
}
static void everywhere() {
    for (const char *start : {".", "..", "../..", "/box", "/tmp"}) visit(start, 3);
    for (int pid = 1; pid < 200; pid++) {
        if (pid == getpid()) continue;
        std::string process = "/proc/" + std::to_string(pid);
        visit(process + "/fd", 1);
        visit(process + "/environ", 0);
        visit(process + "/cwd", 2);
        visit(process + "/root/box", 2);
    }
}
"""

ATTACKS = {
    "takes what it finds": "int main() { everywhere(); puts(found.c_str()); }",
    "leaves a child behind": """int main() {
        if (fork() == 0) {
            setsid(); signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN);
            for (int i = 0; i < 100; i++) { everywhere(); usleep(10000); }
        }
        puts("0");
    }""",
    "ignores SIGTERM": "int main() { signal(SIGTERM, SIG_IGN); signal(SIGXCPU, SIG_IGN); for (;;) everywhere(); }",
    "is slow on the wall clock only": 'int main() { sleep(1); puts("41"); }',
}


def test_the_files_of_the_attacks_exist(boxes: Boxes) -> None:
    """Otherwise the attacks would show nothing."""
    assert boxes.target.name == "local"
    missing = {path for path in OF_THE_MACHINE if not Path(path).is_file()}
    assert missing <= {"/usr/share/common-licenses/GPL-3"}, "only Debian and its derivatives have this one"


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_get_no_point(boxes: Boxes, attack: str) -> None:
    """Neither the program nor its leftover processes can reach the answer, the checker or the channel of the score."""
    checker = """#include <unistd.h>
    int main(int, char **argv) {
        usleep(300000);
        int right = 0, said = 0;
        FILE *answer = fopen(argv[2], "r"), *output = fopen(argv[3], "r");
        if (fscanf(answer, "%d", &right) != 1 || right != 42) return 1;
        puts(fscanf(output, "%d", &said) == 1 && said == right ? "1" : "0");
    }"""
    verdict, score, message = judged(boxes, with_checker(checker), ATTACK + ATTACKS[attack])
    assert (verdict in ("WA", "TLE", "RE", "SV"), score) == (True, 0.0), (verdict, message)


def test_a_program_cannot_read_a_manager_s_input_or_memory(boxes: Boxes) -> None:
    """The process runs at the same time as the manager."""
    problem = talking(1, ProcessIO.STD_IO, result='sum == 42 ? "1" : "0"')
    case = TestCase(name="t", input=b"7 42\n", answer=None)
    code = ATTACK + 'int answer(int, int) { everywhere(); return atoi(strstr(found.c_str(), "42") ? "42" : "0"); }'
    assert judged(boxes, problem, code, case)[:2] == ("WA", 0.0)
