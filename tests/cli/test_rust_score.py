"""A dump of programs in Rust for a task of the sample contest without a grader: on this machine, and on a worker over
HTTP.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ioi_eval import sample
from ioi_eval.report.result_files import result_rows
from tests.cli.addition import Start, Write
from tests.rust_here import needs_rustc
from tests.sandbox.served import server

pytestmark = needs_rustc

RIGHT = r"""
use std::io::{self, Read, Write};

struct Buoy { start: i64, period: i64, flashes: i64 }

impl Buoy {
    fn until(&self, second: i64) -> i64 {
        if second < self.start { 0 } else { self.flashes.min((second - self.start) / self.period + 1) }
    }
}

fn main() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse::<i64>().unwrap());
    let mut next = || numbers.next().unwrap();
    let (n, q) = (next(), next());
    let buoys: Vec<Buoy> = (0..n).map(|_| Buoy { start: next(), period: next(), flashes: next() }).collect();
    let total = |second: i64| buoys.iter().map(|buoy| buoy.until(second)).sum::<i64>();
    let mut out = String::new();
    for _ in 0..q {
        let mut k = next();
        let mut second = -1;
        for bit in (0..61).rev() {
            if total(second + (1 << bit)) < k { second += 1 << bit; }
        }
        if total(second + 1) < k { out += "never\n"; continue; }
        k -= total(second);
        second += 1;
        for (index, buoy) in buoys.iter().enumerate() {
            k -= buoy.until(second) - buoy.until(second - 1);
            if k == 0 { out += &format!("{} {}\n", second, index + 1); break; }
        }
    }
    io::stdout().write_all(out.as_bytes()).unwrap();
}
"""


def beginning(statement: str) -> str:
    """The right program with another statement at its beginning."""
    return RIGHT.replace("fn main() {\n", f"fn main() {{\n    {statement}\n", 1)


PROGRAMS = {
    "AC": RIGHT,
    "WA": RIGHT.replace("index + 1", "index"),
    "TLE": beginning("let mut n = 0u64; loop { n = unsafe { std::ptr::read_volatile(&n) } + 1; if n == 0 { break; } }"),
    "MLE": beginning('let much = vec![1u8; 3 << 30]; eprintln!("{}", much[std::env::args().count()]);'),
    "RE": beginning('if std::env::args().count() == 1 { panic!("no buoy is lit"); }'),
    "CE": RIGHT.replace("let total", "let sum"),
}


def dump_row(verdict: str) -> dict[str, Any]:
    """A model's text with the program in a block."""
    words = (
        f"First an idea:\n```rust\nfn main() {{}}\n```\nThe whole program:\n\n```rust\n{PROGRAMS[verdict]}```\nDone."
    )
    return {"uuid": verdict, "year": 2026, "problem_id": "buoys", "language": "Rust 2021", "generation": words}


def check(start: Start, write: Write, out: Path, *arguments: str) -> None:
    """Score the dump, and compare all results with the expected ones."""
    dump = write("dump.jsonl", *map(dump_row, PROGRAMS))
    sources = ("--problems", sample.problems(), "--tests", sample.tests())
    ended = start("score", dump, *sources, "--out", out, *arguments)
    assert ended.returncode == 0, ended.stderr
    rows = {row["uuid"]: row for row in result_rows(out)}
    assert {name: row["verdict"] for name, row in rows.items()} == {name: name for name in PROGRAMS}
    assert rows["AC"]["total_score"] == 100
    assert {row["extraction"] for row in rows.values()} == {"fence:rust"}
    assert all("rustc 1." in row["target"] for name, row in rows.items()), rows["AC"]["target"]
    assert "cannot find function `total`" in rows["CE"]["compile_message"]
    tests = [test for subtask in rows["RE"]["all_subtasks_results"] for test in subtask["test_results"]]
    assert any("no buoy is lit" in (test["stderr"] or "") for test in tests)
    again = start("score", dump, *sources, "--out", out, *arguments)
    assert again.returncode == 0, again.stderr
    run = json.loads((out / "summary.json").read_text())["this_run"]
    assert (run["judged"], run["resumed"]) == (0, len(PROGRAMS))


def test_a_dump_in_rust_is_scored(start: Start, write: Write, tmp_path: Path) -> None:
    """Each verdict occurs. The results name the compiler, and a second run judges nothing."""
    check(start, write, tmp_path / "out")


def test_a_worker_that_has_rust_scores_it(start: Start, write: Write, tmp_path: Path, cache: Path) -> None:
    """Over the protocol of Piston. A job asks the worker for its compiler."""
    with server(cache) as served:
        check(start, write, tmp_path / "out", "--endpoints", served.base)
