"""Results for people and for other programs.

- `rows`: a row for each submission; `frame` and `result_sets` read them again, `result_values` reads single values;
- `run_summary`: adds up the results of a run one by one, for every family of problems; `summary`, with `tally` and
  `totals`, adds what only contest problems have;
- `html`: the page, from `html_rows`, `html_cells` and `html_details`, with the scripts and styles of `page/`;
- `publication`: results in formats of other programs, one module each;
- `remade`: a summary from results alone;
- `terminal`, `markdown`, `validation` and `suspicious`: results as text and tables, of the parts in `texts`.
"""
