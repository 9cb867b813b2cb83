"""Tests of `ioi_eval/sandbox/serve`: the Piston server."""
