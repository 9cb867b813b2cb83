"""Turns official packages into rows: one module per format.

- `cms`, `tps`, `polygon`, `italian_yaml`, `kattis` and `library_checker` each read a format; the `polygon_…` modules
  belong to `polygon`, and `italian_scoring` to `italian_yaml`;
- for `kattis`, `kattis_settings` reads what holds for the whole problem, `kattis_data` the tree of tests.
  `kattis_scoring` finds out how submissions are scored on it (`kattis_graders`: by programs of the package), and
  `kattis_groups` expresses this by subtasks. `kattis_programs` reads the output validator and the included code,
  `kattis_submissions` the submissions with their verdicts, `kattis_expectations` the file `submissions.yaml`;
- only `package_files` opens directories, zips and tars; `package` parses the files in them;
- `judge_programs` takes checkers and managers with the sources that they include;
- `score_parameters`, `name_patterns` and `output_sets` read what several formats have in common; `python_2` recognizes
  programs in Python 2;
- `task` makes rows and checks that they can be judged; `rows_out` writes them.

What is missing, damaged or contradictory in a package is an `InputError`, a feature that is not supported an
`UnsupportedError`, and what this machine lacks a `SetupError`. The docstring of a function that may raise a
`SetupError` says so; the other two may come from nearly every function, and their messages give the details.
"""
