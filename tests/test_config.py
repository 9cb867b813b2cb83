"""The variables that are read from the environment and from `.env`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ioi_eval.apps.settings import AppsSettings
from ioi_eval.boxfiles import runner_rules
from ioi_eval.config import LEAST_SECONDS, MAX_BYTES, MAX_SECONDS, CompileLimits, Environment, JudgeLimits, Policy
from ioi_eval.config_file import read_config_file
from ioi_eval.errors import InputError
from tests import unprivileged


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(*lines: str) -> Environment:
    """Read the configuration from an environment without variables and a `.env` with these lines."""
    Path(".env").write_text("\n".join(lines), encoding="utf-8")
    return Environment.read({})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("w1:1", "w1:1"),
        ("w1:1 # mine", "w1:1"),
        (" w1:1\t# mine # and yours", "w1:1"),
        ("w1:1#mine", "w1:1#mine"),
        ("", ""),
        (" # none", ""),
        ("'w1:1'", "w1:1"),
        ('"w1:1, w2:1" # mine', "w1:1, w2:1"),
        ('"w1:1 # no comment"#mine', "w1:1 # no comment"),
        ("'it\\'s \"w1\"'", 'it\'s "w1"'),
        ('"a \\"quoted\\" \\\\ w1"', 'a "quoted" \\ w1'),
        ("it's", "it's"),
    ],
)
def test_values_and_comments(value: str, expected: str) -> None:
    """A comment is not part of a value. Inside quotes, `#` starts no comment."""
    assert read("# all mine", f"PISTON_ENDPOINTS={value}").piston_endpoints == expected
    assert read(f"  export PISTON_ENDPOINTS ={value}", "no assignment").piston_endpoints == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [(".env", "PISTON_ENDPOINTS=w1:1\n"), ("ioi-eval.toml", '[environment]\nPISTON_ENDPOINTS = "w1:1"\n')],
)
def test_files_of_editors_that_mark_utf8(name: str, text: str) -> None:
    """Some editors on Windows begin a file with U+FEFF. Otherwise the embedded sandbox would be used."""
    Path(name).write_text(text, encoding="utf-8-sig")
    assert Environment.read({}).piston_endpoints == "w1:1"


def test_numbers_may_have_comments() -> None:
    """Numbers may be followed by comments, as other values. An error shows the value without its comment."""
    assert read("PISTON_MAX_REQUESTS_PER_ENDPOINT=2 # two").piston_slots == 2
    with pytest.raises(InputError, match="PISTON_MAX_REQUESTS_PER_ENDPOINT is 'two'; it must be a number"):
        read("PISTON_MAX_REQUESTS_PER_ENDPOINT=two # 2")


@pytest.mark.parametrize("value", ["'w1:1", '"w1:1\\"', "'w1:1' w2:1"])
def test_a_quote_that_is_not_closed(value: str) -> None:
    """The error names the line; otherwise, without endpoints, the embedded sandbox would be used. Lines for other
    programs are ignored.
    """
    with pytest.raises(InputError, match=r"\.env, line 2: the value of PISTON_ENDPOINTS must end with the quote"):
        read("", f"PISTON_ENDPOINTS={value}")
    assert read(f"OTHER={value}").piston_endpoints == ""


def test_the_cache_may_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a file, no shell has expanded the tilde."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read("IOI_EVAL_CACHE=~/cache").cache == tmp_path / "cache"


def test_without_a_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container, the user may have no entry in `/etc/passwd`. The message says which variable to set."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 17)
    assert read("IOI_EVAL_CACHE=/cache").cache == Path("/cache")
    assert read("XDG_CACHE_HOME=/cache").cache == Path("/cache/ioi-eval")
    with pytest.raises(InputError, match="HOME is not set, and this user has no home directory; set IOI_EVAL_CACHE"):
        read()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Policy(threads=0), "threads is 0; it must be a number from 1 to 100000"),
        (lambda: Policy(near_limit_repeats=101), "near_limit_repeats is 101; it must be a number from 1 to 100"),
        (lambda: AppsSettings(output_bytes=-1), "output_bytes is -1; it must be a number from 0 to 70368744177664"),
        (lambda: JudgeLimits(cpu_s=float("nan")), r"cpu_s is nan; it must be a number from 0\.001 to 86400"),
        (
            lambda: CompileLimits(output_bytes=2**31),
            "output_bytes is 2147483648; it must be a number from 0 to 1073741824",
        ),
        (lambda: CompileLimits(processes=0), "processes is 0; it must be a number from 1 to 1000000"),
    ],
)
def test_limits_that_the_runner_would_refuse(make: Callable[[], object], message: str) -> None:
    """They are refused at once, not by each job."""
    with pytest.raises(InputError, match=message):
        make()


def test_a_file_that_cannot_be_read() -> None:
    """The message names it."""
    Path(".env").symlink_to("/proc/self/mem")  # a file whose first page cannot be read, by root neither
    with pytest.raises(InputError, match=r"^\.env cannot be read: Input/output error$"):
        Environment.read({})


def _error_in(directory: Path) -> str:
    os.chdir(directory)
    directory.chmod(0)
    try:
        with pytest.raises(InputError) as caught:
            read_config_file({})
    finally:
        directory.chmod(0o700)
    return str(caught.value)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="there `is_file` says that there is no file")
def test_a_working_directory_that_may_not_be_searched() -> None:
    """As after `sudo -u other` in one's own directory: it was a stack trace."""
    with unprivileged.private_directory() as directory:
        message = _error_in(directory) if os.geteuid() else unprivileged.call(_error_in, directory)
    assert message == "ioi-eval.toml cannot be read: Permission denied"


def test_the_highest_limits_are_the_runner_s() -> None:
    """The runner counts time in milliseconds."""
    rules = runner_rules()
    assert (0.001, rules["kMaxMs"] / 1000, rules["kMaxBytes"]) == (LEAST_SECONDS, MAX_SECONDS, MAX_BYTES)
