"""Compares our comparators, checkers and managers with independent implementations."""
