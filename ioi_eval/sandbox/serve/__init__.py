"""`ioi-eval serve`: the embedded sandbox as a server with Piston's API v2.

- `server`: routes and bounds; `connections` (their time and memory)
- one job: `request` and `json_bodies` (which are refused; how answers are written), `served_runtimes` (what runs it)
- problems that are installed here: `installed_packages`
"""
