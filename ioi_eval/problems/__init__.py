"""Makes problems and submissions from rows: the rules of each family of problems.

- `row` reads single columns, with errors that name the place; `big_json` reads JSON with large integers;
  `limits` checks a problem's limits, `time_scale` multiplies its time limit;
- `first_rows` checks the beginning of a dump, `samples` finds the programs in its rows;
- IOI: `ioi` groups a data set's rows, `ioi_rules` makes a problem from them. `grader_files` and `grader_config` read a
  problem's files, with `judge_sources`, `task_parameters`, `token_rules` and `fifo_arguments` for parts of them;
  `testcases` reads its tests, and `loading` does that in a thread. `submissions` and `output_files` read dumps;
- APPS: `apps`, `apps_values`, `apps_selection`, `apps_submissions`.

A value that a row may not have is a `RowError`; a problem that lacks something or contradicts itself, an `InputError`;
a feature that is not supported, an `UnsupportedError`. Docstrings name them where a caller treats them in different
ways.
"""
