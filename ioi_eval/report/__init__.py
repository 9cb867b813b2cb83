"""Results for people and for other programs.

- `rows`: a row for each submission; its tests (`compact`) and inputs (`inputs`) are in files of their own.
  `result_files` and `result_sets` read all of them, `result_values` single values; `schema_check` finds wrong values;
- `run_summary`: adds up the results of a run one by one, for every family of problems, also by `groups`; `summary` adds
  what only contest problems have; `totals` adds up the tests of one result;
- `summary_from_rows`: a summary from the rows of results, without judging;
- `two_runs`, `selection_table` and `standings`: compare results with others, with other choices of submissions, and
  with contestants;
- `html`: the page, from `html_rows`, `html_cells` and `html_details`, with the scripts and styles of `page/`;
- `publication`: results in formats of other programs, one module each;
- `terminal`, `markdown`, `markdown_pages`, `two_runs_text`, `submission_text` and `validation`: results as text and
  tables, of the parts in `texts`; `failure_reasons` says why a row has no program; `hub` pushes results; `parquet`
  writes rows as a table.

What reads results raises an `InputError` if there are none, a file is damaged, or a line is not a row of results.
"""
