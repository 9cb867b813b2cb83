#!/usr/bin/env python3
"""Accepts the command line of huggingface/ioi's `run_tests/tests_runner.py`, like `ioi-eval run-tests`.

scripts/tests_runner.py DATASETS [RESULTS] [OPTIONS]      `docs/coming-from.md` says what differs
"""

from __future__ import annotations

import sys

from environment import use_environment

if __name__ == "__main__":
    use_environment()
    from ioi_eval.cli.main import main

    sys.argv[1:1] = ["run-tests"]
    main()
