"""`ioi-eval cluster` and `ioi-eval doctor --endpoints`, as users start them, against servers in every condition."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ioi_eval import sample
from ioi_eval.blobs import BlobStore
from ioi_eval.jobs.problem_package import package_of
from ioi_eval.problems.ioi import load_problems
from ioi_eval.rows import open_source
from tests.forked_commands import Ended, ForkedCommands

Run = Callable[..., Ended]

SAMPLE = sample.dump().parent
NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens


@pytest.fixture
def run(tmp_path: Path, cache: Path, commands: ForkedCommands) -> Run:
    """Start `ioi-eval` where no environment names a cluster."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PISTON")}

    def start(*arguments: str, **environment: str) -> Ended:
        return commands.run(*arguments, cwd=tmp_path, env=kept | {"IOI_EVAL_CACHE": str(cache)} | environment)

    return start


def counts(url: str) -> dict[str, Any]:
    """What a stub has done."""
    answer: dict[str, Any] = httpx.get(f"{url}/stub").json()
    return answer


def flat(text: str) -> str:
    """A text without its line ends: what a table breaks is found again."""
    return " ".join(text.split())


def row_of(url: str, text: str) -> list[str]:
    """The words of a table's row."""
    return next(line for line in text.splitlines() if line.startswith(url)).split()


@pytest.mark.parametrize("generation", ["3", "4"])
def test_status_of_a_healthy_cluster(start: Any, run: Run, generation: str) -> None:
    """A row each, with its generation (both say 3.1.1), slots and runtimes; the sum; no job is run for it."""
    servers = start("stub_piston.py", "--count", "3", "--generation", generation)
    done = run("cluster", "status", "--endpoints", ",".join(servers.urls), PISTON_MAX_REQUESTS_PER_ENDPOINT="4")
    assert done.returncode == 0, done.stderr
    for url in servers.urls:
        _, ms, slots, *rest = row_of(url, done.stdout)
        assert (ms.isdecimal(), slots) == (True, "4")
        assert " ".join(rest) == f"Piston v{generation} bash 5.2.0, ioi_eval 1.0.0"
    assert "3 of 3 workers answer: 12 slots." in done.stdout
    assert all(counts(url)["executed"] == 0 for url in servers.urls)


def test_tables_fit_a_terminal(start: Any, run: Run) -> None:
    """80 columns, also with long words from a server that is none, and an endpoint in a path."""
    url = start("stub_piston.py").urls[0]
    for command in ("status", "probe", "install"):
        done = run("cluster", command, "--endpoints", f"{url},{NOWHERE},{url}/a/long/path/before/the/interface")
        table = done.stdout.split("\n\n")[0].splitlines()
        assert max(len(line) for line in table if not line.startswith("  http")) <= 80, done.stdout


def test_status_of_a_cluster_with_a_dead_worker(start: Any, run: Run) -> None:
    """It is named, with the reason; exit code 1; with no other worker, 2."""
    servers = start("stub_piston.py")
    done = run("cluster", "status", "--endpoints", f"{servers.urls[0]},{NOWHERE}")
    assert done.returncode == 1
    assert "connection" in " ".join(row_of(NOWHERE, done.stdout)).lower()
    assert "1 of 2 workers answer" in done.stdout
    assert run("cluster", "status", PISTON_ENDPOINTS=NOWHERE).returncode == 2


def test_a_server_that_is_no_piston(tmp_path: Path, run: Run) -> None:
    """Some web server on the port is told from a worker."""
    program = "import http.server as h; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler); print(s.server_port, flush=True); s.serve_forever()"  # noqa: E501
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tmp_path
    ) as server:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        done = run("cluster", "status", "--endpoints", url)
        refusals = [run(*command, "--endpoints", url) for command in (["cluster", "probe"], ["doctor"])]
        server.kill()
    assert done.returncode == 2
    assert "not a Piston server: HTTP 404: a web page, 'Error response'" in flat(done.stdout)
    for refused in refusals:
        assert refused.returncode == 2
        assert "not a Piston server: HTTP 404: a web page, 'Error response'" in refused.stdout


@pytest.mark.parametrize("command", ["status", "probe", "install", "uninstall"])
def test_a_cluster_must_be_named(run: Run, command: str) -> None:
    """Every command says how; nothing is taken for a cluster."""
    done = run("cluster", command)
    assert done.returncode == 2
    assert "--endpoints" in done.stderr
    assert "PISTON_ENDPOINTS" in done.stderr


def test_probe_says_what_each_worker_can_do(start: Any, run: Run) -> None:
    """Our package, stock bash, neither, and a stock server's limits; the reasons below the table."""
    ours, bash, neither, stock = (
        start("stub_piston.py", *options).urls[0]
        for options in ([], ["--packages", "bash"], ["--packages", "none"], ["--packages", "bash", "--output", "1024"])
    )
    done = run("cluster", "probe", "--endpoints", f"{ours},{bash},{neither},{stock},{NOWHERE}")
    assert done.returncode == 1, done.stderr
    assert row_of(ours, done.stdout)[1:3] == ["ioi_eval", "ioi_eval"]
    assert row_of(bash, done.stdout)[1:3] == ["bash", "no"]
    assert row_of(neither, done.stdout)[1:3] == row_of(stock, done.stdout)[1:3] == ["no", "no"]
    assert f"{neither}: none of these packages is installed: ioi_eval, bash" in done.stdout
    short = "output: less than 64 KiB: answers cannot come back; set PISTON_OUTPUT_MAX_SIZE=134217728"
    assert f"{stock}: bash: {short}" in done.stdout
    assert f"{NOWHERE}: no connection" in done.stdout
    assert "2 of 5 workers can be used." in done.stdout


@pytest.mark.parametrize("generation", ["3", "4"])
def test_probe_asks_for_nothing_that_a_generation_cannot_hold(start: Any, run: Run, generation: str) -> None:
    """Without limits of its own a server refuses no number, and passes it on: to isolate, or to Node's timers."""
    time_limits = [f"{stage}_{limit}" for stage in ("run", "compile") for limit in ("timeout", "cpu_time")]
    unlimited = [option for name in time_limits for option in ("--limit", f"{name}={1 << 60}")]
    url = start("stub_piston.py", "--generation", generation, *unlimited).urls[0]
    done = run("cluster", "probe", "--endpoints", url)
    assert done.returncode == 0, done.stdout
    assert "1 of 1 workers can be used." in done.stdout


def test_a_package_is_installed_everywhere_and_removed(start: Any, run: Run) -> None:
    """Also where it is already: what is wanted is the state, not the act."""
    without = start("stub_piston.py", "--count", "3", "--packages", "bash").urls
    has_it = start("stub_piston.py").urls[0]
    endpoints = ",".join([*without, has_it])
    done = run("cluster", "install", "--endpoints", endpoints)
    assert done.returncode == 0, done.stdout
    assert "already installed" in " ".join(row_of(has_it, done.stdout))
    status = run("cluster", "status", "--endpoints", endpoints)
    assert status.stdout.count("ioi_eval 1.0.0") == 4
    for expected in ("removed ioi_eval 1.0.0", "ioi_eval-1.0.0 is not installed"):
        done = run("cluster", "uninstall", "--endpoints", endpoints)
        assert done.returncode == 0, done.stdout
        assert done.stdout.count(expected) == 4


NARROW = ["--body", "102400", "--limit", "run_timeout=3000", "--limit", "run_cpu_time=3000"]
BODY_FINDING = ("request size: 100 KiB: programs and tests do not fit", "limit: '512mb' in the two body_parser lines")
TIME_FINDINGS = [
    ("run_timeout: 3000 ms", "PISTON_RUN_TIMEOUT=600000"),
    ("run_cpu_time: 3000 ms", "PISTON_RUN_CPU_TIME=600000"),
]
OUTPUT = "PISTON_OUTPUT_MAX_SIZE=134217728"


@pytest.mark.parametrize(
    ("options", "findings"),
    [
        (["--body", "102400"], [BODY_FINDING]),
        (
            [*NARROW, "--output", "1500000", "--limit", "run_memory_limit=268435456"],
            [
                BODY_FINDING,
                *TIME_FINDINGS,
                ("memory: 256 MiB", "PISTON_RUN_MEMORY_LIMIT=-1"),
                ("output: less than 4 MiB: compiled programs cannot come back", OUTPUT),
            ],
        ),
        (
            [*NARROW, "--output", "1024"],
            [BODY_FINDING, *TIME_FINDINGS, ("output: less than 64 KiB: answers cannot come back", OUTPUT)],
        ),
    ],
    ids=["body", "all", "short answers"],
)
def test_an_unfit_worker_is_refused_by_all_alike(
    start: Any, run: Run, options: list[str], findings: list[tuple[str, str]]
) -> None:
    """Probe, install, doctor and the start of a run find the same, in the same words, with settings; exit code 2."""
    url = start("stub_piston.py", *options).urls[0]
    dump, problems, tests = (str(SAMPLE / f"{name}.jsonl") for name in ("dump", "problems", "tests"))
    score = ("score", dump, "--problems", problems, "--tests", tests, "--out", "out", "--sandbox", "piston")
    for command in (("cluster", "probe"), ("cluster", "install"), score, ("doctor",)):
        done = run(*command, "--endpoints", url)
        said = flat(done.stdout + done.stderr)
        assert done.returncode == 2, said
        for finding, setting in findings:
            if command == ("doctor",):
                what, detail = finding.split(": ", 1)
                assert f"BAD {what} {detail}" in said
                assert f"→ {setting}" in said
            else:
                assert finding in said
                assert f"set {setting}" in said


def test_a_repository_without_the_package(start: Any, run: Run) -> None:
    """The server's words, and where packages come from."""
    url = start("stub_piston.py").urls[0]
    done = run("cluster", "install", "--package", "nothing", "--endpoints", url)
    assert done.returncode == 2
    assert "Requested package nothing-* does not exist" in flat(done.stdout)
    assert "PISTON_REPO_URL" in flat(done.stdout)


def test_a_server_that_dies_of_the_question(start: Any, run: Run) -> None:
    """Without a repository Piston dies when it is asked for packages: one does, the others are spared."""
    doomed = [start("stub_piston.py", "--no-repository", "--packages", "bash") for _ in range(3)]
    urls = [server.urls[0] for server in doomed]
    done = run("cluster", "install", "--endpoints", ",".join([NOWHERE, *urls]))
    assert done.returncode == 2
    assert "crashed on this request" in " ".join(row_of(urls[0], done.stdout))
    assert "not asked: " in " ".join(row_of(NOWHERE, done.stdout))
    assert doomed[0].process.wait() == 1
    for server, url in zip(doomed[1:], urls[1:], strict=True):
        assert "not asked" in " ".join(row_of(url, done.stdout))
        assert server.process.poll() is None


def test_the_doctor_tells_alike_workers_together(start: Any, run: Run) -> None:
    """Workers with the same fault are one paragraph; the exit code says that nothing can be judged."""
    servers = start("stub_piston.py", "--count", "2", "--packages", "none")
    done = run("doctor", "--endpoints", ",".join(servers.urls))
    assert done.returncode == 2, done.stderr
    assert ", ".join(servers.urls) in done.stdout
    assert done.stdout.count("none of these packages is installed") == 1
    assert "ioi-eval cluster install" in done.stdout
    assert "on 0 of 2 workers" in done.stdout


def test_the_doctor_is_content_with_our_own_server(cache: Path, run: Run) -> None:
    """`ioi-eval serve` on this machine: everything that judging needs works, every attempt of a program is stopped."""
    command = [sys.executable, "-c", "from ioi_eval.cli.main import main; main()", "serve", "--port", "0"]
    environment = os.environ | {"IOI_EVAL_CACHE": str(cache)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        try:
            if "serving Piston API v2 at " not in line:
                pytest.skip(f"nothing can be served here: {line}")
            url = line.split("serving Piston API v2 at ")[1].split("/api/v2")[0]
            done = run("doctor", "--endpoints", url)
        finally:
            server.terminate()
    assert done.returncode == 0, done.stdout
    assert "BAD" not in done.stdout
    assert "on 1 of 1 workers" in done.stdout


PROBLEM_ROWS = ("--problems", str(SAMPLE / "problems.jsonl"), "--tests", str(SAMPLE / "tests.jsonl"))


def sample_packages() -> list[str]:
    """The names of the packages of the sample's problems."""
    problems, tests = (open_source(str(SAMPLE / f"{name}.jsonl")) for name in ("problems", "tests"))
    return [package_of(problem).language for problem in load_problems(problems, tests, BlobStore()).problems.values()]


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_one_server_dies_of_many_packages(start: Any, run: Run, tmp_path: Path, command: str) -> None:
    """Not one a package: when the first server has died, no other is asked for the rest, or to remove anything."""
    packages = ",".join(["bash", *sample_packages()])
    doomed = [start("stub_piston.py", "--confines", "--no-repository", "--packages", packages) for _ in range(3)]
    words = ("--repository", str(tmp_path / "repository"), "--prune") if command == "install" else ()
    urls = [server.urls[0] for server in doomed]
    done = run("cluster", command, *PROBLEM_ROWS, *words, "--endpoints", ",".join(urls))
    assert done.returncode == 2, done.stderr
    assert "crashed on this request" in flat(done.stdout)
    assert f"{urls[2]}: not asked" in flat(done.stdout)
    assert doomed[0].process.wait() == 1
    assert [server.process.poll() for server in doomed[1:]] == [None, None]


def test_a_removal_that_fails_is_told(start: Any, run: Run, tmp_path: Path) -> None:
    """An old version, and another problem's package, which the repository does not list: exit code 1."""
    other = f"ioi_eval_problem_{'0' * 24}"
    old = sample_packages()[0]
    url = start("stub_piston.py", "--confines", "--packages", f"bash,{old},{other}").urls[0]
    words = ("--repository", str(tmp_path / "repository"), "--prune", "--endpoints", url)
    done = run("cluster", "install", *PROBLEM_ROWS, *words)
    assert done.returncode == 1, done.stderr
    for name in (old, other):
        assert f"Requested package {name}-0.0.0 does not exist" in flat(done.stdout)


def test_an_old_version_stays_where_the_new_one_is_not_installed(start: Any, run: Run, tmp_path: Path) -> None:
    """It is better than nothing: most of its files are those of the new one."""
    old = sample_packages()[0]
    url = start("stub_piston.py", "--confines", "--stale-repository", "--packages", f"bash,{old}").urls[0]
    words = ("--repository", str(tmp_path / "repository"), "--prune", "--endpoints", url)
    done = run("cluster", "install", *PROBLEM_ROWS, *words)
    assert done.returncode == 2, done.stderr
    installed = [entry["language"] for entry in httpx.get(f"{url}/api/v2/runtimes").json()]
    assert installed == ["bash", old]
