"""Tests of `ioi_eval/engine`: the judging that both families share."""
