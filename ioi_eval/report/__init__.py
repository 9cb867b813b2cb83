"""Results for people and for other programs.

- `rows` and `frame`: a row for each submission, and a pandas table of them;
- `tally`, `limited` and `summary`: what a run comes to, added up while results stream by;
- `terminal`, `markdown`, `validation`, `suspicious` and `fidelity`: the same in words and tables.
"""
