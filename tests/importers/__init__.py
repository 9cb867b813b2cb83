"""Tests of `ioi_eval/importers`: packages of tasks."""
