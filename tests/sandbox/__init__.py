"""Tests of `ioi_eval/sandbox`: the embedded sandbox, the Piston client and server."""
