"""Tests of `ioi_eval/journal`: stored outcomes, and how they survive a crash."""
