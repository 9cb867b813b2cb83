"""Tests of `ioi_eval/sandbox`. The modules in this folder are for the tests in its folders."""
