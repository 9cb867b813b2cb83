"""What travels into the box to run Python: the harness, and its tasks.

The harness (`graders/harness/`) travels once as a Zip application that `python3` runs as it is. On the target it says
what the interpreter there is (`Interpreter`), and gives itself back as that interpreter's own code, which loads in a
tenth of the time and needs no file: tests are run with that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError
from ioi_eval.jobs.compile import Recipe, Step
from ioi_eval.jobs.plan import Value
from ioi_eval.jobs.protocol import CompileAnswer
from ioi_eval.model import JobFile, SourceFile
from ioi_eval.toolchain import outermost

_WITH_FD = 5  # PROTOCOL.md, "Interpreters"
_LOADER = f"""import marshal, os, sys, _frozen_importlib
class Loader:
    def __init__(self):
        with open({_WITH_FD}, "rb") as file:
            self.codes = marshal.load(file)
    def find_spec(self, name, path=None, target=None):
        if name in self.codes:
            return _frozen_importlib.ModuleSpec(name, self, is_package=self.codes[name][0])
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(self.codes[module.__name__][1], module.__dict__)
sys.meta_path.insert(0, Loader())
from _harness.main import main
os._exit(main(sys.argv[1:]))
"""

ENVIRONMENT = (
    "HOME=/nonexistent",
    "PYTHONHASHSEED=0",
    "OPENBLAS_NUM_THREADS=1",
    "OMP_NUM_THREADS=1",
    "MKL_NUM_THREADS=1",
)
"""The order of a set of texts is the same in every run, so that a result is; and CPU time, which is summed over
threads, is not spent by a library's threads that wait."""


def task(program: str, *, fn_name: str | None = None, conventions: bool = False) -> bytes:
    """A program as the harness reads it.

    Args:
        program: its text.
        fn_name: what is called; `None` for a program that reads standard input.
        conventions: mend what the data set did to its reference solutions (a top-level `return`, a `__starting_point`
            that nobody calls).
    """
    header = f"{'stdin' if fn_name is None else 'call'} {int(conventions)} {(fn_name or '').replace(chr(10), ' ')}\n"
    return (header + program).encode("utf-8", "surrogatepass")


def linked_task(main: bytes, modules: Sequence[SourceFile]) -> bytes:
    """A program that imports others, as the harness reads it: a grader that imports a submission."""
    if not modules:
        return b"stdin 0 \n" + main
    table = " ".join(f"{file.name.removesuffix('.py')} {len(file.content)}" for file in modules)
    return b"".join((f"linked 0 {table}\n".encode(), *(file.content for file in modules), main))


_REFUSED = 65  # sysexits.h, EX_DATAERR: a broken interpreter, or one without its library or a disk, ends with 1 or 120
_CHECK = f"""import sys, traceback
with open(sys.argv[1], "rb") as file:
    program = file.read()
try:
    compile(program, sys.argv[1], "exec", dont_inherit=True)
except Exception:
    traceback.print_exc(limit=0)
    sys.exit({_REFUSED})
with open("checked", "w"):
    pass
"""


def submission_recipe(interpreter: Interpreter, sources: Sequence[SourceFile]) -> Recipe:
    """How the interpreter says whether it can read a submission; nothing of it is executed.

    Only its refusal of the program ends with the exit code that counts.

    Source: CMS, which compiles submissions in Python to what it then runs.
    """
    steps = [
        Step(argv=(interpreter.path, "-I", "-B", "-c", _CHECK, file.name), sees=((file.name, file.content),))
        for file in sources
    ]
    return Recipe(
        what="submission", steps=tuple(steps), artifacts=("checked",), reads=interpreter.sees, refusal=_REFUSED
    )


_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w.,\t ]+))", re.MULTILINE)
_WORTH_LOADING = frozenset(
    {
        *("array", "asyncio", "dataclasses", "datetime", "decimal", "fractions", "inspect", "json", "numpy", "queue"),
        *("random", "statistics", "threading", "typing"),
    }
)
"""Besides those that a warm interpreter loads for every program (`graders/harness/warm.py`)."""


def preloaded(program: str, *, calls: bool) -> str:
    """What a warm interpreter loads for a program: the modules that it imports, of those that take long and do no harm.

    The interpreter sees these words only. What is loaded for nothing costs time and changes no result. Programs that
    get the same words can share an interpreter.
    """
    asked = {name for found in _IMPORT.finditer(program) for name in re.split(r"[\s,.]+", found[1] or found[2] or "")}
    return ",".join([*(["call"] if calls else []), *sorted(asked & _WORTH_LOADING)])


# --------------------------------------------------------------------------- the interpreter on a target


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python on a target.

    Args:
        version: as it says of itself (`cpython 3.11.2`).
        numpy: numpy's version there; `None` without it.
        packages: a hash of what is installed there.
        path: the program.
        sees: the files and directories that it reads; a box shows no others.
        harness: the harness as its code.
    """

    version: str
    numpy: str | None
    packages: str = ""
    path: str
    sees: tuple[str, ...]
    harness: bytes

    @property
    def fingerprint(self) -> str:
        """What of it decides how a program ends: itself, and the packages that programs can import."""
        return f"{self}|{self.packages}"

    @property
    def release(self) -> tuple[int, ...]:
        """The numbers of its version, to be compared: (3, 11, 2)."""
        return tuple(map(int, re.findall(r"\d+", self.version.partition(" ")[2])[:3]))

    def __str__(self) -> str:
        """As it stands in results: `cpython 3.11.2, numpy 1.24.2`."""
        return self.version + (f", numpy {self.numpy}" if self.numpy else "")


def interpreter_recipe(python: str, reads: tuple[str, ...] = ()) -> Recipe:
    """The compile plan that asks an interpreter what it is, and for the harness as its code.

    Args:
        python: its command.
        reads: where it lies, if that is not among the system's programs.
    """
    argv = (python, "-s", "-B", "harness.pyz", "bundle", "harness.bin")
    step = Step(argv=argv, sees=(("harness.pyz", boxfiles.harness_archive()),))
    return Recipe(what="harness", steps=(step,), artifacts=("harness.bin",), reads=outermost(reads), sees_system=True)


def interpreter_of(answer: CompileAnswer, python: str) -> Interpreter:
    """The interpreter from the answer to `interpreter_recipe`.

    Raises:
        SetupError: there is none, or it cannot run the harness; with its words.
    """
    words = answer.steps[-1].output.strip() if answer.steps else "it was not started"
    if "harness.bin" not in answer.artifacts:
        raise SetupError(
            f"the interpreter {python} does not work inside a box: {words[-2000:]}. Give another one with --python, "
            "whose directories other users may read"
        )
    try:
        said = json.loads(words.splitlines()[-1])
        return Interpreter(
            version=str(said["python"]),
            numpy=said["numpy"],
            packages=str(said["packages"]),
            path=str(said["executable"]),
            sees=outermost(said["reads"]),
            harness=answer.artifacts["harness.bin"],
        )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise SetupError(f"the interpreter {python} does not say what it is, but {words[-500:]!r}") from error


SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
"""Where the system's own programs and libraries are."""


def program_line(
    interpreter: Interpreter, *, grader: str | None = None, warm: bool = True, preload: str = ""
) -> tuple[Mapping[str, Value | None], tuple[JobFile, ...]]:
    """The `program` line of a plan whose program is the file `program`, a `task`; and the files that it needs.

    Args:
        interpreter: of the target.
        grader: run programs as this other grader does (`harness/profiles/`).
        warm: fork each test from one interpreter, rather than to start one for each.
        preload: what that loads before it forks: see `preloaded`.
    """
    argv = ["-s", "-B", "-c", _LOADER, *(("--grader", grader) if grader else ())]
    argv += ["--preload", preload] if warm and preload else []
    values: dict[str, Value | None] = {"file": "program", "interpreter": interpreter.path, "with": "harness"}
    values |= {"argv": argv, "env": ENVIRONMENT, "sees": interpreter.sees or None, "start": "warm" if warm else None}
    return values, (JobFile(name="harness", content=interpreter.harness),)
