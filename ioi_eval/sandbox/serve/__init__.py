"""`ioi-eval serve`: the embedded sandbox as a server with Piston's API v2.

- `server`: routes and bounds; `connections`, `client_names` (which clients are refused)
- one job: `request`, `request_body`, `held_bytes` (memory of requests), `served_runtimes` (what runs a job)
- problems that are installed here: `installed_packages`, `served_packages`
"""
