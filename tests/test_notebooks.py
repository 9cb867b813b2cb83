"""The cells of the page on notebooks, run in an event loop that is already running, and in a real kernel if one is
installed.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.displayed import displayed

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "from ioi_eval.cli.main import main; main()"

EVALUATE = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT / "scripts")!r})
from evaluate_generations import evaluate
await evaluate("dump.jsonl", str(sample.problems()), str(sample.tests()), Path("evaluation"))
"""


def cells() -> list[str]:
    """The code cells of the page."""
    text = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def notebook(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a notebook, with `ioi-eval` on the PATH."""
    commands, place = tmp_path / "bin", tmp_path / "notebook"
    for directory in (commands, place):
        directory.mkdir()
    script = commands / "ioi-eval"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{COMMAND}" "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IOI_EVAL_CACHE", str(cache))
    monkeypatch.chdir(place)
    return place


async def run_cell(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell like a kernel: `await` is allowed, a line with `!` is a command, the value of the last line is
    displayed.
    """
    if cell.startswith("!"):
        line = re.sub(r"\{(.+?)\}", lambda match: str(eval(match[1], names)), cell[1:])
        return await asyncio.to_thread(subprocess.run, ["sh", "-c", line], check=True)
    tree = ast.parse(cell)
    if isinstance(last := tree.body[-1], ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("_", ast.Store())], last.value), last)
        ast.fix_missing_locations(tree)
    code = compile(tree, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    made = eval(code, names)
    if inspect.iscoroutine(made):
        await made
    return names.get("_")


def test_the_cells_run_in_a_running_event_loop(notebook: Path) -> None:
    """One after the other, in the same event loop."""

    async def run() -> list[Any]:
        names: dict[str, Any] = {}
        return [await run_cell(cell, names) for cell in cells()]

    _, _, table, scored = asyncio.run(run())
    expected = dict(zip(table["uuid"], zip(table["verdict"], table["all_subtasks_points"], strict=True), strict=True))
    assert len(expected) == 3
    assert scored == expected


def test_a_kernel_displays_the_bars(notebook: Path) -> None:
    """No cell raises. The output below a cell is whole lines, and the final state of a bar is one line."""
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    jupyter, v4 = pytest.importorskip("jupyter_client.manager"), pytest.importorskip("nbformat.v4")
    book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in [*cells(), EVALUATE]])
    manager = jupyter.AsyncKernelManager(kernel_name="python3")
    manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    client.NotebookClient(book, km=manager, timeout=600, resources={"metadata": {"path": str(notebook)}}).execute()

    def streams(place: int) -> list[str]:
        return displayed("".join(one["text"] for one in book.cells[place].outputs if one.output_type == "stream"))

    commands = [line for line in streams(1) if "%|" in line]
    ours = [one.data["text/plain"] for one in book.cells[4].outputs if one.output_type == "display_data"]
    for judging, writing in (commands, ours):
        assert re.match(r"100%\|█+\| 3/3, AC \d", judging), judging
        assert re.match(r"100%\|█+\| 3/3, rows of results written", writing), writing
    assert not [line for line in streams(4) if "%|" in line], "a bar is in one place, once"
    (bar,) = [line for line in streams(3) if "%|" in line]
    assert re.match(r"100%\|█+\| 3/3 ", bar)
    assert not [line for place in range(5) for line in streams(place) if "Error" in line]
