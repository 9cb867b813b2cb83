"""The commands. Each has a file with its arguments (`score.py`); longer commands have a second file with their work
(`scoring.py`), which is imported only when it is done.

A command returns its exit code. An error of ours that it raises becomes a message and an exit code (`exits.py`), so
docstrings here do not list the errors.
"""
