"""Official packages to rows, one module a format.

- `cms`, `tps`, `italian_yaml`, `kattis` and `library_checker` each read a format; the `kattis_…` modules belong to
  `kattis`;
- only `package_files` opens folders, zips and tars; `package` parses the files in them;
- `score_parameters` and `output_sets` read parts that several formats share;
- `task` makes rows from the parts and checks that they can be judged; `rows_out` writes the rows.
"""
