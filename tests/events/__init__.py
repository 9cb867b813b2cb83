"""Events of a run."""
