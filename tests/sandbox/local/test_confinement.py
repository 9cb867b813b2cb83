"""Boxes made by bwrap: their bounds, hidden files and remaining capabilities; also with an old bwrap."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ioi_eval.errors import SetupError
from ioi_eval.sandbox.local import confinement
from ioi_eval.sandbox.local import sandbox as local
from ioi_eval.sandbox.local.confinement import BOX_BYTES, PATH, TMP_BYTES, as_user, in_namespaces
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from tests.full_isolation import require_full_isolation
from tests.sandbox.local.test_scripts import script_job

UID = 0x6F000002 if os.geteuid() == 0 else None

LOOK = """
stat -f -c '%n %b %S' /tmp /box
touch /tmp/a /box/a
ls -A /usr/share; touch /usr/share/a 2> /dev/null && echo written
grep CapEff /proc/self/status
"""

OLD_BWRAP = """#!/bin/sh
for word; do
    [ "$word" != --size ] || { echo "bwrap: Unknown option --size" >&2; exit 1; }
    [ "$word" != -- ] || break
done
exec REAL "$@"
"""


@pytest.fixture(scope="module", autouse=True)
def _full() -> None:
    require_full_isolation()


def _look(*, has_size_option: bool, is_root_inside: bool) -> subprocess.CompletedProcess[str]:
    words = in_namespaces(is_root_inside=is_root_inside, has_size_option=has_size_option)
    command = (*as_user(UID), *words, "--", "sh", "-c", LOOK)
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": PATH}, timeout=60, check=False)


@pytest.mark.parametrize("is_root_inside", [True, False], ids=["runner", "scripts"])
@pytest.mark.parametrize("has_size_option", [True, False], ids=["bwrap bounds", "bounded before"])
def test_size_and_capabilities_of_a_box(
    monkeypatch: pytest.MonkeyPatch, has_size_option: bool, is_root_inside: bool
) -> None:
    """`/tmp` and `/box` have the same sizes with and without bwrap's `--size`, and scripts have no capabilities."""
    monkeypatch.setattr(confinement, "PACKAGE_DIRECTORY", Path("/usr/share"))
    done = _look(has_size_option=has_size_option, is_root_inside=is_root_inside)
    if "Unknown option --size" in done.stderr:
        pytest.skip("this machine's bwrap does not know --size")
    assert done.returncode == 0, done.stderr
    *rooms, capabilities = done.stdout.splitlines()
    bytes_of = {name: int(blocks) * int(size) for name, blocks, size in map(str.split, rooms)}
    assert bytes_of == {"/tmp": TMP_BYTES, "/box": BOX_BYTES}
    held = int(capabilities.split()[1], 16)
    assert bool(held) is is_root_inside
    assert held & 1 << 12 == 0, "CAP_NET_ADMIN is not on the list"


async def _room_of_scripts() -> str:
    async with LocalSandbox(slots=1) as sandbox:
        (target,) = sandbox.targets()
        execution = await sandbox.execute(script_job("stat -f -c '%n %b' /tmp /box"), target)
        return f"{target.isolation} {execution.run.stdout}"


@pytest.mark.root
def test_a_bwrap_without_the_option_size() -> None:
    """With a bwrap without `--size`, as in Ubuntu 22.04, isolation is full, and the sizes are the same."""
    expected = asyncio.run(_room_of_scripts())
    real = shutil.which("bwrap")
    assert real is not None
    directory = Path(tempfile.mkdtemp(prefix="ioi-eval-old-bwrap-"))
    try:
        directory.chmod(0o755)
        shutil.copy(real, directory / "real")
        (directory / "bwrap").write_text(OLD_BWRAP.replace("REAL", f"{directory}/real"))
        (directory / "bwrap").chmod(0o755)
        code = "import asyncio; from tests.sandbox.local import test_confinement as t; "
        code += "print(asyncio.run(t._room_of_scripts()))"
        script = f'mount --bind {directory}/bwrap {real} && ! bwrap --size 1 --tmpfs / true && exec "$@"'
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        shutil.rmtree(directory)
    if done.returncode != 0 and ("mount:" in done.stderr or done.stderr.startswith("unshare:")):
        pytest.skip(f"cannot be tested here: {done.stderr.strip()[-300:]}")
    assert done.stdout.strip() == expected.strip(), done.stderr


def test_a_box_that_is_not_made_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the program without its arguments. It has a time only if the program was started."""
    monkeypatch.setattr(local, "_TRY_S", 0.1)
    with pytest.raises(SetupError, match=r"^sleep did not end within 0\.1 s; try again when .* less busy$"):
        local._try(("sleep", "1000"))
    with pytest.raises(SetupError, match=r"^/none/bwrap cannot be started: .*No such file"):
        local._try(("/none/bwrap", "1000"))
