"""The tests of the sample contest: one module a task, each with a function `cases()`."""
