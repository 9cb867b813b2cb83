"""Tests of `ioi_eval/jobs`: the files of a box, and the answers from it."""
