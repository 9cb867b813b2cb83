"""Tests of `ioi_eval/calibration`: the speed of this machine."""
