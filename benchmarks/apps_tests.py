"""The cost of a trivial APPS test: 50 programs x 20 tests, each test an isolated process, compared with two others.

    python benchmarks/apps_tests.py [--programs 50] [--tests 20] [--isolation full|reduced] [--slots 1] [--cold]
                                    [--python PYTHON] [--eval-protocol PYTHON] [--program sum|fails|call]

The peers do what graders without isolation do: one process for each program, which executes it repeatedly with other
streams (`in-process`), and one process for each test (`process`). They use the same interpreter as ours: a bare one, or
with `--python` one whose installed packages run code at startup, as in many environments. With `--eval-protocol`, an
interpreter with that package, its grader is a third peer: it is in-process too, with all that it does around a test.
With `--program fails` each test ends with an exception. With `--program call` a function is called; `in-process` loads
the program once, and `process` is left out. All run in turn, so the ratios are valid on a busy machine too; the wall
clock is only valid on an idle one. CPU time is that of all boxes, runners, interpreters and tests, and of this process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from figures import Figure, arguments, report

from ioi_eval.apps.execution import AppsExecutor, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.model import Isolation
from ioi_eval.model.apps import AppsProblem, CallTest, StdinTest
from ioi_eval.sandbox.local.sandbox import LocalSandbox

PROGRAMS = {
    "sum": "a, b = map(int, input().split())\nprint(a + b)\n",
    "fails": "a, b = map(int, input().split())\nprint(a + c)\n",
    "call": "from collections import deque\nclass Solution:\n    def add(self, a: int, b: int) -> int:\n"
    "        return sum(deque([a, b]))\n",
}
ROUNDS = 3
BOUND_MS = 1.5
PROGRAMS_PER_SLOT = 8  # programs that are judged at once for each slot, as in `apps score`

IN_PROCESS = """
import io, json, signal, sys
program, tests = json.load(sys.stdin)
out, right, names = sys.stdout, 0, {"__name__": "__main__"}
if "class Solution" in program:
    exec(compile(program, "solution.py", "exec"), names)
    call = names["Solution"]().add
for given, expected in tests:
    signal.alarm(10)
    try:
        if type(given) is list:
            right += call(*given) == expected
        else:
            sys.stdin, sys.stdout = io.StringIO(given), io.StringIO()
            exec(compile(program, "solution.py", "exec"), {"__name__": "__main__"})
            right += sys.stdout.getvalue().split() == expected.split()
    except NameError:
        pass
    signal.alarm(0)
print(right, file=out)
"""

EVAL_PROTOCOL = """
import contextlib, json, logging, os, resource, sys
from eval_protocol.models import Message
from eval_protocol.rewards.apps_coding_reward import evaluate_apps_solution
logging.disable()
out = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for line in sys.stdin:
    program, tests, programs = json.loads(line)
    truth = json.dumps({"inputs": [given for given, _ in tests], "outputs": [expected for _, expected in tests]})
    for _ in range(programs):
        found = evaluate_apps_solution([Message(role="assistant", content=f"```python\\n{program}```")], truth)
        assert found.score == 1.0, found
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(sum(usage.ru_utime + usage.ru_stime for usage in used), file=out, flush=True)
"""


def problem(tests: int, kind: str = "sum") -> AppsProblem:
    """A problem with this number of tests: sums of two numbers."""
    if kind == "call":
        calls = tuple(CallTest(number=n, given=(n, n), expected=2 * n, accepts=(2 * n,)) for n in range(tests))
        return AppsProblem(id="sum", index=0, tests=calls, inputs=tests, outputs=tests, fn_name="add")
    rows = tuple(StdinTest(number=n, given=f"{n} {n}\n", expected=f"{2 * n}\n") for n in range(tests))
    return AppsProblem(id="sum", index=0, tests=rows, inputs=tests, outputs=tests)


def in_process(python: str, kind: str, row: AppsProblem, programs: int) -> None:
    """One process for each program."""
    tests = [(test.given, test.expected) for test in row.tests]
    for _ in range(programs):
        task = json.dumps([PROGRAMS[kind], tests])
        done = subprocess.run([python, "-c", IN_PROCESS], input=task, text=True, check=True, stdout=subprocess.PIPE)
        assert int(done.stdout) == (0 if kind == "fails" else len(tests))


def process_per_test(python: str, kind: str, row: AppsProblem, programs: int) -> None:
    """One process for each test."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "solution.py"
        path.write_text(PROGRAMS[kind])
        for _ in range(programs):
            for test in row.tests:
                assert isinstance(test, StdinTest)
                done = subprocess.run([python, str(path)], input=test.stdin, check=False, capture_output=True)
                assert done.stdout.split() == ([] if kind == "fails" else test.answer.split())


class EvalProtocol:
    """Eval Protocol's grader, in one process that has already imported it."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, "-c", EVAL_PROTOCOL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.cpu_s = 0.0
        self(problem(1), 1)

    def __call__(self, row: AppsProblem, programs: int) -> None:
        """Judge this number of programs."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        tests = [(test.given, test.expected) for test in row.tests]
        self._process.stdin.write(json.dumps([PROGRAMS["sum"], tests, programs]) + "\n")
        self._process.stdin.flush()
        self.cpu_s = float(self._process.stdout.readline())

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


class Ours:
    """The embedded sandbox, warm: the runner is compiled and the interpreter has been inspected."""

    def __init__(self, options: argparse.Namespace, loop: asyncio.Runner, cache: str) -> None:
        self._slots, self._loop, self._kind = options.slots, loop, options.program
        self.sandbox = LocalSandbox(slots=options.slots, strongest=Isolation(options.isolation))
        loop.run(self.sandbox.__aenter__())
        settings = AppsSettings(python=options.python, warm=not options.cold)
        self._executor = AppsExecutor(self.sandbox, artifacts=ArtifactStore(cache), settings=settings)
        self(problem(1, self._kind), 1)
        self.python = loop.run(self._executor.interpreter()).path

    def __call__(self, row: AppsProblem, programs: int) -> None:
        """Judge this number of programs."""
        self._loop.run(self._score(row, programs))

    async def _score(self, row: AppsProblem, programs: int) -> None:
        left = iter(range(programs))

        async def work() -> None:
            for number in left:
                result = await self._executor.score(row, PROGRAMS[self._kind] + "\n" * number)
                assert result.score == (0.0 if self._kind == "fails" else 1.0)

        async with asyncio.TaskGroup() as group:
            for _ in range(PROGRAMS_PER_SLOT * self._slots):
                group.create_task(work())


def cpu_s(peer: EvalProtocol | None) -> float:
    """CPU seconds of this process, of its ended children, and of the grader that is still running."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used) + (peer.cpu_s if peer is not None else 0.0)


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--isolation", choices=["full", "reduced"], default="full")
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--python", default=AppsSettings().python)
    parser.add_argument("--program", choices=sorted(PROGRAMS), default="sum")
    parser.add_argument("--eval-protocol", metavar="PYTHON")
    options = parser.parse_args(arguments())
    row = problem(options.tests, options.program)
    with tempfile.TemporaryDirectory() as cache, asyncio.Runner() as loop:
        ours = Ours(options, loop, cache)
        few = max(1, options.programs // 10)
        kinds: dict[str, tuple[Callable[[AppsProblem, int], None], int, int]] = {
            "ours": (ours, options.programs, options.slots),
            "in-process": (partial(in_process, ours.python, options.program), options.programs, 1),
        }
        if options.program != "call":
            kinds["process"] = (partial(process_per_test, ours.python, options.program), few, 1)
        peer = EvalProtocol(options.eval_protocol) if options.eval_protocol and options.program == "sum" else None
        if peer is not None:
            kinds["eval-protocol"] = (peer, options.programs, 1)
        best = dict.fromkeys(kinds, (float("inf"), float("inf")))
        for _ in range(ROUNDS):
            for name, (run, programs, slots) in kinds.items():
                begun, begun_cpu = time.perf_counter(), cpu_s(peer)
                run(row, programs)
                wall, cpu = time.perf_counter() - begun, cpu_s(peer) - begun_cpu
                count = programs * options.tests
                best[name] = min(best[name], (cpu * 1000 / count, wall * 1000 * slots / count))
        loop.run(ours.sandbox.__aexit__(None, None, None))
        if peer is not None:
            peer.end()
    print(f"{options.programs} programs x {options.tests} tests, {options.slots} slots, the best of {ROUNDS} rounds")
    print(f"isolation of ours: {options.isolation}{', cold' if options.cold else ''}")
    for name, (cpu, wall) in best.items():
        bound = BOUND_MS if name == "ours" and options.program == "sum" else None
        report(
            Figure(name=f"{name}: wall clock a test", value=wall, unit="ms", bound=bound),
            Figure(name=f"{name}: CPU time a test", value=cpu, unit="ms"),
        )
    peers = [name for name in best if name != "ours"]
    report(
        *(Figure(name=f"CPU time: ours / {name}", value=best["ours"][0] / best[name][0], unit="×") for name in peers)
    )


if __name__ == "__main__":
    main()
