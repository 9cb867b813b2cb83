"""The one accessor of what travels into a box: the programs in `graders/`.

In a checkout they lie beside the package, in a wheel inside it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ioi_eval.errors import SetupError

RUNNER_VERSION = 1
"""The protocol that `graders/PROTOCOL.md` fixes and that `jobs/` speaks."""


@cache
def _directory() -> Path:
    package = Path(__file__).resolve().parent
    for candidate in (package / "graders", package.parent / "graders"):
        if (candidate / "PROTOCOL.md").is_file():
            return candidate
    raise SetupError(f"the box files are missing (looked in {package / 'graders'}); install ioi-eval again")


@cache
def read(name: str) -> bytes:
    """The bytes of one box file, by its name in `graders/`."""
    return (_directory() / name).read_bytes()
