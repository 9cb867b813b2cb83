"""Rules for all graders, and numpy's comparison of numbers without numpy."""

from __future__ import annotations

import ast
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval import boxfiles, compat
from ioi_eval.compat import NAMES, grader_named
from ioi_eval.compat.terms import Code, Graded, allclose, different, truncated
from ioi_eval.errors import InputError


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    """Each grader is found by its name. The harness has a file for each grader that needs one."""
    compat = grader_named(name)
    assert compat.name == name
    assert compat.per_test_s > 0
    if compat.harness_grader is not None:
        assert b"PRELUDE" in boxfiles.read(f"harness/compat/{compat.harness_grader}.py")


def test_unknown_name() -> None:
    """The error lists the known names."""
    with pytest.raises(InputError, match=f"no such grader 'codeforces'; there are: {', '.join(NAMES)}"):
        grader_named("codeforces")


@pytest.mark.parametrize(
    ("codes", "passed", "worst", "whole"),
    [
        ((True, True), 2, True, True),
        ((True, False), 1, False, False),
        ((True, -1, False), 1, -1, False),
        ((-2,), 0, -2, False),
        ((), 0, True, True),
        ((1, True), 1, 1, False),
    ],
)
def test_graded(codes: tuple[Code, ...], passed: int, worst: Code, whole: bool) -> None:
    """Only `True` is a pass. The lowest code is that of the whole."""
    graded = Graded(codes=codes)
    assert (graded.passed, graded.worst, graded.all_passed) == (passed, worst, whole)


def test_a_grader_that_crashes_passes_nothing() -> None:
    """If the grader fails itself, no program passes."""
    assert not Graded(crash="words").all_passed


@pytest.mark.parametrize(
    ("text", "length", "short"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 4, "ab...(truncated) ...ef"),
        ("abcdefg", 5, "ab...(truncated) ...efg"),
        ("", 4, ""),
    ],
)
def test_truncated(text: str, length: int, short: str) -> None:
    """Texts are shortened in the middle. If the length is odd, the end is longer."""
    assert truncated(text, length) == short


numpy = pytest.importorskip("numpy", reason="what is compared with")
NUMBERS = st.floats() | st.sampled_from(
    [0.0, -0.0, 1.0, 1.00001, 1.000011, math.inf, -math.inf, math.nan, 1e308, -1e308]
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS | st.floats(0.9999, 1.0001)), max_size=5))
def test_allclose(pairs: list[tuple[float, float]]) -> None:
    """Numbers are close if numpy says so."""
    ours, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    with numpy.errstate(all="ignore"):
        assert allclose(ours, theirs) is bool(numpy.allclose(ours, theirs))


@given(st.floats(-1e6, 1e6), st.floats(-20, 20))
def test_allclose_near_the_border(value: float, offset: float) -> None:
    """Also at the border of the tolerance."""
    other = value + offset * (1e-8 + 1e-5 * abs(value)) / 10
    assert allclose([other], [value]) is bool(numpy.allclose([other], [value]))


def test_a_grader_is_imported_when_it_is_used() -> None:
    """Scoring by our rules imports only mcpbr's grader, whose records are always written."""
    code = (
        "import sys, ioi_eval.cli.apps_scoring, ioi_eval.compat as c\n"
        "print([m for m in sys.modules if m.startswith('ioi_eval.compat.')])\n"
        "c.grader_named('livecodebench')\n"
        "print('ioi_eval.compat.livecodebench' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = answer.stdout.splitlines()
    assert set(ast.literal_eval(before)) == {f"ioi_eval.compat.{name}" for name in ("terms", "mcpbr")}
    assert after == "True"


def test_every_name_has_its_module() -> None:
    """A grader with a module but without a name could not be selected."""
    assert all(grader_named(name).name == name for name in NAMES)
    folder = Path(compat.__file__).parent
    modules = {path.stem.replace("_", "-") for path in folder.glob("*.py") if "GRADER = " in path.read_text()}
    assert modules == set(NAMES)


@pytest.mark.parametrize(
    ("expected", "found", "rule"),
    [
        (["1", "2"], ["1", "3"], "different: line 2: expected '2', found '3'"),
        (["1", "2"], ["1"], "different: line 2: expected '2', found no more lines"),
        (["1"], ["1", ""], "different: line 2: expected no more lines, found ''"),
        (["1"], ["1\t"], "different: line 1: expected '1', found '1\\t'"),
    ],
)
def test_a_wrong_output_is_described_by_its_first_difference(expected: list[str], found: list[str], rule: str) -> None:
    """Blanks and missing lines can be seen."""
    match = different(expected, found)
    assert not match.right
    assert match.rule == rule
