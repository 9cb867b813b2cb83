"""The embedded sandbox: runs jobs on this machine.

- `sandbox`: `LocalSandbox`; `compiler` finds the compiler, `compiler_contents` what a box must show of it
- one job: `scripts` (a job with its own `compile` and `run`), `confinement` (the box), `namespaces` (whether boxes can
  be made here), `visible_paths` (paths that a box may show), `process`, `descriptors`, `work_directories`
- the machine: `slots` (how many jobs run at once), `inherited_limits`, `machine_limit` and
  `control_groups` (what limits it)
"""
