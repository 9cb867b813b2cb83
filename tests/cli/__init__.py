"""Tests of the command `ioi-eval`, most of them through a process of its own."""
