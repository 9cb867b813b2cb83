"""What an interpreter reads of the machine: what a box must show programs, and all that it shows them.

    its program      and `pyvenv.cfg` beside it
    its library      of the directories that it looks in (`sys.path`) those that are its own
    its packages     those of them that are called `site-packages` or `dist-packages`
    libraries        what the loader says that it would load for the program and for each extension module
    a few places     that the library asks by name: time zones, locales

Any other directory that it looks in is not shown. A line in a `.pth` file leads there, as an installation that can be
edited writes it, and it is somebody's project: beside its modules lies whatever data it works on.

A link is named as a link: whoever shows it shows what it leads to.
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
"""Libraries that are looked up while a program runs: by the C library, and by programs with `ctypes`."""
_PLACES = ("/etc/ld.so.cache", "/usr/lib/locale")
_AT_ONCE = 200  # modules that the loader is asked about: their names have to fit into one variable
_LOADER_S = 60


def visible() -> list[str]:
    """Every file and directory that a box is to show."""
    own = directories()
    paths = [sys.executable, *_settings(), *own, *_PLACES, *_time_zones(), *libraries(own)]
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if os.path.islink(file):  # some of those with which it starts lead elsewhere (Debian: sitecustomize)
            paths.append(os.path.realpath(file))
    return sorted({path for path in paths if os.path.isabs(path) and os.path.exists(path)})


def directories() -> list[str]:
    """Where modules are found: the library's own directories and archive, and those of packages."""
    library = os.path.dirname(os.path.abspath(os.__file__))
    archive = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
    names = ("lib-dynload", archive, *_PACKAGES)
    found = [path for path in map(os.path.abspath, sys.path) if os.path.basename(path) in names]
    return [path for path in dict.fromkeys([library, *found]) if os.path.exists(path)]


def packages() -> list[str]:
    """Of these directories those of packages."""
    return [path for path in directories() if os.path.basename(path) in _PACKAGES]


def libraries(roots: Iterable[str]) -> set[str]:
    """The shared libraries that the loader would load for the interpreter, and for the extension modules below `roots`.

    Those of one directory have been linked alike, so they are asked about together.
    """
    found = set(_loaded(_BY_NAME, "/"))
    for root in roots:
        for directory, _, names in os.walk(root):
            modules = [f"./{name}" for name in names if name.endswith(".so") or ".so." in name]
            for start in range(0, len(modules), _AT_ONCE):
                found.update(_loaded(modules[start : start + _AT_ONCE], directory))
    return found


def _loaded(names: Iterable[str], directory: str) -> Iterator[str]:
    """What the loader would load for this interpreter and for some libraries, of which none is started."""
    environment = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": ":".join(names), "PATH": os.environ.get("PATH", "")}
    command = [sys.executable, "-I", "-S", "-c", ""]  # a program that needs no loader is started, and does nothing
    said = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, timeout=_LOADER_S, check=False
    ).stdout
    for line in os.fsdecode(said).splitlines():
        path = line.strip().rpartition(" (0x")[0].rpartition(" => ")[2]
        if path.startswith("/"):
            yield path


def _settings() -> Iterator[str]:
    """A virtual environment's."""
    directory = os.path.dirname(sys.executable)
    for place in (directory, os.path.dirname(directory)):
        yield os.path.join(place, "pyvenv.cfg")


def _time_zones() -> list[str]:
    said = sysconfig.get_config_var("TZPATH") or "/usr/share/zoneinfo"
    return [path for path in said.split(os.pathsep) if path]
