"""Eval Protocol's page on APPS: a script, as `python3 solution.py` runs it, with a prelude before it.

The page names the prelude `standard_imports`; what that holds is in the package's code.
"""

from __future__ import annotations

from . import eval_protocol

PRELUDE = eval_protocol.PRELUDE
SCRIPT = True
