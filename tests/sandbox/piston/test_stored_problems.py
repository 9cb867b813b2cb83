"""Submissions scored on servers with the problem's package, and on others: same results, with fewer bytes sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.model import (
    Batch,
    Content,
    JudgeProgram,
    Problem,
    SourceFile,
    Submission,
    SubmissionResult,
    Subtask,
    Verdict,
)
from ioi_eval.model import TestCase as Case
from ioi_eval.programs import Builder
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.problem_packages import data_of, list_packages, make_package, package_of
from ioi_eval.sandbox.piston.stored_files import digest
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages
from ioi_eval.scorer import Scorer
from tests.sandbox.counting_proxy import CountingProxy, counting_proxy
from tests.sandbox.served import Served, server
from tests.small_problems import small_problem

pytestmark = pytest.mark.usefixtures("short_requests", "small_good_program")

TESTS = 6
PADDING = 20_000

RIGHT = '#include <cstdio>\nint main() { long a, b; scanf("%ld %ld", &a, &b); printf("%ld\\n", a + b); }\n'
WRONG_LATE = RIGHT.replace("a + b", "a + b + (a == 4)")
CRASHES = RIGHT.replace("printf", "if (a == 3) __builtin_trap(); printf")
THIEF = r"""
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <initializer_list>
#include <sys/stat.h>
#include <unistd.h>
int seen = 0;
void look(const char* path) {
  if (FILE* file = std::fopen(path, "r")) { if (std::fgetc(file) != EOF) seen++; std::fclose(file); }
  if (DIR* directory = opendir(path)) { while (readdir(directory)) seen++; closedir(directory); }
}
int main() {
  for (const char* path : {PATHS}) look(path);
  char link[32], path[4096];
  for (int fd = 0; fd < 1024; fd++) {
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) continue;
    path[length] = 0;
    if (!std::strstr(path, "blobs")) continue;
    if (char* slash = std::strrchr(path, '/')) { *slash = 0; look(path); }
  }
  std::printf("%d\n", seen);
}
"""
CHECKER = rb"""
#include <cstdio>
int main(int, char** argv) {
  long right = 0, given = 1;
  FILE *answer = fopen(argv[2], "r"), *output = fopen(argv[3], "r");
  bool same = fscanf(answer, "%ld", &right) == 1 && fscanf(output, "%ld", &given) == 1 && right == given;
  printf(same ? "1.0\n" : "0.0\n");
  fprintf(stderr, same ? "translate:success\n" : "translate:wrong\n");
}
"""


def sums(**other: Any) -> Problem:
    """A problem: sums of two numbers, with inputs of 20 kB, judged by a checker."""
    tests = {
        f"t{n:02}": Case(
            name=f"t{n:02}", input=f"{n} {n * n}\n".encode() + b" " * PADDING, answer=b"%d\n" % (n + n * n)
        )
        for n in range(TESTS)
    }
    halves = tuple(tests)[: TESTS // 2], tuple(tests)[TESTS // 2 :]
    subtasks = tuple(Subtask(name=str(n), points=50.0, tests=half) for n, half in enumerate(halves))
    method = Batch(check=JudgeProgram(source=SourceFile(path="checker/checker.cpp", content=CHECKER)))
    return small_problem(name="Sum", subtasks=subtasks, tests=tests, method=method, cxx_std="gnu++17", **other)


def comparable(result: SubmissionResult) -> Any:
    """The parts of a result that must not depend on the origin of the test data."""
    tests = {
        test.test: (test.verdict, test.score, test.message, test.exit_code)
        for subtask in result.subtasks
        for test in subtask.tests
    }
    return (
        result.verdict,
        result.compile.verdict,
        [(each.subtask, each.weighted_score) for each in result.subtasks],
        tests,
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the repository."""
    return tmp_path_factory.mktemp("repository")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which a server installs packages."""
    return tmp_path_factory.mktemp("packages")


@pytest.fixture(scope="module")
def servers(cache: Path, repository: Path, directory: Path) -> Iterator[tuple[Served, Served]]:
    """A server that can install packages, and one that cannot."""
    with ExitStack() as stack:
        yield (
            stack.enter_context(server(cache, packages=InstalledPackages(directory, str(repository)))),
            stack.enter_context(server(cache)),
        )


async def scored(
    cache: Path, servers: list[Served], problem: Problem, *codes: str, exhaustive: bool = True
) -> tuple[list[SubmissionResult], list[CountingProxy], tuple[str, ...]]:
    """Score programs on servers. Returns the results, the proxies that counted bytes, and faults of packages."""
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(counting_proxy(each.base)) for each in servers]
        async with PistonCluster([proxy.url for proxy in proxies], profile="bundled") as cluster:
            scorer = Scorer(cluster, artifacts=ArtifactStore(cache))
            results = [
                await scorer.score(problem, Submission(id="x", problem=problem.key, code=code), exhaustive=exhaustive)
                for code in codes
            ]
            return results, proxies, tuple(cluster.package_faults)


def install(cache: Path, served: Served, repository: Path, problem: Problem) -> None:
    """Make the package of a problem with programs compiled on this server, and install it there."""

    async def compiled() -> list[Content]:
        async with PistonCluster([served.base], profile="bundled") as cluster:
            builder = Builder(cluster, ArtifactStore(cache), Policy())
            (target,) = cluster.targets()
            judges = await builder.judge_programs(problem, target)
            return [await builder.runner(target), *judges.values()]

    contents = data_of(problem) | {digest(each): each for each in asyncio.run(compiled())}
    package = make_package(repository, package_of(problem), contents)
    list_packages(repository, "http://unused", [package])
    answer = served.client.post("/packages", json={"language": package.language, "version": package.version})
    assert answer.status_code == 200, answer.text


CODES = (RIGHT, WRONG_LATE, CRASHES)


def test_same_results_with_fewer_bytes(cache: Path, servers: tuple[Served, Served], repository: Path) -> None:
    """The results are the same on a server with the package, without it, and on both. With it, tests are not sent."""
    problem = sums(year=2001)
    usual, (proxy,), _ = asyncio.run(scored(cache, [servers[0]], problem, *CODES))
    assert [result.verdict for result in usual] == [Verdict.AC, Verdict.WA, Verdict.RE]
    sent_before = proxy.up
    install(cache, servers[0], repository, problem)
    stored, (proxy,), faults = asyncio.run(scored(cache, [servers[0]], problem, *CODES))
    sent = proxy.up
    assert list(map(comparable, stored)) == list(map(comparable, usual))
    assert faults == ()
    assert sent_before - sent > 3 * TESTS * PADDING, "the inputs of three programs are not sent"
    mixed, _, _ = asyncio.run(scored(cache, list(servers), problem, *CODES))
    assert list(map(comparable, mixed)) == list(map(comparable, usual))


@pytest.mark.parametrize("damage", ["inputs are swapped", "an input is gone", "all is gone"])
def test_a_damaged_package_changes_no_result(
    cache: Path, servers: tuple[Served, Served], repository: Path, directory: Path, damage: str
) -> None:
    """Missing or wrong files of a package are sent, and the fault is reported."""
    problem = sums(year={"inputs are swapped": 2002, "an input is gone": 2003, "all is gone": 2004}[damage])
    install(cache, servers[0], repository, problem)
    package = package_of(problem)
    (blobs,) = directory.glob(f"{package.language}/*/blobs")
    first, second, *_ = (blobs / package.name_of(digest(case.input)) for case in problem.tests.values())
    if damage == "inputs are swapped":
        (blobs / "swap").write_bytes(first.read_bytes())
        second.replace(first)
        (blobs / "swap").rename(second)
    elif damage == "an input is gone":
        first.unlink()
    else:
        for path in blobs.iterdir():
            path.unlink()
    results, (proxy,), faults = asyncio.run(scored(cache, [servers[0]], problem, RIGHT, WRONG_LATE))
    wrong = [[test.test for each in result.subtasks for test in each.tests if test.score != 1.0] for result in results]
    assert wrong == [[], ["t04"]]
    assert [result.verdict for result in results] == [Verdict.AC, Verdict.WA]
    assert faults
    assert all(proxy.url in fault and package.language in fault for fault in faults)


def test_files_of_a_removed_package_are_sent(cache: Path, servers: tuple[Served, Served], repository: Path) -> None:
    """If a package is removed after the client has found it, its files are sent, and the fault is reported once."""
    problem = sums(year=2005)
    install(cache, servers[0], repository, problem)

    async def score() -> tuple[SubmissionResult, tuple[str, ...]]:
        async with PistonCluster([servers[0].base], profile="bundled") as cluster:
            scorer = Scorer(cluster, artifacts=ArtifactStore(cache))
            wanted = {"language": package_of(problem).language, "version": "*"}
            assert servers[0].client.request("DELETE", "/packages", json=wanted).status_code == 200
            result = await scorer.score(problem, Submission(id="x", problem=problem.key, code=RIGHT))
            return result, tuple(cluster.package_faults)

    result, faults = asyncio.run(score())
    assert result.verdict is Verdict.AC
    (fault,) = faults
    assert "all of it is refused" in fault


def test_programs_cannot_read_a_package(
    cache: Path, servers: tuple[Served, Served], repository: Path, directory: Path
) -> None:
    """A program cannot read the package by its path, or by the path of its input."""
    summed = sums(year=2006)
    tests = {name: replace(case, answer=b"0\n") for name, case in summed.tests.items()}
    problem = replace(summed, method=Batch(), tests=tests)
    install(cache, servers[0], repository, problem)
    (blobs,) = directory.glob(f"{package_of(problem).language}/*/blobs")
    paths = [directory, blobs.parent.parent, blobs.parent, blobs, *blobs.iterdir()]
    thief = THIEF.replace("PATHS", ", ".join(f'"{path}"' for path in paths))
    (result,), _, faults = asyncio.run(scored(cache, [servers[0]], problem, thief))
    assert (result.verdict, faults) == (Verdict.AC, ()), [test for each in result.subtasks for test in each.tests]


def test_compilers_cannot_read_a_package(
    cache: Path, servers: tuple[Served, Served], repository: Path, directory: Path
) -> None:
    """A program cannot include a test with `.incbin`, also if it knows the path."""
    problem = sums(year=2007)
    install(cache, servers[0], repository, problem)
    (blobs,) = directory.glob(f"{package_of(problem).language}/*/blobs")
    path = min(blobs.iterdir())
    code = f'{RIGHT}asm(".section .rodata\\n.incbin \\"{path}\\"\\n");\n'
    (result,), _, _ = asyncio.run(scored(cache, [servers[0]], problem, code))
    assert result.verdict is Verdict.CE
    assert str(path) in result.compile.message
