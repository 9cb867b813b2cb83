"""Submissions in Rust: extracted from a model's text, compiled by rustc in a box, and judged like those in C++."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import ArtifactStore, LocalSandbox
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.errors import SetupError, UnsupportedError
from ioi_eval.fingerprint import Fingerprints
from ioi_eval.jobs.compile import compile_outcome
from ioi_eval.jobs.recipes import submission_recipe
from ioi_eval.jobs.runner_answer import CompileAnswer, StepLine
from ioi_eval.languages import OwnToolLanguage, language_called, rules_of
from ioi_eval.model import (
    Execution,
    Isolation,
    Job,
    Language,
    Problem,
    SourceFile,
    Submission,
    SubmissionResult,
    Subtask,
    TestCase,
    TestOutcome,
    Verdict,
)
from ioi_eval.problems.grader_files import linked_sources
from ioi_eval.problems.submissions import check_fits
from ioi_eval.sandbox import Target
from ioi_eval.scorer import Scorer
from ioi_eval.toolchain import Toolchain
from ioi_eval.tools import compiler_of, compiler_recipe
from tests.box_answers import built, plan_of, step_answer
from tests.rust_here import needs_rustc
from tests.small_problems import small_problem
from tests.small_targets import small_target

MIB = 1 << 20
LEVELS = (Isolation.FULL, Isolation.REDUCED)
GCC = small_target().toolchain
_RULES = rules_of(Language.RUST)
assert isinstance(_RULES, OwnToolLanguage)
RULES = _RULES
RUSTC = Toolchain(
    command="/usr/bin/rustc",
    version="rustc 1.63.0",
    machine="x86_64-unknown-linux-gnu",
    static=True,
    arguments=("--sysroot", "/usr"),
    linker=GCC,
)
MAIN = 'fn main() { println!("1"); }\n'


# --------------------------------------------------------------------------- without a compiler


@pytest.mark.parametrize(
    "tag", ["rust", "Rust", "rs", "rust,ignore", "rust linenums=1", "rs title=main.rs", "rust2021"]
)
def test_a_tagged_block_is_taken(tag: str) -> None:
    """The tags `rust` and `rs` count, in any case and with attributes. A later block in another language does not
    count.
    """
    found = RULES.extract(f"Here:\n```{tag}\n{MAIN}```\nIt prints\n```\n1\n```\n```cpp\nint main() {{}}\n```\n")
    assert (found.code, found.rule) == (MAIN, "fence:rust")


def test_an_untagged_block_with_a_main_function_in_rust_is_taken() -> None:
    """Other untagged blocks are ignored. Thoughts count only if the answer has no block."""
    found = RULES.extract(f"```\n{MAIN}```\nPrints\n```\n1\n```\n```\nint main() {{}}\n```\n")
    assert (found.code, found.rule) == (MAIN, "fence:untagged")
    assert RULES.extract(f"<think>\n```rs\n{MAIN}```\n</think>It is done.").rule == "think:rust"
    assert RULES.extract("```cpp\nint main() {}\n```\n").rule == "none"


def test_a_rust_fence_inside_an_open_block_starts_a_new_block() -> None:
    """`rs` names a language in this extraction, but not in that for C++."""
    found = RULES.extract(f"```rs\nfn half(\nNo, so:\n```rs\n{MAIN}```\n")
    assert (found.code, found.rule) == (MAIN, "fence:rust")


@pytest.mark.parametrize(
    ("name", "language"),
    [
        *((name, Language.RUST) for name in ("rust", "Rust", "rs", "rustc 1.75.0", "Rust 1.57.0 (2021)", "Rust 2021")),
        *((name, None) for name in ("Rusty", "R", "rsync", "Ruby")),
    ],
)
def test_names_of_data_sets(name: str, language: Language | None) -> None:
    """Names as Codeforces, Kattis and people write them."""
    assert language_called(name) is language


def problem(**fields: Any) -> Problem:
    """A problem in which the name of a test tells the program what to do."""
    tests = {name: TestCase(name=name, input=f"{name}\n".encode(), answer=b"7\n") for name in fields.pop("names", "a")}
    subtask = Subtask(name="01", points=100, tests=tuple(tests))
    return small_problem(name="Acts", subtasks=(subtask,), **{"tests": tests, "memory_limit_bytes": 64 * MIB, **fields})


def test_the_recipe_is_one_command_for_all_files() -> None:
    """The root is `main.rs`, otherwise the first file. No files of the problem are given, as it has none."""
    files = [SourceFile(path=name, content=b"") for name in ("geometry.rs", "main.rs")]
    recipe = submission_recipe(problem(), files, (), RUSTC, std="c++20", language=Language.RUST)
    (step,) = recipe.steps
    assert [name for name, _ in step.files] == ["geometry.rs", "main.rs"]
    assert step.argv[:5] == ("/usr/bin/rustc", "--sysroot", "/usr", "--edition", "2021")
    assert step.argv[-3:] == ("main.rs", "-o", "a.out")
    assert "linker=g++" in step.argv
    assert "target-feature=+crt-static" in step.argv
    assert RULES.commands(RUSTC, ["a.rs", "b.rs"], [], "x", std="2021")[0][-3] == "a.rs"


def test_nothing_is_linked_with_rust() -> None:
    """Neither a grader in C++ nor one in Rust: no rules say how a grader in Rust would be compiled."""
    grader = SourceFile(path="graders/grader.rs", content=b"")
    assert linked_sources((grader,), problem().task_type) == ()
    linked = problem(linked=(SourceFile(path="graders/grader.cpp", content=b""),))
    submission = Submission(id="s", problem=linked.key, code=MAIN, language=Language.RUST)
    with pytest.raises(UnsupportedError, match=r"in Rust is not supported .* needed, and it has only gr"):
        check_fits(submission, linked)


def step(code: int = 0, killed_by: int = 0, limit: str | None = None, output: str = "") -> StepLine:
    """The line of a compile step with this end."""
    return StepLine(code=code, signal=killed_by, limit=limit, cpu_ms=1, output=output)


@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        (step(code=1, output="error[E0425]"), Verdict.CE),
        (step(code=101, output="error: internal compiler error"), Verdict.CE),
        (step(killed_by=11), Verdict.CE),  # a stack overflow
        (step(killed_by=6, output="memory allocation of 8 bytes failed"), Verdict.CE),
        (step(killed_by=9), Verdict.JE),  # killed from outside
        (step(limit="cpu"), Verdict.CE),
        (step(limit="wall"), Verdict.JE),
    ],
)
def test_verdict_by_the_end_of_the_compiler(last: StepLine, verdict: Verdict) -> None:
    """If a program crashes the compiler or exceeds a limit, it is CE. If the compiler was killed from outside, it is
    JE.
    """
    recipe = submission_recipe(
        problem(), [SourceFile(path="a.rs", content=b"")], (), RUSTC, std=None, language=Language.RUST
    )
    answer = CompileAnswer(steps=(last,), artifacts={}, isolation=Isolation.FULL)
    assert compile_outcome(recipe, answer, CompileLimits()).verdict is verdict


def test_a_target_describes_its_rust_compiler() -> None:
    """rustc links with the C++ compiler, so its fingerprint contains that of the C++ compiler."""
    lines = (
        "command\t/opt/rustc\nversion\trustc 1.70.0\nmachine\tm\nargument\t--sysroot\nargument\t/opt\nsees\t/opt/lib\n"
    )
    answer = CompileAnswer(steps=(step(),), artifacts={"found": lines.encode()}, isolation=Isolation.FULL)
    found = compiler_of(answer, RULES, GCC)
    assert (found.command, found.version, found.arguments) == ("/opt/rustc", "rustc 1.70.0", ("--sysroot", "/opt"))
    assert found.sees == ("/opt/lib",)
    assert GCC.fingerprint in found.fingerprint
    (asked,) = compiler_recipe(RULES, GCC).steps
    assert asked.argv[-1] == GCC.command


@pytest.mark.parametrize(
    ("artifacts", "message"),
    [
        ({}, r"no compiler for Rust .* start; there is no other rustc\. .*apt install rustc"),
        ({"found": b"version\tx\n"}, "does not say what it is"),
    ],
)
def test_a_target_without_rustc_is_a_setup_error(artifacts: Mapping[str, bytes], message: str) -> None:
    """The message says what to install, or what the answer was instead."""
    last = step(1, output="/opt/rustc does not start\nthere is no other rustc")
    answer = CompileAnswer(steps=(last,), artifacts=artifacts, isolation=Isolation.FULL)
    with pytest.raises(SetupError, match=message):
        compiler_of(answer, RULES, GCC)


def test_a_rustc_that_does_not_start(tmp_path: Path) -> None:
    """It is named behind its own message, and the next sentence does not deny it."""
    rustc = tmp_path / "rustc"
    rustc.write_text("#!/bin/sh\necho 'a library is missing' >&2\nexit 127\n")
    rustc.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    command = ("bash", "-c", RULES.finder, "finder", "g++")
    found = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=False).stderr
    assert found.startswith(f"a library is missing\n{rustc} does not start\n")
    assert "there is no rustc" not in found


def test_the_fingerprint_names_the_compiler() -> None:
    """The compiler is in the fingerprints of programs in Rust, and of no others."""
    prints = Fingerprints(Policy())
    target = small_target(name="here")
    for language, same in ((Language.RUST, False), (Language.CPP, True)):
        submission = Submission(id="s", problem=problem().key, code=MAIN, language=language)
        tools = ("rustc 1", "rustc 2") if language is Language.RUST else ("", "")
        first, second = (prints.of(problem(), submission, target, tool=tool) for tool in tools)
        assert (first == second) is same


class Bare:
    """A target that compiles C++ and has no rustc."""

    def targets(self) -> Sequence[Target]:
        """One target."""
        return (small_target(name="bare"),)

    async def execute(self, job: Job, _: Target) -> Execution:
        """Answers the job that looks for rustc, and the job that compiles the runner."""
        if not any(file.name == "plan" for file in job.files):
            return Execution(run=built(job))
        assert "finder" in plan_of(job)
        return Execution(run=step_answer(code=1, output="there is no rustc")(job))


def test_a_submission_on_a_target_without_rustc_is_je(tmp_path: Path) -> None:
    """It is our failure, and the message says what to install. Another target may judge the submission later."""
    submission = Submission(id="s", problem=problem().key, code=MAIN, language=Language.RUST)
    result = asyncio.run(Scorer(Bare(), artifacts=ArtifactStore(tmp_path)).score(problem(), submission))
    assert (result.verdict, result.score, result.compile.all_unsuitable) == (Verdict.JE, None, True)
    assert "bare: no compiler for Rust is found: there is no rustc. Install one (Debian" in result.compile.message


# --------------------------------------------------------------------------- with a compiler


ACTS = r"""
use std::io::Read;

// What no optimiser sees through. (`std::hint::black_box` is there since Rust 1.66.)
fn hidden<T: Copy>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&value) }
}

fn deep(n: u64) -> u64 {
    let here = [n; 64];
    if n == 0 { 0 } else { 1 + deep(unsafe { *hidden(&here[5] as *const u64) } - 1) }
}

fn main() {
    let mut word = String::new();
    std::io::stdin().read_to_string(&mut word).unwrap();
    match word.trim() {
        "right" => println!("7"),
        "wrong" => println!("8"),
        "panics" => panic!("the buoy {} is lost", 41),
        "exits" => std::process::exit(3),
        "aborts" => std::process::abort(),
        "overflows" => { let v: Vec<u64> = Vec::new(); println!("{}", v[word.len()]); }
        "spins" => { let mut n = 0u64; loop { n = hidden(n + 1); } }
        "sleeps" => std::thread::sleep(std::time::Duration::from_secs(3600)),
        "hoards" => { let v = vec![1u8; 512 << 20]; println!("{}", v[hidden(5) as usize]); }
        "floods" => loop { println!("{}", "flood ".repeat(4096)); },
        "threads" => {
            let sums: Vec<u64> = (0..8)
                .map(|k| std::thread::spawn(move || (0..1000u64).map(|x| x % (k + 2)).sum::<u64>()))
                .collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect();
            println!("{}", if sums.len() == 8 { 7 } else { 8 });
        }
        "recurses" => println!("{}", if deep(40_000) == 40_000 { 7 } else { 8 }),
        "recurses-in-a-thread" => {
            let thread = std::thread::Builder::new().stack_size(48 << 20).spawn(|| deep(40_000)).unwrap();
            println!("{}", if thread.join().unwrap() == 40_000 { 7 } else { 8 });
        }
        "recurses-for-ever" => println!("{}", deep(u64::MAX)),
        _ => {}
    }
}
"""

EXPECTED = {
    "right": "AC",
    "wrong": "WA",
    "panics": "RE",
    "exits": "RE",
    "aborts": "RE",
    "overflows": "RE",
    "spins": "TLE",
    "sleeps": "TLE",
    "hoards": "MLE",
    "floods": "OLE",
    "threads": "AC",
    "recurses": "AC",
    "recurses-in-a-thread": "AC",
    "recurses-for-ever": "RE MLE",
}


class Bench:
    """An embedded sandbox and a scorer, for submissions in Rust."""

    def __init__(self, scorer: Scorer, loop: asyncio.AbstractEventLoop) -> None:
        self._scorer = scorer
        self._loop = loop

    def result(self, judged: Problem, code: str, **fields: Any) -> SubmissionResult:
        """The result of a program in Rust."""
        fields = {"language": Language.RUST, **fields}
        submission = Submission(id="s", problem=judged.key, code=code, **fields)
        return self._loop.run_until_complete(self._scorer.score(judged, submission, exhaustive=True))


@pytest.fixture(scope="module", params=LEVELS, ids=lambda level: level.value)
def bench(request: pytest.FixtureRequest, cache: Path) -> Iterator[Bench]:
    """A bench for each isolation level that is possible here."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        sandbox = LocalSandbox(strongest=request.param)
        loop.run_until_complete(sandbox.__aenter__())
        try:
            (target,) = sandbox.targets()
            if target.isolation is not request.param:
                pytest.skip(f"no isolation {request.param}: {sandbox.why_not_full}")
            policy = Policy(least_isolation=Isolation.REDUCED, output_bytes=8 * MIB)
            yield Bench(Scorer(sandbox, artifacts=ArtifactStore(cache), policy=policy), loop)
        finally:
            loop.run_until_complete(sandbox.__aexit__(None, None, None))


@needs_rustc
def test_every_verdict(bench: Bench) -> None:
    """One program gets each verdict, by what it does on a test. A panic is exit code 101 with its message in stderr."""
    result = bench.result(problem(names=tuple(EXPECTED)), ACTS)
    assert result.compile.verdict is None, result.compile.message
    outcomes: dict[str, TestOutcome] = {one.test: one for one in result.subtasks[0].tests}
    assert {name: one.verdict for name, one in outcomes.items() if one.verdict not in EXPECTED[name].split()} == {}
    panic = outcomes["panics"]
    assert panic.exit_code == 101
    assert "the buoy 41 is lost" in panic.stderr
    assert "rustc" in result.target
    assert not {call for one in outcomes.values() for call in one.attempted}


@needs_rustc
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("fn main() { prinln!(); }", "cannot find macro `prinln`"),
        ('fn main() { let x: i32 = "a"; }', "mismatched types"),
        ("#![feature(asm)]\nfn main() {}", "may not be used on the stable release channel"),
        ("fn helper() {}", "`main` function not found"),
        ("use rand::Rng;\nfn main() {}", "rand"),
    ],
)
def test_what_does_not_compile(bench: Bench, code: str, words: str) -> None:
    """It is CE with the compiler's message, without colours and warnings."""
    result = bench.result(problem(), code)
    assert result.compile.verdict is Verdict.CE
    assert words in result.compile.message
    assert "\x1b" not in result.compile.message


@needs_rustc
def test_a_program_of_several_files(bench: Bench) -> None:
    """Its modules are beside its root."""
    files = {
        "answer.rs": b"pub fn it() -> u32 { 7 }\n",
        "main.rs": b'mod answer;\nfn main() { println!("{}", answer::it()); }',
    }
    sources = tuple(SourceFile(path=path, content=content) for path, content in files.items())
    result = bench.result(problem(), "", sources=sources)
    assert [one.verdict for one in result.subtasks] == [Verdict.AC], result.compile.message
