"""Tests of `ioi_eval/problems`: rows become problems."""
