"""What the embedded sandbox offers under Piston's names, and what each makes of a request. Pure.

`ioi_eval`      as our package (`piston/packages/`): the request's own `compile` and `run`; with files `plan` and
                `runner`, and that our own, byte for byte (or named in `stored`), the runner itself; with neither, the
                classic contract
`cms_ioi`       the classic contract, by our own pair with the runner; answers as `cms`, as the real package does
`bash`, `sh`    the first file
installed       of a problem's package (`installed_packages.py`): our own runner, with that package's files

The runner's place is that of a judge: it is root in its box, and nobody limits it but itself. So it is taken by the
runner that we compiled, told by its hash. What else a client calls so (a client of another version brings another one)
is started by the client's own `run`, confined as every script is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ioi_eval import boxfiles
from ioi_eval.model import Content, Execution, Job, JobFile, JobKind, Stage, StageLimits
from ioi_eval.sandbox.installed_packages import NotStored
from ioi_eval.sandbox.request import Asked, Refusal, Request
from ioi_eval.sandbox.scripts import Command
from ioi_eval.sandbox.stored_files import LIST, digest, runner_line
from ioi_eval.sandbox.wire import DEFAULT_MEMORY_BYTES, MAIN, STDIN, Runtime, Starter

PACKAGE_VERSION = "1.0.0"
"""Of our package in `piston/packages/`, and of the reference's `cms_ioi`."""

_BASH_PACKAGE = 'bash "$@"; exit $?'
"""The stock package starts the script as a child, whose death by a signal is an exit code (recorded:
`signal_self_kill`)."""

_PLANNED_MEMORY = re.compile(rb"(?<= memory_bytes=)[0-9]+")  # Source: graders/PROTOCOL.md
_MOST_DIGITS = 20

_JUDGE_WALL_MS = 900_000
"""The least that a stage of our own pair gets: the runner in it keeps the real limits, which count no waiting for a
processor. Source: ours."""

_JUDGE_COMPILES_S = 720
"""What all compilers of a job get together, of that; then `graders/compile` says that the machine is too busy."""

_JUDGE = ".ioi_eval"
"""Where a client's script finds our runner, so that it sends us that one: as in our package, which says where by
IOI_EVAL_JUDGE."""

_MOST_CPUS = 64  # where CPU time is not asked for, the wall clock is to be the only bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripts:
    """Something to run that is no job of ours: commands of its own, in a box with these files.

    Args:
        files: what the box holds.
        commands: the stages, in order.
        judges: our own pair judges, so that how a stage ends is read as a score.
    """

    files: tuple[JobFile, ...]
    commands: tuple[Command, ...]
    judges: bool = False


def runtimes(bash_version: str) -> tuple[Runtime, ...]:
    """What `GET /runtimes` lists."""
    return (
        Runtime(language=Starter.IOI_EVAL.value, version=PACKAGE_VERSION),
        Runtime(language="cms", version=PACKAGE_VERSION, aliases=(Starter.CMS_IOI.value,), package="cms_ioi"),
        Runtime(language=Starter.BASH.value, version=bash_version, aliases=("sh",)),
    )


def work(request: Request, pair: Mapping[str, Content], *, output_bytes: int) -> Job | Scripts:
    """What a request starts.

    Args:
        request: of one of `runtimes`.
        pair: the files that `cms_ioi` brings along: `compile`, `run`, `runner`.
        output_bytes: how much of each stream may come back.
    """
    if request.runtime.language == Starter.BASH.value:
        words = (*_environment(request), "bash", "-c", _BASH_PACKAGE, "run", request.main, *request.args)
        return Scripts(files=_files(request.files), commands=(_run(request, words, output_bytes),))
    if request.runtime.package == Starter.CMS_IOI.value or _is_classic(request):
        return _scripts(_files({**request.files, **pair}), request, output_bytes, judges=True)
    if "plan" in request.files and _wants_ours(request, pair["runner"]):
        _refuse_more_memory(request)
        brought = {name: content for name, content in request.files.items() if name not in {MAIN, STDIN, LIST}}
        return Job(
            kind=JobKind.RUNNER,
            files=_files({**brought, "runner": pair["runner"]}),
            run_limits=_limits(request.run, output_bytes),
        )
    judge = {f"{_JUDGE}/runner": pair["runner"], f"{_JUDGE}/runner.digest": boxfiles.runner_digest().encode()}
    return _scripts(_files({**judge, **request.files}), request, output_bytes, f"IOI_EVAL_JUDGE=/box/{_JUDGE}")


def stored_work(
    request: Request, files: Mapping[str, Content], pair: Mapping[str, Content], *, output_bytes: int
) -> Job:
    """What a request for a problem's package starts: our runner, or nothing.

    Args:
        request: of one of the installed packages.
        files: those that it names and has brought.
        pair: as `work` has it.
        output_bytes: how much of each stream may come back.

    Raises:
        NotStored: its runner is not the one that this server compiled: all is to be sent.
        Refusal: it asks for too much.
    """
    runner = files.get("runner", b"")
    content = runner if isinstance(runner, bytes) else None
    ours = pair["runner"]
    same = _is_ours(content, ours) if content is not None else digest(runner) == digest(ours)
    if "plan" not in request.files or files.get("plan") is not request.files["plan"]:
        raise Refusal(400, {"message": f"the plan is not the job's own; send it, and say 'sent plan' in {LIST!r}"})
    if not same:
        raise NotStored("not stored: * is for another version of the runner than this server's\n")
    _refuse_more_memory(request)
    named = {**files, "runner": ours}
    return Job(kind=JobKind.RUNNER, files=_files(named), run_limits=_limits(request.run, output_bytes))


def refuse_unjudged(work: Scripts, execution: Execution) -> None:
    """Refuse to answer with a stage of our own pair that was stopped: clients take one for a score of 0.

    Raises:
        Refusal: one was.
    """
    if not work.judges:
        return
    for name, stage in (("compile", execution.compile), ("run", execution.run)):
        if stage is not None and stage.code is None:
            spent = f"{stage.cpu_ms or 0:.0f} ms of CPU time and {stage.wall_ms or 0:.0f} ms of wall clock"
            words = f"nothing was judged: the {name} stage was stopped by {stage.signal or stage.status} after {spent}"
            advice = f"raise {name}_cpu_time and {name}_memory_limit if you send them; else this machine is too busy"
            raise Refusal(500, {"message": f"{words}; {advice}"})


def answer_of(execution: Execution) -> dict[str, Any]:
    """The stages of an answer."""
    stages = {"compile": execution.compile, "run": execution.run}
    return {name: _stage(stage) for name, stage in stages.items() if stage is not None}


def _stage(stage: Stage) -> dict[str, Any]:
    """The fields of a stage since isolate."""
    return {
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


def _wants_ours(request: Request, ours: Content) -> bool:
    """Whether a client means the runner that we would send: it has sent that one, or names it."""
    if "runner" in request.files:
        return _is_ours(request.files["runner"], ours)
    return request.files.get(LIST) == runner_line(digest(ours))


def _is_ours(runner: bytes, ours: Content) -> bool:
    """Whether a client's runner is the one that we would send: only of that is it known what it does."""
    if isinstance(ours, bytes):
        return runner == ours
    return len(runner) == ours.size and hashlib.sha256(runner).hexdigest() == ours.sha256


def _refuse_more_memory(request: Request) -> None:
    """Refuse a plan that gives its programs more memory than the request gives the job: the runner obeys the plan.

    Raises:
        Refusal: it does.
    """
    most = request.run.memory_bytes
    if most is None:
        return
    for stated in _PLANNED_MEMORY.findall(request.files["plan"]):
        if len(stated) > _MOST_DIGITS or int(stated) > most:
            words = f"the plan allows {stated[:_MOST_DIGITS].decode()} bytes of memory, run_memory_limit is {most}"
            raise Refusal(400, {"message": f"{words}; raise that"})


def _is_classic(request: Request) -> bool:
    """Whether a request for `ioi_eval` brings a classic job without scripts."""
    return "graders/grader_config.json" in request.files and not {"compile", MAIN} & request.files.keys()


def _files(contents: Mapping[str, Content]) -> tuple[JobFile, ...]:
    """As on Piston nothing but what a script makes so is executable, except for what we bring."""
    ours = {"runner", f"{_JUDGE}/runner"}
    return tuple(JobFile(name=name, content=content, executable=name in ours) for name, content in contents.items())


def _scripts(
    files: tuple[JobFile, ...], request: Request, output_bytes: int, *variables: str, judges: bool = False
) -> Scripts:
    """`compile`, if there is one, and `run`; with these variables in their environment.

    Where our own pair judges, it keeps the program's limits itself, and a request's limits are not those of the stages,
    in which compilers, checker and shell live too: under them real servers judge right answers wrong.
    """
    words = (*_environment(request), *variables, "bash", MAIN, *request.args)
    commands = [_run(request, words, output_bytes, judges=judges)]
    if any(file.name == "compile" for file in files):
        limits = _limits(request.compile, output_bytes, judges=judges)
        patience = (f"IOI_EVAL_COMPILE_S={_JUDGE_COMPILES_S}",) if judges else ()
        words = (*_environment(request), *variables, *patience, "bash", "compile")
        commands.insert(0, Command(stage="compile", words=words, limits=limits))
    return Scripts(files=files, commands=tuple(commands), judges=judges)


def _environment(request: Request) -> tuple[str, ...]:
    """What packages find in their environment."""
    return ("env", f"PISTON_LANGUAGE={request.runtime.language}")


def _run(request: Request, words: tuple[str, ...], output_bytes: int, *, judges: bool = False) -> Command:
    limits = _limits(request.run, output_bytes, judges=judges)
    return Command(stage="run", words=words, limits=limits, stdin=request.stdin)


def _limits(asked: Asked, output_bytes: int, *, judges: bool = False) -> StageLimits:
    memory, wall_ms = asked.memory_bytes, asked.timeout_ms
    if judges:
        memory = None if memory is None else max(memory, DEFAULT_MEMORY_BYTES)
        wall_ms = max(wall_ms, _JUDGE_WALL_MS)
    return StageLimits(
        wall_ms=wall_ms,
        cpu_ms=asked.cpu_ms or _MOST_CPUS * wall_ms,
        memory_bytes=memory,
        output_bytes=output_bytes,
    )
