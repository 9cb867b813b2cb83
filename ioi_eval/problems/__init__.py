"""Rows to problems: the rules of each family of tasks."""
