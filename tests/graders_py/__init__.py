"""Tests of `graders/harness`, which runs Python programs inside the box."""
