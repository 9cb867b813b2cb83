"""Tests of `ioi_eval/rows`: reading files and data sets."""
