"""The names of tests. Several processes that run parts of the tests must have the same names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.selecting import COLLECTED

ROOT = Path(__file__).resolve().parent.parent

COLLECT = """
import json, sys, pytest
from tests.selecting import COLLECTED

class Recorder:
    def pytest_collection_finish(self, session):
        with open(sys.argv[1], "w") as file:
            json.dump(sorted(session.config.stash[COLLECTED]), file)

# `plain` spares what assertions need: nothing is run
sys.exit(pytest.main(["--collect-only", "-qq", "--assert=plain", "-p", "no:cacheprovider"], plugins=[Recorder()]))
"""


def collected(seed: str, names: Path) -> set[str]:
    """The names of all tests, collected by a new process."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run(
        [sys.executable, "-c", COLLECT, names], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True
    )
    return set(json.loads(names.read_bytes()))


def test_names_of_tests_do_not_change_from_process_to_process(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """A name contains no time of day (gzip's header has one), no order of a set and no address.

    If this process has collected all tests, its names are one of the two lists that are compared. The two collections
    begin seconds apart.
    """
    first, second = ("1", "2") if os.environ.get("PYTHONHASHSEED") != "1" else ("2", "1")
    names = collected(first, tmp_path / "names")
    assert len(names) > 1000
    here = pytestconfig.stash[COLLECTED]
    assert here - names == set()
    if here != names:
        assert collected(second, tmp_path / "again") ^ names == set()
