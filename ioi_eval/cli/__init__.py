"""The commands. A file has a command's arguments (`score.py`). Longer work is in a second file (`scoring.py`), which is
imported only when the command runs.

A command returns its exit code. An error of ours that it raises becomes a message and an exit code (`exits.py`), so
docstrings here do not list the errors.
"""
