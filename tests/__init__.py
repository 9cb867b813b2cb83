"""The tests. Their directories mirror the package; tests of several packages have directories of their own."""
