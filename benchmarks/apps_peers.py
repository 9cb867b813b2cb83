"""The cost of a test of a Python program with us, and with another grader on the same programs and tests.

    python benchmarks/apps_peers.py hendrycks|livecodebench CHECKOUT --python PYTHON [--rows DIR] [--programs 40]
                                    [--tests 20] [--isolation full|reduced]

CHECKOUT is a checkout of the grader's repository. PYTHON is an interpreter with its packages, which runs the programs
in both graders and must be visible in boxes. DIR has rows (`apps.jsonl`) and programs for them (`generations.jsonl`).
Programs whose recorded result is a timeout are left out: a second of waiting would hide the cost of a test. The tests
of a row are repeated until there are at least `--tests`: a row of APPS has 21 on average, these rows have 1 to 8.
Without DIR the programs are trivial: sums of two numbers, which are read from standard input or are a function's
arguments.

We judge by our own rules, and by those of the other grader (`--compat`), whose results must be the same. All run in
turn, one program at a time or with one slot. CPU time is that of all processes. Each figure is the best of three
rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from apps_tests import PROGRAMS as TRIVIAL
from apps_tests import PROGRAMS_PER_SLOT
from figures import Figure, arguments, report
from peers import Peer, own_cpu_s

from ioi_eval.apps.execution import AppsExecutor, AppsResult, AppsSettings
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.compat import grader_named
from ioi_eval.model import Isolation
from ioi_eval.problems.apps import apps_problem
from ioi_eval.problems.row import Row
from ioi_eval.sandbox.local.sandbox import LocalSandbox

ROUNDS = 3
CALLS_BOUND, MIX_BOUND_MS = 2.0, 2.2
CALLS, STDIN, ALL = "calls", "stdin", "all"
OURS, ITS_RULES, A_PROCESS = "ours", "ours by its rules", "hendrycks' process"

Codes = list[list[Any]]
"""For each program the codes of the other grader, in the order of the tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A program, and its tests.

    Args:
        row: the columns `inputs`, `outputs` and `fn_name` of APPS.
        code: the program.
        own: the number of tests, from the first one on, that are not repetitions.
    """

    row: dict[str, Any]
    code: str
    own: int

    def task_for(self, grader: str) -> tuple[dict[str, Any], str]:
        """The task for another grader. LiveCodeBench has the arguments of a call as lines of JSON."""
        if grader != "livecodebench" or self.row["fn_name"] is None:
            return self.row, self.code
        inputs = ["\n".join(map(json.dumps, call)) for call in self.row["inputs"]]
        answers = [each[0] if isinstance(each, list) and len(each) == 1 else each for each in self.row["outputs"]]
        return {**self.row, "inputs": inputs, "outputs": list(map(json.dumps, answers))}, self.code


def trivial_cases(programs: int, tests: int) -> dict[str, list[Case]]:
    """Sums of two numbers."""
    calls = {"fn_name": "add", "inputs": [[n, n] for n in range(tests)], "outputs": [2 * n for n in range(tests)]}
    lines = {
        "fn_name": None,
        "inputs": [f"{n} {n}\n" for n in range(tests)],
        "outputs": [f"{2 * n}\n" for n in range(tests)],
    }
    return {
        kind: [Case(row=row, code=code + "\n" * number, own=tests) for number in range(programs)]
        for kind, row, code in ((CALLS, calls, TRIVIAL["call"]), (STDIN, lines, TRIVIAL["sum"]))
    }


def recorded_cases(directory: Path, tests: int) -> dict[str, list[Case]]:
    """The programs in a directory that were not late."""
    rows, own = {}, {}
    for line in (directory / "apps.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        input_output = json.loads(row["input_output"])
        name = row["problem_id"]
        own[name] = len(input_output["inputs"])
        times = -(-tests // own[name])
        rows[name] = {
            "fn_name": input_output.get("fn_name"),
            "inputs": input_output["inputs"] * times,
            "outputs": input_output["outputs"] * times,
        }
    cases: dict[str, list[Case]] = {CALLS: [], STDIN: []}
    for line in (directory / "generations.jsonl").open(encoding="utf-8"):
        program = json.loads(line)
        if program["recorded_error"] != "timeoutexception":
            name = program["problem_id"]
            kind = STDIN if rows[name]["fn_name"] is None else CALLS
            cases[kind].append(Case(row=rows[name], code=program["code"], own=own[name]))
    return cases


class Ours:
    """The embedded sandbox with one slot, warm: the runner is compiled and the interpreter has been inspected."""

    def __init__(self, options: argparse.Namespace, loop: asyncio.Runner, cache: str) -> None:
        self._loop = loop
        self._sandbox = LocalSandbox(slots=1, strongest=Isolation(options.isolation))
        loop.run(self._sandbox.__aenter__())
        compat = grader_named(options.grader)
        settings = {
            OURS: AppsSettings(python=options.python, fail_fast=compat.stops, time_limit_s=compat.per_test_s),
            ITS_RULES: AppsSettings(python=options.python, compat=compat),
        }
        store = ArtifactStore(cache)
        self._executors = {
            name: AppsExecutor(self._sandbox, artifacts=store, settings=each) for name, each in settings.items()
        }

    def judge(self, rules: str, cases: Sequence[Case]) -> Codes:
        """Judge programs. Returns the codes of the other grader's rules; none by our own."""
        results = self._loop.run(self._score(self._executors[rules], cases))
        return [list(result.graded.codes) if result.graded is not None else [] for result in results]

    async def _score(self, executor: AppsExecutor, cases: Sequence[Case]) -> list[AppsResult]:
        free = asyncio.Semaphore(PROGRAMS_PER_SLOT)

        async def score(number: int, case: Case) -> AppsResult:
            problem = apps_problem(Row(source="", number=1, values={"input_output": case.row}), number)
            async with free:
                result = await executor.score(problem, case.code)
            if result.score is None:
                raise SystemExit(f"a program was not judged: {result.message}")
            return result

        return await asyncio.gather(*(score(number, case) for number, case in enumerate(cases)))

    def end(self) -> None:
        """Remove the sandbox."""
        self._loop.run(self._sandbox.__aexit__(None, None, None))


def peers(options: argparse.Namespace) -> dict[str, Peer]:
    """The other grader, in each of its modes."""
    path, python = str(options.checkout.resolve()), options.python
    if options.grader == "hendrycks":
        return {
            A_PROCESS: Peer(python, "hendrycks.py", path),
            "hendrycks' command": Peer(python, "hendrycks.py", path, "--command"),
        }
    return {"LiveCodeBench": Peer(python, "livecodebench.py", path)}


Judge = Callable[[Sequence[Case]], Codes]


def judge_by_peer(peer: Peer, grader: str, cases: Sequence[Case]) -> Codes:
    """Judge programs with another grader."""
    codes: Codes = peer([case.task_for(grader) for case in cases])
    return codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The cost of judging some programs.

    Args:
        tests: the number of tests that the other grader ran.
        cpu_s: the lowest CPU time, in s, by grader.
        differing: the number of programs with other codes from us, under the same rules, on tests that are not
            repetitions. On a repetition, a function that remembers earlier calls may answer differently in a process
            that has run it before.
    """

    tests: int
    cpu_s: dict[str, float]
    differing: int

    def __add__(self, other: Costs) -> Costs:
        """The sum of both, for the graders that both have."""
        return Costs(
            tests=self.tests + other.tests,
            cpu_s={name: cpu_s + other.cpu_s[name] for name, cpu_s in self.cpu_s.items() if name in other.cpu_s},
            differing=self.differing + other.differing,
        )


def measure(judges: Mapping[str, Judge], cpu_s: Callable[[], float], cases: Sequence[Case]) -> Costs:
    """Judge the same programs with all of them in turn.

    Args:
        judges: by name.
        cpu_s: gives the CPU time of all of them until now.
        cases: the programs.
    """
    best = dict.fromkeys(judges, float("inf"))
    codes: dict[str, Codes] = {}
    for _ in range(ROUNDS):
        for name, judge in judges.items():
            before = cpu_s()
            codes[name] = judge(cases)
            best[name] = min(best[name], cpu_s() - before)
    theirs = next(codes[name] for name in judges if name not in (OURS, ITS_RULES))
    differing = sum(
        repr(mine[: case.own]) != repr(their[: case.own])  # `repr`, because 1 is not true
        for case, mine, their in zip(cases, codes.get(ITS_RULES, theirs), theirs, strict=True)
    )
    return Costs(tests=sum(map(len, theirs)), cpu_s=best, differing=differing)


def report_costs(kind: str, costs: Costs, *, is_mix: bool) -> None:
    """Report the costs of a test, and the ratios. `is_mix`: whether all tests of real programs were run."""
    for name, cpu_s in costs.cpu_s.items():
        bound = MIX_BOUND_MS if is_mix and (kind, name) == (ALL, OURS) else None
        value = cpu_s * 1000 / costs.tests
        report(Figure(name=f"{kind}: {name}: CPU time a test", value=value, unit="ms", bound=bound))
    mine = [name for name in (OURS, ITS_RULES) if name in costs.cpu_s]
    for our in mine:
        for name in (each for each in costs.cpu_s if each not in (OURS, ITS_RULES)):
            bound = CALLS_BOUND if (kind, our, name) == (CALLS, OURS, A_PROCESS) else None
            ratio = costs.cpu_s[our] / costs.cpu_s[name]
            report(Figure(name=f"{kind}: CPU time: {our} / {name}", value=ratio, unit="×", bound=bound))
    if ITS_RULES in mine:
        report(Figure(name=f"{kind}: programs with other results", value=costs.differing, unit="", bound=0))


def main() -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grader", choices=["hendrycks", "livecodebench"])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", required=True)
    parser.add_argument("--rows", type=Path, metavar="DIR")
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--isolation", choices=["full", "reduced"], default="full")
    options = parser.parse_args(arguments())
    chosen = (
        recorded_cases(options.rows, options.tests) if options.rows else trivial_cases(options.programs, options.tests)
    )
    others = peers(options)
    with tempfile.TemporaryDirectory() as cache, asyncio.Runner() as loop:
        ours = Ours(options, loop, cache)
        judges: dict[str, Judge] = {name: partial(ours.judge, name) for name in (OURS, ITS_RULES)}
        judges |= {name: partial(judge_by_peer, peer, options.grader) for name, peer in others.items()}
        for judge in judges.values():
            judge([cases[0] for cases in chosen.values()])

        def cpu_s() -> float:
            return own_cpu_s() + sum(peer.cpu_s for peer in others.values())

        costs_by_kind = {}
        for kind, cases in chosen.items():
            # LiveCodeBench's rules cannot read calls of APPS
            has_rules = kind == STDIN or options.grader == "hendrycks"
            fit = {name: judge for name, judge in judges.items() if has_rules or name != ITS_RULES}
            costs_by_kind[kind] = measure(fit, cpu_s, cases)
            print(
                f"{kind}: {len(cases)} programs, {costs_by_kind[kind].tests} tests, the best of {ROUNDS} rounds",
                flush=True,
            )
        ours.end()
    for peer in others.values():
        peer.end()
    costs_by_kind[ALL] = costs_by_kind[CALLS] + costs_by_kind[STDIN]
    for kind, costs in costs_by_kind.items():
        report_costs(kind, costs, is_mix=options.rows is not None and options.grader == "hendrycks")


if __name__ == "__main__":
    main()
