"""Tests of `ioi_eval/validate`: verdicts compared with authors' labels."""
