"""Tests of `ioi_eval/extract`: code from a generation's text."""
