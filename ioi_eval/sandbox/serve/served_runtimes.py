"""The runtimes that `serve` offers, and the work that each makes of a request. Pure.

`ioi_eval`      like our package (`piston/packages/`): runs the request's `compile` and `run`. With `plan` and our
                `runner` (byte for byte, or named in `stored`) it starts the runner; a classic job without scripts is
                judged as by `cms_ioi`
`cms_ioi`       judges one test of a classic job, by our scripts and the runner; its language is `cms`, as in the real
                package
`bash`, `sh`    runs the first file that is text
`ioi_eval_run`  the same as `ioi_eval`: on Piston it has no compile stage, and our client prefers it for its runner
installed       for a problem's package (`installed_packages.py`): our runner, with that package's files

The runner judges: it is root in its box, and no limits apply to it but its own. So only the runner that we compiled is
started in this way, recognised by its hash. Another file named `runner` (from a client of another version) is
started by the client's own `run`, confined like every script.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ioi_eval import boxfiles
from ioi_eval.model import Content, Execution, Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox import DEFAULT_MEMORY_BYTES
from ioi_eval.sandbox.local.scripts import Command
from ioi_eval.sandbox.piston.stored_files import LIST, digest, runner_line
from ioi_eval.sandbox.piston.wire import MAIN, RUN_PACKAGE, Runtime, Starter
from ioi_eval.sandbox.serve.installed_packages import NotStored
from ioi_eval.sandbox.serve.request import Refusal, Request

PACKAGE_VERSION = "1.0.0"
"""The version of our package in `piston/packages/`, and of the reference's `cms_ioi`."""

_BASH_PACKAGE = 'bash "$@"; exit $?'
"""The stock package starts the script as a child, so a signal that kills the script becomes an exit code (recorded:
`signal_self_kill`)."""

_PLAN_TITLE, _PLANNED_BYTES = b"ioi-eval-runner ", re.compile(rb" (memory|output|file)_bytes=([^ \n]*)")
"""How a plan begins, and what it allows: memory, and files that are in memory. Source: graders/PROTOCOL.md."""
_PLANNED_PROCESSES = re.compile(rb" (?:processes|threads)=([^ \n]*)")
_MAX_PROCESSES = 4096
"""The most processes and threads of a program or compiler together. Source: ours; 64 processes with 64 threads."""

_MAX_DIGITS = 20

_JUDGE_WALL_MS = 900_000
"""A stage of our own scripts gets at least this wall clock: the runner in it enforces the real limits, which do not
include waiting for a processor. Source: ours."""

_JUDGE_COMPILES_S = 720
"""All compilers of a job together get this part of it; then `graders/compile` reports that the machine is too busy."""

_JUDGE_DIRECTORY = ".ioi_eval"
"""The directory in which a client's script finds our runner, so that the client sends us this one. As in our package,
IOI_EVAL_JUDGE names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripts:
    """A client's commands, to run in order in a box with these files. `judges`: whether our own scripts judge, so that
    clients read the end of a stage as a score."""

    files: tuple[JobFile, ...]
    commands: tuple[Command, ...]
    judges: bool = False


def runtimes(bash_version: str) -> tuple[Runtime, ...]:
    """The runtimes that `GET /runtimes` lists, without problems' packages."""
    return (
        Runtime(language=Starter.IOI_EVAL.value, version=PACKAGE_VERSION),
        Runtime(language="cms", version=PACKAGE_VERSION, aliases=(Starter.CMS_IOI.value,), package="cms_ioi"),
        Runtime(language=Starter.BASH.value, version=bash_version, aliases=("sh",)),
        Runtime(language=RUN_PACKAGE, version=PACKAGE_VERSION),
    )


def work(request: Request, own_files: Mapping[str, Content]) -> Job | Scripts:
    """The job or commands that a request for one of `runtimes` starts.

    Args:
        own_files: the files that `cms_ioi` adds: our scripts with what they need, and the runner.
    """
    if request.runtime.language == Starter.BASH.value:
        argv = (*_environment(request), "bash", "-c", _BASH_PACKAGE, "run", request.main, *request.args)
        return Scripts(files=_files(request.files), commands=(_run(request, argv),))
    is_classic = "graders/grader_config.json" in request.files and not {"compile", MAIN} & request.files.keys()
    if request.runtime.package == Starter.CMS_IOI.value or is_classic:
        raised = replace(request, compile=_for_judges(request.compile), run=_for_judges(request.run))
        return _scripts(_files({**request.files, **own_files}), raised, judges=True)
    if "plan" in request.files and _wants_ours(request, own_files["runner"]):
        brought = {name: content for name, content in request.files.items() if name not in {MAIN, LIST}}
        return _runner_job(request, brought, own_files)
    judge = {
        f"{_JUDGE_DIRECTORY}/runner": own_files["runner"],
        f"{_JUDGE_DIRECTORY}/runner.digest": boxfiles.runner_files_digest().encode(),
    }
    return _scripts(_files({**judge, **request.files}), request, f"IOI_EVAL_JUDGE=/box/{_JUDGE_DIRECTORY}")


def stored_work(request: Request, files: Mapping[str, Content], own_files: Mapping[str, Content]) -> Job:
    """The job that a request for a problem's package starts, with our runner.

    Args:
        files: those that it names, and those that were sent with it.
        own_files: as for `work`.
    """
    if "plan" not in request.files or files.get("plan") is not request.files["plan"]:
        raise Refusal(400, f"the plan is not the job's own; send it, and do not name it in {LIST!r}")
    if digest(files.get("runner", b"")) != digest(own_files["runner"]):
        # the client must send all files
        raise NotStored("not stored: * is for another version of the runner than this server's\n")
    return _runner_job(request, files, own_files)


def _runner_job(request: Request, files: Mapping[str, Content], own_files: Mapping[str, Content]) -> Job:
    _refuse_more_memory(request)
    _refuse_more_processes(request)
    files = {**files, "runner": own_files["runner"]}
    return Job(kind=JobKind.RUNNER, files=_files(files), run_limits=request.run)


def refuse_unjudged(work: Scripts, execution: Execution) -> None:
    """Refuse to answer if a stage of our own scripts was killed: clients would read this as a score of 0."""
    for name, stage in (("compile", execution.compile), ("run", execution.run)):
        if work.judges and stage is not None and stage.code is None:
            spent = f"{stage.cpu_ms or 0:.0f} ms of CPU time and {stage.wall_ms or 0:.0f} ms of wall clock"
            message = f"the {name} stage was stopped by {stage.signal or stage.status} after {spent}"
            advice = f"raise {name}_cpu_time and {name}_memory_limit if you send them; else this machine is too busy"
            raise Refusal(500, f"nothing was judged: {message}; {advice}")


def answer_of(execution: Execution) -> dict[str, Any]:
    """The stages of an answer, as in Piston since isolate."""
    stages = {"compile": execution.compile, "run": execution.run}
    return {
        name: {
            "signal": stage.signal,
            "stdout": stage.stdout,
            "stderr": stage.stderr,
            "code": stage.code,
            "output": stage.stdout + stage.stderr,
            "memory": stage.memory_bytes,
            "message": stage.message,
            "status": stage.status,
            "cpu_time": stage.cpu_ms,
            "wall_time": stage.wall_ms,
        }
        for name, stage in stages.items()
        if stage is not None
    }


def _wants_ours(request: Request, ours: Content) -> bool:
    """Whether a client has sent the runner that we compiled, or names it: we know only what this one does."""
    if "runner" in request.files:
        return digest(request.files["runner"]) == digest(ours)
    return request.files.get(LIST) == runner_line(digest(ours))


def _refuse_more_memory(request: Request) -> None:
    """Refuse a plan that allows one process of a program or compiler more memory, or more output or longer files, than
    the request allows the job. (A program may have up to 64 processes.)

    The runner follows the plan, and another one that the plan names. It would also read a number with `%` in it.
    """
    given = request.run.memory_bytes
    most = DEFAULT_MEMORY_BYTES if given is None else given
    for kind, number in itertools.chain.from_iterable(map(_PLANNED_BYTES.findall, _plans(request))):
        stated = number[:_MAX_DIGITS].decode("ascii", "replace")
        if not number.isdigit():
            raise Refusal(400, f"the plan's {kind.decode()}_bytes is {stated}; it must be decimal digits")
        if len(number) > _MAX_DIGITS or int(number) > most:
            message = f"the plan's {kind.decode()}_bytes is {stated}, run_memory_limit is {most}"
            raise Refusal(400, f"{message}; raise that")


def _refuse_more_processes(request: Request) -> None:
    """Refuse a plan that allows so many processes and threads that one job could use up the machine's process ids:
    then programs of other clients could not start threads."""
    for line in (line for plan in _plans(request) for line in plan.split(b"\n")):
        together = 1
        for number in _PLANNED_PROCESSES.findall(line):
            if not number.isdigit() or len(number) > _MAX_DIGITS:
                raise Refusal(400, "the plan's processes and threads must be decimal digits")
            together *= max(1, int(number))
            if together > _MAX_PROCESSES:
                named = line[:200].decode("utf-8", "replace")
                message = f"the plan allows more than {_MAX_PROCESSES} processes and threads"
                raise Refusal(400, f"{message}; state less: {named}")


def _plans(request: Request) -> list[bytes]:
    """The plans among a request's files: the runner follows one, and another one that it names."""
    return [content for content in request.files.values() if content.startswith(_PLAN_TITLE)]


def _files(contents: Mapping[str, Content]) -> tuple[JobFile, ...]:
    """As on Piston, no file is executable until a script makes it so; except for our runner."""
    ours = {"runner", f"{_JUDGE_DIRECTORY}/runner"}
    return tuple(JobFile(name=name, content=content, executable=name in ours) for name, content in contents.items())


def _scripts(files: tuple[JobFile, ...], request: Request, *variables: str, judges: bool = False) -> Scripts:
    """`compile`, if there is one, and `run`; with these variables in their environment."""
    before = (*_environment(request), *variables)
    commands = [_run(request, (*before, "bash", MAIN, *request.args))]
    if any(file.name == "compile" for file in files):
        patience = (f"IOI_EVAL_COMPILE_S={_JUDGE_COMPILES_S}",) if judges else ()
        argv = (*before, *patience, "bash", "compile")
        commands.insert(0, Command(stage="compile", argv=argv, limits=request.compile))
    return Scripts(files=files, commands=tuple(commands), judges=judges)


def _environment(request: Request) -> tuple[str, ...]:
    return ("env", f"PISTON_LANGUAGE={request.runtime.language}")


def _run(request: Request, argv: tuple[str, ...]) -> Command:
    return Command(stage="run", argv=argv, limits=request.run, stdin=request.stdin)


def _for_judges(limits: StageLimits) -> StageLimits:
    """More memory and wall clock than a request allows: our own scripts enforce the program's limits themselves, and
    their stages also run compilers, checker and shell. (Real servers apply the request's limits to whole stages, and so
    judge right answers wrong.)"""
    memory = max(limits.memory_bytes or 0, DEFAULT_MEMORY_BYTES)
    return replace(limits, memory_bytes=memory, wall_ms=max(limits.wall_ms, _JUDGE_WALL_MS))
