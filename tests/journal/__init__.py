"""Tests of `ioi_eval/journal`: stored outcomes, and how many of them survive a crash."""
