"""Builds our own programs into the wheel where that is possible: for x86-64 Linux, by a compiler that links statically.

Such a wheel is for x86-64 Linux alone. It runs with every C library, as its programs need none. Everywhere else, and
without a compiler, the wheel is for all machines, and the programs are compiled where they are first used.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_TAG = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"


class CustomBuildHook(BuildHookInterface[Any]):
    """See the module."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the programs, and say that they belong to the wheel; not for a checkout, whose sources change."""
        if version == "editable":
            return
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            self.app.display_info("without our own programs: they are for x86-64 Linux")
            return
        sys.path.insert(0, self.root)
        try:
            from ioi_eval import shipped
            from ioi_eval.errors import SetupError
        finally:
            sys.path.remove(self.root)
        self._built = tempfile.TemporaryDirectory()
        try:
            shipped.build(Path(self._built.name), os.environ.get("CXX") or "g++")
        except SetupError as error:
            self._built.cleanup()
            self.app.display_warning(f"without our own programs, which are compiled at first use then: {error}")
            return
        build_data["force_include"][self._built.name] = "ioi_eval/built"
        build_data["pure_python"] = False
        build_data["tag"] = _TAG

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Delete what was built."""
        if hasattr(self, "_built"):
            self._built.cleanup()
