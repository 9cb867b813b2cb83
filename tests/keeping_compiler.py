"""A compiler that keeps what it makes for later test runs."""

from __future__ import annotations

import shlex
from pathlib import Path

from tests.shared_work import KEPT

_SCRIPT = """#!/bin/bash
# Calls g++. If it is to make a program of one source, a copy of the program is kept, under a hash of the compiler, its
# arguments and the preprocessed source. A warning is an error.
set -eu
output= source= arguments=()
while [ $# -gt 0 ]; do
    case $1 in
    -o) output=$2 && shift ;;
    *.cpp) source=$1 ;;
    *) arguments+=("$1") ;;
    esac
    shift
done
[ -n "$output" ] && [ -n "$source" ] || exec g++ "${arguments[@]}"
mkdir -p DIRECTORY 2> /dev/null || true
if [ -w DIRECTORY ]; then exec 9> DIRECTORY/.lock && flock 9; fi
# without empty lines: a source with its headers is the same program as one file that contains all of them
text=$(set -o pipefail; g++ "${arguments[@]}" -E -P "$source" | grep -v '^ *$' | sha256sum)
key=$( (g++ --version; echo "${arguments[@]} $text") | sha256sum)
kept=DIRECTORY/program-${key%% *}
if cp "$kept" "$output" 2> /dev/null; then
    touch "$kept" || true
else
    g++ -Wall -Wextra -Werror "${arguments[@]}" "$source" -o "$output"
    cp "$output" "$kept.new" && mv "$kept.new" "$kept" || true
fi
"""


def keeping_compiler(directory: Path) -> Path:
    """A compiler for builds that are called with `CXX`. Files that were not used for two weeks are deleted as those of
    `shared_work.compiled`.

    Args:
        directory: where its script is written.
    """
    path = directory / "keeping-g++"
    path.write_text(_SCRIPT.replace("DIRECTORY", shlex.quote(str(KEPT))))
    path.chmod(0o755)
    return path
