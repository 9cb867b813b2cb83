"""The cost of `report.html`: creating it for many submissions, and opening and using it in Chromium.

The results are as `ioi-eval score` writes them: six models, 24 problems of four years, 5 subtasks, 20 tests, all
programs different, with the beginnings of the inputs. `report_html.py [ROWS…]`: by default 10,000 rows with the
browser, and 100,000 rows without.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the browser, in the package `tests`

from figures import Figure, arguments, report

from tests.browser import Tab, browser_tab, chromium

MODELS = ("small-7b", "small-7b-tuned", "middle-32b", "middle-32b-tuned", "large-120b", "large-400b")
YEARS, PROBLEMS, SUBTASKS, TESTS = (2021, 2022, 2023, 2024), 6, 5, 20
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)
_WORDS = ("left", "right", "best", "cost", "edges", "queue", "answer", "depth", "parent", "index", "total", "seen")
_LINES = (
    "    for (int {a} = 0; {a} < n; {a}++) {b}[{a}] = max({b}[{a}], {c} + {k});",
    "    if ({a} > {b} && {c} % {k} == 0) {a} -= {b};",
    "    sort({a}.begin(), {a}.end(), [&](int x, int y) {{ return {b}[x] < {b}[y] + {k}; }});",
    "    while (!{a}.empty()) {{ int u = {a}.front(); {a}.pop(); for (int v : {b}[u]) {c}[v] += {k}; }}",
    "    // the {a} of each {b} is at most {k}, so the {c} never overflows",
    "    long long {a} = 1LL * {b} * {c} % {k};",
)


def program(dice: random.Random) -> str:
    """About 1.5 kB of text that looks like a program."""
    lines = ["#include <bits/stdc++.h>", "using namespace std;", f"int solve_{dice.randrange(10**6)}(int n) {{"]
    for _ in range(dice.randrange(15, 40)):
        a, b, c = dice.sample(_WORDS, 3)
        lines.append(dice.choice(_LINES).format(a=a, b=b, c=c, k=dice.randrange(2, 10**6)))
    return "\n".join([*lines, "    return 0;", "}", ""])


def random_result(dice: random.Random, skill: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    """Subtasks and tests of a submission, and its verdict."""
    reached = sum(dice.random() < skill for _ in range(SUBTASKS))
    bad = dice.choice(("WA", "WA", "TLE", "RE", "MLE"))
    tests: list[dict[str, Any]] = []
    for number in range(TESTS):
        right = number < TESTS * reached // SUBTASKS
        time_s = round(dice.random() ** 2 * 0.8, 6) if right or bad != "TLE" else 1.1
        test: dict[str, Any] = {"test_name": f"{number:02}", "status": "AC" if right else bad, "score": float(right)}
        feedback = (
            "" if right else f"Wrong answer: {dice.randrange(10**6)} instead of {dice.randrange(10**6)} on line 1"
        )
        memory = dice.randrange(800, 60_000) << 12
        tests.append({**test, "feedback": feedback, "time_s": time_s, "memory_bytes": memory, "exit_code": 0})
    subtasks = [
        {
            "problem": "p", "subtask": f"{number:02}-part", "score": float(number < reached), "points": 20.0,
            "weighted_score": 20.0 * (number < reached), "score_precision": 2,
            "status": "AC" if number < reached else bad,
        }
        for number in range(SUBTASKS)
    ]  # fmt: skip
    return subtasks, tests, "AC" if reached == SUBTASKS else "PA" if reached else bad


def write_results(directory: Path, rows: int) -> None:
    """The files of a run."""
    dice = random.Random(1)
    positions = {
        f"{n:02}-part": list(range(TESTS * n // SUBTASKS, TESTS * (n + 1) // SUBTASKS)) for n in range(SUBTASKS)
    }
    with (directory / "results.jsonl").open("w") as results, (directory / "tests.jsonl").open("w") as tests_file:
        for number in range(rows):
            model = number % len(MODELS)
            year, problem = YEARS[number // 6 % len(YEARS)], number // 24 % PROBLEMS
            subtasks, tests, verdict = random_result(dice, 0.35 + 0.07 * model + 0.04 * problem)
            score = sum(item["weighted_score"] for item in subtasks)
            row = {
                "year": year, "problem_id": f"problem-{problem}", "uuid": f"{dice.getrandbits(128):032x}",
                "model": MODELS[model], "code": program(dice), "target_subtask": None, "code_compiles": True,
                "all_subtasks_points": score, "all_subtasks_results": subtasks, "tests_id": f"{number:024x}",
                "verdict": verdict, "total_score": score, "compile_message": "", "target": "local", "isolation": "full",
                "time_scale": 1.0, "near_limit": verdict == "TLE" and number % 7 == 0, "attempted": [], "cpu_s": 1.0,
                "error": None, "extraction": "fence:cpp", "fixes": [], "duplicate_of": None,
                "fingerprint": f"{dice.getrandbits(128):032x}",
            }  # fmt: skip
            results.write(json.dumps(row) + "\n")
            line = {"tests_id": row["tests_id"], "subtasks": positions, "test_results": tests}
            tests_file.write(json.dumps(line) + "\n")
    problems = [
        {"year": year, "problem": f"problem-{n}", "name": f"Problem {n}", "day": str(n // 3 + 1), "time_limit_s": 1.0}
        for year in YEARS
        for n in range(PROBLEMS)
    ]
    with (directory / "inputs.jsonl").open("w") as inputs:
        for item in problems:
            for number in range(TESTS):
                text = " ".join(str(dice.randrange(10**9)) for _ in range(100))[:1000]
                line = {"problem": f"{item['year']}/{item['problem']}", "test": f"{number:02}", "bytes": 10**6}
                inputs.write(json.dumps({**line, "input": text}) + "\n")
    summary = {"format": 1, "options": {"id_column": "uuid"}, "complete": True}
    limits = [{**item, "memory_limit_bytes": 256 << 20} for item in problems]
    (directory / "summary.json").write_text(json.dumps({**summary, "problems": limits}))


def create_report(directory: Path, rows: int) -> None:
    """Create the report as the command does, and print time and memory."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [str(Path(sys.executable).with_name("ioi-eval")), "report", str(directory)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after, wall_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - started
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = (directory / "report.html").stat().st_size / 1e6
    bounds = (30.0, 1000.0) if rows == 100_000 else (None, None)
    report(
        Figure(name=f"{rows:,} rows: wall clock", value=wall_s, unit="s", bound=bounds[0]),
        Figure(name=f"{rows:,} rows: CPU time", value=cpu_s, unit="CPU-s"),
        Figure(name=f"{rows:,} rows: memory", value=after.ru_maxrss / 1000, unit="MB", bound=bounds[1]),
        Figure(name=f"{rows:,} rows: page", value=size, unit="MB", bound=5),
    )


_ACTS = {
    "search for a letter": "type('a')",
    "for a model and a problem": "type('large-4 problem-3')",
    "for nothing that is there": "type('no such')",
    "no longer": "type('')",
    "sort by id": "sort('id')",
    "by score": "sort('score')",
    "by group": "sort('group')",
    "press a verdict": "document.querySelector('#filter-verdict button').click()",
    "press it again": "document.querySelector('#filter-verdict button').click()",
    "open a submission": "document.querySelector('#submissions-table tbody button').click()",
    "move the date": "slide(1)",
    "show the hardest problem first": "choose('heat-order', 'hardest')",
}
_HELP = """
const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
const event = (one, name) => one.dispatchEvent(new Event(name));
const type = (text) => { const one = document.getElementById("search"); one.value = text; event(one, "input"); };
const choose = (id, text) => { const one = document.getElementById(id); one.value = text; event(one, "change"); };
const sort = (name) => document.querySelector(`[data-column=${name}]`).click();
const slide = (to) => { const one = document.getElementById("date-from"); one.value = to; event(one, "input"); };
const timed = async (act, start = performance.now()) => { act(); await painted(); return performance.now() - start; };
"""


def use_page(directory: Path) -> None:
    """Open the page, filter, sort, open a submission: wall clock, and CPU time of the page's main thread.

    If other programs keep the machine busy, only the CPU time is meaningful.
    """
    with browser_tab() as tab:
        tab.call("Performance.enable", timeDomain="threadTicks")
        tab.open(directory / "report.html")
        built, cpu = tab.value("performance.now()"), busy_ms(tab)
        print(f"  Chromium: opened in {built:.0f} ms")
        report(Figure(name="Chromium, open the page", value=cpu, unit="CPU-ms", bound=1000))
        tab.value(_HELP)
        for name, act in _ACTS.items():
            before = busy_ms(tab)
            wall = tab.value(f"timed(() => {act})")
            spent = busy_ms(tab) - before
            print(f"  {name}: {wall:.0f} ms")
            report(Figure(name=f"Chromium, {name}", value=spent, unit="CPU-ms", bound=100))
        print(f"  messages: {tab.messages or 'none'}; addresses: {len(set(tab.requests))} (the page itself)")


def busy_ms(tab: Tab) -> float:
    """CPU time of the page's main thread so far."""
    metrics = {metric["name"]: metric["value"] for metric in tab.call("Performance.getMetrics")["metrics"]}
    return float(1000 * metrics["TaskDuration"])


def main() -> None:
    """For each number of rows: write results, make the report, use it."""
    for rows in [int(arg) for arg in arguments()] or [10_000, 100_000]:
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            write_results(directory, rows)
            print(f"{rows:,} rows", flush=True)
            create_report(directory, rows)
            if rows <= 10_000 and chromium():
                use_page(directory)


if __name__ == "__main__":
    main()
