"""Restarts the scripts of this directory with a Python that has the package."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def use_environment() -> None:
    """Start the script again with the virtual environment's Python, if this Python does not have the package.

    If there is no virtual environment, the script ends with a message.
    """
    if importlib.util.find_spec("ioi_eval") is not None:
        return
    environment = Path(os.environ.get("IOI_EVAL_VENV", ROOT / ".venv"))
    python = environment / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != environment.resolve():
        os.execv(python, [str(python), *sys.argv])
    sys.exit(
        f"{sys.executable} does not have ioi_eval: run {ROOT / 'scripts' / 'quickstart'} once, which makes "
        f"{environment}, or activate the environment that has it"
    )
