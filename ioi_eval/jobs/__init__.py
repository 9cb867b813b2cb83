"""What a box is asked to do, and what it answered. Pure.

- Bundled profile: `compile` and `run_job` make jobs, with a `plan` for the runner; `protocol` and, for run jobs,
  `returned` read the runner's lines; `runner` compiles that itself. `compilers` asks a target for the compiler of
  another language than C++.
- How programs are run: `bundled` says it for contest problems, `python_run` for APPS; `harness` how an interpreter is
  started.
- Classic profile: `classic` makes jobs, `classic_answer` reads what came back.
"""
