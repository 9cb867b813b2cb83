"""Which interpreters are used, and what of this machine they need."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ioi_eval import programs
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local import LocalSandbox


def ask(python: str, cache: Path) -> None:
    """Ask the embedded sandbox for an interpreter."""

    async def run() -> None:
        async with LocalSandbox(slots=1) as sandbox:
            builder = programs.Builder(sandbox, ArtifactStore(cache), Policy())
            await builder.interpreter(python, sandbox.targets()[0])

    asyncio.run(run())


def test_an_interpreter_that_is_not_there_is_named_at_once(tmp_path: Path) -> None:
    """Nothing is compiled, no box is made."""
    with pytest.raises(SetupError, match="there is no interpreter /no/python on this machine"):
        ask("/no/python", tmp_path)
    assert not any(tmp_path.rglob("*runner*"))


@pytest.mark.parametrize("python", ["/no/python", "/bin/python3", "/usr/bin/python3", "/opt/python", "python3"])
def test_no_place_above_a_prefix(python: str) -> None:
    """`/` has a `lib/python3`, and is no prefix: the system's programs are shown anyway."""
    assert programs._places_of(python) == ()


def test_a_prefix_is_shown_with_what_it_stands_on(tmp_path: Path) -> None:
    """Of a link beside it only what it leads to."""
    base, venv = tmp_path / "base", tmp_path / "venv"
    for prefix in (base, venv):
        (prefix / "bin").mkdir(parents=True)
    (base / "lib/python3.12").mkdir(parents=True)
    (base / "bin/python").touch()
    (venv / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    (venv / "bin/python").symlink_to(base / "bin/python")
    (tmp_path / "python").symlink_to(base / "bin/python")
    (tmp_path / "lib/python3.12").mkdir(parents=True)
    assert sorted(programs._places_of(f"{venv}/bin/python")) == [str(base), str(venv)]
    assert programs._places_of(f"{tmp_path}/python") == (str(base),)


def test_a_prefix_that_holds_more_is_refused(tmp_path: Path) -> None:
    """A link to the root, whose `bin` the program lies in."""
    (tmp_path / "all").symlink_to("/")
    python = f"{tmp_path}/all/bin/python3"
    if not Path("/lib/python3").exists():
        pytest.skip("this system's Python is elsewhere")
    with pytest.raises(SetupError, match=r"cannot be used: .*/all \(/\) is not shown to boxes"):
        ask(python, tmp_path / "cache")
