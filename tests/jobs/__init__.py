"""Tests of `ioi_eval/jobs`: what goes into a box and what comes back."""
