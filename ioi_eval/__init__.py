"""Scores programs written for competitive-programming problems."""

from ioi_eval.version import __version__

__all__ = ["__version__"]
