"""Makes jobs for boxes, and reads their answers. Pure.

- With the runner: `recipes` says how programs are compiled, `compile` makes compile jobs, `run_job` run jobs, each with
  a `plan` for the runner (`plan` also has the runner's time rules). `runner_answer` reads the runner's answers.
  `runner_job` makes the job that compiles the runner itself.
- How programs are run: `run_setups`; `harness` says how an interpreter is started.
- Scripts (workers with only `cms_ioi`, and `run_submission`): `scripts_job` makes jobs of the scripts `compile` and
  `run`, `scripts_answer` reads the answers.
"""
