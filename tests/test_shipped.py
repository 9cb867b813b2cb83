"""Compiled programs in the package are used only if they were built from the sources beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ioi_eval import shipped
from ioi_eval.errors import SetupError

PROGRAM = '#!/bin/sh\necho "ioi-eval-runner 1"\n'
COMPILER = f"""#!/bin/sh
[ "$1" != --version ] || {{ echo "cc (test) 1"; exit; }}
for last; do :; done
printf '{PROGRAM}' > "$last"
"""


def built(tmp_path: Path, compiler: str = COMPILER) -> Path:
    """The directory of a wheel's compiled programs, built with a stub compiler that makes the same program of any
    source.
    """
    (tmp_path / "cc").write_text(compiler)
    (tmp_path / "cc").chmod(0o755)
    directory = tmp_path / "built"
    directory.mkdir()
    shipped.build(directory, str(tmp_path / "cc"))
    return directory


@pytest.mark.parametrize("name", [shipped.RUNNER, shipped.STAGE_RUNNER])
def test_built_programs_are_found(tmp_path: Path, name: str) -> None:
    """The content is what the compiler wrote."""
    found = shipped.checked_program(name, built(tmp_path))
    assert found == shipped.ShippedProgram(content=PROGRAM.replace("\\n", "\n").encode())


def test_a_checkout_has_no_compiled_programs(tmp_path: Path) -> None:
    """This is no error."""
    assert shipped.checked_program(shipped.RUNNER, tmp_path) == shipped.ShippedProgram()


def recorded(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    """A function that changes the runner's entry in the record."""

    def apply(directory: Path) -> None:
        path = directory / "record.json"
        record = json.loads(path.read_text())
        change(record["runner"])
        path.write_text(json.dumps(record))

    return apply


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda built: (built / "runner").write_bytes(b"\x7fELF"), "does not match its hash"),
        (lambda built: (built / "runner").write_bytes(b""), "does not match its hash"),
        (lambda built: (built / "runner").unlink(), "cannot be read"),
        (lambda built: ((built / "record.json").unlink(), (built / "record.json").mkdir()), "cannot be read"),
        (lambda built: (built / "record.json").write_text("{"), "cannot be read"),
        (lambda built: (built / "record.json").write_text("[]"), "cannot be read"),
        (lambda built: (built / "record.json").write_text("{}"), "cannot be read"),
        (lambda built: (built / "record.json").write_bytes(b"\xff"), "cannot be read"),
        (recorded(lambda runner: runner.pop("sha256")), "cannot be read"),
        (recorded(lambda runner: runner.update(sha256="0" * 64)), "does not match its hash"),
        (recorded(lambda runner: runner["built_from"].update(source="0" * 64)), "from another source"),
        (recorded(lambda runner: runner["built_from"].update(flags=["-O0"])), "from another source"),
        (recorded(lambda runner: runner["built_from"].update(machine="aarch64")), "from another source"),
        (recorded(lambda runner: runner.update(built_from=None)), "from another source"),
    ],
)
def test_a_program_that_does_not_match_is_not_used(
    tmp_path: Path, damage: Callable[[Path], object], words: str
) -> None:
    """The reason names the file and says what to do."""
    directory = built(tmp_path)
    damage(directory)
    found = shipped.checked_program(shipped.RUNNER, directory)
    assert found.content is None
    assert words in found.why_not
    assert found.why_not.endswith("install ioi-eval again")


def test_programs_for_another_machine_are_not_used() -> None:
    """The programs in a package are for one kind of machine."""
    assert shipped.content_for(shipped.RUNNER, "aarch64-linux-gnu") is None


@pytest.mark.parametrize(
    ("compiler", "words"),
    [
        ("#!/bin/sh\necho cc\n[ $# = 1 ] || { echo no libc.a >&2; exit 1; }\n", "no libc.a"),
        (COMPILER.replace("ioi-eval-runner", "something"), "does not say its version"),
        (COMPILER.replace("/bin/sh\necho", "/nowhere\necho"), "cannot be started"),
    ],
)
def test_a_build_that_failed_says_why(tmp_path: Path, compiler: str, words: str) -> None:
    """The wheel is then built without programs, and the message says why."""
    with pytest.raises(SetupError, match=words):
        built(tmp_path, compiler)
    assert not (tmp_path / "built" / "record.json").exists()
