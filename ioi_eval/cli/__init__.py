"""The commands. Each has a file with its arguments (`score.py`). Work that takes more than a page is in a second file
(`scoring.py`), which is imported only when it is done; `cluster` has it with its arguments.

A command returns its exit code. An error of ours that it raises becomes a message and an exit code (`exits.py`), so
docstrings here do not list the errors.
"""
