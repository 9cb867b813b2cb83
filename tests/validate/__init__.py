"""Tests of `ioi_eval/validate`: verdicts against what authors state."""
