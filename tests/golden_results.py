"""The results of the samples: verdicts, scores, messages, columns and exit codes, without values that depend on speed.

`python tests/golden_results.py OUT.json [--shared DIR] [--only CASE …]` scores the samples and writes the results. Two
calls on the same machine, before and after a change, must write the same. `test_golden_results.py` compares the part
that does not depend on the machine with `tests/golden/results.json`. For third-party data only ids, verdicts, scores
and hashes are written.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ioi_eval import sample
from ioi_eval.compat import NAMES
from ioi_eval.report.result_files import result_rows

HERE = Path(__file__).resolve().parent
IOI_EVAL = (sys.executable, "-u", "-c", "from ioi_eval.cli.main import main; main()")
_HASHED = ("message", "error", "feedback", "output", "metadata", "codes", "rules", "attempted", "evidence")
_KEPT = (
    *("submission", "uuid", "problem_id", "verdict", "score", "passed", "total", "resolved", "extraction", "isolation"),
    *("duplicate_of", "target_subtask_score", "target_subtask_status", "code_compiles", "all_subtasks_points"),
    *("subtask", "weighted_score", "status", "test", "test_name", "code", "exit_code", "signal", "limit"),
)
_TEXT = frozenset({"code"})  # in a row it is the program, in a test a number


def cases(shared: Path | None) -> dict[str, list[str]]:
    """The command lines by case name: on this machine, on `ioi-eval serve`, and on stubs of Piston v3 and v4."""
    contest = ["score", str(sample.dump()), "--problems", str(sample.problems()), "--tests", str(sample.tests())]
    apps = ["apps", "score", str(sample.apps_dump()), "--dataset", str(sample.apps_problems()), "--timeout", "1"]
    found = {"contest": contest, "apps": apps, "apps-fail-fast": [*apps, "--fail-fast"]}
    found |= {f"apps-{compat}": [*apps, "--compat", compat] for compat in NAMES}
    found |= {"contest-served": contest, "apps-served": apps, "apps-fail-fast-served": [*apps, "--fail-fast"]}
    found |= {
        f"{name}-stub{generation}": call
        for generation in (3, 4)
        for name, call in (("contest", contest), ("apps", apps))
    }
    if shared is not None:
        theirs = ["apps", "score", str(shared / "generations.jsonl"), "--dataset", str(shared / "apps.jsonl")]
        found |= {"shared": theirs, "shared-fail-fast": [*theirs, "--fail-fast"], "shared-served": theirs}
        found |= {f"shared-{compat}": [*theirs, "--compat", compat] for compat in NAMES}
    return found


def golden(name: str, call: Sequence[str]) -> dict[str, Any]:
    """Score one case, and return its results."""
    with tempfile.TemporaryDirectory() as folder, _servers(name) as urls:
        out = Path(folder, "out")
        place = ["--sandbox", "piston", "--endpoints", urls] if urls else ["--sandbox", "embedded"]
        command = [*IOI_EVAL, *call, "--out", str(out), "--no-progress", *place]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        rows = list(result_rows(out)) if (out / "results.jsonl").is_file() else []
        summary = json.loads((out / "summary.json").read_text()) if (out / "summary.json").is_file() else {}
        last = re.sub(r"127\.0\.0\.1:\d+", "HOST", (ended.stderr.strip().splitlines() or [""])[-1])
        return {
            "exit_code": ended.returncode,
            "last_line": last if ended.returncode == 2 else "",
            "summary_keys": sorted(summary),
            "columns": sorted({key for row in rows for key in row}),
            "rows": [_kept(row) for row in rows],
        }


@contextlib.contextmanager
def _servers(name: str) -> Iterator[str]:
    """The URL of the server on which a case is scored; empty for this machine."""
    if name.endswith("-served"):
        command = [*IOI_EVAL, "serve", "--port", "0", "--workers", "2"]
    elif "-stub" in name:
        command = [sys.executable, str(HERE / "faults" / "stub_piston.py"), "--generation", name[-1]]
    else:
        yield ""
        return
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        try:
            for line in server.stdout:
                if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                    yield found[0]
                    break
                if found := re.match(r"\[(\d+)\]", line):
                    yield f"http://127.0.0.1:{found[1]}"
                    break
            else:
                raise RuntimeError("the server said no address")
        finally:
            server.terminate()


def _kept(value: Any, key: str = "") -> Any:
    """The part of a row that does not depend on the machine's speed. Texts are replaced by their hash."""
    if isinstance(value, Mapping):
        return {name: _kept(inner, name) for name, inner in value.items() if _is_kept(name, inner)}
    if isinstance(value, list | tuple):
        return [_kept(inner, key) for inner in value]
    if key in _HASHED or (key in _TEXT and isinstance(value, str)):
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12] if value else ""
    return value


def _is_kept(name: str, value: Any) -> bool:
    if name in _HASHED and isinstance(value, str | None):
        return bool(value)
    return name in _KEPT or name in _HASHED or name in ("test_results", "all_subtasks_results")


_PORTABLE = frozenset(
    {
        *("submission", "uuid", "problem_id", "verdict", "score", "passed", "total", "resolved", "extraction"),
        *("duplicate_of", "target_subtask_score", "target_subtask_status", "code_compiles", "all_subtasks_points"),
        *("subtask", "weighted_score", "status", "test", "test_name", "test_results", "all_subtasks_results"),
    }
)


def portable(found: dict[str, Any]) -> dict[str, Any]:
    """The part of a case's results that does not depend on messages of the compiler and the interpreter."""

    def kept(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: kept(inner) for name, inner in value.items() if name in _PORTABLE}
        return list(map(kept, value)) if isinstance(value, list) else value

    return {**found, "rows": kept(found["rows"])}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shared", type=Path)
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    found = json.loads(options.out.read_text()) if options.out.is_file() else {}
    for name, call in cases(options.shared).items():
        if options.only and name not in options.only:
            continue
        found[name] = golden(name, call)
        print(name, found[name]["exit_code"], len(found[name]["rows"]), found[name]["last_line"][:200], flush=True)
        options.out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
