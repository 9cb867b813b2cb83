"""The stub server answers a probe as the machine does, but executes it once for all servers."""

from __future__ import annotations

import re
from typing import Any

import httpx

SCRIPT = """
tell() { printf '%s\\t' "$@"; echo; }
tell begin NONCE
tell made "$(mktemp -u XXXXXXXXXX)"
tell clock 5
tell end NONCE
"""


def probed(server: Any, nonce: str, *, compiler_files: str = "") -> tuple[str, int]:
    """What a server answers to a script like the client's probe: its random word, and its clock."""
    files = {"run": SCRIPT.replace("NONCE", nonce), "compiler_files": compiler_files}
    job = {
        "language": "bash",
        "version": "5.2.0",
        "files": [{"name": name, "content": text} for name, text in files.items()],
        "args": [],
        "run_timeout": 60_000,
    }
    printed = httpx.post(f"{server.urls[0]}/api/v2/execute", json=job, timeout=60).json()["run"]["stdout"]
    found = re.fullmatch(rf"begin\t{nonce}\t\nmade\t(\w+)\t\nclock\t(\d+)\t\nend\t{nonce}\t\n", printed)
    assert found, printed
    return found[1], int(found[2])


def test_a_probe_is_executed_once(start: Any) -> None:
    """The second server answers with the second nonce and the time of its answer. Another script is executed, and so is
    each probe of a server with limits or tools of its own.
    """
    word, clock = probed(start("stub_piston.py"), "1a")
    again, later = probed(start("stub_piston.py"), "2b")
    assert (again, clock, later > 5) == (word, 5, True)
    others = {probed(start("stub_piston.py"), "3c", compiler_files="#")}
    others |= {probed(start("stub_piston.py", *own), "4d") for own in (["--ulimit", "true"], ["--tools", "/bin"])}
    assert len({word, *(other for other, _ in others)}) == 4
