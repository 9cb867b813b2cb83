"""The packages of a campaign's problems on the worker that judges it, as `cluster install --problems` installs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ioi_eval.model import Content, Problem
from ioi_eval.programs import Builder
from ioi_eval.sandbox import Target
from ioi_eval.sandbox.piston.problem_packages import data_of, list_packages, make_package, package_of
from ioi_eval.sandbox.piston.stored_files import digest
from ioi_eval.sandbox.piston.wire import Runtime
from ioi_eval.sandbox.serve.installed_packages import InstalledPackages


class WorkerPackages(InstalledPackages):
    """A worker's packages, which note the origin of each file of a job. They are in the cache, in `packages`.

    Args:
        cache: the cache directory.
        problems: the campaign's.

    Attributes:
        faults: what the client found wrong with the packages.
    """

    def __init__(self, cache: Path, problems: Sequence[Problem]) -> None:
        self._repository_path, self._path = cache / "repository", cache / "packages"
        super().__init__(self._path, str(self._repository_path))
        self._problems = problems
        self.faults: tuple[str, ...] = ()
        self._installed: frozenset[tuple[str, int, int, bytes]] = frozenset()
        self._taken: set[tuple[str, str]] = set()
        self._sent: set[tuple[str, str]] = set()

    async def install_all(self, builder: Builder, target: Target) -> None:
        """Make and install a package for each problem, with the runner, and its checker or manager."""
        runner = await builder.runner(target)
        for problem in self._problems:
            judges = await builder.judge_programs(problem, target)
            contents = data_of(problem) | {digest(each): each for each in (runner, *judges.values())}
            package = make_package(self._repository_path, package_of(problem), contents)
            list_packages(self._repository_path, "http://unused", [package])
            self.install(package.language, package.version)
        self._installed = self._state()

    def files(self, runtime: Runtime, sent: Mapping[str, bytes]) -> dict[str, Content]:
        """The files of a job, as a worker finds them."""
        files = super().files(runtime, sent)
        for name, content in files.items():
            (self._sent if name in sent else self._taken).add((runtime.language, digest(content)))
        return files

    def unused(self) -> tuple[str, ...]:
        """The test data that no job took from its package, or that a job was sent nevertheless; and faults."""
        data = {(package_of(each).language, key): each.key for each in self._problems for key in data_of(each)}
        assert len(data) > len(self._problems), "each problem has test data in its package"
        unused = sorted(data.keys() - self._taken | data.keys() & self._sent)
        return (*self.faults, *(f"{data[each]}: {each[1]}" for each in unused))

    def changes(self) -> tuple[str, ...]:
        """What was changed in the packages since they were installed."""
        return tuple(sorted({f"a changed package: {each[0]}" for each in self._state() ^ self._installed}))

    def _state(self) -> frozenset[tuple[str, int, int, bytes]]:
        """Each directory and file of the packages, with what a program could change of it."""
        found = [(path, path.stat()) for path in (self._path, *self._path.rglob("*"))]
        return frozenset(
            (str(path), status.st_mode, status.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path, status in found
        )
