"""Results for people and for other programs.

- `rows`: a row for each submission; `frame` and `result_sets` read them again, `result_values` reads single values;
- `run_summary`: adds up the results of a run one by one, for every family of problems; `summary` adds what only contest
  problems have;
- `summary_from_rows`: the same from the rows of results, without judging;
- `two_runs`, `selection_table` and `standings`: compares results with others, with other choices of submissions, and
  with contestants;
- `html`: the page, from `html_rows`, `html_cells` and `html_details`, with the scripts and styles of `page/`;
- `publication`: results in formats of other programs, one module each;
- `terminal`, `markdown`, `markdown_pages`, `two_runs_text` and `validation`: results as text and tables, of the parts
  in `texts`; `hub` pushes results; `parquet` writes rows as a table.

What reads results raises an `InputError` if there are none, a file is damaged, or a line is not a row of results.
"""
