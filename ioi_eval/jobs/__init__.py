"""What a box is asked to do, and what it answered. Pure.

- Bundled profile: `compile` and `bundled` make jobs, with a `plan` for the runner; `protocol` reads the runner's lines;
  `runner` compiles that itself.
- Python: `harness` says how an interpreter is started; `python_run` and `returned` are the jobs of APPS and their
  answers.
- Classic profile: `classic` makes jobs, `classic_answer` reads what came back.
"""
