"""The embedded sandbox over HTTP, asked by an independent client (httpx) over real sockets.

The wire format is written out here once more, so that these tests check the contract and not our own types.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ioi_eval import sample
from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import CompileLimits, Policy
from ioi_eval.errors import IsolationError
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs.protocol import compile_answer
from ioi_eval.model import Blob, Isolation, Stage
from ioi_eval.programs import Builder
from ioi_eval.sandbox.local import LocalSandbox
from ioi_eval.sandbox.server import ServerSettings, serving

PROBLEMS = [json.loads(line) for line in sample.problems().open(encoding="utf-8")]
TESTS = [json.loads(line) for line in sample.tests().open(encoding="utf-8")]
SOLUTIONS = [json.loads(line) for line in sample.solutions().open(encoding="utf-8")]


class Served:
    """A server in a thread of its own."""

    def __init__(self, base: str, runner: Blob) -> None:
        self.base = base
        self.runner = runner
        self.client = httpx.Client(base_url=f"{base}/api/v2", timeout=120)

    def execute(self, **body: Any) -> httpx.Response:
        """Ask for an execution; by default of bash."""
        return self.client.post("/execute", json={"language": "bash", "version": "*"} | body)

    def bash(self, script: str, **body: Any) -> dict[str, Any]:
        """The run stage of a bash script."""
        response = self.execute(files=[{"name": "main.sh", "content": script}], **body)
        assert response.status_code == 200, response.text
        run: dict[str, Any] = response.json()["run"]
        return run


@contextmanager
def server(cache: Path, *, slots: int = 2, settings: ServerSettings | None = None) -> Iterator[Served]:
    """Serve until the block ends."""
    started: threading.Event = threading.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        async with LocalSandbox(slots=slots) as sandbox:
            (target,) = sandbox.targets()
            if target.isolation is not Isolation.FULL:
                found["why"] = sandbox.why_not_full
                return
            found["runner"] = await Builder(sandbox, ArtifactStore(cache), Policy()).runner(target)
            async with serving(sandbox, runner=found["runner"], port=0, settings=settings) as base:
                found["base"], found["loop"], found["end"] = base, asyncio.get_running_loop(), asyncio.Event()
                started.set()
                await found["end"].wait()

    def work() -> None:
        try:
            asyncio.run(serve())
        finally:
            started.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    try:
        if "base" not in found:
            pytest.skip(f"no full isolation here: {found.get('why', 'the server did not start')}")
        yield Served(found["base"], found["runner"])
    finally:
        if "end" in found:
            found["loop"].call_soon_threadsafe(found["end"].set)
        thread.join()


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the runner is kept, for all servers of this file."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def served(cache: Path) -> Iterator[Served]:
    """A server with ordinary settings."""
    with server(cache) as one:
        yield one


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds; the test's own timeout is the bound."""
    while not holds():
        time.sleep(0.02)


def processes_with(mark: str) -> list[str]:
    """The processes of this machine that have a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:  # it has gone meanwhile
            continue
    return found


# ---------------------------------------------------------------------- what can be asked


def test_runtimes_and_packages(served: Served) -> None:
    """Three languages, in Piston's fields; `cms_ioi` is an alias of `cms`, as in the real package."""
    runtimes = served.client.get("/runtimes").json()
    assert runtimes[:2] == [
        {"language": "ioi_eval", "version": "1.0.0", "aliases": []},
        {"language": "cms", "version": "1.0.0", "aliases": ["cms_ioi"], "runtime": "cms_ioi"},
    ]
    assert (runtimes[2]["language"], runtimes[2]["aliases"]) == ("bash", ["sh"])
    packages = served.client.get("/packages").json()
    assert [(package["language"], package["installed"]) for package in packages] == [
        ("ioi_eval", True),
        ("cms_ioi", True),
        ("bash", True),
    ]


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_packages_cannot_be_changed(served: Served, method: str) -> None:
    """What is there is refused with a reason (500, as Piston words it), what is not is 404."""
    here = served.client.request(method, "/packages", json={"language": "cms_ioi", "version": "1.0.0"})
    assert here.status_code == 500
    assert here.json()["message"] in (
        "Already installed",
        "cms_ioi-1.0.0 is part of ioi-eval serve and cannot be removed",
    )
    other = served.client.request(method, "/packages", json={"language": "nopkg", "version": "1.0.0"})
    assert (other.status_code, other.json()) == (404, {"message": "Requested package nopkg-1.0.0 does not exist"})
    empty = served.client.request(method, "/packages", json={})
    assert empty.json() == {"message": "Requested package undefined-undefined does not exist"}


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/execute"), ("GET", "/nope"), ("PUT", "/execute"), ("POST", "/x")]
)
def test_other_routes(served: Served, method: str, path: str) -> None:
    """404 with Piston's words, also for a wrong method."""
    response = served.client.request(method, path, json={} if method != "GET" else None)
    assert (response.status_code, response.json()) == (404, {"message": "Not Found"})
    assert response.headers["content-type"] == "application/json; charset=utf-8"


def test_paths_as_express_takes_them(served: Served) -> None:
    """A slash at the end, and any case."""
    assert served.client.get("/runtimes/").status_code == 200
    assert served.client.get(f"{served.base}/API/v2/Runtimes").status_code == 200
    assert "ioi-eval" in served.client.get(served.base).json()["message"]


def test_all_fields_of_a_stage(served: Served) -> None:
    """The ten fields that stages have since isolate; no compile stage for bash."""
    response = served.execute(files=[{"content": "echo out; echo err >&2; exit 3"}])
    answer = response.json()
    assert set(answer) == {"run", "language", "version"}
    run = answer["run"]
    measured = {run.pop(name) for name in ("cpu_time", "wall_time", "memory")}
    assert all(isinstance(number, int | float) and number > 0 for number in measured)
    assert run == {
        "signal": None,
        "stdout": "out\n",
        "stderr": "err\n",
        "code": 3,
        "output": "out\nerr\n",
        "message": "Exited with error status 3",
        "status": "RE",
    }


# Recorded answers of the real server whose outcome does not depend on how it was configured.
# fmt: off
RECORDED = [
    "args", "args_not_array", "args_numbers", "background_child_holds_stdout", "bad_version_selector",
    "base64_invalid", "content_type_charset", "content_type_form", "content_type_text_plain", "empty_body",
    "empty_files", "encoding_unknown_is_utf8", "file_content_number", "file_no_content", "file_null",
    "files_not_array", "get_execute_wrong_method", "hex_file", "json_array", "json_invalid_utf8",
    "json_lone_surrogate", "missing_files", "missing_language", "missing_version", "not_found",
    "ok_alias_and_version", "ok_bash", "ok_no_file_name", "only_base64_files", "output_interleaving",
    "package_install_404", "package_uninstall_404", "packages_post_bad_version", "packages_post_empty",
    "path_absolute", "path_dir_conflict", "path_duplicate", "path_empty_name", "path_escape", "path_escape_first",
    "path_long_name", "path_nul_in_name", "path_space_unicode", "run_timeout_1500",
    "run_timeout_background_child", "run_timeout_ignores_sigterm", "run_timeout_sleep", "signal_exec_segv",
    "signal_run_script_kill", "signal_run_script_segv", "signal_run_script_term", "signal_run_script_xcpu",
    "signal_self_kill", "signal_self_term", "stdin_absent", "stdin_newline", "stdin_no_newline",
    "stdin_not_string", "stdin_unread_small", "stdout_ansi_controls", "stdout_invalid_utf8", "stdout_nul",
    "stdout_utf8", "unknown_fields_ignored", "unknown_language",
    "unknown_version", "zombie_tree",
]
# fmt: on

MEASURED = {"cpu_time", "wall_time", "memory", "version", "output"}


def without_measurements(answer: Any) -> Any:
    """An answer without what is never the same twice."""
    if not isinstance(answer, dict):
        return answer
    return {key: without_measurements(value) for key, value in answer.items() if key not in MEASURED}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_answers(served: Served, shared: Path, name: str) -> None:
    """The same request gets the same answer as from the real server since isolate."""
    transcript = json.loads((shared / "piston-transcripts" / "v4" / f"{name}.json").read_text(encoding="utf-8"))
    asked, body = transcript["request"], transcript["request"].get("body")
    if body is not None and "<" in json.dumps(body) and "chars in all" in json.dumps(body):
        pytest.skip("the request was shortened when it was recorded")
    content = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else json.dumps(body).encode()
    response = served.client.request(
        asked["method"],
        served.base + asked["path"],
        headers=asked.get("headers") or {"Content-Type": "application/json"},
        content=None if asked["method"] == "GET" else content,
    )
    assert response.status_code == transcript["http_status"]
    answer = response.json() if response.content else ""
    if name == "signal_exec_segv" or name.startswith("signal_self"):  # bash names its own file and line
        for either in (answer, transcript["response"]):
            either["run"].pop("stderr")
    assert without_measurements(answer) == without_measurements(transcript["response"])


# ---------------------------------------------------------------------- the reference's own client


def sample_of(problem_id: str, label: str, test: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The rows of a problem and of one of its tests, and a solution's program."""
    problem = next(row for row in PROBLEMS if row["id"] == problem_id)
    case = next(row for row in TESTS if (row["problem_id"], row["test_name"]) == (problem_id, test))
    code = next(row["code"] for row in SOLUTIONS if (row["problem_id"], row["label"]) == (problem_id, label))
    return problem, case, code


class ReferenceClient:
    """Exactly the requests of the reference's client, and its reading of the answers, in our words."""

    def __init__(self, served: Served) -> None:
        self.client = served.client

    def run_submission(
        self,
        problem: dict[str, Any],
        test_input: str,
        submission: str,
        test_output: str | None,
        *,
        language: str = "cms_ioi",
    ) -> tuple[str, str]:
        """One test: submission, input, expected output if there is one, grader files that are not empty."""
        files = [
            {"name": f"graders/{problem['id'].lower()}.cpp", "content": submission},
            {"name": "input.txt", "content": test_input},
        ]
        if test_output:
            files.append({"name": "correct_output.txt", "content": test_output})
        files += [{"name": name, "content": content} for name, content in problem["grader_files"] if content]
        data = {
            "files": files,
            "run_timeout": round((problem["time_limit"] + 3) * 1000),
            "run_memory_limit": problem["memory_limit"],
            "language": language,
            "version": "*",
        }
        response = self.client.post("/execute", json=data, headers={"Content-Type": "application/json"})
        assert response.status_code == 200, response.text
        return self.read(response.json())

    @staticmethod
    def read(response: dict[str, Any]) -> tuple[str, str]:
        """Score and feedback."""
        assert "message" not in response
        if "compile" in response and response["compile"]["code"] != 0:
            code, stderr = response["compile"]["code"], response["compile"]["stderr"]
            return "0", f"Compilation error exit code {code}\n{stderr}"
        if response["run"]["code"] == 1 and "MemoryError" in response["run"]["stderr"]:
            return "0", "Memory limit exceeded"
        if response["run"]["stdout"]:
            return response["run"]["stdout"], response["run"]["stderr"]
        if response["run"]["signal"] == "SIGKILL":
            return "0", "Time limit exceeded"
        assert response["run"]["code"] != 0, "the reference would raise"
        return "error", response["run"]["stderr"]

    @staticmethod
    def status(score: float, feedback: str) -> str:
        """Its name for an outcome."""
        if score == 1.0:
            return "AC"
        if score > 0:
            return "PA"
        signs = {
            "Compilation error": "CE",
            "Memory limit exceeded": "MLE",
            "Time limit exceeded": "TLE",
            "Output isn't correct": "WA",
        }
        return next((name for sign, name in signs.items() if sign in feedback), "RE")


@pytest.mark.parametrize(
    ("problem_id", "label", "test", "score", "status"),
    [
        ("berths", "model_solution/heap.cpp", "0-01", 1.0, "AC"),
        ("berths", "partially_correct/one-each.cpp", "0-01", 0.7, "PA"),
        ("berths", "compile_error/typo.cpp", "0-01", 0.0, "CE"),
        ("berths", "time_limit/exhaustive.cpp", "2-01", 0.0, "TLE"),
        ("buoys", "correct/ragged-blanks.cpp", "0-01", 1.0, "AC"),
        ("buoys", "incorrect/one-line.cpp", "0-01", 0.0, "WA"),
        ("buoys", "memory_limit/second-by-second.cpp", "2-01", 0.0, "MLE"),
        ("buoys", "runtime_error/gives-up.cpp", "0-01", 0.0, "RE"),
        ("lamps", "model_solution/halving.cpp", "0-01", 1.0, "AC"),
        ("keepers", "model_solution/halving.cpp", "0-01", 1.0, "AC"),
    ],
)
def test_the_reference_s_client(  # noqa: PLR0917 (parametrised)
    served: Served, problem_id: str, label: str, test: str, score: float, status: str
) -> None:
    """It scores the sample contest through this server without a change."""
    problem, case, code = sample_of(problem_id, label, test)
    client = ReferenceClient(served)
    words, feedback = client.run_submission(problem, case["test_input"], code, case["test_output"])
    assert (float(words), client.status(float(words), feedback)) == (score, status), feedback


def test_an_answer_to_cms_ioi_names_cms(served: Served) -> None:
    """As the real package does; and a checker's failure is an error to the reference, never a zero."""
    problem = {
        "id": "Sum",
        "time_limit": 1.0,
        "memory_limit": 1 << 26,
        "grader_files": [
            [
                "graders/grader_config.json",
                '{"task_type": "Batch", "code": "sum", "time_limit": 1, "memory_limit": 67108864}',
            ],
            ["checker/checker.cpp", "int main() { return 1; }"],
            ["checker/testlib.h", ""],
        ],
    }
    assert ReferenceClient(served).run_submission(problem, "1\n", "int main() {}", "1\n")[0] == "error"
    response = served.execute(language="cms_ioi", files=[{"name": "graders/x.cpp", "content": "int main() {}"}])
    assert (response.json()["language"], response.json()["version"]) == ("cms", "1.0.0")
    assert response.json()["compile"]["code"] == 1


# ---------------------------------------------------------------------- our own jobs


def test_scripts_know_their_language(served: Served) -> None:
    """As packages do."""
    assert served.bash("echo $PISTON_LANGUAGE $HOME")["stdout"] == "bash /tmp\n"
    script = {"name": "run", "content": "echo $PISTON_LANGUAGE"}
    assert served.execute(language="ioi_eval", files=[script]).json()["run"]["stdout"] == "ioi_eval\n"


def test_own_scripts(served: Served) -> None:
    """`ioi_eval`: the job's own `compile` and `run`, in one box."""
    files = [
        {"name": "run", "content": 'cat made; printf "<%s>" "$@"'},
        {"name": "compile", "content": "echo made > made; echo compiled"},
    ]
    answer = served.execute(language="ioi_eval", files=files, args=["a b"]).json()
    assert answer["compile"]["stdout"] == "compiled\n"
    assert answer["run"]["stdout"] == "made\n<a b>"
    failed = served.execute(language="ioi_eval", files=[files[0], {"name": "compile", "content": "exit 4"}]).json()
    assert failed["run"] == failed["compile"]
    assert failed["run"]["code"] == 4


def test_a_classic_job_without_scripts(served: Served) -> None:
    """As with our package on a real server: `ioi_eval` has its own pair for those."""
    problem, case, code = sample_of("buoys", "model_solution/bisection.cpp", "0-01")
    found = ReferenceClient(served).run_submission(
        problem, case["test_input"], code, case["test_output"], language="ioi_eval"
    )
    assert found == ("1\n", "Output is correct\n")


def test_a_runner_and_a_plan_run_the_native_way(served: Served) -> None:
    """A bundled job: no shell in between, full isolation, an answer with its end line."""
    nonce = secrets.token_hex(16)
    recipe = compiling.Recipe(
        what="test",
        steps=(compiling.Step(argv=("g++", "x.cpp", "-o", "x"), sees=(("x.cpp", b"int main() {}"),)),),
        artifacts=("x",),
    )
    job = compiling.compile_job(recipe, b"", Policy(compile=CompileLimits()), nonce=nonce)
    texts = {file.name: file.content for file in job.files if file.name != "runner"}
    files = [
        {"name": "run", "content": 'exec < /dev/null; chmod +x ./runner; exec ./runner --dir . "$@"\n'},
        *({"name": name, "content": bytes(content).decode()} for name, content in texts.items()),  # type: ignore[arg-type]
        {
            "name": "runner",
            "content": base64.b64encode(served.runner.path.read_bytes()).decode(),
            "encoding": "base64",
        },
    ]
    run = served.execute(language="ioi_eval", files=files).json()["run"]
    answer = compile_answer(Stage(stdout=run["stdout"], stderr=run["stderr"], code=run["code"]), nonce)
    assert answer.artifacts["x"].startswith(b"\x7fELF")
    assert answer.isolation is Isolation.FULL


def test_a_bash_job_may_have_files_of_any_name(served: Served) -> None:
    """Neither `compile` nor `run` means anything to bash."""
    files = [
        {"name": "main.sh", "content": "cat run compile"},
        {"name": "compile", "content": "exit 5"},
        {"name": "run", "content": "exit 6"},
    ]
    answer = served.execute(files=files).json()
    assert "compile" not in answer
    assert answer["run"]["stdout"] == "exit 6exit 5"


def test_large_files_and_answers(served: Served) -> None:
    """10 MB in, 10 MB out, unharmed."""
    content = "".join(f"{number}\n" for number in range(1_500_000))
    files = [{"name": "main.sh", "content": "cat big"}, {"name": "big", "content": content}]
    assert served.execute(files=files).json()["run"]["stdout"] == content


@pytest.mark.parametrize("chunked", [False, True])
def test_packed_and_chunked_requests(served: Served, chunked: bool) -> None:
    """gzip, with a length or without; what is not gzip is a 400."""
    body = gzip.compress(json.dumps({"language": "bash", "version": "*", "files": [{"content": "echo hi"}]}).encode())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    def pieces() -> Iterator[bytes]:
        yield body[:20]
        yield body[20:]

    response = served.client.post("/execute", content=pieces() if chunked else body, headers=headers)
    assert response.json()["run"]["stdout"] == "hi\n"
    response = served.client.post("/execute", content=b"not gzip", headers=headers)
    assert (response.status_code, set(response.json())) == (400, {"stack"})


# ---------------------------------------------------------------------- bounds


def test_bodies_are_bounded(cache: Path) -> None:
    """A larger one is refused as Piston does it, announced or chunked or packed; the server goes on."""
    with server(cache, settings=ServerSettings(body_bytes=100_000)) as small:
        fitting = {"language": "bash", "version": "*", "files": [{"content": "echo"}, {"content": "x" * 99_000}]}
        large = fitting | {"stdin": "x" * 5_000_000}
        plain = {"Content-Type": "application/json"}
        packed = plain | {"Content-Encoding": "gzip"}
        asked = json.dumps(large).encode()
        for content, headers in ((asked, plain), (iter([asked]), plain), (gzip.compress(asked), packed)):
            response = small.client.post("/execute", content=content, headers=headers)
            assert response.status_code == 400
            assert response.json()["stack"].startswith("PayloadTooLargeError: request entity too large")
        assert small.client.post("/execute", json=fitting).status_code == 200


def test_the_queue_is_bounded(cache: Path) -> None:
    """One runs, one waits, the third is told to come again; then the first two are served."""
    mark = f"mark-{secrets.token_hex(8)}"
    with server(cache, slots=1, settings=ServerSettings(queue=1)) as one:
        answers: list[httpx.Response] = []

        def ask(script: str) -> None:
            with httpx.Client(base_url=one.client.base_url, timeout=120) as client:
                body = {"language": "bash", "version": "*", "files": [{"content": script}]}
                answers.append(client.post("/execute", json=body))

        threads = [threading.Thread(target=ask, args=(f"(exec -a {mark} sleep 5); echo ran",))]
        threads[0].start()
        eventually(lambda: processes_with(mark) != [])
        for _ in range(2):
            threads.append(threading.Thread(target=ask, args=("echo ran",)))
            threads[-1].start()
        for thread in threads:
            thread.join()
        assert sorted(response.status_code for response in answers) == [200, 200, 503]
        for response in answers:
            if response.status_code == 200:
                assert response.json()["run"]["stdout"] == "ran\n"
            else:
                assert "queue is full" in response.json()["message"]
                assert response.headers["retry-after"] == "1"


def test_held_bytes_are_bounded(cache: Path) -> None:
    """All waiting requests together take no more memory than they may."""
    settings = ServerSettings(body_bytes=1 << 20, held_bytes=100_000)
    with server(cache, settings=settings) as small:
        response = small.execute(files=[{"content": "echo"}, {"content": "x" * 200_000}])
        assert (response.status_code, "too many bytes" in response.json()["message"]) == (503, True)
        assert small.bash("echo hi")["stdout"] == "hi\n"


def test_a_job_whose_client_has_gone_is_killed(cache: Path) -> None:
    """Both the one that runs and the one that waits: the next is served at once."""
    mark, never = f"mark-{secrets.token_hex(8)}", f"never-{secrets.token_hex(8)}"
    with server(cache, slots=1) as one:
        with httpx.Client(base_url=one.client.base_url, timeout=120) as client:
            script = f"(setsid bash -c 'exec -a {mark} sleep 1000') & sleep 1000"
            body = json.dumps({"language": "bash", "version": "*", "files": [{"content": script}]}).encode()
            waiting = json.dumps(
                {"language": "bash", "version": "*", "files": [{"content": f"exec -a {never} sleep 1000"}]}
            )
            leave(client, body, until=lambda: processes_with(mark) != [])
            leave(client, waiting.encode(), until=lambda: True)
        eventually(lambda: processes_with(mark) == [])
        assert one.bash("echo next")["stdout"] == "next\n"
        assert processes_with(never) == []


def leave(client: httpx.Client, body: bytes, *, until: Callable[[], bool]) -> None:
    """Send a request over a connection of one's own, wait for something, and hang up."""
    url = client.base_url
    with socket.create_connection((url.host, url.port or 80)) as connection:
        lines = (
            "POST /api/v2/execute HTTP/1.1",
            "Host: x",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        eventually(until)


def test_the_server_survives_what_is_no_http(served: Served) -> None:
    """Garbage, and a request that stops in the middle."""
    url = served.client.base_url
    for garbage in (b"\x00\x01\x02\r\n\r\n", b"POST /api/v2/execute HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"):
        with socket.create_connection((url.host, url.port or 80)) as connection:
            connection.sendall(garbage)
    assert served.bash("echo alive")["stdout"] == "alive\n"


def test_reduced_isolation_is_not_served(tmp_path: Path) -> None:
    """Scripts of others need full isolation: the server does not start without."""

    async def inside() -> None:
        async with LocalSandbox(slots=1, strongest=Isolation.REDUCED) as sandbox:
            with pytest.raises(IsolationError, match="needs isolation 'full'"):
                async with serving(sandbox, runner=b"", port=0):
                    pass

    asyncio.run(inside())


# ---------------------------------------------------------------------- the command


@contextmanager
def command(cache: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`ioi-eval serve` as a process of its own, and the address that it tells."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from ioi_eval.cli.main import main; main()", "serve", "--port", "0", *words],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"IOI_EVAL_CACHE": str(cache)},
    )
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "serving Piston API v2 at " in line:
                break
        yield process, said
    finally:
        process.kill()
        process.wait()


def test_the_command_binds_loopback_and_ends_on_sigterm(served: Served, cache: Path) -> None:
    """It tells its address, answers there, and SIGTERM ends it with exit code 0."""
    with command(cache, "--workers", "1") as (process, said):
        address = said.split("serving Piston API v2 at ")[1].split()[0]
        assert address.startswith("http://127.0.0.1:")
        assert "can be reached" not in said
        assert httpx.get(f"{address}/runtimes").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def test_the_command_says_when_it_is_open_to_others(served: Served, cache: Path) -> None:
    """Bound to more than loopback it says so before it serves."""
    with command(cache, "--host", "0.0.0.0", "--public", "--workers", "1") as (_, said):
        assert "0.0.0.0 can be reached from other machines" in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_the_command_is_not_open_to_others_by_accident(host: str, cache: Path) -> None:
    """An address that others can reach is a mistake until the user says that it is meant."""
    words = [sys.executable, "-c", "from ioi_eval.cli.main import main; main()", "serve", "--port", "0", "--host", host]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "say --public" in done.stderr
