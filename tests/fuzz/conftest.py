"""Fuzzers of everything that reads bytes which a program, a model or a server may have made."""

from __future__ import annotations
