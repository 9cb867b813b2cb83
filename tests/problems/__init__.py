"""Tests of `ioi_eval/problems`: rows to problems."""
