"""A worker lacks files that a job names: the client sends them, in a bounded number of requests."""

from __future__ import annotations

from dataclasses import replace

import pytest
from yarl import URL

from ioi_eval.errors import RejectedError, SandboxError, TransientError
from ioi_eval.model import Execution, Job, JobFile, JobKind, Profile, Stage, StageLimits
from ioi_eval.sandbox.piston.discovery import Worker
from ioi_eval.sandbox.piston.probing import ProbeReport
from ioi_eval.sandbox.piston.problem_packages import package_of
from ioi_eval.sandbox.piston.stored_files import StoredFiles, Variant, digest
from ioi_eval.sandbox.piston.wire import Ceilings, InstalledStarter, Runtime, Starter
from ioi_eval.toolchain import Toolchain
from tests.small_problems import small_problem
from tests.small_targets import small_target

RUNNER, CHECKER = b"r" * 300, b"c" * 300
PACKAGE = package_of(small_problem(subtasks=()))
JOB = Job(
    kind=JobKind.RUNNER,
    files=tuple(
        JobFile(name=name, content=content)
        for name, content in (("plan", b"p"), ("runner", RUNNER), ("checker", CHECKER))
    ),
    run_limits=StageLimits(wall_ms=1000, cpu_ms=1000),
    package=PACKAGE,
)
WORKER_URL = "http://w1:2000/api/v2"
TARGET = small_target()
WORKER = Worker(
    url=URL(WORKER_URL),
    runtimes=(Runtime(language=PACKAGE.language, version="1.0.0"),),
    profile=Profile.BUNDLED,
    installed=InstalledStarter(starter=Starter.IOI_EVAL, version="1.0.0", ceilings=Ceilings()),
    report=ProbeReport(
        compilers=(Toolchain(command="g++", version="g++ 12", machine="x86_64-linux-gnu", static=True),),
        kernel="6.1.0",
        processors=4,
        clock_s=0,
    ),
    max_output_bytes=4 << 20,
    max_body_bytes=48 << 20,
    clock_ahead_s=0.1,
)


def ended(stdout: str, code: int | None, stderr: str = "") -> Execution:
    """The answer to a job."""
    return Execution(run=Stage(stdout=stdout, stderr=stderr, code=code))


def lacking(*contents: bytes) -> Execution:
    """A worker's refusal."""
    return ended("".join(f"not stored: {digest(content)} is missing\n" for content in contents), 66)


def first_variant(stored: StoredFiles, job: Job = JOB) -> Variant:
    """The first variant of the job that is sent to the worker."""
    variant = stored.variant(job, WORKER, TARGET)
    assert variant is not None
    return variant


@pytest.mark.parametrize("refusal", [lacking(RUNNER), RejectedError("no such runtime"), ended("", 1, "no bash")])
@pytest.mark.parametrize("job", [JOB, replace(JOB, package=None)])
def test_all_jobs_refused_at_the_same_time_are_sent_again(refusal: Execution | SandboxError, job: Job) -> None:
    """Several jobs in the same variant are refused: each counts as refused, and the next variant names fewer files."""
    stored = StoredFiles()
    variants = [first_variant(stored, job) for _ in range(3)]
    assert [stored.note_missing(WORKER_URL, variant, job, refusal) for variant in variants] == [True] * 3
    following = stored.variant(job, WORKER, TARGET)
    assert following is None or following.left_out < variants[0].left_out or following.package != variants[0].package


@pytest.mark.parametrize("is_known", [True, False], ids=["of what it was asked for", "of anything"])
def test_the_number_of_refusals_is_bounded(is_known: bool) -> None:
    """After each refusal, the job names fewer files, whatever the worker reports as missing."""
    stored = StoredFiles()
    rounds = 0
    while (variant := stored.variant(JOB, WORKER, TARGET)) is not None:
        rounds += 1
        assert rounds <= len(JOB.files) + 1, "each of the package's files, all of the package, our own package's runner"
        missing = min(variant.left_out) if is_known else digest(b"%d" % rounds)
        assert stored.note_missing(WORKER_URL, variant, JOB, ended(f"not stored: {missing} is missing\n", 66))


def test_one_line_for_all_damaged_files_of_a_package() -> None:
    """A package with another problem's files lacks all of its own: hundreds on each worker."""
    first, *_ = held = sorted(digest(b"%d" % number * 200) for number in range(3))
    inputs = tuple(JobFile(name=f"i{number}", content=b"%d" % number * 200) for number in range(3))
    job = replace(JOB, files=(*JOB.files, *inputs), package=replace(PACKAGE, held=frozenset(held)))
    stored = StoredFiles()
    variant = first_variant(stored, job)
    answers = "".join(f"not stored: {each} is missing\n" for each in held)
    assert stored.note_missing(WORKER_URL, variant, job, ended(answers, 66))
    (fault,) = stored.faults
    assert f"{PACKAGE.language} the file {first[:12]}… is missing, and 2 more are missing or differ; they are" in fault


@pytest.mark.parametrize("problem_packages", [True, False])
def test_packages_are_tried_from_the_one_that_saves_most(problem_packages: bool) -> None:
    """The problem's package, then the one without a compile stage, then ours. No fault is reported of the last two."""
    languages = (*((PACKAGE.language,) if problem_packages else ()), "ioi_eval_run", "ioi_eval")
    worker = replace(WORKER, runtimes=tuple(Runtime(language=name, version="1.0.0") for name in languages))
    stored, used = StoredFiles(), []
    while (variant := stored.variant(JOB, worker, TARGET)) is not None:
        used.append(variant.package)
        assert stored.note_missing(WORKER_URL, variant, JOB, ended("", 1, "no bash"))
    assert used == [*languages[:-1], ""]
    assert len(stored.faults) == problem_packages


@pytest.mark.parametrize("root", ["/piston", "/data/piston"])
@pytest.mark.parametrize("is_static", [True, False])
def test_a_compiler_in_our_package_is_not_seen_from_others(root: str, is_static: bool) -> None:
    """A job that reads the compiler's files is started by our package, and so is every job with dynamic programs."""
    compiler = f"{root}/packages/ioi_eval/1.0.0/gcc/bin/g++"
    worker = replace(WORKER, runtimes=(*WORKER.runtimes, Runtime(language="ioi_eval_run", version="1.0.0")))
    target = replace(TARGET, toolchain=replace(TARGET.toolchain, command=compiler, static=is_static))
    packages = {None: "ioi_eval_run", PACKAGE: PACKAGE.language}
    for package, language in packages.items():
        job = replace(JOB, package=package)
        compiling, running = (
            StoredFiles().variant(each, worker, target) for each in (replace(job, sees=(compiler,)), job)
        )
        assert compiling is not None
        assert running is not None
        assert (compiling.package, running.package) == ("", language if is_static else "")


@pytest.mark.parametrize("code", [1, 2, 66, 126, 127])
def test_a_package_that_starts_no_runner_is_not_used_again(code: int) -> None:
    """If the package does not start the runner, its files are not named again, and the fault is reported."""
    stored = StoredFiles()
    assert stored.note_missing(WORKER_URL, first_variant(stored), JOB, ended("", code, "bash: no such file"))
    assert first_variant(stored).package == "", "only our own package's runner is still named"
    (fault,) = stored.faults
    assert PACKAGE.language in fault
    assert "bash: no such file" in fault


@pytest.mark.parametrize(
    "result",
    [
        ended('{"end":true}\n', 0),
        ended('{"fault":"system","explanation":"no memory"}\n', 4),
        ended("", None),
        ended("", 254, "run: fork: Resource temporarily unavailable"),
        TransientError("the connection was lost"),
    ],
)
def test_answers_of_the_runner_are_not_refusals(result: Execution | SandboxError) -> None:
    """The runner's answer, a killed job, one for which bash could not fork, and a lost answer change nothing."""
    stored = StoredFiles()
    assert not stored.note_missing(WORKER_URL, first_variant(stored), JOB, result)
    assert first_variant(stored) == first_variant(StoredFiles())


@pytest.mark.parametrize("starter", [Starter.IOI_EVAL, Starter.BASH])
@pytest.mark.parametrize("wall_ms", [600_000, 900_000])
def test_a_job_that_its_problems_package_would_refuse(starter: Starter, wall_ms: int) -> None:
    """A server may allow longer jobs of `bash` than of a problem's package: these are sent with all files. Our own
    package and a problem's have the same limits, so there it is used.
    """
    worker = replace(WORKER, installed=InstalledStarter(starter=starter, version="1.0.0"))
    job = replace(JOB, run_limits=StageLimits(wall_ms=wall_ms, cpu_ms=wall_ms))
    variant = StoredFiles().variant(job, worker, TARGET)
    if starter is Starter.BASH and wall_ms == 900_000:
        assert variant is None
    else:
        assert variant is not None
        assert variant.package == PACKAGE.language
