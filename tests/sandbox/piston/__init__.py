"""Tests of `ioi_eval/sandbox/piston`: the Piston client."""
