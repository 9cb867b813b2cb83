"""Results for people and for other programs.

- `rows` and `frame`: a row for each submission, and a pandas table of them;
- `run_summary`: what a run comes to, added up while results stream by, for every family of problems; `summary`, with
  `tally` and `totals`, what is of contest problems in it;
- `html`: the page, from `html_rows`, `html_cells` and `html_details`, with the scripts and styles of `page/`;
- `publication`: results in the formats of others, one module each;
- `remade`: a summary from results alone;
- `terminal`, `markdown`, `validation`, `suspicious` and `fidelity`: the same in words and tables.
"""
