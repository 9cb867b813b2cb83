"""The commands and programs of the tutorials work in their order."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.full_isolation import require_full_isolation

DIRECTORY = Path(__file__).resolve().parent.parent / "docs" / "tutorials"
PAGES = sorted(DIRECTORY.glob("*.md"))
PRINTED = {
    "researcher": (
        *("Report:", "ships 0 and 2 collide in berth 0", "The problem has a checker of its own"),
        *("heron", "otter", "4 problems"),
        "with fewer than 6 there are no intervals, and a difference may be chance",
    ),
    "trainer": ("[1.0, 0.0]\n1.0\n",),
    "cluster-operator": ("one worker does not answer",),
    "organiser": ("exit code 1",),
}
"""By page, what its commands print."""

CONFIGURATION = '[score]\nstd = "gnu++17"\n[validate]\nstd = "gnu++17"\n'
"""For C++20, the standard of the sample contest, the compiler takes half as much time again."""

COMMANDS = {"python3": "", "ioi-eval": '-c "from ioi_eval.cli.main import main; main()"'}


def script_of(page: Path) -> str:
    """The code blocks of a page as one bash script. Its ports are replaced by free ones."""
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    text = "\n".join(
        ["set -eu", *(block if name == "sh" else f"python3 - <<'END'\n{block}END" for name, block in blocks)]
    )
    for port in set(re.findall(r"\b29\d\d\b", text)):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            text = text.replace(port, str(free.getsockname()[1]))
    return text


def test_each_page_has_an_expected_output() -> None:
    """No page is left out."""
    assert {page.stem for page in PAGES} == set(PRINTED)


def test_variables_with_paths_are_quoted() -> None:
    """The checkout may be in a directory with blanks in its name."""
    for page in PAGES:
        assert not re.findall(r"[^\"]\$sample/.*", page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_works(page: Path, tmp_path: Path, cache: Path) -> None:
    """In a directory that has only a configuration, all blocks end without error and print the expected text."""
    text = script_of(page)
    if "ioi-eval serve" in text:
        require_full_isolation()
    commands, place = tmp_path / "bin", tmp_path / "work"
    commands.mkdir()
    place.mkdir()
    (place / "ioi-eval.toml").write_text(CONFIGURATION)
    for name, arguments in COMMANDS.items():
        (commands / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
        (commands / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "IOI_EVAL_CACHE": str(cache)}
    log = tmp_path / "log"
    with log.open("w") as out:
        shell = subprocess.Popen(
            ["bash", "-c", text], cwd=place, env=environment, stdout=out, stderr=out, start_new_session=True
        )
        try:
            code = shell.wait(timeout=900)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
    printed = log.read_text()
    assert code == 0, printed
    for words in PRINTED[page.stem]:
        assert words in printed, printed
