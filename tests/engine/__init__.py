"""Tests of `ioi_eval/engine`: what both families' judging shares."""
