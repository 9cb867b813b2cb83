"""Limits of `ioi-eval serve` for jobs that name stored files: the length of the list; the plan must be sent."""

from __future__ import annotations

from typing import Any

import pytest

from ioi_eval.model import Content, JobKind, Subtask
from ioi_eval.model import TestCase as Case
from ioi_eval.sandbox.piston.problem_packages import data_of, list_packages, make_package, package_of
from ioi_eval.sandbox.piston.stored_files import LIST, digest
from ioi_eval.sandbox.serve import request, served_runtimes
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages, NotStored
from ioi_eval.sandbox.serve.request import MAX_FILES, Refusal, Request
from tests.small_problems import small_problem

RUNNER = b"the runner" * 30
PLAN = b"ioi-eval-runner 1\nchecker protocol=cms memory_bytes=2500000000\nend\n"
PROBLEM = small_problem(
    subtasks=(Subtask(name="all", points=100.0, tests=("t0",)),), tests={"t0": Case(name="t0", input=PLAN, answer=b"1")}
)
PACKAGE = package_of(PROBLEM)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> InstalledPackages:
    """The packages of a server. One test of the problem is itself a plan."""
    directory = tmp_path_factory.mktemp("server")
    contents = data_of(PROBLEM) | {digest(each): each for each in (RUNNER, PLAN)}
    made = make_package(directory / "repository", PACKAGE, contents)
    list_packages(directory / "repository", "http://nowhere", [made])
    found = InstalledPackages(directory / "packages", str(directory / "repository"))
    found.install(made.language, made.version)
    return found


def stored_line(name: str, content: bytes) -> str:
    """The line that names a file of the package."""
    return f"stored {name} {digest(content)} {PACKAGE.name_of(digest(content))}\n"


def checked_request_of(packages: InstalledPackages, listed: str, **more: str) -> tuple[Request, dict[str, Content]]:
    """A checked request with this list, and its files."""
    files = [{"name": name, "content": content} for name, content in {LIST: listed, **more}.items()]
    body: dict[str, Any] = {"language": PACKAGE.language, "version": "*", "files": files, "run_memory_limit": 1 << 26}
    wanted = request.checked_request(body, packages.runtimes())
    return wanted, packages.files(wanted.runtime, wanted.files)


@pytest.mark.parametrize("over", [0, 1])
def test_a_list_names_as_many_files_as_a_request_may_bring(packages: InstalledPackages, over: int) -> None:
    """A list with more than `MAX_FILES` lines is refused."""
    lines = "".join(stored_line(f"t{number}.in", PLAN) for number in range(MAX_FILES + over))
    if not over:
        assert len(checked_request_of(packages, lines)[1]) == MAX_FILES
        return
    with pytest.raises(Refusal) as refusal:
        checked_request_of(packages, lines)
    assert (refusal.value.status, "512 lines" in str(refusal.value.answer)) == (400, True)


def test_a_long_list_is_refused(packages: InstalledPackages) -> None:
    """A list with too many bytes is refused, also if it has few lines."""
    with pytest.raises(Refusal) as refusal:
        checked_request_of(packages, "stored " + "x" * (256 << 10))
    assert (refusal.value.status, "256 KiB" in str(refusal.value.answer)) == (400, True)


def test_a_plan_from_the_package_is_refused(packages: InstalledPackages) -> None:
    """The plan must come from the request, so that the runner executes the plan that was checked."""
    listed = stored_line("runner", RUNNER) + stored_line("plan", PLAN)
    wanted, files = checked_request_of(packages, listed, plan="ioi-eval-runner 1\nend\n")
    with pytest.raises(Refusal) as refusal:
        served_runtimes.stored_work(wanted, files, {"runner": RUNNER})
    assert (refusal.value.status, "plan" in str(refusal.value.answer)) == (400, True)


def test_a_plan_in_the_request_is_accepted(packages: InstalledPackages) -> None:
    """A plan is refused if it needs more memory than the request has."""
    listed = stored_line("runner", RUNNER)
    for plan, is_fitting in (("ioi-eval-runner 1\nend\n", True), (PLAN.decode(), False)):
        wanted, files = checked_request_of(packages, listed, plan=plan)
        if is_fitting:
            job = served_runtimes.stored_work(wanted, files, {"runner": RUNNER})
            assert (job.kind, {file.name for file in job.files}) == (JobKind.RUNNER, {"runner", "plan"})
        else:
            with pytest.raises(Refusal):
                served_runtimes.stored_work(wanted, files, {"runner": RUNNER})


def test_a_runner_of_another_version_is_not_replaced_by_ours(packages: InstalledPackages) -> None:
    """The plan is for that version. The client is told to send all files, the runner too, which its script starts."""
    wanted, files = checked_request_of(packages, stored_line("runner", RUNNER), plan="ioi-eval-runner 1\nend\n")
    with pytest.raises(NotStored, match=r"^not stored: \* is for another version of the runner"):
        served_runtimes.stored_work(wanted, files, {"runner": b"another version"})
