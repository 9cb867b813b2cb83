"""The kinds of jobs that the server accepts: scripts, bundled jobs, bash, and large ones."""

from __future__ import annotations

import base64
import json
import secrets

import pytest

from ioi_eval.config import CompileLimits
from ioi_eval.errors import IoiEvalError, OverloadError, RejectedError, SetupError, TransientError
from ioi_eval.jobs import compile as compiling
from ioi_eval.jobs import recipes
from ioi_eval.jobs.find_runner import find_runner_job, runner_binary
from ioi_eval.jobs.runner_answer import compile_answer
from ioi_eval.model import Execution, Isolation, Stage
from ioi_eval.sandbox.local.sandbox import LocalSandbox
from ioi_eval.sandbox.piston import literals, wire
from ioi_eval.sandbox.piston.stored_files import digest, runner_line, without_runner
from ioi_eval.toolchain import Toolchain
from tests.sandbox.served import Served


def test_scripts_know_their_language(served: Served) -> None:
    """Scripts get the variable `PISTON_LANGUAGE`, as on Piston."""
    assert served.bash("echo $PISTON_LANGUAGE $HOME")["stdout"] == "bash /tmp\n"
    script = {"name": "run", "content": "echo $PISTON_LANGUAGE"}
    assert served.execute(language="ioi_eval", files=[script]).json()["run"]["stdout"] == "ioi_eval\n"


def test_own_scripts(served: Served) -> None:
    """In the language `ioi_eval`, the job's own `compile` and `run` are executed in one box."""
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


def test_a_long_answer_is_whole(served: Served) -> None:
    """All that a script prints arrives, and the connection can be used again."""
    for _ in range(2):
        run = served.bash("yes é | head -c 3000000; yes | head -c 2000000 >&2")
        assert (run["stdout"], run["stderr"]) == ("é\n" * 1_000_000, "y\n" * 1_000_000)
        assert run["output"] == run["stdout"] + run["stderr"]


def test_a_job_with_our_runner_runs_without_a_shell(served: Served) -> None:
    """A job with our runner and a plan runs the runner directly, with full isolation. The runner need not be sent."""
    nonce = secrets.token_hex(16)
    recipe = recipes.Recipe(
        what="test",
        steps=(recipes.Step(argv=("g++", "x.cpp", "-o", "x"), files=(("x.cpp", b"int main() {}"),)),),
        artifacts=("x",),
        sees_system=True,
    )
    job = compiling.compile_job(recipe, b"", CompileLimits(), Isolation.REDUCED, nonce=nonce)
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
    answer = compile_answer(
        Stage(stdout=run["stdout"], stderr=run["stderr"], code=run["code"]), nonce, least=Isolation.NONE
    )
    assert answer.artifacts["x"].startswith(b"\x7fELF")
    assert answer.isolation is Isolation.FULL
    named = {"name": "stored", "content": runner_line(digest(served.runner)).decode()}  # instead of the runner
    run = served.execute(language="ioi_eval", files=[*files[:-1], named]).json()["run"]
    assert compile_answer(
        Stage(stdout=run["stdout"], stderr=run["stderr"], code=run["code"]), nonce, least=Isolation.NONE
    ).artifacts


def test_packed_and_deflated_files_are_read(served: Served) -> None:
    """A job's small files may be sent as one, and others deflated, as our client sends them."""
    nonce = secrets.token_hex(16)
    source, numbers = b'#include "x.h"\nint main() { DATA }\n', bytes(range(256)) * 20
    small = (("x.cpp", source), ("x.h", b'#define DATA asm(".incbin \\"n\\"");\n'))
    step = recipes.Step(argv=("g++", "-c", "x.cpp", "-o", "x.o"), files=(*small, ("n", numbers)))
    recipe = recipes.Recipe(what="test", steps=(step,), artifacts=("x.o",), sees_system=True)
    variant = without_runner(
        compiling.compile_job(recipe, served.runner, CompileLimits(), Isolation.REDUCED, nonce=nonce)
    )
    assert variant is not None
    files = wire.sent_files(variant.job, wire.Starter.IOI_EVAL)
    contents = [literals.deflated(bytes(file.content)) for file in files]  # type: ignore[arg-type]
    installed = wire.InstalledStarter(starter=wire.Starter.IOI_EVAL, version="1.0.0")
    body = wire.body(variant.job, installed, files, contents)
    request = json.loads(b"".join(segment for segment in body.segments if isinstance(segment, bytes)))
    assert {file["name"] for file in request["files"]} == {"run", "plan", "stored", "packed", "f2.deflated"}
    run = served.execute(**request).json()["run"]
    answer = compile_answer(
        Stage(stdout=run["stdout"], stderr=run["stderr"], code=run["code"]), nonce, least=Isolation.NONE
    )
    assert numbers in answer.artifacts["x.o"], answer.steps


def test_a_runner_of_another_version_is_started_by_the_script(served: Served) -> None:
    """A client may be older than the server. Its runner differs and is run like any other program."""
    runner = b'#!/bin/sh\nprintf "%s\\n" "$@"\n'
    files = [
        {"name": "run", "content": 'exec ./runner --dir . "$@"\n'},
        {"name": "plan", "content": "x"},
        {"name": "runner", "content": base64.b64encode(runner).decode(), "encoding": "base64"},
    ]
    run = served.execute(language="ioi_eval", files=files).json()["run"]
    assert (run["stdout"].split(), run["stderr"]) == (["--dir", "."], "")


def test_a_client_gets_the_server_s_runner(served: Served) -> None:
    """The job that compiles the runner returns the server's runner, so that client and server have equal bytes."""
    toolchain = Toolchain(command="/usr/bin/false", version="none", machine="x86_64-linux-gnu", static=True)
    nonce = secrets.token_hex(16)
    files = [
        {"name": file.name, "content": bytes(file.content).decode()}  # type: ignore[arg-type]
        for file in find_runner_job(toolchain, nonce=nonce).files
    ]
    run = served.execute(language="ioi_eval", files=files).json()["run"]
    stage = Stage(stdout=run["stdout"], stderr=run["stderr"], code=run["code"])
    assert runner_binary(Execution(run=stage), nonce) == served.runner.path.read_bytes()


def test_a_bash_job_may_have_files_of_any_name(served: Served) -> None:
    """For bash, files with the names `compile` and `run` are ordinary files."""
    files = [
        {"name": "main.sh", "content": "cat run compile"},
        {"name": "compile", "content": "exit 5"},
        {"name": "run", "content": "exit 6"},
    ]
    answer = served.execute(files=files).json()
    assert "compile" not in answer
    assert answer["run"]["stdout"] == "exit 6exit 5"


@pytest.mark.parametrize(
    ("failure", "status"), [(OverloadError, 503), (TransientError, 500), (RejectedError, 500), (SetupError, 500)]
)
def test_a_failure_of_the_sandbox_has_a_message(
    served: Served, monkeypatch: pytest.MonkeyPatch, failure: type[IoiEvalError], status: int
) -> None:
    """A client learns the reason, and whether this machine is only too busy."""

    async def fail(*_: object) -> Execution:
        raise failure("the reason")

    monkeypatch.setattr(LocalSandbox, "run_commands", fail)
    answer = served.execute(files=[{"content": "echo"}])
    assert (answer.status_code, answer.json()) == (status, {"message": "the reason"})


def test_large_files_and_answers(served: Served) -> None:
    """A file of 10 MB and an output of 10 MB arrive unchanged."""
    content = "".join(f"{number}\n" for number in range(1_500_000))
    files = [{"name": "main.sh", "content": "cat big"}, {"name": "big", "content": content}]
    assert served.execute(files=files).json()["run"]["stdout"] == content
