"""Turns official packages into rows: one module per format.

- `cms`, `tps`, `polygon`, `italian_yaml`, `kattis` and `library_checker` each read a format; the `kattis_…` modules
  belong to `kattis`, the `polygon_…` modules to `polygon`, and the `italian_…` modules to `italian_yaml`;
- only `package_files` opens directories, zips and tars; `package` parses the files in them;
- `judge_programs` takes checkers and managers with the sources that they include;
- `score_parameters`, `name_patterns` and `output_sets` read what several formats have in common;
- `task` makes rows and checks that they can be judged; `rows_out` writes them.

What is missing, damaged or contradictory in a package is an `InputError`, a feature that is not supported an
`UnsupportedError`, and what this machine lacks a `SetupError`. Docstrings name only the last of these, and reasons that
the messages do not give.
"""
