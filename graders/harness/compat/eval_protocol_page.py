"""Eval Protocol's page on APPS: a script, as `python3 solution.py` runs it, with a prelude before it.

The page calls the prelude `standard_imports`; only the package's code has its contents.
"""

from __future__ import annotations

from . import eval_protocol

PRELUDE = eval_protocol.PRELUDE
SCRIPT = True
