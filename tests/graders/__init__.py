"""Tests of `graders/runner`, the judge inside the box, and of the two scripts."""
