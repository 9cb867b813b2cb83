"""Tests of `ioi_eval/scorer`: one submission from its compilation to its result."""
