"""Why a text has no program, and why a program does not compile. A message names a cause only if it is certain."""

from __future__ import annotations

import pytest

from ioi_eval.model import Language, Verdict
from ioi_eval.report.failure_reasons import failure_reason, why_not_compiled, why_without_code

CPP = "#include <vector>\nint main() { return 0; }\n"
C = "#include <stdio.h>\nint main() { return 0; }\n"
PYTHON = "import sys\nfor line in sys.stdin:\n    print(line)\n"
RUST = "fn main() {\n    let x = 1;\n}\n"
CUT_OFF = "inside a block that is not closed (was the generation cut off?)"


@pytest.mark.parametrize(
    ("text", "language", "reason"),
    [
        (
            f"So:\n```python\n{PYTHON}```\n",
            Language.CPP,
            "a block is tagged as Python 3, but the row is judged as C++ (why)",
        ),
        (f"So:\n```\n{PYTHON}```\n", Language.CPP, "a block looks like Python 3, but the row is judged as C++ (why)"),
        (f"<think>\n```py\n{PYTHON}```\n</think>No.", Language.CPP, "a block is tagged as Python 3"),
        (f"```cpp\n{CPP}```\n", Language.PYTHON, "a block is tagged as C++, but the row is judged as Python 3 (why)"),
        (f"```rust\n{RUST}```\n", Language.CPP, "a block is tagged as Rust"),
        (f"```cpp\n{CPP}", Language.CPP, CUT_OFF),
        (f"```python\n{PYTHON}```\nIn C++:\n```cpp\n{CPP}", Language.CPP, CUT_OFF),
        (f"<think>\n~~~cpp\n{CPP}", Language.CPP, CUT_OFF),
        (f"<think>\n```cpp\n{CPP}</think>\nI cannot.", Language.CPP, ""),
        ("<think>Let me see. The answer", Language.CPP, "inside the model's thoughts (was"),
        ("[THINK]Let me see. The answer", Language.CPP, "inside the model's thoughts (was"),
        ("Let me see.</think>", Language.CPP, ""),
        (CPP, Language.CPP, "looks like C++ without a fence"),
        (RUST, Language.RUST, "looks like Rust without a fence"),
        ("I cannot.", Language.CPP, ""),
        ("```text\n1 2\n```\n", Language.CPP, ""),
        ("```cpp\n\n```\n", Language.CPP, ""),
        ("```java\nclass A {}\n```\n", Language.CPP, ""),
        (repr([f"```cpp\n{CPP}```", "<think>it's"]), Language.CPP, "a list that was written as a text"),
        ("The answer is ['a'].", Language.CPP, ""),
    ],
)
def test_why_a_text_has_no_program(text: str, language: Language, reason: str) -> None:
    """Causes that a user can remove."""
    found = why_without_code(text, language, source="why")
    assert reason in found
    assert bool(reason) == bool(found)


@pytest.mark.parametrize(
    ("message", "header"),
    [
        ("Compilation error exit code 1\nnile.cpp:1:10: fatal error: nile.h: No such file or directory\n", "nile.h"),
        ("nile.cpp:1:10: fatal error: 'Nile.h' file not found\n", "Nile.h"),
        ("nile.cpp:1:10: fatal error: testlib.h: No such file or directory\n", ""),  # the program's own mistake
        ("nile.cpp:1:10: error: expected ';'\n", ""),
    ],
)
def test_the_header_of_the_problem_is_missing(message: str, header: str) -> None:
    """Every program of the problem is CE, for example if its files are in a column with another name."""
    reason = f"the program includes {header}, which its problem does not have in the column grader_files"
    found = failure_reason({}, Verdict.CE, language=Language.CPP, extraction="fence:cpp", message=message)
    assert found == (reason if header else "")
    assert not failure_reason({}, Verdict.WA, language=Language.CPP, extraction="fence:cpp", message=message)


def test_outputs_for_a_problem_that_takes_programs() -> None:
    """The row is not empty: it is for another kind of problem, or its problem has another id."""
    row = {"outputs": {"output_1.txt": "3\n"}, "generation": None}
    reason = failure_reason(row, Verdict.NC, language=Language.CPP, extraction="none")
    assert reason == "the row has outputs and no program, but the problem takes programs"


@pytest.mark.parametrize(
    ("code", "language", "name"),
    [
        (PYTHON, Language.CPP, "Python 3"), (PYTHON, Language.RUST, "Python 3"), (RUST, Language.CPP, "Rust"),
        (CPP, Language.PYTHON, "C++"), (CPP, Language.C, "C++"), (C, Language.C, ""), (C, Language.CPP, ""),
        (CPP, Language.CPP, ""), (PYTHON + "(", Language.PYTHON, ""), (RUST, Language.RUST, ""),
        ("int", Language.CPP, ""),
        ("long long f(int x) { return x }\n", Language.CPP, ""), ("n = 3;\nprint(n);\n", Language.CPP, ""),
    ],
)  # fmt: skip
def test_why_a_program_does_not_compile(code: str, language: Language, name: str) -> None:
    """If the program is in the right language, the compile error is the only reason."""
    reason = why_not_compiled(code, language, source="why")
    assert f"the program looks like {name}, but the row is judged as " in reason if name else reason == ""


def test_a_list_of_programs_is_no_text() -> None:
    """If a list was written as a text, the message says so, whatever the programs in it look like."""
    assert "a list that was written as a text" in why_not_compiled(repr([PYTHON, CPP]), Language.CPP, source="")


def test_a_program_with_fences_is_a_text() -> None:
    """If a model's text is in `code`, the message says so."""
    assert "Markdown fences" in why_not_compiled(f"So:\n```cpp\n{CPP}```", Language.CPP, source="")
