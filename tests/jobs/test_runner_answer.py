"""The runner's answer is accepted completely or not at all."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ioi_eval.errors import GarbledError, IsolationError, RejectedError, SandboxError, TransportError
from ioi_eval.jobs.runner_answer import NEAR_LIMIT, compile_answer, run_answer
from ioi_eval.model import Isolation, Stage, Verdict
from tests.box_answers import answer_text

NONCE = "0123456789abcdef" * 2


def stage(*lines: dict[str, Any], end: bool = True, **changes: Any) -> Stage:
    """A run stage whose stdout has these lines and, by default, the right end line."""
    text = answer_text(lines, NONCE, **changes)
    return Stage(stdout=text if end else "".join(text.splitlines(keepends=True)[:-1]), stderr="", code=0)


def line(**changes: Any) -> dict[str, Any]:
    """A result line with AC, and with these changes."""
    return {
        "test": 0, "verdict": "AC", "score": "1.0", "message": "ok", "cpu_us": 1000, "wall_us": 2000, "idle_us": 0,
        "memory_bytes": 1 << 20, "code": 0, "signal": 0, "limit": None, "attempted": {}, "stderr": "",
        "judge": {"cpu_us": 10, "wall_us": 20},
    } | changes  # fmt: skip


def read(answer: Stage) -> Any:
    """Read a run answer, with a time limit of 1 s."""
    return run_answer(answer, NONCE, tests=2, time_limit_s=1.0, least=Isolation.NONE)


def test_complete_answer_becomes_outcomes() -> None:
    """Names, numbers, signals and bytes have the right types and values."""
    answer = read(stage(line(), line(test=1, verdict="RE", score="0", signal=11, code=0, message="\u00c3\u00a4")))
    assert answer.isolation is Isolation.FULL
    assert answer.tests[0].score == 1.0
    assert answer.tests[0].cpu_ms == 1.0
    assert answer.tests[1].signal == "SIGSEGV"
    assert answer.tests[1].exit_code is None
    assert answer.tests[1].message == "ä"


@pytest.mark.parametrize("lost", [1, 60], ids=["a whole line", "part of a line"])
def test_the_error_for_a_cut_answer_names_the_setting(lost: int) -> None:
    """Servers before isolate only report SIGKILL. Their default limit is 1,024 bytes."""
    whole = stage({"artifact": "a.out", "bytes": 90, "base64": "A" * 120}, end=False)
    cut = replace(whole, stdout=whole.stdout[:-lost], code=None, signal="SIGKILL")
    with pytest.raises(TransportError, match=r"cut off .*SIGKILL.* output \(PISTON_OUTPUT_MAX_SIZE\)") as raised:
        compile_answer(cut, NONCE, least=Isolation.NONE)
    assert "AAAA" not in str(raised.value)


def test_je_has_no_score_and_names_the_program() -> None:
    """The score is None. The outcome has the judge program and its message."""
    fault = {"program": "checker", "fault": "score", "explanation": "nan"}
    outcome = read(stage(line(verdict="JE", score=None, **fault))).tests[0]
    assert (outcome.verdict, outcome.score, outcome.failed_program) == (Verdict.JE, None, "checker")
    assert outcome.message == "checker: nan"


@pytest.mark.parametrize("sign", [-1, 1])
def test_near_limit_share(sign: int) -> None:
    """Times that differ from the limit of 1 s by at most this share, above or below, are marked."""
    share_us = round(NEAR_LIMIT * 1_000_000)
    for difference_us, near in ((0, True), (share_us, True), (share_us + 1, False)):
        assert read(stage(line(cpu_us=1_000_000 + sign * difference_us))).tests[0].near_limit is near


def test_only_verdicts_md_has_the_share_that_is_near_limit() -> None:
    """It is that of the code. Other pages and messages say "near the limit", so that the number can be changed."""
    root = Path(__file__).parents[2]
    pages = [
        root / "README.md",
        *(page for name in ("docs", "scripts", "benchmarks", "ioi_eval") for page in root.glob(f"{name}/**/*")),
    ]
    texts = [page.read_text("utf-8") for page in pages if page.suffix in (".md", ".py", ".js")]
    assert re.findall(r"within (\d+) % of", "".join(texts)) == [f"{100 * NEAR_LIMIT:g}"]
    assert f"within {100 * NEAR_LIMIT:g} % of the limit" in (root / "docs" / "verdicts.md").read_text("utf-8")


NESTED = "[" * 1000 + "]" * 1000  # Python's `repr` fails for it


@pytest.mark.parametrize(
    "damaged",
    [
        stage(line(), end=False),
        stage(line(), nonce="f" * 32),
        stage(line(), lines=2),
        stage(line(test=0), line(test=0)),
        stage(line(verdict="AC", score="0.5")),
        stage(line(verdict="TLE", score="1")),
        stage(line(verdict="AC", score=None)),
        stage(line(verdict="PA", score="nan")),
        stage(line(test=2)),
        stage(line(verdict="SKIPPED", score="0")),
        stage(line(verdict="WA", score="0", in_time="1")),
        stage(line(verdict="TLE", score="0", in_time="1.5")),
        stage(line(verdict="JE", score=None)),
        stage({"step": 0, "code": 1, "signal": 0, "limit": None, "cpu_us": 1, "output": ""}),
        stage(line(verdict="XX")),
        Stage(stdout="", stderr="", code=0),
        Stage(stdout="not json\n", stderr="", code=0),
        Stage(stdout="[1]\n", stderr="", code=0),
        Stage(stdout='{"test":0', stderr="", code=None, signal="SIGKILL"),
        Stage(stdout=json.dumps({"fault": [], "nonce": NONCE}), stderr="", code=0),
        Stage(stdout=json.dumps({"fault": "isolation", "nonce": "f" * 32}), stderr="", code=3),
        Stage(stdout=f'{{"fault":"system","nonce":"","explanation":{NESTED}}}', stderr="", code=3),
    ],
)
def test_damaged_answer_is_a_transport_error(damaged: Stage) -> None:
    """An answer that is cut, duplicated, contradictory or from another job gives no verdict."""
    with pytest.raises(TransportError):
        read(damaged)


@pytest.mark.parametrize("key", ["cpu_us", "verdict", "message"])
def test_a_line_that_is_nested_deeply_is_garbled(key: str) -> None:
    """A broken worker sent it; the run goes on."""
    text = json.dumps(line(**{key: "NESTED"})).replace('"NESTED"', NESTED) + "\n"
    end = {"end": True, "nonce": NONCE, "lines": 1, "sum": f"{zlib.crc32(text.encode()):08x}", "isolation": "full"}
    with pytest.raises(GarbledError):
        read(Stage(stdout=text + json.dumps(end), stderr="", code=0))


def test_kinds_of_faults_raise_different_errors() -> None:
    """Too little isolation is the machine's fault, a wrong plan is ours."""
    with pytest.raises(IsolationError, match="no seccomp"):
        read(
            Stage(
                stdout=json.dumps({"fault": "isolation", "explanation": "no seccomp", "nonce": NONCE}),
                stderr="",
                code=3,
            )
        )
    with pytest.raises(RejectedError, match="plan"):
        read(Stage(stdout=json.dumps({"fault": "plan", "explanation": "line 3", "nonce": NONCE}), stderr="", code=3))


def test_an_answer_cut_after_a_judge_fault_is_incomplete() -> None:
    """The fault of a judge program is in a test's line. Only the runner's own fault line may end an answer."""
    told = line(verdict="JE", score=None, fault="exit", program="checker", explanation="exit code 3")
    with pytest.raises(TransportError, match="cut off"):
        read(Stage(stdout=json.dumps(told) + "\n", stderr="", code=None, signal="SIGKILL"))


def test_a_box_that_was_stopped_at_its_deadline_is_named() -> None:
    """This is no fault of the transport: the same job would take as long again."""
    with pytest.raises(SandboxError, match="stopped at its deadline, after 9000 ms") as raised:
        read(Stage(stdout="", stderr="", code=None, signal="SIGKILL", status="TO", wall_ms=9000.0))
    assert not isinstance(raised.value, TransportError)


@given(st.integers(min_value=0, max_value=2000), st.binary(max_size=8))
@example(cut=2000, tail=b"}")
def test_an_answer_cut_at_any_byte_is_refused(cut: int, tail: bytes) -> None:
    """With or without other bytes after the cut."""
    whole = stage(line(), line(test=1)).stdout
    damaged = whole[: min(cut, len(whole) - 2)] + tail.decode("latin-1")
    assume(damaged.strip() != whole.strip())  # the other bytes are just those that were cut
    with pytest.raises(SandboxError):
        read(Stage(stdout=damaged, stderr="", code=0))


def test_artifacts_arrive_byte_for_byte() -> None:
    """The artifact has the bytes that were sent. One of another length is refused."""
    step = {
        "step": 0,
        "code": 0,
        "signal": 0,
        "limit": None,
        "killed": 0,
        "cpu_us": 5,
        "wall_us": 6,
        "memory_bytes": 7,
        "output": "",
    }
    artifact = {"artifact": "a.out", "base64": base64.b64encode(b"\x7fELF\0").decode(), "bytes": 5}
    answer = compile_answer(stage(step, artifact), NONCE, least=Isolation.NONE)
    assert answer.artifacts == {"a.out": b"\x7fELF\0"}
    assert answer.steps[0].code == 0
    with pytest.raises(TransportError, match="arrived with"):
        compile_answer(stage(step, artifact | {"bytes": 6}), NONCE, least=Isolation.NONE)
    with pytest.raises(TransportError, match="malformed"):
        compile_answer(stage(step, artifact | {"base64": "!"}), NONCE, least=Isolation.NONE)


@pytest.mark.parametrize("value", [-1, 1 << 63, True, 1.0, "1", None])
def test_a_number_that_cannot_be_is_refused(value: object) -> None:
    """A number that is negative, too large or of another type is an error of ours, never part of an outcome."""
    with pytest.raises(GarbledError, match="malformed"):
        read(stage(line(memory_bytes=value)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"signal": 11}, "killed by SIGSEGV"),
        ({"code": 3}, "exit code 3"),
        ({"verdict": "TLE"}, "CPU time over the limit"),
        ({"verdict": "MLE"}, "memory over the limit"),
        ({"limit": "threads"}, "too many threads at once"),
    ],
)
def test_a_failure_without_a_message_gets_ours(changes: dict[str, Any], message: str) -> None:
    """It says which limit stopped the program, or how the program ended."""
    failed = line(**{"verdict": "RE", "score": "0", "message": "", **changes})
    assert read(stage(failed)).tests[0].message == message


def test_a_score_changed_in_transit_is_refused() -> None:
    """With any other digit the line is valid, but the checksum differs."""
    answer = answer_text([line(verdict="PA", score="0.25")], NONCE)
    assert read(Stage(stdout=answer, stderr="", code=0)).tests[0].score == 0.25
    for digit in "0134567":
        with pytest.raises(TransportError, match="changed on the way"):
            read(Stage(stdout=answer.replace('"0.25"', f'"0.{digit}5"'), stderr="", code=0))


def test_a_program_changed_in_transit_is_refused() -> None:
    """One changed byte of a compiled checker does not change its length. The checker would judge every later
    submission.
    """
    step = {
        "step": 0, "code": 0, "signal": 0, "limit": None, "killed": 0, "cpu_us": 1, "wall_us": 1,
        "memory_bytes": 1, "output": "",
    }  # fmt: skip
    answer = answer_text([step, {"artifact": "checker", "base64": "AAAA", "bytes": 3}], NONCE)
    assert compile_answer(Stage(stdout=answer, stderr="", code=0), NONCE, least=Isolation.NONE).artifacts == {
        "checker": bytes(3)
    }
    with pytest.raises(TransportError, match="changed on the way"):
        compile_answer(Stage(stdout=answer.replace("AAAA", "AABA"), stderr="", code=0), NONCE, least=Isolation.NONE)


@pytest.mark.parametrize("weaker", [Isolation.REDUCED, Isolation.NONE])
def test_less_isolation_than_the_plan_asks_for(weaker: Isolation) -> None:
    """Our runner would have refused such a plan, so the answer is another program's. More isolation is accepted."""
    answer = stage(isolation=weaker.value)
    assert compile_answer(answer, NONCE, least=weaker).isolation is weaker
    assert run_answer(answer, NONCE, tests=2, time_limit_s=1.0, least=Isolation.NONE).isolation is weaker
    with pytest.raises(GarbledError, match=f"{weaker.value}.* at least 'full'"):
        compile_answer(answer, NONCE, least=Isolation.FULL)
    with pytest.raises(GarbledError, match=f"{weaker.value}.* at least 'full'"):
        run_answer(answer, NONCE, tests=2, time_limit_s=1.0, least=Isolation.FULL)
