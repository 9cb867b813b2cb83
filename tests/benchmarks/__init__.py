"""Tests of `scripts/bench`."""
