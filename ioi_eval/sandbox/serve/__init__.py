"""`ioi-eval serve`: the embedded sandbox as a server with Piston's API v2.

- `server`: routes and bounds; `connections` (their time and memory)
- one job: `json_bodies` (reads its request, writes its answer), `request` (refuses requests), `served_runtimes` (what
  runs it)
- problems that are installed here: `installed_packages`
"""
