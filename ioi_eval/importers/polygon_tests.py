"""Makes the tests that a standard package of Polygon lacks: inputs by its generators, answers by its main solution.

All are made when the first is read, in boxes without network: each program is compiled once, and runs once for each
test. They are kept in a temporary directory as long as the imported task exists. The random numbers of testlib are the
same on every machine; those of other generators need not be.

Source: `doall.sh` and `scripts/gen-*.sh`, which Polygon writes into its packages for Windows and Wine.
"""

from __future__ import annotations

import asyncio
import base64
import shlex
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import basename

from ioi_eval.config import Environment
from ioi_eval.errors import InputError, SandboxError, SetupError, UnsupportedError
from ioi_eval.importers.package import Package
from ioi_eval.importers.package_files import LARGEST_FILE
from ioi_eval.importers.polygon_groups import PolygonTest
from ioi_eval.importers.task import language
from ioi_eval.model import Job, JobFile, JobKind, StageLimits
from ioi_eval.sandbox.local.sandbox import LocalSandbox

_COMPILE = r"""
ulimit -s unlimited
g++ -std="$1" -DONLINE_JUDGE -O2 -o program "${@:2}" 1>&2 || exit 1
literals="'(\\\\.|[^'\\\\])'|\"([^\"\\\\]|\\\\.)*\""
if g++ -std="$1" -DONLINE_JUDGE -E "${@:2}" | grep -oE "$literals" | grep -E '^".*%[-+ #0-9.*]*I64[diouxX]' 1>&2; then
    echo 'Only the C library of Windows has %I64; here other numbers would be read or printed.' 1>&2
    exit 1
fi
gzip -1 < program | base64 -w 0
"""
_RUN = """
ulimit -s unlimited
mkdir made && cd made
{{ {}; }} 1>&2 || exit
[ "$(stat -f -c %a .)" -gt 0 ] || {{ echo "the box had no room for all that was written" 1>&2; exit 1; }}
gzip -1 < {} | base64 -w 0
"""
# opening a FIFO waits for the other end: both programs open `there` first
_INTERACT = (
    ": > empty; mkfifo there back && { ../interactor.bin ../input out empty < there > back &"
    " ../solution.bin > there < back; wait $!; }"
)
_LIMITS = StageLimits(wall_ms=600_000, cpu_ms=300_000, output_bytes=1 << 30)
_SHOWN = 500  # characters of a program's message
_GZIP = 31  # `wbits` of zlib for data in the format of gzip


@dataclass(slots=True, kw_only=True)
class MadeTests:
    """Reads the tests of a package, and makes those that it lacks."""

    tests: Sequence[PolygonTest]
    generators: Mapping[str, str]  # paths by the names in commands
    solution: tuple[str, ...]  # the main solution, and the grader that it is compiled with; may be empty
    interactor: str | None
    beside: tuple[str, ...]  # all files that these may include
    input_file: str  # the files that the solution reads and writes; empty for stdin and stdout
    output_file: str
    std: str
    _directory: tempfile.TemporaryDirectory[str] | None = field(default=None, init=False)
    _made: dict[str, Path] = field(default_factory=dict, init=False)  # by their paths in the package

    def check(self, package: Package) -> None:
        """Refuse missing tests that cannot be made, and note how many are made.

        Raises:
            InputError: an input is missing, and no generator is named for it.
            UnsupportedError: a program that is needed is in a language that is not supported.
        """
        inputs = [test for test in self.tests if not package.has(test.input)]
        answers = [test for test in self.tests if not package.has(test.answer)]
        needed = [self._generator(package, test) for test in inputs] + list(self.solution if answers else ())
        if answers and not self.solution:
            raise InputError(f"{package.absent(answers[0].answer)}, and no solution is tagged main")
        for path in dict.fromkeys(needed):
            if language(path) not in ("cpp", "python"):
                raise UnsupportedError(
                    f"{len(inputs)} inputs and {len(answers)} answers are missing, and {path} would have to make some:"
                    " programs in C++ and Python are supported; get the full package from Polygon"
                )
        if needed:
            made = [f"inputs by its generators: {len(inputs)}"] if inputs else []
            made += [f"answers by its main solution: {len(answers)}"] if answers else []
            package.notes.append(f"made here, because they are not in the package: {'; '.join(made)}")

    def read(self, package: Package, path: str) -> bytes:
        """An input or answer, with `\\n` at the end of each line."""
        if package.has(path):
            return package.read(path).replace(b"\r\n", b"\n")
        if self._directory is None:
            directory = tempfile.TemporaryDirectory()
            try:
                asyncio.run(self._make_all(package, Path(directory.name)))
            except (SandboxError, SetupError) as error:
                raise SetupError(f"{package.where}: its tests cannot be made: {error}") from error
            self._directory = directory
        return self._made[path].read_bytes()

    def _generator(self, package: Package, test: PolygonTest) -> str:
        name = _words(test)[0]
        if name not in self.generators:
            reason = f"no program of the package is called {name}" if name else "no generator is named for it"
            raise InputError(f"{package.absent(test.input)}, and {reason}; get the full package from Polygon")
        return self.generators[name]

    def _keep(self, directory: Path, path: str, content: bytes) -> None:
        """Keep a made file under a number: paths may be too long for a name, and differ only in `/` and `-`."""
        self._made.setdefault(path, directory / str(len(self._made))).write_bytes(content)

    async def _make_all(self, package: Package, directory: Path) -> None:
        self._made.clear()
        async with LocalSandbox(compiler=Environment.read().compiler) as sandbox:
            box = _Box(sandbox, package, self.std, self.beside)
            for test in self.tests:
                if not package.has(test.input):
                    self._keep(directory, test.input, await self._input(box, package, test))
                if not package.has(test.answer):
                    stored = package.has(test.input)
                    given = self.read(package, test.input) if stored else self._made[test.input].read_bytes()
                    self._keep(directory, test.answer, await self._answer(box, test, given))

    async def _input(self, box: _Box, package: Package, test: PolygonTest) -> bytes:
        program = await box.program("generator.bin", (self._generator(package, test),))
        words = shlex.join(_words(test)[1:])
        start = f"../{program.name} {words}" if program.executable else f"python3 ../{program.name} {words}"
        # a generator of several tests writes files, which are called by the number of the test
        names = [test.from_file, test.from_file.zfill(2), test.from_file.zfill(3)] if test.from_file else ["out"]
        command = start if test.from_file else f"{start} > out"
        output = f'"$(ls {shlex.join(names)} 2>/dev/null | head -n 1)"'
        from_file = f", its file {test.from_file}" if test.from_file else ""
        return await box.run(f"{test.input} ({test.command}{from_file})", command, output, (program,))

    async def _answer(self, box: _Box, test: PolygonTest, given: bytes) -> bytes:
        what = f"{test.answer} (the main solution)"
        program = await box.program("solution.bin", self.solution)
        files = [program, JobFile(name="input", content=given)]
        output = "out"
        if self.interactor is not None:
            if not program.executable:
                raise UnsupportedError(
                    "the main solution of an interactive problem is not in C++; get the full package"
                )
            files.append(await box.program("interactor.bin", (self.interactor,)))
            return await box.run(what, _INTERACT, output, files)
        command = f"../{program.name}" if program.executable else f"python3 ../{program.name}"
        if self.input_file:
            command = f"cp ../input {shlex.quote(self.input_file)} && {command}"
        else:
            command += " < ../input"
        if self.output_file:
            output = shlex.quote(self.output_file)
        else:
            command += " > out"
        return await box.run(what, command, output, files)


def _words(test: PolygonTest) -> list[str]:
    """The words of its command; the first is empty if there is none."""
    try:
        return shlex.split(test.command) or [""]
    except ValueError as error:
        raise InputError(f"the command of {test.input} is {test.command!r}: {error}") from error


class _Box:
    """Compiles and runs programs of a package, each job in a fresh box."""

    def __init__(self, sandbox: LocalSandbox, package: Package, std: str, beside: Sequence[str]) -> None:
        self._sandbox, self._package, self._std, self._beside = sandbox, package, std, beside
        self._compiled: dict[tuple[str, ...], bytes] = {}

    async def program(self, name: str, paths: tuple[str, ...]) -> JobFile:
        """A program, ready to start: of a C++ source (and a grader) the binary, of a Python source itself."""
        if language(paths[0]) == "python":
            return JobFile(name=basename(paths[0]), content=self._package.read(paths[0]))
        if paths not in self._compiled:
            beside = {basename(path): self._package.read(path) for path in (*self._beside, *paths)}
            files = [JobFile(name=path, content=content) for path, content in beside.items()]
            sources = [basename(path) for path in paths if language(path) == "cpp"]
            self._compiled[paths] = await self._job(paths[0], _COMPILE, files, (self._std, *sources))
        return JobFile(name=name, content=self._compiled[paths], executable=True)

    async def run(self, what: str, command: str, output: str, files: Sequence[JobFile]) -> bytes:
        """What a command leaves in a file."""
        return await self._job(what, _RUN.format(command, output), files)

    async def _job(self, what: str, script: str, files: Sequence[JobFile], args: tuple[str, ...] = ()) -> bytes:
        job = Job(
            kind=JobKind.SCRIPTS,
            files=(JobFile(name="run", content=script.encode()), *files),
            args=args,
            run_limits=_LIMITS,
        )
        stage = (await self._sandbox.execute(job, self._sandbox.targets()[0])).run
        ended = stage.message or stage.signal if stage.code is None else f"exit code {stage.code}"
        if stage.code == 0:
            try:
                return _unpacked(stage.stdout)
            except (ValueError, zlib.error) as error:
                ended = str(error)
        raise InputError(
            f"{what} cannot be made here: {ended}. {stage.stderr.strip()[-_SHOWN:]}\nGet the full package from Polygon"
        )


def _unpacked(stdout: str) -> bytes:
    """The file that a script has printed. Raises ValueError or zlib.error if it printed none, or one that is too large.

    The pipe in the script hides that the file does not exist; then the script prints nothing.
    """
    if not stdout:
        raise ValueError("the program did not write the file that it should write")
    unpacker = zlib.decompressobj(wbits=_GZIP)
    content = unpacker.decompress(base64.b64decode(stdout), LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"it is larger than a file of a package may be ({LARGEST_FILE:,} bytes)")
    if not unpacker.eof:
        raise ValueError("it is cut off")
    return content
