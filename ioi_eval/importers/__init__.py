"""Official packages to rows, one module a format.

- `cms`, `tps`, `italian_yaml`, `kattis` and `library_checker` read a format each; the `kattis_…` modules are parts of
  one;
- `package_files` opens folders, zips and tars, and is the only module that does; `package` parses what is in them;
- `score_parameters` and `output_sets` read what several formats have;
- `task` makes rows of what was read and looks for what would spoil judging; `rows_out` writes them.
"""
