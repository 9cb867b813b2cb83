"""Makes problems and submissions from rows: the rules of each family of problems.

- `row` reads single columns, with errors that name the place;
- IOI: `ioi` groups a data set's rows, `ioi_rules` makes a problem from them, `grader_files` and `grader_config` read
  a problem's files, `testcases` its tests (`case_data`, `read_ahead`); `submissions`, `samples`
  and `output_files` read dumps;
- APPS: `apps`, `apps_tests`, `apps_values`, `apps_selection`, `apps_submissions`.
"""
