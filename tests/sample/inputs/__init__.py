"""The tests of the sample contest: one module for each task, with a function `cases()`."""
