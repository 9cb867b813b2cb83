"""CPU time of scoring programs that begin with `<bits/stdc++.h>`: with the precompiled header, and without.

Usage: python benchmarks/precompiled.py [PROGRAMS]

The same programs are scored twice, each time with a separate cache that has the problems' own programs. The second time
a macro precedes the header, so that GCC cannot use the precompiled one. The first time includes building it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from figures import Figure, arguments, report

from ioi_eval import sample

COMMAND = str(Path(sys.executable).with_name("ioi-eval"))
HEADER = "#include <bits/stdc++.h>\n"


def programs(count: int) -> list[dict[str, object]]:
    """Rows of the sample contest's correct solutions, made different by a comment at the end."""
    rows = [json.loads(line) for line in sample.solutions().read_text().splitlines()]
    right = [row for row in rows if row["label"].startswith("model_solution/") and row["label"].endswith(".cpp")]
    return [
        {
            "uuid": str(number),
            "problem_id": row["problem_id"],
            "year": row["year"],
            "code": f"{HEADER}{row['code']}\n// {number}\n",
        }
        for number, row in enumerate(islice(cycle(right), count))
    ]


def cpu_s(directory: Path, name: str, rows: list[dict[str, object]]) -> float:
    """The CPU time of the command and its children, in seconds. The problems' own programs are in the cache."""
    environment = {**os.environ, "IOI_EVAL_CACHE": str(directory / "cache" / name)}
    for part, some in (("warm-up", rows[:4]), ("measured", rows)):
        dump = directory / f"{name}-{part}.jsonl"
        dump.write_text("".join(json.dumps(row) + "\n" for row in some))
        out = directory / f"{name}-{part}"
        command = [COMMAND, "score", str(dump), "--problems", str(sample.problems()), "--tests", str(sample.tests())]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, "--out", str(out)], check=True, env=environment, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print both times, and their ratio."""
    rows = programs(int(arguments()[0]) if arguments() else 200)
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "cache").mkdir()
        precompiled = cpu_s(Path(directory), "precompiled", rows)
        plain = cpu_s(Path(directory), "plain", [{**row, "code": f"#define PLAIN\n{row['code']}"} for row in rows])
    print(f"{len(rows)} programs that begin with <bits/stdc++.h>")
    print(f"precompiled    {precompiled:.1f} CPU-s, building it included")
    print(f"plain          {plain:.1f} CPU-s")
    report(Figure(name="CPU time: precompiled / plain", value=precompiled / plain, unit="×", bound=0.5))


if __name__ == "__main__":
    main()
