"""Tests of `graders/runner`, which judges inside the box, and of the two scripts."""
