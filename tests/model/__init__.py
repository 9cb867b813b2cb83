"""Tests of `ioi_eval/model`."""
