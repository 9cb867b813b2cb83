"""Tests of `ioi_eval/sandbox/local`: the embedded sandbox."""
