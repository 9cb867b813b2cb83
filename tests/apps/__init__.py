"""Tests of `ioi_eval/apps`: APPS problems and dumps."""
