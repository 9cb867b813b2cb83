"""The files of the machine that an interpreter reads: a box shows programs these files and no others.

    its program      and `pyvenv.cfg` beside it
    its library      the directories of `sys.path` that belong to the interpreter
    its packages     the directories of `sys.path` that are called `site-packages` or `dist-packages`
    libraries        what the loader would load for the program and for each extension module
    a few files      that the library opens by name: time zones, locales

Other directories of `sys.path` are not shown. They come from a line in a `.pth` file, as editable installations write
it, so they are somebody's project, and may have data beside the modules.

A link is listed as a link; the code that shows it also shows its target.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PACKAGES = ("site-packages", "dist-packages")
_BY_NAME = (
    *("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"),
    "libgcc_s.so.1",  # the C library loads it when a thread ends early
    "libstdc++.so.6",
)
"""Libraries that are loaded while a program runs: by the C library, and by programs with `ctypes`."""
_PLACES = ("/etc/ld.so.cache", "/usr/lib/locale")
_AT_ONCE = 200  # modules in one question to the loader: their names must fit into one environment variable
_LOADER_S = 60


def visible() -> list[str]:
    """The files and directories that a box must show, without those inside others."""
    own = _outermost(directories())
    paths = [sys.executable, *_settings(), *own, *_PLACES, *_time_zones(), *libraries(own)]
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if os.path.islink(file):  # a module that is loaded at the start may be a link (Debian: sitecustomize)
            paths.append(os.path.realpath(file))
    return _outermost(sorted({path for path in paths if os.path.isabs(path) and os.path.exists(path)}))


def _outermost(paths: list[str]) -> list[str]:
    """The paths that are not inside another one of them."""
    roots = tuple(f"{path}/" for path in paths)
    return [path for path in paths if not path.startswith(roots)]


def directories() -> list[str]:
    """The directories of modules: the standard library's directories and archive, and the directories of packages."""
    library = os.path.dirname(os.path.abspath(os.__file__))
    archive = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
    names = ("lib-dynload", archive, *_PACKAGES)
    paths = [path for path in map(os.path.abspath, sys.path) if os.path.basename(path) in names]
    return [path for path in dict.fromkeys([library, *paths]) if os.path.exists(path)]


def packages() -> list[str]:
    """The directories of packages."""
    return [path for path in directories() if os.path.basename(path) in _PACKAGES]


def libraries(roots: Iterable[str]) -> set[str]:
    """The shared libraries that the loader would load for the interpreter, and for the extension modules below `roots`.

    The loader is asked about all modules of a directory together, because they are linked in the same way.
    """
    result = set(_loaded(_BY_NAME, "/"))
    for root in roots:
        for directory, _, names in os.walk(root):
            modules = [f"./{name}" for name in names if name.endswith(".so") or ".so." in name]
            for start in range(0, len(modules), _AT_ONCE):
                result.update(_loaded(modules[start : start + _AT_ONCE], directory))
    return result


def _loaded(names: Iterable[str], directory: str) -> Iterator[str]:
    """What the loader would load for this interpreter and for some libraries. Nothing of them is executed."""
    environment = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": ":".join(names), "PATH": os.environ.get("PATH", "")}
    command = [sys.executable, "-I", "-S", "-c", ""]  # a static interpreter is started, and does nothing
    output = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, timeout=_LOADER_S, check=False
    ).stdout
    for line in os.fsdecode(output).splitlines():
        path = line.strip().rpartition(" (0x")[0].rpartition(" => ")[2]
        if path.startswith("/"):
            yield _direct(path)


def _direct(path: str) -> str:
    """The path without `.` and `..`, which come from `$ORIGIN` in a library's search path; a link after them stays."""
    before, dots, after = path.rpartition("/../")
    if dots:  # what precedes may be a link, so `..` does not just cancel a name
        path = f"{os.path.realpath(before + dots).rstrip('/')}/{after}"
    return os.path.normpath(path)


def _settings() -> Iterator[str]:
    """Where the settings of a virtual environment may be."""
    directory = os.path.dirname(sys.executable)
    for path in (directory, os.path.dirname(directory)):
        yield os.path.join(path, "pyvenv.cfg")


def _time_zones() -> list[str]:
    paths = sysconfig.get_config_var("TZPATH") or "/usr/share/zoneinfo"
    return [path for path in paths.split(os.pathsep) if path]
