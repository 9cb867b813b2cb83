"""`cluster install --problems` and `cluster uninstall --problems`, with `ioi-eval serve` as the worker."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.cli.addition import COMMAND, PROBLEMS, TESTS, Start, Write, submission_row
from tests.full_isolation import require_full_isolation

ROWS = ("--problems", "problems.jsonl", "--tests", "tests.jsonl")


@pytest.fixture
def rows(write: Write) -> None:
    """The task, with inputs large enough to be stored on workers."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *({**row, "test_input": f"{row['test_input']}{' ' * 500}"} for row in TESTS))


@pytest.fixture
def endpoint(environment: Mapping[str, str], tmp_path: Path) -> Iterator[str]:
    """A server that installs packages from `repository`."""
    require_full_isolation()
    (tmp_path / "repository").mkdir()
    places = ("--repository", tmp_path / "repository", "--packages", tmp_path / "packages")
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", *places],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert process.stderr is not None
    lines = []
    try:
        for line in process.stderr:
            lines.append(line)
            if "serving Piston API v2 at " in line:
                yield line.split("serving Piston API v2 at ")[1].split()[0].removesuffix("/api/v2")
                return
        pytest.fail(f"nothing is served: {''.join(lines)}")
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--problems needs --repository DIR"),
        (
            ("--repository", "repository", "--max-gb", "0.0000001"),
            "1 problem with 0.001 MB of test data: --max-gb allows 0.0001 MB",
        ),
        (("--repository", "repository", "--year", "1999"), "has no problem of 1999; it has 2024/"),
        (("--repository", "repository", "--problem", "none"), "has no problem none; it has 2024/"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(start: Start, words: tuple[str, ...], message: str) -> None:
    """The call is refused before any worker is asked."""
    done = start("cluster", "install", *ROWS, *words, "--endpoints", "http://127.0.0.1:9")
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        *(
            ((command, *option), f"{option[0]} needs --problems")
            for command in ("install", "uninstall")
            for option in (("--year", "2024"), ("--problem", "nile"), ("--tests", "x"))
        ),
        *(
            (("install", *option), f"{option[0]} needs --problems")
            for option in (("--prune",), ("--repository", "x"), ("--url", "http://x"), ("--max-gb", "1"))
        ),
        *(
            ((command, "--problems", "x", *option), f"{option[0]} cannot be given with --problems")
            for command in ("install", "uninstall")
            for option in (("--package", "ioi_eval"), ("--version", "*"))
        ),
        *(
            (("uninstall", "--problems", "all", *option), f"all means every problem's package, so {option[0]} cannot")
            for option in (("--year", "2024"), ("--problem", "nile"), ("--tests", "x"))
        ),
    ],
)
def test_no_option_is_ignored(start: Start, words: tuple[str, ...], message: str) -> None:
    """Otherwise another package than the intended one could be removed. No worker is asked."""
    done = start("cluster", *words, "--endpoints", "http://127.0.0.1:9")
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""


@pytest.mark.usefixtures("rows")
def test_problems_are_installed_used_and_removed(start: Start, write: Write, tmp_path: Path, endpoint: str) -> None:
    """They are installed once on each worker. A second call changes nothing, and after the removal nothing is left."""
    install = ("cluster", "install", *ROWS, "--repository", "repository", "--endpoints", endpoint)
    for _ in range(2):
        done = start(*install)
        assert done.returncode == 0, done.stderr
        assert "2024/add" in done.stdout
        assert "1 of 1" in done.stdout
    (blobs,) = (tmp_path / "packages").glob("*/*/blobs")
    for path in blobs.iterdir():
        if path.stat().st_size < 1000:
            path.chmod(0o755)
            path.write_bytes(b"1 1" + path.read_bytes()[3:])
    write("dump.jsonl", submission_row("x"))
    scored = start("score", "dump.jsonl", *ROWS, "--out", "out", "--endpoints", endpoint)
    assert scored.returncode == 0, scored.stderr
    assert "100" in scored.stdout
    assert "is another file, and 1 more are missing or differ; they are sent instead" in scored.stderr, "wanted"
    removed = start("cluster", "uninstall", "--problems", "all", "--endpoints", endpoint)
    assert (removed.returncode, "1 of 1" in removed.stdout) == (0, True), removed.stderr
    assert not [path for path in (tmp_path / "packages").rglob("*") if path.is_file()]
    nothing = start("cluster", "uninstall", *ROWS, "--endpoints", endpoint)
    assert (nothing.returncode, "no worker has any of these packages" in nothing.stderr) == (0, True), nothing.stderr
    some = start("cluster", "uninstall", *ROWS, "--endpoints", f"{endpoint},http://127.0.0.1:9")
    assert (some.returncode, "1 of 2" in some.stdout) == (1, True), some.stderr


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("words", [ROWS, ("--problems", "all")])
def test_a_removal_from_workers_that_do_not_answer_fails(start: Start, words: tuple[str, ...]) -> None:
    """They may have the packages. The message says why they were not asked."""
    done = start("cluster", "uninstall", *words, "--endpoints", "http://127.0.0.1:9")
    assert done.returncode == 2
    assert "none on workers that answer   0 of 1" in done.stdout
    assert "127.0.0.1:9: not asked: " in done.stdout
    assert done.stderr == ""
