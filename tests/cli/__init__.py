"""Tests of the command `ioi-eval`. Most of them start it as a process."""
