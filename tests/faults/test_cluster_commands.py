"""The commands `ioi-eval cluster` and `ioi-eval doctor --endpoints`, with correct and faulty servers."""

from __future__ import annotations

import asyncio
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
from ioi_eval.cli.cluster import abilities
from ioi_eval.problems.ioi import load_problems
from ioi_eval.rows import open_source
from ioi_eval.sandbox.piston import discovery
from ioi_eval.sandbox.piston.problem_packages import package_of
from tests.faults.stub_jobs import counts
from tests.forked_commands import COMMAND, Ended, ForkedCommands
from tests.full_isolation import require_full_isolation
from tests.serve_process import served_address

Run = Callable[..., Ended]

SAMPLE = sample.dump().parent
NOWHERE = "http://127.0.0.1:9"  # the discard port: no server listens there
SHORT_REQUESTS = """
from ioi_eval.cli.main import main
from ioi_eval.sandbox.piston import probing

probing.BODY_LADDER = probing.BODY_LADDER[2:]
main()
"""
"""`ioi-eval`, with the fixture `short_requests` of `tests/conftest.py` in its process."""


IMPATIENT = """
import sys
from ioi_eval.cli.main import main
from ioi_eval.sandbox.piston import control

control.SILENT_S = 0.01
sys.stderr = open("stderr", "a", buffering=1)
main()
"""
"""`ioi-eval`, which says after 0.01 s what it waits for, with stderr in a file."""


@pytest.fixture
def environment(cache: Path) -> dict[str, str]:
    """The environment without variables that name a cluster."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PISTON")}
    return {**kept, "IOI_EVAL_CACHE": str(cache)}


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str], commands: ForkedCommands) -> Run:
    """Starts `ioi-eval` with short requests."""

    def start(*arguments: str, **variables: str) -> Ended:
        return commands.run_code(SHORT_REQUESTS, *arguments, cwd=tmp_path, env=environment | variables)

    return start


def joined_lines(text: str) -> str:
    """A text without line breaks, so that texts which a table has wrapped can be found."""
    return " ".join(text.split())


def row_of(url: str, text: str) -> list[str]:
    """The words of the table row that begins with this URL."""
    return next(line for line in text.splitlines() if line.startswith(url)).split()


@pytest.mark.parametrize("generation", ["3", "4"])
def test_status_of_a_healthy_cluster(start: Any, run: Run, generation: str) -> None:
    """Each worker has a row with generation (both state 3.1.1), slots and runtimes; then the sum. No job is run."""
    servers = start("stub_piston.py", "--count", "3", "--generation", generation)
    done = run("cluster", "status", "--endpoints", ",".join(servers.urls), PISTON_MAX_REQUESTS_PER_ENDPOINT="4")
    assert done.returncode == 0, done.stderr
    for url in servers.urls:
        _, ms, slots, *rest = row_of(url, done.stdout)
        assert (ms.isdecimal(), slots) == (True, "4")
        assert " ".join(rest) == f"Piston v{generation} bash 5.2.0, ioi_eval 1.0.0"
    assert "3 of 3 workers answer: 12 slots." in done.stdout
    assert all(counts(url, "stub")["executed"] == 0 for url in servers.urls)


def test_tables_fit_a_terminal(start: Any, run: Run) -> None:
    """Tables have at most 80 columns, also with long error messages and a long path in an endpoint."""
    url = start("stub_piston.py").urls[0]
    for command in ("status", "probe", "install"):
        done = run("cluster", command, "--endpoints", f"{url},{NOWHERE},{url}/a/long/path/before/the/interface")
        table = done.stdout.split("\n\n")[0].splitlines()
        assert max(len(line) for line in table if not line.startswith("  http")) <= 80, done.stdout


def test_status_of_a_cluster_with_a_dead_worker(start: Any, run: Run) -> None:
    """The worker is listed with the reason. The exit code is 1; without another worker, 2."""
    servers = start("stub_piston.py")
    done = run("cluster", "status", "--endpoints", f"{servers.urls[0]},{NOWHERE}")
    assert done.returncode == 1
    assert "no connection: is it started?" in " ".join(row_of(NOWHERE, done.stdout))
    assert "1 of 2 workers answer" in done.stdout
    assert run("cluster", "status", PISTON_ENDPOINTS=NOWHERE).returncode == 2


def test_a_server_that_is_not_piston(tmp_path: Path, run: Run) -> None:
    """An ordinary web server is recognised: the message is "not a Piston server", and the exit code 2."""
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
    assert "not a Piston server: HTTP 404: a web page, 'Error response'" in joined_lines(done.stdout)
    for refused in refusals:
        assert refused.returncode == 2
        assert "not a Piston server: HTTP 404: a web page, 'Error response'" in refused.stdout


@pytest.mark.parametrize("command", ["status", "probe", "install", "uninstall"])
def test_commands_need_endpoints(run: Run, command: str) -> None:
    """Without endpoints, each command fails with exit code 2 and names the option and the environment variable."""
    done = run("cluster", command)
    assert done.returncode == 2
    assert "--endpoints" in done.stderr
    assert "PISTON_ENDPOINTS" in done.stderr


def test_probe_lists_what_each_worker_can_do(start: Any, run: Run) -> None:
    """Workers with our package, with bash, with neither, with default limits, and without a server: the table says
    which can be used, and the reasons are below it.
    """
    ours, bash, neither, stock = (
        start("stub_piston.py", *options).urls[0]
        for options in ([], ["--packages", "bash"], ["--packages", "none"], ["--packages", "bash", "--output", "1024"])
    )
    done = run("cluster", "probe", "--endpoints", f"{ours},{bash},{neither},{stock},{NOWHERE}")
    assert done.returncode == 1, done.stderr
    assert row_of(ours, done.stdout)[1:3] == ["ioi_eval", "ioi_eval"]
    assert counts(ours, "stub")["listed"] == 1, "it is explored once for both profiles"
    assert row_of(bash, done.stdout)[1:3] == ["bash", "no"]
    assert row_of(neither, done.stdout)[1:3] == row_of(stock, done.stdout)[1:3] == ["no", "no"]
    assert f"{neither}: none of these packages is installed: ioi_eval, bash" in done.stdout
    short = "output: 64 KiB or less: answers cannot come back; set PISTON_OUTPUT_MAX_SIZE=134217728"
    assert f"{stock}: bash: {short}" in done.stdout
    assert f"{NOWHERE}: no connection" in done.stdout
    assert "2 of 5 workers can be used." in done.stdout


def test_probe_of_a_worker_that_runs_no_job(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It lists its runtimes, and answers no job: one is waited for as long as a job may take, and no other is sent."""
    monkeypatch.setattr(discovery, "_PROBE_S", 1.0)
    stub = start("stub_piston.py")
    proxy = start("fault_proxy.py", "--upstream", str(stub.ports), "--faults", "hang", "--every", "1")
    counts(proxy.urls[0], "arm")
    (known,) = asyncio.run(abilities([f"{proxy.urls[0]}/api/v2"]))
    assert not known.is_usable
    assert known.why_not == ("no answer within 1 s",)
    assert counts(proxy.urls[0], "faults")["hang"] == 1


@pytest.mark.parametrize("generation", ["3", "4"])
def test_probe_stays_within_the_numbers_that_a_generation_accepts(start: Any, run: Run, generation: str) -> None:
    """A server without its own limits passes each number on, to isolate or to Node's timers: the probe still passes."""
    time_limits = [f"{stage}_{limit}" for stage in ("run", "compile") for limit in ("timeout", "cpu_time")]
    unlimited = [option for name in time_limits for option in ("--limit", f"{name}={1 << 60}")]
    url = start("stub_piston.py", "--generation", generation, *unlimited).urls[0]
    done = run("cluster", "probe", "--endpoints", url)
    assert done.returncode == 0, done.stdout
    assert "1 of 1 worker can be used." in done.stdout


def test_a_package_is_installed_everywhere_and_removed(start: Any, run: Run) -> None:
    """Install and uninstall succeed on each worker, also if the package is installed already or not any more."""
    without = start("stub_piston.py", "--count", "3", "--packages", "bash").urls
    has_it = start("stub_piston.py").urls[0]
    endpoints = ",".join([*without, has_it])
    done = run("cluster", "install", "--endpoints", endpoints)
    assert done.returncode == 0, done.stdout
    assert "already installed" in " ".join(row_of(has_it, done.stdout))
    status = run("cluster", "status", "--endpoints", endpoints)
    assert status.stdout.count("ioi_eval 1.0.0") == 4
    assert joined_lines(status.stdout).count("ioi_eval_run 1.0.0") == 4
    partly = run("cluster", "install", "--endpoints", f"{has_it},{NOWHERE}")
    assert partly.returncode == 1
    assert "1 of 2 workers can be used." in partly.stdout
    for expected in ("removed {} 1.0.0", "{}-1.0.0 is not installed"):
        done = run("cluster", "uninstall", "--endpoints", endpoints)
        assert done.returncode == 0, done.stdout
        for name in ("ioi_eval", "ioi_eval_run"):
            assert done.stdout.count(expected.format(name)) == 4


def test_a_repository_of_an_older_version(start: Any, run: Run) -> None:
    """Workers can be used without the package that only a newer `build-repository` makes; the output says so."""
    url = start("stub_piston.py", "--packages", "bash", "--lacks", "ioi_eval_run").urls[0]
    done = run("cluster", "install", "--endpoints", url)
    assert done.returncode == 0, done.stdout
    assert "Requested package ioi_eval_run-* does not exist" in joined_lines(done.stdout)
    assert "1 of 1 worker can be used." in done.stdout


def test_only_the_named_package_is_installed(start: Any, run: Run) -> None:
    """With `--package` no other package is installed."""
    url = start("stub_piston.py", "--packages", "bash").urls[0]
    assert run("cluster", "install", "--package", "ioi_eval", "--endpoints", url).returncode == 0
    assert "ioi_eval_run" not in run("cluster", "status", "--endpoints", url).stdout


NARROW = ["--body", "102400", "--limit", "run_timeout=14000", "--limit", "run_cpu_time=3000"]
BODY_FINDING = ("request size: 100 KiB: programs and tests do not fit", "limit: '512mb' in the two body_parser lines")
TIME_FINDINGS = [
    ("run_timeout: 14000 ms", "PISTON_RUN_TIMEOUT=600000"),
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
                (
                    "output: answers of 1024 KiB arrive, answers of 4 MiB do not: compiled programs cannot come back",
                    OUTPUT,
                ),
            ],
        ),
        (
            [*NARROW, "--output", "1024"],
            [BODY_FINDING, *TIME_FINDINGS, ("output: 64 KiB or less: answers cannot come back", OUTPUT)],
        ),
    ],
    ids=["body", "all", "short answers"],
)
def test_all_commands_refuse_an_unsuitable_worker_with_the_same_messages(
    start: Any, run: Run, options: list[str], findings: list[tuple[str, str]]
) -> None:
    """Probe, install, doctor and score report the same faults with the settings to change, and end with exit code 2."""
    url = start("stub_piston.py", *options).urls[0]
    dump, problems, tests = (str(SAMPLE / f"{name}.jsonl") for name in ("dump", "problems", "tests"))
    score = ("score", dump, "--problems", problems, "--tests", tests, "--out", "out", "--sandbox", "piston")
    for command in (("cluster", "probe"), ("cluster", "install"), score, ("doctor",)):
        done = run(*command, "--endpoints", url)
        output = joined_lines(done.stdout + done.stderr)
        assert done.returncode == 2, output
        for finding, setting in findings:
            if command == ("doctor",):
                what, detail = finding.split(": ", 1)
                assert f"BAD {what} {detail}" in output
                assert f"→ {setting}" in output
            else:
                assert finding in output
                assert f"set {setting}" in output


def test_a_repository_without_the_package(start: Any, run: Run) -> None:
    """The output has the server's message, and the setting that names the repository."""
    url = start("stub_piston.py").urls[0]
    done = run("cluster", "install", "--package", "nothing", "--endpoints", url)
    assert done.returncode == 2
    assert "Requested package nothing-* does not exist" in joined_lines(done.stdout)
    assert "PISTON_REPO_URL" in joined_lines(done.stdout)


def test_a_server_that_crashes_on_the_request(start: Any, run: Run) -> None:
    """Piston without a repository crashes when it is asked for packages. After the first crash, no other is asked."""
    crashing = [start("stub_piston.py", "--no-repository", "--packages", "bash") for _ in range(3)]
    urls = [server.urls[0] for server in crashing]
    done = run("cluster", "install", "--endpoints", ",".join([NOWHERE, *urls]))
    assert done.returncode == 2
    assert "crashed on this request" in " ".join(row_of(urls[0], done.stdout))
    assert "not asked: " in " ".join(row_of(NOWHERE, done.stdout))
    assert crashing[0].process.wait() == 1
    for server, url in zip(crashing[1:], urls[1:], strict=True):
        assert "not asked" in " ".join(row_of(url, done.stdout))
        assert server.process.poll() is None


def test_the_doctor_groups_workers_with_the_same_findings(start: Any, run: Run) -> None:
    """Workers with the same fault share a paragraph. If no worker can judge, the exit code is 2."""
    servers = start("stub_piston.py", "--count", "2", "--packages", "none")
    done = run("doctor", "--endpoints", ",".join(servers.urls))
    assert done.returncode == 2, done.stderr
    assert ", ".join(servers.urls) in done.stdout
    assert done.stdout.count("none of these packages is installed") == 1
    assert "ioi-eval cluster install" in done.stdout
    assert "on 0 of 2 workers" in done.stdout


def test_the_doctor_finds_no_fault_in_our_server(
    environment: dict[str, str], commands: ForkedCommands, tmp_path: Path
) -> None:
    """`ioi-eval serve` on this machine passes all checks of the doctor, with the largest requests too."""
    require_full_isolation()
    command = [*COMMAND, "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        try:
            url = served_address(server).removesuffix("/api/v2")
            done = commands.run("doctor", "--endpoints", url, cwd=tmp_path, env=environment)
        finally:
            server.terminate()
    assert done.returncode == 0, done.stdout
    assert "BAD" not in done.stdout
    assert "on 1 of 1 worker." in done.stdout


def test_a_slow_change_is_explained(
    start: Any, commands: ForkedCommands, environment: dict[str, str], tmp_path: Path
) -> None:
    """While a worker installs or removes a package, a line names the worker. This one does so after that line only."""
    for command, verb, package in (("install", "install", "ioi_eval_run"), ("uninstall", "remove", "bash")):
        said = tmp_path / "stderr"
        said.unlink(missing_ok=True)
        url = start("stub_piston.py", "--packages", "bash", "--change-after", str(said)).urls[0]
        words = ("cluster", command, "--package", package, "--endpoints", url)
        done = commands.run_code(IMPATIENT, *words, cwd=tmp_path, env=environment)
        assert f"ioi-eval: waiting for {url} to {verb} {package}\n" in said.read_text()
        assert "ok" in row_of(url, done.stdout)


PROBLEM_ROWS = ("--problems", str(SAMPLE / "problems.jsonl"), "--tests", str(SAMPLE / "tests.jsonl"))


def sample_packages(cache: Path) -> list[str]:
    """The names of the packages of the sample's problems."""
    problems, tests = (open_source(str(SAMPLE / f"{name}.jsonl")) for name in ("problems", "tests"))
    loaded = load_problems(problems, tests, BlobStore(cache)).problems
    return [package_of(problem).language for problem in loaded.values()]


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_only_one_server_crashes_with_many_packages(
    start: Any, run: Run, cache: Path, tmp_path: Path, command: str
) -> None:
    """With many packages too, only the first server crashes: no other is asked to install or remove one."""
    packages = ",".join(["bash", *sample_packages(cache)])
    crashing = [start("stub_piston.py", "--confines", "--no-repository", "--packages", packages) for _ in range(3)]
    words = ("--repository", str(tmp_path / "repository"), "--prune") if command == "install" else ()
    urls = [server.urls[0] for server in crashing]
    done = run("cluster", command, *PROBLEM_ROWS, *words, "--endpoints", ",".join(urls))
    assert done.returncode == 2, done.stderr
    assert "crashed on this request" in joined_lines(done.stdout)
    assert f"{urls[2]}: not asked" in joined_lines(done.stdout)
    assert crashing[0].process.wait() == 1
    assert [server.process.poll() for server in crashing[1:]] == [None, None]


def test_a_failed_removal_is_reported(start: Any, run: Run, cache: Path, tmp_path: Path) -> None:
    """Removing an old version or another problem's package fails, if the repository does not list it: exit code 1."""
    other = f"ioi_eval_problem_{'0' * 24}"
    old = sample_packages(cache)[0]
    url = start("stub_piston.py", "--confines", "--packages", f"bash,{old},{other}").urls[0]
    words = ("--repository", str(tmp_path / "repository"), "--prune", "--endpoints", url)
    done = run("cluster", "install", *PROBLEM_ROWS, *words)
    assert done.returncode == 1, done.stderr
    for name in (old, other):
        assert f"Requested package {name}-0.0.0 does not exist" in joined_lines(done.stdout)


def test_an_old_version_stays_if_the_new_one_is_not_installed(
    start: Any, run: Run, cache: Path, tmp_path: Path
) -> None:
    """The old version is kept, because most of its files are also in the new one."""
    old = sample_packages(cache)[0]
    url = start("stub_piston.py", "--confines", "--stale-repository", "--packages", f"bash,{old}").urls[0]
    words = ("--repository", str(tmp_path / "repository"), "--prune", "--endpoints", url)
    done = run("cluster", "install", *PROBLEM_ROWS, *words)
    assert done.returncode == 2, done.stderr
    installed = [entry["language"] for entry in httpx.get(f"{url}/api/v2/runtimes").json()]
    assert installed == ["bash", old]
