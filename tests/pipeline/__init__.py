"""Tests of `ioi_eval/pipeline`: one run over a dump."""
