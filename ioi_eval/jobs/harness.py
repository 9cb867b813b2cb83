"""The files that are sent to the box to run Python: the harness, and the programs that it runs.

The harness (`graders/harness/`) is sent once to each target, as a Zip application that `python3` can run. There it
describes the interpreter (`Interpreter`) and returns itself as that interpreter's bytecode, which loads in a tenth of
the time and needs no file. Tests are run with the bytecode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ioi_eval import boxfiles
from ioi_eval.errors import SetupError
from ioi_eval.jobs.compile import CRASHES
from ioi_eval.jobs.plan import Value
from ioi_eval.jobs.recipes import Recipe, Step
from ioi_eval.jobs.runner_answer import CompileAnswer
from ioi_eval.model import SourceFile
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
"""With a fixed hash seed, sets of strings have the same order in every run, so results are reproducible. With one
thread, a library has no waiting threads, whose CPU time would count too."""


def program_file(program: str, *, fn_name: str | None = None, conventions: bool = False) -> bytes:
    """A program in the format that the harness reads. `fn_name` is the function that is called; `None` for a program
    that reads standard input. With `conventions`, what the data set's collectors changed in its reference solutions is
    undone (a top-level `return`, a `__starting_point` that is never called)."""
    header = f"{'stdin' if fn_name is None else 'call'} {int(conventions)} {(fn_name or '').replace(chr(10), ' ')}\n"
    return (header + program).encode("utf-8", "surrogatepass")


def linked_program_file(main: bytes, modules: Sequence[SourceFile]) -> bytes:
    """A program that imports modules, in the format that the harness reads: a grader that imports a submission."""
    if not modules:
        return b"stdin 0 \n" + main
    table = " ".join(f"{file.name.removesuffix('.py')} {len(file.content)}" for file in modules)
    return b"".join((f"linked 0 {table}\n".encode(), *(file.content for file in modules), main))


_ERROR_CODE = 65  # sysexits.h, EX_DATAERR: a broken interpreter, or one without its library or disk, ends with 1 or 120
_CHECK = f"""import os, sys, traceback
with open(sys.argv[1], "rb") as file:
    program = file.read()
child = os.fork()
if child == 0:
    try:
        compile(program, sys.argv[1], "exec", dont_inherit=True)
    except Exception:
        traceback.print_exc(limit=0)
        sys.exit({_ERROR_CODE})
    sys.exit()
status = os.waitpid(child, 0)[1]
if os.WIFSIGNALED(status) and os.WTERMSIG(status) in {[int(number) for number in sorted(CRASHES)]}:
    print("the interpreter crashed while it compiled the program: signal", os.WTERMSIG(status), file=sys.stderr)
    sys.exit({_ERROR_CODE})
if status != 0:
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)
with open("checked", "w"):
    pass
"""


def submission_recipe(interpreter: Interpreter, sources: Sequence[SourceFile]) -> Recipe:
    """How the interpreter checks a submission's syntax, without executing it.

    The exit code `_ERROR_CODE` means that it cannot be compiled, and nothing else ends with it. Some programs crash the
    interpreter (a comprehension with 100,000 `for`). So a child compiles, and its parent shows that the interpreter
    works.

    Source: CMS, which compiles submissions in Python to bytecode that it then runs.
    """
    steps = [
        Step(argv=(interpreter.path, "-I", "-B", "-c", _CHECK, file.name), files=((file.name, file.content),))
        for file in sources
    ]
    return Recipe(
        what="submission", steps=tuple(steps), artifacts=("checked",), sees=interpreter.sees, error_code=_ERROR_CODE
    )


_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([\w.,\t ]+))", re.MULTILINE)
_WORTH_LOADING = frozenset(
    {
        *("array", "asyncio", "dataclasses", "datetime", "decimal", "fractions", "inspect", "json", "numpy", "queue"),
        *("random", "statistics", "threading", "typing"),
    }
)
"""Modules that are loaded in advance if a program imports them, besides those that a warm interpreter loads for every
program (`graders/harness/warm.py`)."""


def preloaded(program: str, *, calls: bool) -> str:
    """The modules that a warm interpreter loads for a program: those of its imports that load slowly and safely.
    Programs with the same modules can share an interpreter. A module that is not needed costs time and changes no
    result."""
    asked = {name for match in _IMPORT.finditer(program) for name in re.split(r"[\s,.]+", match[1] or match[2] or "")}
    return ",".join([*(["call"] if calls else []), *sorted(asked & _WORTH_LOADING)])


# --------------------------------------------------------------------------- the interpreter on a target


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python on a target.

    Args:
        version: as it reports itself (`cpython 3.11.2`).
        numpy: numpy's version there; `None` without it.
        packages: a hash of the packages installed there.
        origin: the directory with its program, without links. An interpreter may name the places of its libraries from
            there (`$ORIGIN/../lib`).
        sees: the files and directories that it reads; a box shows no others.
        harness: the harness as this interpreter's bytecode.
    """

    version: str
    numpy: str | None
    packages: str = ""
    path: str
    origin: str = ""
    sees: tuple[str, ...]
    harness: bytes

    @property
    def fingerprint(self) -> str:
        """Identifies everything that can change a program's result: the interpreter and the importable packages."""
        return f"{self}|{self.packages}"

    @property
    def release(self) -> tuple[int, ...]:
        """Its version as numbers, for comparison: (3, 11, 2)."""
        return tuple(map(int, re.findall(r"\d+", self.version.partition(" ")[2])[:3]))

    def __str__(self) -> str:
        """The text in results: `cpython 3.11.2, numpy 1.24.2`."""
        return self.version + (f", numpy {self.numpy}" if self.numpy else "")


def interpreter_recipe(python: str, reads: tuple[str, ...]) -> Recipe:
    """The recipe that asks an interpreter to describe itself and to compile the harness to bytecode. `reads` are the
    directories that it needs, if it is not the system's."""
    argv = (python, "-s", "-B", "harness.pyz", "bundle", "harness.bin")
    step = Step(argv=argv, files=(("harness.pyz", boxfiles.harness_archive()),))
    return Recipe(what="harness", steps=(step,), artifacts=("harness.bin",), sees=outermost(reads), sees_system=True)


def interpreter_of(answer: CompileAnswer, python: str) -> Interpreter:
    """The interpreter from the answer to `interpreter_recipe`; SetupError if there is none that runs the harness, or if
    it is not CPython."""
    output = answer.steps[-1].output.strip() if answer.steps else "it was not started"
    if "harness.bin" not in answer.artifacts:
        raise SetupError(
            f"the interpreter {python} does not work inside a box: {output[-2000:]}. Give another one with --python "
            "(python= in Python), whose directories other users may read"
        )
    try:
        values = json.loads(output.splitlines()[-1])
        found = Interpreter(
            version=str(values["python"]),
            numpy=values["numpy"],
            packages=str(values["packages"]),
            path=str(values["executable"]),
            origin=str(values["origin"]),
            sees=outermost(values["reads"]),
            harness=answer.artifacts["harness.bin"],
        )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise SetupError(f"the interpreter {python} does not say what it is, but {output[-500:]!r}") from error
    if not found.version.startswith("cpython "):
        raise SetupError(
            f"the interpreter {python} is {found.version}, and tests can be forked from CPython only: give one with "
            "--python (python= in Python)"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class InPython:
    """How a `program_file` is run.

    Args:
        preload: the modules that the interpreter loads before it forks for each test (`preloaded`).
        warm: fork each test from one interpreter, if the task allows it, rather than start one for each.
        grader: the other grader that is imitated; `None` for the plain interpreter.
    """

    interpreter: Interpreter
    preload: str = ""
    warm: bool = True
    grader: str | None = None

    def program_line(self, *, may_fork: bool) -> Mapping[str, Value | None]:
        """The `program` line of a plan; `may_fork` says whether the task allows to fork each test."""
        is_warm, interpreter = self.warm and may_fork, self.interpreter
        options = ["--grader", self.grader] if self.grader else []
        options += ["--preload", self.preload] if is_warm and self.preload else []
        # the loader takes `$ORIGIN` from /proc/self/exe, which a program's box lacks, or else from this variable
        origin = (f"LD_ORIGIN_PATH={interpreter.origin}",) if interpreter.origin else ()
        return {
            "file": "program",
            "interpreter": interpreter.path,
            "with": "harness",
            "argv": ("-s", "-B", "-c", _LOADER, *options),
            "env": (*ENVIRONMENT, *origin),
            "sees": interpreter.sees or None,
            "start": "warm" if is_warm else None,
        }
