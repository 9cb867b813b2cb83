"""The exact rules of Communication: FIFOs by name, and several processes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ioi_eval.model import Verdict
from tests.fidelity.managers import AC, COMMUNICATION, FIFO_IO, RE, TALKS, TLE, WA, WAITS, managers, mismatches

TWO_PROCESSES = replace(COMMUNICATION, processes=2)
OPENS = "int in = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY); argc = in < 0 || out < 0;"


def test_fifos_by_name(bench: Any, problem_from: Any) -> None:
    """The arguments are input and output FIFO, without an index for one process; stdin and stdout are not connected."""
    cases = managers(
        ("talks", f"{TALKS} && echo 1", AC, 1.0),
        ("exits first", "speak $1 $2; echo 1", AC, 1.0),
        ("never opens", "echo 1", AC, 1.0),
    )
    code = (
        f'int main(int argc, char** argv) {{ if (argc != 3) return 3; puts("0"); {OPENS} echo(in, out); return argc; }}'
    )
    assert mismatches(bench, problem_from, code, cases, FIFO_IO) == []


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("int main() {}", WA),
        ("int main() { return 1; }", RE),
        ("int main() { abort(); }", RE),
        ("int main(int, char** argv) { return open(argv[1], O_RDONLY) < 0; }", WA),
        ("int main(int, char** argv) { return open(argv[2], O_WRONLY) > 0; }", None),
    ],
)
def test_program_that_dies_before_it_opens_its_fifos(
    bench: Any, problem_from: Any, code: str, verdict: Verdict | None
) -> None:
    """The manager's `open` returns, and the manager reads the end of file."""
    if verdict is None:  # each waits for the other to open the other FIFO
        cases = managers(("deadlock", f"{WAITS} || echo 0", TLE, 0.0), limit="idle")
    else:
        cases = managers(("refuses", f"{WAITS} || echo 0", verdict, 0.0))
    assert mismatches(bench, problem_from, code, cases, FIFO_IO) == []


def test_program_that_opens_one_fifo_and_waits(bench: Any, problem_from: Any) -> None:
    """The manager waits until the other FIFO is opened: the program gets TLE."""
    cases = managers(("waits", f"{WAITS}; echo 1", TLE, 0.0), limit="idle")
    code = "int main(int, char** argv) { open(argv[1], O_RDONLY); sleep(1000); }"
    assert mismatches(bench, problem_from, code, cases, FIFO_IO) == []


BOTH = 'speak $1 $2; exec 6>"$4" 5<"$3"'


def test_several_processes(bench: Any, problem_from: Any) -> None:
    """Each process gets its index and its own FIFOs to the manager."""
    asks = "echo hi >&4; echo hi >&6; read -r first <&3; read -r second <&5"
    cases = managers(("both", f'{BOTH}; {asks}; [ "$first$second" = 01 ] && echo 1', AC, 1.0))
    code = "int main(int argc, char** argv) { read(0, block, 1); puts(argv[1]); return argc != 2; }"
    assert mismatches(bench, problem_from, code, cases, TWO_PROCESSES) == []
    three = managers(
        ("three", '[ "$#" = 6 ] && for i in 1 3 5; do cat < ${!i}; done | cmp - <(echo 012) && echo 1', AC, 1.0)
    )
    code = "int main(int argc, char** argv) { int out = open(argv[2], O_WRONLY); write(out, argv[3], 1); "
    code += "if (argv[3][0] == '2') write(out, \"\\n\", 1); return argc != 4; }"
    assert mismatches(bench, problem_from, code, three, replace(FIFO_IO, processes=3)) == []


@pytest.mark.parametrize(("how", "verdict"), [("return 1;", RE), ("abort();", RE), ("return 0;", WA)])
def test_one_of_two_processes_ends_early(bench: Any, problem_from: Any, how: str, verdict: Verdict) -> None:
    """If one process fails, the program fails. If it ends with exit code 0, the manager decides."""
    cases = managers(
        ("refuses", f"{BOTH}; read -r word <&5 || echo 0", verdict, 0.0),
        (
            "does not care",
            f"{BOTH}; read -r word <&5; echo 1",
            verdict if verdict is RE else AC,
            0.0 if verdict is RE else 1.0,
        ),
    )
    code = f"int main(int, char** argv) {{ if (argv[1][0] == '1') {{ {how} }} echo(0, 1); }}"
    assert mismatches(bench, problem_from, code, cases, TWO_PROCESSES) == []


def test_time_of_all_processes_counts(bench: Any, problem_from: Any) -> None:
    """Two processes that use 0.7 of the time limit each are over it together."""
    cases = managers(("sum", f"{BOTH}; echo go >&4; echo go >&6; cat <&3; cat <&5; echo 1", TLE, 0.0), limit="cpu")
    code = "#include <time.h>\nint main() { read(0, block, 1); while (clock() < 0.14 * CLOCKS_PER_SEC) {} }"
    assert mismatches(bench, problem_from, code, cases, TWO_PROCESSES, time_limit_s=0.2) == []


def test_memory_of_each_process_counts(bench: Any, problem_from: Any) -> None:
    """Two processes that use 0.7 of the memory limit each are both below it."""
    cases = managers(("each", f"{BOTH}; read -r a <&3; read -r b <&5; echo go >&4; echo go >&6; echo 1", AC, 1.0))
    code = 'int main() { touch(45); write(1, "\\n", 1); read(0, block, 1); }'
    assert mismatches(bench, problem_from, code, cases, TWO_PROCESSES) == []
