"""Fuzzing tests of all code that reads bytes from programs, models or servers."""

from __future__ import annotations
