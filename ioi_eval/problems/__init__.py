"""Rows to problems and submissions: the rules of each family of tasks.

- `row` reads single columns, with errors that say where;
- IOI: `ioi` groups a data set's rows, `ioi_rules` says what they mean together, `grader_files` and `grader_config` read
  a problem's files, `testcases` its tests; `submissions`, `source_files` and `output_files` read dumps;
- APPS: `apps`, `apps_tests`, `apps_values`, `apps_selection`, `apps_submissions`.
"""
