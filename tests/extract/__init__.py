"""Tests of `ioi_eval/extract`: the program in a generation's text."""
