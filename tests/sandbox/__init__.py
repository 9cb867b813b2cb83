"""Tests of `ioi_eval/sandbox`. The modules in this directory are for the tests in its directories."""
