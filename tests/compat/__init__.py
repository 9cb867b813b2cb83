"""Tests of `ioi_eval/compat`: verdicts that other graders would give."""
