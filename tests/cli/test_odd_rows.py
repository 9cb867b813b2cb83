"""Rows with unusual contents: none of them ends a run or changes another row's result."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.compat import NAMES
from tests.cli.addition import RIGHT, Start, submission_row
from tests.selecting import LIMITS_DIGITS, where_digits_are_limited

LONG = "7" * 5000
"""An integer of more digits than Python prints."""

DEEP = "[" * 5000 + "]" * 5000

SAME = "def f(x): return x"
FENCES = "\n".join("`" * length for length in range(3, 300))

INPUT_OUTPUT: dict[str, tuple[object, str]] = {
    "a long integer for a function": (f'{{"fn_name":"f","inputs":[[{LONG}]],"outputs":[{LONG}]}}', SAME),
    "long integers as lines": (f'{{"inputs":[[{LONG}]],"outputs":[[{LONG}]]}}', ""),
    "a long integer as a key": (f'{{"fn_name":"f","inputs":[[{{"{LONG}":1}}]],"outputs":[1]}}', "def f(x): return x"),
    "a long integer as the key of a result": (
        f'{{"fn_name":"f","inputs":[[1]],"outputs":[[{{"{LONG}":1}}]]}}',
        "def f(x): return {1: 1}",
    ),
    "a nested argument": (f'{{"fn_name":"f","inputs":[[{DEEP}]],"outputs":[1]}}', "def f(x): return 1"),
    "a nested input": (f'{{"inputs":[{DEEP}],"outputs":["1"]}}', ""),
    "NaN for a function": ('{"fn_name":"f","inputs":[[NaN],[Infinity]],"outputs":[NaN,1e999]}', "def f(x): return x"),
    "NaN as an input": ('{"inputs":[NaN],"outputs":[Infinity]}', ""),
    "half a character": ('{"inputs":["\\ud800\\n"],"outputs":["\\ud800\\n"]}', ""),
    "half a character for a function": ('{"fn_name":"f","inputs":[["\\ud800"]],"outputs":["\\ud800"]}', SAME),
    "half a character as a name": ('{"fn_name":"\\ud800","inputs":[[1]],"outputs":[1]}', ""),
    "NUL": ('{"inputs":["\\u0000\\n"],"outputs":["\\u0000\\n"]}', ""),
    "a long text": (json.dumps({"inputs": ["x" * (1 << 22) + "\n"], "outputs": ["y" * (1 << 22)]}), ""),
    "everything in an input": ('{"inputs":[["1",2,null,true,{"a":[1]}]],"outputs":[[null]]}', ""),
    "numbers": ('{"inputs":[1,2.5],"outputs":[1,2.5]}', ""),
    "an object as inputs": ('{"inputs":{"a":1},"outputs":{"a":1}}', ""),
    "a list as a name": ('{"fn_name":["f"],"inputs":[[1]],"outputs":[1]}', ""),
    "no JSON": ('{"inputs":[', ""),
    "nothing": (None, ""),
    "a number": (5, ""),
}  # fmt: skip

ONE = '{"inputs":["1\\n"],"outputs":["1\\n"]}'
CALL = '{"fn_name":"f","inputs":[[1]],"outputs":[1]}'
PROGRAMS = {
    "returns a long integer": (CALL, "def f(x): return 10**300000"),
    "returns what is nested": (CALL, "def f(x):\n    a = []\n    for _ in range(10**5): a = [a]\n    return a"),
    "returns half a character": (CALL, "def f(x): return '\\ud800'"),
    "returns a decimal": (CALL, "import decimal\ndef f(x): return decimal.Decimal('1e999999')"),
    "prints bytes": (ONE, "import os\nos.write(1, bytes(range(256)) * 100)"),
    "prints digits": (ONE, f"print('{LONG}')"),
    "prints a large exponent": (ONE, "print('1e999999999')"),
    "prints digits of another alphabet": (ONE, "print('\u0663')"),
    "raises half a character": (ONE, "raise ValueError('\\ud800' * 1000)"),
    "half a character in the program": (ONE, "print('\ud800')"),
    "NUL in the program": (ONE, "print(input())\0"),
    "nested brackets": (ONE, "(" * 10**5),
    "a long integer in the program": (ONE, f"x = {LONG}"),
}

DUMP_ROWS = {
    "a number as a program": '"problem_id":0,"code":5',
    "a list of things": '"problem_id":0,"code":["print(1)",5,null]',
    "a text as messages": '"problem_id":0,"messages":"x"',
    "messages that are none": '"problem_id":0,"messages":[5]',
    "a message without content": '"problem_id":0,"messages":[{"role":"assistant"}]',
    "fences of all lengths": f'"problem_id":0,"generation":{json.dumps(FENCES)}',
    "a long integer as a problem": f'"problem_id":{LONG},"code":"x"',
    "a list as a problem": '"problem_id":[0],"code":"x"',
    "a large float as a problem": '"problem_id":1e99,"code":"x"',
    "no problem": '"code":"x"',
    "a language that is none": '"problem_id":0,"code":"x","language":"\\ud800"',
    "something nested beside it": f'"problem_id":0,"code":"print(input())","meta":{"[" * 900 + "]" * 900}',
    "a long integer beside it": f'"problem_id":0,"code":"print(input())","meta":{LONG}',
    "NaN beside it": '"problem_id":0,"code":"print(input())","meta":NaN',
    "half a character beside it": '"problem_id":0,"code":"print(input())","meta":"\\ud800"',
    "too much to carry": f'"problem_id":0,"code":"print(input())","meta":{"[" * 10**5 + "]" * 10**5}',
    "an integer that is too long to carry": f'"problem_id":0,"code":"print(input())","meta":{"7" * 1_000_001}',
}  # fmt: skip


def rows_of_apps(directory: Path) -> int:
    """Write the problems and the dump. Returns the number of rows. The first and the last rows are ordinary."""
    cases: list[tuple[str, object, str]] = [("honest", ONE, "print(input())")]
    cases += [(name, text, code or "print(input())") for name, (text, code) in {**INPUT_OUTPUT, **PROGRAMS}.items()]
    problems = [{"problem_id": number, "input_output": text} for number, (_, text, _) in enumerate(cases)]
    dump = [
        json.dumps({"uuid": name, "problem_id": number, "code": code}) for number, (name, _, code) in enumerate(cases)
    ]
    dump += [f'{{"uuid":"{name}",{text}}}' for name, text in DUMP_ROWS.items()]
    dump += [f'{{"uuid":{LONG},"problem_id":0,"code":"print(input())"}}']
    dump += ['{"uuid":"\\ud800","problem_id":0,"code":"print(input())"}']
    dump += ['{"uuid":"last","problem_id":0,"code":"print(input())"}']
    (directory / "apps.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in problems))
    (directory / "dump.jsonl").write_text("".join(f"{row}\n" for row in dump))
    return len(dump)


@pytest.mark.parametrize("compat", ["", *NAMES])
def test_odd_rows_do_not_end_a_run_for_apps(compat: str, start: Start, tmp_path: Path) -> None:
    """Each row has a line, in order, with a verdict or an error. The ordinary rows pass by the rules of
    every grader.
    """
    count = rows_of_apps(tmp_path)
    arguments = ["--compat", compat] if compat else []
    ended = start(
        *("apps", "score", "dump.jsonl", "--dataset", "apps.jsonl", "--out", "out", "--timeout", "2", *arguments)
    )
    if "has none; install it there" in ended.stderr:
        pytest.skip("no numpy for programs here")
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout
    found = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").open()]
    assert len(found) >= count
    assert [found[place]["verdict"] for place in (0, -2, -1)] == ["AC", "AC", "AC"]
    assert all((row["verdict"] not in (None, "JE")) != bool(row["error"]) for row in found)
    assert [row["error"] for row in found if "ioi-eval itself" in str(row["error"])] == []
    long_integer = next(row for row in found if row["uuid"] == "a long integer for a function")
    if compat == "mcpbr" and LIMITS_DIGITS:
        assert "mcpbr fails on this row: ValueError: Exceeds the limit" in long_integer["error"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["submissions"]["rows"] == len(found)


CONTEST_ROWS = {
    "a number as a program": '"problem_id":"add","code":5',
    "half a character in the program": '"problem_id":"add","code":"// \\ud800"',
    "a long integer as a problem": f'"problem_id":{LONG},"code":"x"',
    "a long integer as a year": f'"problem_id":"add","year":{LONG},"code":"x"',
    "digits as a year": f'"problem_id":"add","year":"{LONG}","code":"x"',
    "a large float as a year": '"problem_id":"add","year":1e300,"code":"x"',
    "files that are none": '"problem_id":"add","source_files":[[1,2],3]',
    "a long integer as a subtask": f'"problem_id":"add","code":"x","target_subtask":{LONG}',
    "something nested beside it": f'"problem_id":"add","code":"x","meta":{"[" * 900 + "]" * 900}',
    "more tokens than a float holds": f'"problem_id":"add","code":"x","metadata":{{"completion_tokens":{"7" * 400}}}',
    "too much to carry": f'"problem_id":"add","code":"x","meta":{"[" * 10**5 + "]" * 10**5}',
    "NaN beside it": '"problem_id":"add","code":"x","meta":[NaN]',
}


def test_odd_rows_do_not_end_a_run_for_contests(score: Start, tmp_path: Path) -> None:
    """Each row has a line. The ordinary rows at both ends have full marks."""
    honest: dict[str, Any] = submission_row("first", RIGHT)
    rows = [json.dumps(honest), *(f'{{"uuid":"{name}",{text}}}' for name, text in CONTEST_ROWS.items())]
    rows += [f'{{"uuid":{LONG},"problem_id":"add","code":"x"}}', json.dumps({**honest, "uuid": "last"})]
    (tmp_path / "dump.jsonl").write_text("".join(f"{row}\n" for row in rows))
    ended = score("dump.jsonl")
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout
    found = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").open()]
    assert [row["verdict"] for row in (found[0], found[-1])] == ["AC", "AC"]
    assert len(found) == len(rows)
    assert not any("ioi-eval itself" in str(row["error"]) for row in found)


@where_digits_are_limited
def test_the_integer_is_too_long_to_print() -> None:
    """Python refuses to print it, as the tests above need."""
    assert len(LONG) > sys.get_int_max_str_digits()
