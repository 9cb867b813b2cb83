"""The commands. Each has a file with its arguments; longer commands have a second file with their work.

A command returns its exit code. An error of ours that it raises becomes a message and an exit code (`exits.py`).
"""
