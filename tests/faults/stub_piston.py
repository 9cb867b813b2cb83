"""A server with Piston's API v2, for tests of the client: `stub_piston.py [--count N] [--slots N] [--port P]`.

Each port is a separate server. When all listen, the program prints the ports as one line of JSON. Jobs are really
executed (bash in an empty directory, with the server's limits), except jobs with a file `echo`: their answer is the
content of that file, after the number of milliseconds in a file `delay_ms`, so thousands of them take little CPU time.
Like Piston, it queues jobs without a message, refuses with 400, and answers with an empty 500 if it cannot make a box
for a request. Without a repository, it crashes when it is asked for packages. Its repository has each problem's package
in all versions except 0.0.0; with `--stale-repository`, in that version only.

`--generation` is the generation of Piston; both state the version 3.1.1. In generation 4 (the default), which uses
isolate, a memory limit that isolate cannot represent fails the stage before the program starts, with isolate's message.
In both generations, a time that a timer cannot represent kills the stage before it starts.

It can have each misconfiguration that the doctor knows: `--output`, `--body`, `--limit`, `--packages`, `--tools` (a
directory of programs that jobs find before those of the system), `--ulimit`. With `--probes`, a probe whose answer does
not depend on these is executed once for all servers: it lists the files of the compiler, which takes 0.3 CPU-s. A
problem's package in `--packages` has version 0.0.0. Jobs of the runner are not executed, because nothing here confines
them: the answer is the runner's message that it cannot confine programs, or, with `--confines`, an end line without
tests. `--useless` answers them at once and in Piston's format, but with an answer that the client cannot use: `broken`
(the box has not started the runner), `older` (the answer to another job), `lacking` (the runner's message that the box
lacks something), `killing` (the runner was killed), `limited` (the runner's message that a limit is too low). With
`--limited PACKAGE` only jobs of that package have the last one.

`GET /stub` returns how many jobs were executed, by which package, the maximum at once, and how often the runtimes were
listed. It is not part of the protocol.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

LIMITS = {
    "run_timeout": 60_000,
    "run_cpu_time": 60_000,
    "compile_timeout": 60_000,
    "compile_cpu_time": 60_000,
}
INT_MAX = (1 << 31) - 1
RUNTIMES = [
    {"language": "bash", "version": "5.2.0", "aliases": ["sh"]},
    {"language": "ioi_eval", "version": "1.0.0", "aliases": ["cms_ioi"]},
    {"language": "ioi_eval_run", "version": "1.0.0", "aliases": []},
]

PROBLEM = "ioi_eval_problem_"
_NONCE = re.compile(r"^tell begin (\w+)$", re.MULTILINE)
_CLOCK = re.compile(r"^clock\t\d+", re.MULTILINE)


def problem_package(name: str, version: str) -> dict[str, Any]:
    """The runtime of a problem's package."""
    return {"language": name, "version": version, "aliases": []}


class Server:
    """One server."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.slots = asyncio.Semaphore(options.slots)
        self.executed = 0
        self.listed = 0
        self.started_by: Counter[str] = Counter()
        self.running = 0
        self.max_running = 0
        self.runtimes = [entry for entry in RUNTIMES if entry["language"] in options.packages]
        self.runtimes += [problem_package(name, "0.0.0") for name in options.packages if name.startswith(PROBLEM)]
        self.limits = LIMITS | {name: int(most) for name, most in (each.split("=") for each in options.limit)}

    def application(self) -> web.Application:
        """Its routes."""
        application = web.Application(client_max_size=0)
        application.router.add_get("/api/v2/runtimes", self.get_runtimes)
        application.router.add_post("/api/v2/execute", self.execute)
        application.router.add_get("/stub", self.get_counts)
        application.router.add_get("/", self.get_greeting)
        application.router.add_route("*", "/api/v2/packages", self.change_package)
        return application

    async def get_runtimes(self, _: web.Request) -> web.Response:
        """The installed packages."""
        self.listed += 1
        return web.json_response(self.runtimes)

    async def get_greeting(self, _: web.Request) -> web.Response:
        """The version."""
        return web.json_response({"message": "Piston v3.1.1"})

    async def change_package(self, request: web.Request) -> web.Response:
        """Install or remove a package of the repository, which has `RUNTIMES` and problems' packages."""
        if self.options.no_repository:
            os._exit(1)
        if awaited := self.options.change_after:
            for _ in range(600):
                if awaited.is_file() and awaited.stat().st_size:
                    break
                await asyncio.sleep(0.1)
        wanted = await request.json()
        name = wanted["language"]
        entry = next((entry for entry in RUNTIMES if entry["language"] == name), None)
        if name.startswith(PROBLEM) and (wanted["version"] == "0.0.0") == self.options.stale_repository:
            entry = problem_package(name, wanted["version"])
        if entry is None or name == self.options.lacks:
            message = f"Requested package {name}-{wanted['version']} does not exist"
            return web.json_response({"message": message}, status=404)
        is_here = entry in self.runtimes
        if is_here == (request.method == "POST"):
            message = "Already installed" if is_here else f"{name}-{entry['version']} is not installed"
            return web.json_response({"message": message}, status=500)
        self.runtimes = [*self.runtimes, entry] if not is_here else [each for each in self.runtimes if each != entry]
        return web.json_response({"language": name, "version": entry["version"]})

    async def get_counts(self, _: web.Request) -> web.Response:
        """What has happened so far."""
        return web.json_response(
            {
                "executed": self.executed,
                "started_by": self.started_by,
                "max_running": self.max_running,
                "listed": self.listed,
            }
        )

    async def execute(self, request: web.Request) -> web.Response:
        """Run a job."""
        text = await request.read()
        if len(text) > self.options.body:
            stack = "PayloadTooLargeError: request entity too large\n    at readStream (raw-body/index.js:155:17)"
            return web.json_response({"stack": stack}, status=400)
        try:
            body = json.loads(text)
        except ValueError:
            return web.json_response({"stack": "SyntaxError: Unexpected end of JSON input"}, status=400)
        if refusal := self.refusal(body):
            return web.json_response({"message": refusal}, status=400)
        names = {file.get("name", "") for file in body["files"]}
        if any(parent.as_posix() in names for name in names for parent in Path(name).parents):
            return web.Response(status=500)
        async with self.slots:
            self.running += 1
            self.max_running = max(self.max_running, self.running)
            try:
                stages = await self.run(body)
            finally:
                self.running -= 1
            self.executed += 1
            self.started_by[body["language"]] += 1
        return web.json_response({**stages, "language": body["language"], "version": "1.0.0"})

    def refusal(self, body: dict[str, Any]) -> str | None:
        """The reason why a request is refused, or `None`."""
        if not any(entry["language"] == body["language"] for entry in self.runtimes):
            return f"{body['language']}-{body['version']} runtime is unknown"
        if not any(file.get("encoding", "utf8") == "utf8" for file in body["files"]):
            return "files must include at least one utf8 encoded file"
        for name, most in self.limits.items():
            if name.endswith("cpu_time") and self.options.generation < 4:
                continue  # not a limit of that generation
            if not isinstance(body.get(name, 0), int):
                return f"If specified, {name} must be a number"
            if body.get(name, 0) > most:
                return f"{name} cannot exceed the configured limit of {most}"
        return None

    async def run(self, body: dict[str, Any]) -> dict[str, Any]:
        """Run the stages of a job."""
        files = {file["name"]: content(file) for file in body["files"]}
        if "echo" in files or "plan" in files:
            refused = refused_by_the_machine(self.options.generation, "run", body)
            if refused is not None:
                return {"run": refused}
        if "echo" in files:
            await asyncio.sleep(int(files.get("delay_ms", b"0")) / 1000)
            return {"run": stage(files["echo"].decode(), "", 0)}
        if "plan" in files:
            return {"run": self.run_runner(files["plan"].decode(), body["language"])}
        with tempfile.TemporaryDirectory(prefix="stub-piston-") as directory:
            for name, data in files.items():
                write(Path(directory, name), data)
            stages = {}
            if body["language"] == "ioi_eval" and "compile" in files:
                stages["compile"] = await self.run_script(directory, ["compile"], "compile", body)
                if stages["compile"]["code"] != 0:
                    return {**stages, "run": stages["compile"]}
            arguments = [body["files"][0]["name"], *body["args"]]
            return {**stages, "run": await self.run_script(directory, arguments, "run", body)}

    def run_runner(self, plan: str, package: str) -> dict[str, Any]:
        """The answer to a job of the runner."""
        found = re.search(r"^nonce (\w+)$", plan, re.MULTILINE)
        nonce = found[1] if found else ""
        if package == self.options.limited:
            return useless("limited", nonce)
        if self.options.useless:
            return useless(self.options.useless, nonce)
        if self.options.confines:
            return ended(nonce)
        fault = {"fault": "isolation", "explanation": "nothing here confines programs", "nonce": nonce}
        return stage(json.dumps(fault) + "\n", "", 3)

    async def run_script(self, directory: str, arguments: list[str], name: str, body: dict[str, Any]) -> dict[str, Any]:
        """Run one stage."""
        refused = refused_by_the_machine(self.options.generation, name, body)
        if refused is not None:
            return refused
        probe = self.kept_probe(Path(directory), arguments)
        if probe is not None and (known := probe.read()) is not None:
            return self.within_output(known, b"", 0)
        timeout_ms = body[f"{name}_timeout"]
        path = os.pathsep.join(filter(None, (self.options.tools, os.environ["PATH"])))
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", f"{self.options.ulimit}; exec bash \"$@\"", "-", *arguments,
            cwd=directory, env=os.environ | {"PATH": path}, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout_ms / 1000)
        except TimeoutError:
            process.kill()
            await process.wait()
            return {**stage("", "", None), "signal": "SIGKILL", "status": "TO"}
        if probe is not None and process.returncode == 0:
            probe.write(out)
        return self.within_output(out, err, process.returncode)

    def kept_probe(self, directory: Path, arguments: list[str]) -> KeptProbe | None:
        """The kept answer to the job in a directory, if it is the probe and only this machine decides the answer."""
        files = directory / "compiler_files"
        if not self.options.probes or self.options.tools or self.options.ulimit != ":" or not files.is_file():
            return None
        script = (directory / arguments[0]).read_text()
        return KeptProbe(Path(self.options.probes), script, [files.read_text(), *arguments])

    def within_output(self, out: bytes, err: bytes, code: int | None) -> dict[str, Any]:
        """The answer of a stage that has ended, unless it has printed more than the limit."""
        if max(len(out), len(err)) > self.options.output:
            return {**stage("", "", None), "signal": "SIGKILL", "status": "OL"}
        return stage(out.decode(errors="replace"), err.decode(errors="replace"), code)


class KeptProbe:
    """The answer to one probe. On the same machine only its nonce and the time change.

    Args:
        kept: the directory of all answers.
        script: the text of the probe.
        others: what else decides the answer.
    """

    def __init__(self, kept: Path, script: str, others: Sequence[str]) -> None:
        (self._nonce,) = _NONCE.findall(script)
        same = "\0".join((script.replace(self._nonce, "NONCE"), *others))
        self._path = kept / hashlib.sha256(same.encode()).hexdigest()

    def read(self) -> bytes | None:
        """What the probe would print now; `None` if it has not been kept yet."""
        try:
            text = self._path.read_text()
        except FileNotFoundError:
            return None
        return _CLOCK.sub(f"clock\t{int(time.time())}", text.replace("NONCE", self._nonce), count=1).encode()

    def write(self, output: bytes) -> None:
        """Keep what the probe has printed."""
        new = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        new.write_text(output.decode().replace(self._nonce, "NONCE"))
        new.rename(self._path)


def refused_by_the_machine(generation: int, name: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """The stage's answer if isolate or Node cannot represent a number of the request; `None` if they can.

    Source: isolate 2.0's `opt_uint` and `timeout`, tried with a real server: HTTP 200, and a stage of nulls; Node 15's
    `setTimeout`.
    """
    limit_kb = (body.get(f"{name}_memory_limit") or 0) // 1000
    if generation >= 4 and limit_kb > INT_MAX:
        return nothing(f"Numeric parameter out of range: {limit_kb}\n")
    times = ("timeout", "cpu_time") if generation >= 4 else ("timeout",)
    if any(body.get(f"{name}_{time}", 0) > INT_MAX for time in times):
        return {**stage("", "", None), "signal": "SIGKILL"}
    return None


def ended(nonce: str) -> dict[str, Any]:
    """The answer of a runner that ran no test."""
    return stage('{"end":true,"nonce":"' + nonce + '","lines":0,"sum":"00000000","isolation":"reduced"}\n', "", 0)


def useless(kind: str, nonce: str) -> dict[str, Any]:
    """The unusable answer of that kind to a job of the runner."""
    if kind == "broken":
        return stage("", "bash: run: Input/output error\n", 1)
    if kind == "older":
        return ended("0" * 32)
    if kind == "killing":
        return {**stage("", "", None), "signal": "SIGKILL"}
    fault, reason = ("limits", "40 processes") if kind == "limited" else ("system", "pipe: Too many open files")
    return stage(json.dumps({"fault": fault, "explanation": reason, "nonce": nonce}) + "\n", "", 3)


def nothing(words: str) -> dict[str, Any]:
    """A stage of generation 4 that isolate did not start."""
    nulls = dict.fromkeys(("memory", "message", "status", "cpu_time", "wall_time"))
    return {**stage("Usage: isolate [<options>] <command>\n", words, None), **nulls}


def write(path: Path, data: bytes) -> None:
    """Write a file, and make its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def content(file: dict[str, str]) -> bytes:
    """The decoded content of a file."""
    if file.get("encoding") == "base64":
        return base64.b64decode(file["content"])
    return file["content"].encode()


def stage(stdout: str, stderr: str, code: int | None) -> dict[str, Any]:
    """The answer of a stage."""
    return {"stdout": stdout, "stderr": stderr, "output": stderr + stdout, "code": code, "signal": None}


async def main() -> None:
    """Serve until the program is killed, or stdin is closed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--output", type=int, default=64 << 20)
    parser.add_argument("--body", type=int, default=64 << 20)
    parser.add_argument("--generation", type=int, choices=(3, 4), default=4)
    parser.add_argument("--packages", default="bash,ioi_eval", type=lambda text: text.split(","))
    parser.add_argument("--limit", action="append", default=[], metavar="NAME=MS")
    parser.add_argument("--tools", default="")
    parser.add_argument("--ulimit", default=":", help="a shell command before every job")
    parser.add_argument("--probes", help="a directory with answers to probes, instead of running each probe")
    parser.add_argument("--confines", action="store_true")
    parser.add_argument("--limited", metavar="PACKAGE", help="a package in which a limit is too low")
    parser.add_argument("--useless", choices=("broken", "older", "lacking", "killing", "limited"))
    parser.add_argument("--no-repository", action="store_true")
    parser.add_argument("--stale-repository", action="store_true")
    parser.add_argument("--change-after", type=Path, metavar="FILE", help="change packages when FILE is not empty")
    parser.add_argument("--lacks", metavar="PACKAGE", help="a package that its repository does not have")
    options = parser.parse_args()
    ports = []
    for number in range(options.count):
        runner = web.AppRunner(Server(options).application(), access_log=None, keepalive_timeout=5.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", options.port + number if options.port else 0, reuse_address=True)
        await site.start()
        ports.append(runner.addresses[0][1])
    print(json.dumps(ports), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until the starter is gone


if __name__ == "__main__":
    asyncio.run(main())
