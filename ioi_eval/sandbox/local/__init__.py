"""The embedded sandbox: runs jobs on this machine.

- `sandbox`: `LocalSandbox`; `compiler` finds the compiler, and what a box must show of it
- one job: `scripts` (a job with its own `compile` and `run`), `confinement` (the box, and paths that it may show),
  `why_no_box` (the cause if no box can be made here), `descriptors`, `work_directories`
- the machine: `inherited_limits`, `machine_limit` and `control_groups` (what limits it, and how many processors jobs
  have); `ioi_eval/slots.py` divides these among the jobs
"""
