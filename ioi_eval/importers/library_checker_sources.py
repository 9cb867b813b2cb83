"""Sources in Library Checker's layout and the headers that they include, in one folder.

Library Checker has several folders: a solution in `sol/` includes a header beside it, `../acl.h`, or one of the
repository's `common/`, and these include others. Rows have one folder. So each header keeps only the last part of its
path, and `#include` lines with other paths are changed accordingly.

Source: library-checker-problems, `generate.py`: sources are compiled with `-I common`, and `params.h` is made from
`[params]`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from ioi_eval.errors import UnsupportedError
from ioi_eval.importers.package import Package
from ioi_eval.importers.package_files import read_beside

_COMMON = "common:/"  # marks a path in `common/`, which is not in the package
_PARAMETERS = "params.h"
_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*")([^"\n]+)"', re.MULTILINE)


class Sources:
    """The sources of one problem.

    Args:
        package: the package; shared headers are looked for in `common/` of the folders above it.
        parameters: the values of `[params]`.
        root_file: the name of the file with `[params]`, for messages.
    """

    def __init__(self, package: Package, parameters: Mapping[str, Any], root_file: str) -> None:
        self._package = package
        self._parameters = parameters
        self._root_file = root_file
        self._shared = [parent / "common" for parent in package.where.resolve().parents]

    def flat(self, path: str, headers: dict[str, str]) -> str:
        """A source, changed so that all headers that it includes are in one folder.

        Args:
            path: its path in the package.
            headers: gets all headers that it includes: name → text.

        Raises:
            UnsupportedError: two different headers have the same name.
        """
        return self._flat(path, self._package.text(path), headers, {})

    def _flat(self, path: str, text: str, headers: dict[str, str], seen: dict[str, str]) -> str:
        """The same for a text at a path; `seen` maps the original path of each header to its new name."""

        def renamed(include: re.Match[str]) -> str:
            resolved = self._resolved(path, include[2])
            if resolved is None:
                return include[0]
            inner_path, inner = resolved
            name = posixpath.basename(inner_path)
            if inner_path not in seen:
                seen[inner_path] = name
                flat = self._flat(inner_path, inner, headers, seen)
                if headers.setdefault(name, flat) != flat:
                    raise UnsupportedError(
                        f"{self._package.where}: {path} includes {inner_path}, and another header is called {name}; all"
                        " must have different names"
                    )
            return f'{include[1]}{name}"'

        return _INCLUDE.sub(renamed, text)

    def _resolved(self, path: str, name: str) -> tuple[str, str] | None:
        """Path and text of an included file: beside the including file, above `sol/`, or in `common/`."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        for candidate in (beside, posixpath.normpath(name), _COMMON + posixpath.normpath(name)):
            if candidate.startswith(_COMMON):
                for folder in self._shared:
                    if (content := read_beside(folder, candidate.removeprefix(_COMMON))) is not None:
                        return candidate, content.decode("utf-8", "replace")
            elif self._package.has(candidate):
                return candidate, self._package.text(candidate)
            elif candidate == _PARAMETERS:
                return candidate, "".join(map(self._definition, self._parameters.items()))
        return None

    def _definition(self, parameter: tuple[str, Any]) -> str:
        """A line of `params.h`. Source: `generate.py`."""
        name, value = parameter
        match value:
            case bool() | str():
                return f'#define {name} "{value}"\n'
            case int():
                return f"#define {name} (long long){value}\n"
            case float():
                return f"#define {name} {value}\n"
        raise UnsupportedError(f"the parameter {name} in {self._root_file} is {value!r}, which no header can hold")
