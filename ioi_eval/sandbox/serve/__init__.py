"""`ioi-eval serve`: the embedded sandbox as a server with Piston's API v2.

- `server`: routes and bounds; `connections` (their time and memory)
- one job: `request`, `request_body` (which are refused), `served_runtimes` (what runs a job), `answer_text` (its
  answer)
- problems that are installed here: `installed_packages`
"""
