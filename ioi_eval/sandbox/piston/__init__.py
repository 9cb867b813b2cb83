"""A cluster of Piston servers as one sandbox.

- `cluster`: `PistonCluster`, which sends jobs; `pool` (which endpoint gets a job), `endpoint_state`,
  `job_end`, `retries`, `garbage_collection`
- the workers: `endpoints` (their addresses), `workers` (the list of those in use), `discovery` and
  `probing` (what a worker can do), `conditions` (its limits), `control` (packages)
- requests and answers: `wire`, `literals`, `answer`, `two_stages`, `spool` (bytes that are sent often), `http_client`,
  `client_clock` (how long it waits for them)
- problems that are installed on workers: `problem_packages` names and makes packages, `stored_files` makes jobs that
  refer to them
"""
