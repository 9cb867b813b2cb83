"""Directories that are deleted while a run uses them."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.cli.addition import COMMAND, PROBLEMS, RIGHT, TESTS, Write, submission_row
from tests.shared_work import copy_cache

PROGRAMS = 12
SLOWER = RIGHT.replace("int main() {", "#include <unistd.h>\nint main() { usleep(100000);")


@contextmanager
def after_the_first_result(
    write: Write, environment: Mapping[str, str], tmp_path: Path
) -> Iterator[subprocess.Popen[str]]:
    """A run that has judged one program, and is not finished."""
    write("problems.jsonl", *PROBLEMS)
    # so large that it is stored in a file
    write("tests.jsonl", *({**test, "test_input": f"{test['test_input']}{' ' * 5000}\n"} for test in TESTS))
    write("dump.jsonl", *(submission_row(str(n), f"{SLOWER}// {n}\n") for n in range(PROGRAMS)))
    command = (*COMMAND, "score", "dump.jsonl", "--problems", "problems.jsonl", "--tests", "tests.jsonl")
    run = subprocess.Popen(
        [*command, "--out", "out", "--workers", "1"], cwd=tmp_path, env=environment, text=True, stderr=subprocess.PIPE
    )
    journal = tmp_path / "out" / "journal"
    try:
        while run.poll() is None and not (journal.exists() and b" r " in journal.read_bytes()):
            time.sleep(0.01)
        assert run.poll() is None, "it was done before anything could be deleted"
        yield run
    finally:
        run.kill()
        run.wait()


def test_a_run_ends_if_its_results_are_deleted(write: Write, environment: Mapping[str, str], tmp_path: Path) -> None:
    """It ends with exit code 2 and says that the results are lost."""
    with after_the_first_result(write, environment, tmp_path) as run:
        shutil.rmtree(tmp_path / "out")
        _, words = run.communicate()
    assert run.returncode == 2
    assert "out/journal was deleted or replaced while this run was writing to it, and what was judged is lost" in words
    assert "Traceback" not in words
    assert not (tmp_path / "out").exists()


def test_a_run_continues_after_its_test_data_was_deleted(
    write: Write, environment: Mapping[str, str], cache_with_runner: Path, tmp_path: Path
) -> None:
    """The run ends and says why. The same command stores the test data again, and judges what is left."""
    cache = copy_cache(cache_with_runner, tmp_path / "cache")
    own = {**environment, "IOI_EVAL_CACHE": str(cache)}
    with after_the_first_result(write, own, tmp_path) as run:
        shutil.rmtree(cache / "blobs")
        _, words = run.communicate()
    assert run.returncode == 1, words
    summary = json.loads((tmp_path / "out" / "summary.json").read_bytes())
    advice = "repeat the command of the run (without --no-resume) to continue"
    assert summary["notes"][0].endswith(f"is gone: the cache was deleted during the run; {advice}")
    assert isinstance(run.args, tuple | list)
    again = subprocess.run(run.args, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    results = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").open()]
    assert [row["verdict"] for row in results] == ["AC"] * PROGRAMS
