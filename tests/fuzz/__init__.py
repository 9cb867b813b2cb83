"""Fuzzing tests for all code that reads data of users or programs."""
