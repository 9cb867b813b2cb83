"""The harness's command line.

[--grader NAME] run [WORD...]                   run the program on descriptor 3, with the streams on 0, 1 and 2; report
                                                to 4; the program gets the words as its arguments
[--grader NAME] serve [--preload NAME,...]      fork for each request from the socket on descriptor 3: see `warm.py`
probe                                           print what this interpreter is
bundle FILE                                     the same; also write the harness to FILE, compiled, so that this
                                                interpreter loads it faster
"""

from __future__ import annotations

import os
import sys

from . import endings, execution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROGRAM_FD, REPORT_FD, CONTROL_FD = 3, 4, 3


def probe() -> dict[str, Any]:
    """The interpreter's version for the results; for its confinement its path, the directory that its loader calls
    `$ORIGIN`, and the files that it reads.
    """
    from . import visible_files

    numpy_version: str | None
    try:
        import numpy

        numpy_version = numpy.__version__
    except ImportError:
        numpy_version = None
    return {
        "python": f"{sys.implementation.name} {sys.version.split()[0]}",
        "numpy": numpy_version,
        "packages": _packages(visible_files.packages()),
        "executable": sys.executable,
        "origin": os.path.dirname(os.path.realpath(sys.executable)),
        "reads": visible_files.visible(),
    }


def _packages(directories: list[str]) -> str:
    """A hash of the names in the directories of packages. The names of installed packages contain their versions."""
    import hashlib

    names: list[str] = []
    for path in directories:
        try:
            names += os.listdir(path)
        except OSError:
            continue  # programs may not read it either
    return hashlib.sha256("\n".join(sorted(set(names) - {"__pycache__"})).encode("utf-8", "replace")).hexdigest()


def bundle(path: str) -> None:
    """Write the harness without `visible_files.py`, as this interpreter's code: `ioi_eval/jobs/harness.py` loads it."""
    import importlib.util
    import marshal
    import pkgutil

    package = importlib.import_module(str(__package__))
    names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{__package__}.")]
    codes: dict[str, tuple[bool, Any]] = {}
    for name in [str(__package__), *names]:
        spec: Any = importlib.util.find_spec(name)
        if name != f"{__package__}.visible_files":
            codes[name] = (spec.submodule_search_locations is not None, spec.loader.get_code(name))
    with open(path, "wb") as file:
        marshal.dump(codes, file)


def main(arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    os.environ.pop("LD_ORIGIN_PATH", None)  # for the loader that has started this interpreter, not for programs
    options: dict[str, str] = {}
    args: list[str] = []
    left = iter(arguments)
    for word in left:
        if word.startswith("--"):
            options[word] = next(left)
        else:
            args.append(word)
    command = args[0]
    if command in ("probe", "bundle"):
        import json

        print(json.dumps(probe()), flush=True)
        if command == "bundle":
            bundle(args[1])
        return 0
    if sys.version_info >= (3, 14):
        execution.use_whole_stack()
    grader = None
    if "--grader" in options:
        from . import other_graders

        grader = other_graders.OtherGrader(options["--grader"])
    if command == "serve":
        from . import warm

        return warm.serve(CONTROL_FD, grader, options.get("--preload", ""))
    program = execution.Program(execution.read_all(PROGRAM_FD))
    program.arguments = args[1:]
    os.close(PROGRAM_FD)
    return execution.run_program(program, endings.Report(REPORT_FD), grader)
