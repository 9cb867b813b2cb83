"""Turns official packages into rows: one module per format.

- `cms`, `tps`, `polygon`, `italian_yaml`, `kattis` and `library_checker` each read a format; the `kattis_…` modules
  belong to `kattis`, the `polygon_…` modules to `polygon`;
- only `package_files` opens directories, zips and tars; `package` parses the files in them;
- `score_parameters` and `output_sets` read what several formats have in common;
- `task` makes rows and checks that they can be judged; `rows_out` writes them.
"""
