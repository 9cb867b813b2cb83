"""The code that writes plans and reads lines agrees with the schemas. (For the runner see
`tests/graders/runner_box.py`.)
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ioi_eval.errors import TransportError
from ioi_eval.jobs.runner_answer import PROGRAM_FAILURES, run_answer
from ioi_eval.model import CheckerProtocol, Isolation, Stage, Verdict
from ioi_eval.model.methods import ComparatorKind
from tests.box_answers import answer_text
from tests.schemas import SCHEMAS, errors, plan_lines, schema

pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed (a development dependency)")

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
NONCE = "00112233445566778899aabbccddeeff"


def golden(kind: str) -> list[Path]:
    """The golden files of a kind."""
    return sorted(GOLDEN.glob(f"*.{kind}"))


@pytest.mark.parametrize("path", golden("plan"), ids=lambda path: path.stem)
def test_golden_plans_agree_with_the_schema(path: Path) -> None:
    """Python writes them (test_runner_golden.py). With an unknown key, or truncated, they do not agree."""
    lines = plan_lines(path.read_bytes())
    assert not errors("plan", lines)
    assert errors("plan", lines[:-1])
    assert errors("plan", lines[1:])
    for number in range(len(lines)):
        assert errors("plan", [*lines[:number], {**lines[number], "colour": "blue"}, *lines[number + 1 :]])


@pytest.mark.parametrize("path", golden("lines"), ids=lambda path: path.stem)
def test_golden_lines_agree_with_the_schema(path: Path) -> None:
    """Each line by itself. With another member a line does not agree."""
    for text in path.read_text(encoding="ascii").splitlines():
        line = json.loads(text)
        assert not errors("lines", line), text
        assert errors("lines", {**line, "colour": "blue"})


def test_the_schema_requires_what_the_reader_needs() -> None:
    """If the reader refuses a line without a member, the schema requires that member."""

    def read(line: dict[str, Any]) -> None:
        stage = Stage(stdout=answer_text([line], NONCE), stderr="", code=0)
        run_answer(stage, NONCE, tests=9, time_limit_s=1.0, least=Isolation.NONE)

    needed = set()
    for text in (GOLDEN / "batch.lines").read_text(encoding="ascii").splitlines()[:-1]:
        line = json.loads(text)
        read(line)
        for name in line:
            less = {key: value for key, value in line.items() if key != name}
            try:
                read(less)
            except TransportError:
                needed.add(name)
                assert errors("lines", less), name
    assert {"test", "verdict", "score", "cpu_us"} <= needed


def test_the_schemas_have_the_package_s_values() -> None:
    """Verdicts, isolation levels, protocols and comparators."""
    test = schema("lines")["$defs"]["test"]
    verdicts = {*test["properties"]["verdict"]["enum"]} - {None}
    assert verdicts == {verdict.value for verdict in Verdict} - {"CE", "NC", "SKIPPED"}
    assert set(test["allOf"][0]["if"]["properties"]["verdict"]["enum"]) == {
        verdict.value for verdict in PROGRAM_FAILURES
    }
    assert {*schema("lines")["$defs"]["isolation"]["enum"]} == {level.value for level in Isolation}
    checkers = [row["properties"]["protocol"] for row in schema("plan")["$defs"]["checker"]["oneOf"]]
    named = {name for row in checkers for name in row.get("enum", [row.get("const")])}
    assert named == {protocol.value for protocol in CheckerProtocol} | {"compare", "none"}
    managers = schema("plan")["$defs"]["manager"]["properties"]["protocol"]["enum"]
    assert managers == [protocol.value for protocol in CheckerProtocol if protocol.has_program]
    rules = schema("plan")["$defs"]["rule"]["pattern"]
    kinds = set(ComparatorKind) - {ComparatorKind.CHECKER}
    assert all(re.fullmatch(rules, f"{kind}:0" if kind is ComparatorKind.FLOAT else kind) for kind in kinds)


def test_the_specification_names_every_protocol() -> None:
    """PROTOCOL.md names each in backticks."""
    text = (SCHEMAS.parent / "PROTOCOL.md").read_text(encoding="utf-8")
    assert [protocol.value for protocol in CheckerProtocol if f"`{protocol}`" not in text] == []


def test_the_specification_names_every_fault_of_a_judge_program() -> None:
    """PROTOCOL.md lists the same faults of a JE as the schema, which the runner's lines are compared with."""
    text = (SCHEMAS.parent / "PROTOCOL.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| `fault` |")
    cells = [line.split(" | ")[0] for line in table.partition("\n\n")[0].splitlines()[2:]]
    assert re.findall(r"`(\w+)`", "".join(cells)) == schema("lines")["$defs"]["test"]["properties"]["fault"]["enum"]
