"""`ioi-eval.toml` and `ioi-eval config`: the order of sources, and errors in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.config_file import VARIABLES
from tests.cli.addition import PROBLEMS, RIGHT, TESTS, Start, Write, submission_row

NAME = "ioi-eval.toml"


@pytest.fixture
def lines_of(start: Start) -> Callable[..., dict[str, list[str]]]:
    """The output of `ioi-eval config …`: value and source by the setting's name."""

    def asked(*arguments: str, **env: str) -> dict[str, list[str]]:
        ended = start("config", *arguments, env=env)
        assert ended.returncode == 0, ended.stderr
        rows = (line.split() for line in ended.stdout.splitlines() if line.startswith("  "))
        return {row[0]: [" ".join(row[1:-1]), row[-1].strip("()")] for row in rows}

    return asked


def test_the_file_sets_options_that_are_not_given(
    start: Start, write: Write, tmp_path: Path, results: Callable[[], list[dict[str, Any]]]
) -> None:
    """It can also set required options. Options on the command line have precedence."""
    write("problems.jsonl", *PROBLEMS)
    write("tests.jsonl", *TESTS)
    write(
        "dump.jsonl", submission_row("right") | {"name": "a"}, submission_row("wrong", "int main() {}") | {"name": "b"}
    )
    text = '[score]\nproblems = "problems.jsonl"\ntests = "tests.jsonl"\nout = "there"\nid-column = "name"\nlimit = 1\n'
    (tmp_path / NAME).write_text(text)
    ended = start("score", "dump.jsonl", "--out", "out")
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "there").exists()
    assert [row["name"] for row in results()] == ["a"]
    assert RIGHT in results()[0]["code"]


def test_the_environment_comes_before_the_file(tmp_path: Path, lines_of: Callable[..., dict[str, list[str]]]) -> None:
    """The order is: environment, `.env`, file, default. The source of each value is shown."""
    (tmp_path / NAME).write_text('[environment]\nPISTON_ENDPOINTS = "a:1"\nCXX = "clang++"\n')
    (tmp_path / ".env").write_text("CXX=g++-12\n")
    found = lines_of(PISTON_ENDPOINTS="b:1")
    assert found["PISTON_ENDPOINTS"] == ["b:1", "environment"]
    assert found["CXX"] == ["g++-12", ".env"]
    assert found["PISTON_MAX_REQUESTS_PER_ENDPOINT"] == ["1", "default"]
    assert lines_of()["PISTON_ENDPOINTS"] == ["a:1", NAME]
    assert set(VARIABLES) <= found.keys()


def test_an_empty_variable_is_one_that_is_not_set(lines_of: Callable[..., dict[str, list[str]]]) -> None:
    """The default is used, and is called so."""
    shown = lines_of(IOI_EVAL_CACHE="", XDG_CACHE_HOME="", CXX="")
    assert [shown[name][-1] for name in ("IOI_EVAL_CACHE", "CXX")] == ["default", "default"]


def test_the_source_of_the_cache(lines_of: Callable[..., dict[str, list[str]]]) -> None:
    """Another variable that sets it is named."""
    assert lines_of(IOI_EVAL_CACHE="", XDG_CACHE_HOME="/c")["IOI_EVAL_CACHE"] == ["/c/ioi-eval", "XDG_CACHE_HOME"]
    assert lines_of(IOI_EVAL_CACHE="/i", XDG_CACHE_HOME="/c")["IOI_EVAL_CACHE"] == ["/i", "environment"]


def test_all_settings_of_a_command_are_shown(tmp_path: Path, lines_of: Callable[..., dict[str, list[str]]]) -> None:
    """With their sources. Without a command only the settings of the file are shown."""
    (tmp_path / NAME).write_text('[score]\nworkers = 3\nby = ["model", "seed"]\n[apps.score]\nno_resume = true\n')
    shown = lines_of("score")
    assert shown["workers"] == ["3", NAME]
    assert shown["by"] == ["model, seed", NAME]
    assert shown["problems"] == ["not set", "required"]
    assert shown["isolation"] == ["not set", "default"]  # `none` is a value of this option
    assert lines_of("apps", "score")["no-resume"] == ["true", NAME]
    assert set(lines_of()) >= {"workers", "by", "no-resume"}
    assert "problems" not in lines_of()


def test_options_with_underlines_are_set_with_either(
    tmp_path: Path, lines_of: Callable[..., dict[str, list[str]]]
) -> None:
    """`run-tests` has the names of another program."""
    (tmp_path / NAME).write_text('[run-tests]\nlocal_results_path = "there"\nadd-includes = true\n')
    shown = lines_of("run-tests")
    assert shown["local-results-path"] == ["there", NAME]
    assert shown["add-includes"] == ["true", NAME]


def test_an_option_is_set_by_each_of_its_long_names(
    tmp_path: Path, lines_of: Callable[..., dict[str, list[str]]]
) -> None:
    """It is shown by the longest."""
    for name in ("dataset", "problems"):
        (tmp_path / NAME).write_text(f'[show]\n{name} = "rows.jsonl"\n')
        assert lines_of("show")["problems"] == ["rows.jsonl", NAME]


def test_a_variable_can_name_another_file(
    start: Start, tmp_path: Path, lines_of: Callable[..., dict[str, list[str]]]
) -> None:
    """The file in the working directory is then ignored. If the named file does not exist, it is an error."""
    (tmp_path / NAME).write_text("[score]\nworkers = 3\n")
    (tmp_path / "other.toml").write_text("[score]\nlimit = 5\n")
    found = lines_of(IOI_EVAL_CONFIG="other.toml")
    assert found["limit"] == ["5", "other.toml"]
    assert "workers" not in found
    ended = start("config", env={"IOI_EVAL_CONFIG": "none.toml"})
    assert ended.returncode == 2
    assert "none.toml, which IOI_EVAL_CONFIG names, cannot be read: No such file or directory" in ended.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[score", "is not a TOML file"),
        ("\udc80", "is not a TOML file"),
        ("environment = 1", "environment must be a table"),
        ("[environment]\nCXX = [1]", "CXX must be text or a number"),
        ("[environment]\nCC = 'gcc'", "CC cannot be set here; it can have IOI_EVAL_CACHE"),
        ("[environment]\nXDG_CACHE_HOME = '/x'", "XDG_CACHE_HOME cannot be set here"),
        ("score = 1", "[score] must be a table of options"),
        ("workers = 2", f"{NAME}: workers is outside of a table of options: write the command of an option above it"),
        ("[apps]\nseed = 2", f"{NAME}: apps.seed is outside of a table of options: write"),
        ("[scor]\n", "no such command 'scor'. Did you mean 'score'?"),
        ("[apps.scores]\n", "no such command 'apps.scores'. Did you mean 'apps.score'?"),
        ("[score]\nisolaton = 'full'", "[score]: no such option 'isolaton'. Did you mean 'isolation'?"),
        (
            "[score]\nisolation = 'fool'",
            "[score]: isolation = 'fool': no such value 'fool'; there are: full, reduced, none",
        ),
        ("[select]\nselection = ['best']", "[select]: selection = ['best']: "),
        ("[score]\nworkers = 0", "[score]: workers = 0: "),
        ("[score]\nworkers = true", "[score]: workers = True: "),
        ("[score]\nno-resume = 'perhaps'", "[score]: no-resume = 'perhaps': "),
        ("[score]\nout = ''", "[score]: out = '': it is empty"),
        ("[score]\nout = ['x']", "[score]: out = ['x']: one value is wanted, not a list or a table"),
        ("[score]\nby = ['x', ['y']]", "[score]: by = ['x', ['y']]: one value is wanted"),
        ("[score]\nhelp = true", "[score]: no such option 'help'"),
        ("[show]\ndataset = 'x'\nproblems = 'y'", "[show]: problems is set twice; its names are "),
        ("[xyz]\n", "no such command 'xyz'; `ioi-eval --help` lists them\n"),
        ("[import.foo]\n", "no such command 'import.foo'; `ioi-eval import --help` lists them\n"),
        ("[score]\nxyz = 1", "[score]: no such option 'xyz'; `ioi-eval score --help` lists them\n"),
    ],
)
def test_wrong_files_are_named(start: Start, tmp_path: Path, text: str, message: str) -> None:
    """Every command reports the error, also one of which an option is missing. No part of a wrong file is used."""
    (tmp_path / NAME).write_bytes(text.encode("utf-8", "surrogateescape"))
    ended = start("score", "dump.jsonl")
    assert ended.returncode == 2
    assert f"ioi-eval: {NAME}" in ended.stderr
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_help_works_beside_a_wrong_file(start: Start, tmp_path: Path) -> None:
    """A user who reads the help may look for what is wrong in the file."""
    (tmp_path / NAME).write_text("[score")
    for words in (["--help"], ["--version"], ["score", "--help"], ["apps", "-h"], ["apps", "score", "-h"]):
        ended = start(*words)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.startswith(("Usage: ioi-eval", "ioi-eval 0"))
    assert start("select", "--standing", "x").stderr.startswith(f"ioi-eval: {NAME} is not a TOML file")


def test_an_unknown_command(start: Start) -> None:
    """The message suggests the most similar command."""
    ended = start("config", "scor")
    assert ended.returncode == 2
    assert "no such command 'scor'. Did you mean 'score'?" in ended.stderr


def test_the_words_of_a_command(start: Start) -> None:
    """They may be one argument. A group is not a command: the message has its commands."""
    assert start("config", "apps score").stdout == start("config", "apps", "score").stdout != ""
    ended = start("config", "apps")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "apps is a group of commands; name one of them: apps score, apps audit, apps explain" in ended.stderr


def test_passwords_are_not_shown(tmp_path: Path, lines_of: Callable[..., dict[str, list[str]]]) -> None:
    """URLs of endpoints, and of a repository, may contain a user and a password."""
    repository = '[serve]\nrepository = "https://me:secret@r/index"\n'
    (tmp_path / NAME).write_text(f'[score]\nendpoints = "https://me:secret@w1, slurm"\n{repository}')
    assert lines_of(PISTON_ENDPOINTS="me:secret@w2:1,file:a@b")["PISTON_ENDPOINTS"] == ["w2:1,file:a@b", "environment"]
    assert lines_of("score")["endpoints"] == ["https://w1,slurm", NAME]
    assert lines_of("serve")["repository"] == ["https://r/index", NAME]


def test_the_message_names_the_options_of_the_file(start: Start, tmp_path: Path) -> None:
    """The user, who did not type them in this call, may not remember that they are there."""
    (tmp_path / NAME).write_text('[apps.score]\ncomparator = "tokens"\ndataset = "missing.jsonl"\n')
    ended = start("apps", "score", "dump.jsonl", "--out", "out", "--compat", "mcpbr")
    assert ended.returncode == 2
    assert "leave --comparator tokens out" in ended.stderr
    assert f"{NAME} sets options of this command: dataset, comparator; `ioi-eval config apps score`" in ended.stderr
    typed = start("apps", "score", "dump.jsonl", "--out", "out", "--dataset", "no", "--comparator", "lines")
    assert typed.returncode == 2
    assert "shows the values" not in typed.stderr
