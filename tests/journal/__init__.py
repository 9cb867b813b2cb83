"""Tests of `ioi_eval/journal`: stored outcomes, and what a crash leaves of them."""
