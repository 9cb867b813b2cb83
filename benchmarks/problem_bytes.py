"""How many bytes a submission needs, with and without its problem on the worker.

    problem_bytes.py URL [--tests N] [--repository DIR --repository-url URL]

The problem has a checker and N tests (30), each with 2 kB of input and 1 kB of answer, and is judged exhaustively. Its
compiled programs are already in the cache. Bytes are counted on the connection between this client and the server at
URL: first without the problem's package (one of an earlier run is removed), then with `--repository` also with it. The
package is created in DIR, and the server, which was started with `PISTON_REPO_URL=<repository URL>/index`, installs it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the package `tests`

import httpx
from cluster_submission import CODE, problem
from figures import Figure, arguments, report

from ioi_eval.artifacts import ArtifactStore
from ioi_eval.config import Policy
from ioi_eval.model import Problem, Submission, Verdict
from ioi_eval.programs import Builder
from ioi_eval.sandbox.piston.cluster import PistonCluster
from ioi_eval.sandbox.piston.control import PackageRequest, change
from ioi_eval.sandbox.piston.problem_packages import data_of, list_packages, make_package, package_of
from ioi_eval.sandbox.piston.stored_files import digest
from ioi_eval.scorer import Scorer
from tests.sandbox.counting_proxy import counting_proxy


def padded(tests: int) -> Problem:
    """The problem of `cluster_submission.py` with files of several kilobytes."""
    small = problem(tests)
    cases = {
        name: replace(case, input=bytes(case.input).rjust(2000), answer=bytes(case.answer or b"").rjust(1000))  # type: ignore[arg-type]
        for name, case in small.tests.items()
    }
    return replace(small, tests=cases)


async def measure(url: str, judged: Problem, cache: str, what: str, bound: float) -> None:
    """Score a submission twice, and count the bytes of the second time."""
    submission = Submission(id="x", problem=judged.key, code=CODE)
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(counting_proxy(url))
        cluster = await stack.enter_async_context(PistonCluster([proxy.url], profile="bundled"))
        scorer = Scorer(cluster, artifacts=ArtifactStore(cache))
        for _ in range(2):
            proxy.taken()
            result = await scorer.score(judged, submission, exhaustive=True)
            if result.verdict is not Verdict.AC:
                raise SystemExit(f"{result.verdict}: {result.compile.message}")
        up, down = proxy.taken()
        print(what, *cluster.package_faults, sep="\n  ", flush=True)
        report(
            Figure(name=f"{what}: up", value=up, unit="bytes", bound=bound),
            Figure(name=f"{what}: down", value=down, unit="bytes"),
        )


def remove(url: str, judged: Problem) -> None:
    """Make the server remove the problem's package, if it has it. (The server asks its repository for a package to
    remove.)
    """
    language = package_of(judged).language
    asyncio.run(change([f"{url}/api/v2"], PackageRequest(language=language, is_wanted=False)))
    if any(runtime["language"] == language for runtime in httpx.get(f"{url}/api/v2/runtimes").json()):
        raise SystemExit(f"{url} has {language}, which its repository does not list: remove it, and restart the server")


async def install(url: str, judged: Problem, cache: str, repository: Path, served: str) -> None:
    """Create the problem's package and make the server install it."""
    async with PistonCluster([url], profile="bundled") as cluster:
        builder = Builder(cluster, ArtifactStore(cache), Policy())
        (target,) = cluster.targets()
        judges = await builder.judge_programs(judged, target)
        objects = [content for _, content in await builder.objects(judged, target)]
        compiled = [await builder.runner(target), *judges.values(), *objects]
    contents = data_of(judged) | {digest(each): each for each in compiled}
    package = make_package(repository, package_of(judged), contents)
    list_packages(repository, served, [package])
    (done,) = await change([f"{url}/api/v2"], PackageRequest(language=package.language, version=package.version))
    print(f"{done.message}: {package.size:,} bytes on the worker")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--tests", type=int, default=30)
    parser.add_argument("--repository", type=Path)
    parser.add_argument("--repository-url", default="http://127.0.0.1:8000")
    parser.add_argument("--cache", help="where compiled programs are kept; a new directory by default")
    options = parser.parse_args(arguments())
    judged_problem = padded(options.tests)
    remove(options.url, judged_problem)
    with tempfile.TemporaryDirectory() as new:
        directory = options.cache or new
        asyncio.run(measure(options.url, judged_problem, directory, "as it is", 1e6))
        if options.repository is not None:
            asyncio.run(install(options.url, judged_problem, directory, options.repository, options.repository_url))
            asyncio.run(measure(options.url, judged_problem, directory, "with the problem", 1e4))
