"""Rows of a dump: its columns, and the messages if they are missing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from ioi_eval.errors import InputError, RowError, UnsupportedError
from ioi_eval.model import (
    Batch,
    Language,
    OutputFile,
    OutputOnly,
    Problem,
    ProblemKey,
    SourceFile,
    Submission,
    Subtask,
    TestCase,
)
from ioi_eval.problems.output_files import with_outputs
from ioi_eval.problems.row import Row
from ioi_eval.problems.submissions import (
    MAX_CODE_BYTES,
    check_fits,
    submission_columns,
    submission_from_row,
    target_subtask,
    with_includes,
)

GENERATION = "Here:\n```cpp\nint f() { return 1; }\n```\n"


def read(id_column: str = "uuid", **values: Any) -> Submission:
    """The submission of a row with these columns."""
    row = Row(source="dump.jsonl", number=3, values={"uuid": "u", "problem_id": "nile", "year": 2023, **values})
    return submission_from_row(row, id_column=id_column)


def test_code_column_has_precedence_over_the_generation() -> None:
    """The code was already extracted."""
    found = read(code="int g();", generation=GENERATION)
    assert found == Submission(id="u", problem=ProblemKey(year=2023, id="nile"), code="int g();")
    assert found.extraction == "column:code"


def test_a_mapping_is_accepted_as_a_row() -> None:
    """For example in a reward function. Errors name the column."""
    row = {"uuid": 5, "problem_id": "nile", "year": 2023, "generation": GENERATION}
    assert submission_from_row(row) == read(uuid=5, generation=GENERATION)
    with pytest.raises(RowError, match="submission_from_row, row 1: uuid is missing"):
        submission_from_row({"problem_id": "nile", "code": ""})


@pytest.mark.parametrize("code", [None, "", " \n", float("nan")])
def test_without_code_the_generation_is_used(code: object) -> None:
    """Dumps have nulls and empty texts where their own extraction found nothing."""
    found = read(code=code, generation=GENERATION)
    assert found.code is not None
    assert found.code.strip() == "int f() { return 1; }"
    assert found.extraction == "fence:cpp"


def test_the_last_answer_of_a_conversation_is_read() -> None:
    """A user's message is not a program. `code` and `generation` have precedence if they are not empty."""
    messages = [
        {"role": "user", "content": "Like this:\n```cpp\nint wrong();\n```"},
        {"role": "assistant", "content": [{"type": "text", "text": GENERATION}]},
    ]
    found = read(messages=messages, generation=" ", code=None)
    assert found.code is not None
    assert (found.code.strip(), found.extraction) == ("int f() { return 1; }", "fence:cpp")
    assert read(messages=messages, code="int g();").code == "int g();"
    assert read(messages=messages[:1]).code is None
    assert read(messages=[]).code is None


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ('[{"role": "user"}]', r"messages is not a list of messages; if the text is JSON, .*fromjson"),
        ({"role": "user"}, "messages is not a list of messages$"),
        (["text"], "a message is of type str"),
    ],
)
def test_invalid_conversations_are_refused(messages: object, words: str) -> None:
    """The message has the row."""
    with pytest.raises(RowError, match=f"dump.jsonl, row 3: {words}"):
        read(messages=messages)


@pytest.mark.parametrize("values", [{"code": None}, {"generation": "I give up."}, {"generation": None}])
def test_a_row_without_a_program_is_no_error(values: dict[str, Any]) -> None:
    """A generation without code is judged: NC, score 0."""
    found = read(**values)
    assert (found.code, found.extraction, found.refused) == (None, "none", "")


def test_a_missing_year_is_2024() -> None:
    """As in the reference. Null counts as missing."""
    assert read(code="x", year=None).problem.year == 2024
    assert read(code="x", year="2022").problem.year == 2022


def test_any_column_can_be_the_id() -> None:
    """Numbers become text."""
    assert read(id_column="solution_number", solution_number=17, code="x").id == "17"
    assert read(id_column="label", label="correct/a.cpp", code="x").id == "correct/a.cpp"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"uuid": None, "code": "x"}, "uuid is null. Name another with"),
        ({"problem_id": None, "code": "x"}, "problem_id is null"),
        ({}, "the row has no program: it needs one of the columns code, .*; its columns are: uuid, problem_id, year"),
        ({"code": 5}, "code is 5; it must be a text"),
        ({"generation": ["a"]}, "generation is \\['a'\\]"),
        ({"generation": [{"role": "assistant", "content": "x"}]}, "a conversation belongs in messages"),
        ({"generation": [[{"role": "assistant", "content": "x"}]]}, "a conversation belongs in messages"),
        ({"generation": [{"text": "x", "finish_reason": "stop"}]}, "each item must be a text"),
        ({"generation": [["x"]]}, "each item must be a text"),
        ({"code": "x", "year": "soon"}, "year is 'soon'"),
        ({"code": "x", "uuid": ["u"]}, "uuid is \\['u'\\]"),
        (
            {"code": "x", "language": "Python 2"},
            "is Python 2; only C\\+\\+, C, Python 3 and Rust are supported",
        ),
        ({"code": "x", "language": "Klingon"}, "its language is Klingon; only"),
        ({"code": "x", "language": "ccl"}, "its language is ccl; only"),
    ],
)
def test_an_unusable_row_is_an_error(values: dict[str, Any], words: str) -> None:
    """The message has file, line, column and the existing columns."""
    with pytest.raises(RowError, match="dump.jsonl, row 3: .*" + words):
        read(**values)


@pytest.mark.parametrize(
    "language", ["cpp", "C++", "C++20", "cc", "gnu++17", "GNU C++17 (64)", "C++17 / g++", "cpp17", None, ""]
)
def test_cpp_has_many_names(language: str | None) -> None:
    """A row without a language is in C++."""
    assert read(code="x", language=language).language is Language.CPP


def test_an_unknown_language_without_a_program_is_none() -> None:
    """The reference's generator writes `unknown` if it found no program. With a program it is refused by name."""
    assert read(code="", generation="I give up.", language="unknown").language is Language.CPP
    with pytest.raises(RowError, match="its language is unknown; only"):
        read(code="print(1)", language="unknown")


@pytest.mark.parametrize("language", ["c", "C", "C11", "GNU C11", "gcc"])
def test_c_is_a_separate_language(language: str) -> None:
    """Its program is extracted from blocks with the tag of C."""
    generation = "```cpp\nint main() {}\n```\n```c\nint main(void) {}\n```\n"
    found = read(generation=generation, language=language)
    assert (found.language, found.code) == (Language.C, "int main(void) {}\n")
    assert found.extraction == "fence:c"
    assert read(generation=generation).code == "int main() {}\n"


@pytest.mark.parametrize("language", ["python", "Python3", "py", "Python 3.11.2", "PyPy 3", "Python 3 / CPython"])
def test_python_is_extracted_by_its_own_rules(language: str) -> None:
    """Its program is the last block with the tag of Python."""
    generation = "```cpp\nint main() {}\n```\n```python\nprint(1)\n```\n```cpp\nint f();\n```\n"
    found = read(generation=generation, language=language)
    assert (found.language, found.code, found.extraction) == (Language.PYTHON, "print(1)\n", "fence:python")


def test_a_row_of_pandas_is_a_row() -> None:
    """It was an AttributeError; so was a text, which is refused."""
    rows = pd.DataFrame([{"uuid": "a", "problem_id": "nile", "year": 2023, "code": "x"}])
    series: Any = rows.iloc[0]
    assert submission_from_row(series) == read(uuid="a", code="x")
    text: Any = "int main() {}"
    with pytest.raises(InputError, match="submission_from_row got a row of type str; give a dictionary"):
        submission_from_row(text)


def test_a_row_is_no_submission() -> None:
    """The message names the type. It was an AttributeError."""
    row: Any = {"uuid": "a", "code": "x"}
    with pytest.raises(InputError, match="the submission is of type dict; give a Submission"):
        check_fits(row, problem())
    with pytest.raises(InputError, match="the problem is of type dict; give a Problem"):
        check_fits(read(code="x"), row)


def test_a_submission_needs_a_grader_in_its_language() -> None:
    """A submission to a problem without such a grader is refused with a reason. As a compile error it would score 0."""
    alone = problem()
    linked = replace(alone, linked=(SourceFile(path="graders/grader.cpp", content=b""),))
    submission = read(code="x", language="C")
    check_fits(submission, alone)
    check_fits(read(code="x"), linked)
    nile, rhine = "ProblemKey(year=2023, id='nile')", "ProblemKey(year=2023, id='rhine')"
    with pytest.raises(InputError, match=re.escape(f" is to {nile}, not to {rhine}") + "$"):
        check_fits(submission, replace(alone, key=ProblemKey(year=2023, id="rhine")))
    text: Any = "2023/nile"
    with pytest.raises(InputError, match=re.escape(f" is to '2023/nile', not to {nile}") + "$"):
        check_fits(replace(submission, problem=text), alone)
    with pytest.raises(UnsupportedError, match=r"C is not supported for 2023/nile: .* has only graders/grader\.cpp$"):
        check_fits(submission, linked)
    check_fits(submission, replace(linked, linked=(*linked.linked, SourceFile(path="graders/grader.c", content=b""))))


def test_a_program_cannot_bring_its_own_grader() -> None:
    """A problem with a grader in C++ only has none in Python, whatever a submission calls its files."""
    linked = replace(problem(), linked=(SourceFile(path="graders/grader.cpp", content=b""),))
    for name in ("grader.py", "main.py", "__main__.py", "stub.py"):
        submission = read(source_files={"a.py": "import grader", name: "import a"}, language="Python")
        with pytest.raises(
            UnsupportedError, match=r"Python 3 is not supported for 2023/nile: .* only graders/grader\.cpp$"
        ):
            check_fits(submission, linked)


def test_programs_over_the_length_limit_are_refused() -> None:
    """As in CMS. Bytes count, not characters, and a program of 50 MB is not kept."""
    assert read(code="x" * MAX_CODE_BYTES).refused == ""
    for code in ("x" * (MAX_CODE_BYTES + 1), "ü" * (MAX_CODE_BYTES // 2 + 1), "x" * 50_000_000):
        found = read(code=code)
        assert found.code is None
        assert f"at most {MAX_CODE_BYTES:,}" in found.refused
        assert found.extraction == "column:code"
    row = Row(source="d", number=1, values={"uuid": "u", "problem_id": "p", "code": "x" * 200_000})
    assert submission_from_row(row, max_code_bytes=None).code == "x" * 200_000


def test_a_problem_can_have_its_own_length_limit() -> None:
    """It applies to that problem only: a program of 256 KiB, which DOMjudge allows, is not CE there."""
    nile = replace(problem(), code_limit_bytes=200_000)
    values = {"uuid": "u", "problem_id": "nile", "year": 2023}
    for year, length, taken in ((2023, 200_000, True), (2023, 200_001, False), (2022, 200_000, False)):
        row = Row(source="d", number=1, values={**values, "year": year, "code": "x" * length})
        found = submission_from_row(row, problems={nile.key: nile})
        assert (found.code is not None) is taken
        assert ("at most 200,000" in found.refused) is (length == 200_001)


def problem(*headers: str) -> Problem:
    """A Batch problem with these headers."""
    return Problem(
        key=ProblemKey(year=2023, id="nile"),
        name="Nile",
        method=Batch(),
        time_limit_s=1.0,
        memory_limit_bytes=1 << 28,
        subtasks=(Subtask(name="01", points=100, tests=("a",)),),
        tests={"a": TestCase(name="a", input=b"", answer=b"")},
        headers=tuple(SourceFile(path=f"graders/{name}", content=b"") for name in headers),
        cxx_std="gnu++17",
    )


def test_submissions_of_the_wrong_kind_are_refused() -> None:
    """An output for a test on which the program must produce it, and a program where only outputs count."""
    given = Submission(id="s", problem=problem().key, code=None, outputs=(OutputFile(test="a", content=b"1"),))
    with pytest.raises(InputError, match="2023/nile takes no submitted output for test a"):
        check_fits(given, problem())
    outputs_only = replace(problem(), method=OutputOnly(output_tests=("a",)))
    check_fits(given, outputs_only)
    with pytest.raises(InputError, match="2023/nile takes outputs only, and no program"):
        check_fits(replace(given, code="int main() {}"), outputs_only)


def test_added_includes_are_recorded() -> None:
    """`bits/stdc++.h`, the problem's own header and the namespace are added, and the column `fixes` says so."""
    plain = read(code="int f();")
    assert plain.fixes == ()
    found = with_includes(plain, problem("nile.h"))
    assert found.fixes == ("includes",)
    assert found.code is not None
    assert '#include "nile.h"' in found.code
    assert found.code.endswith("int f();")


def test_a_header_that_the_problem_lacks_is_not_included() -> None:
    """It would make every program a compile error."""
    found = with_includes(read(code="int main() {}"), problem("other.h"))
    assert found.code is not None
    assert "nile.h" not in found.code
    assert "#include <bits/stdc++.h>" in found.code


def test_no_includes_without_code() -> None:
    """A row without code is not changed."""
    assert with_includes(read(generation="no"), problem()) == read(generation="no")


def test_lone_surrogates_in_the_code_column_can_be_compiled() -> None:
    """JSON can contain them, UTF-8 cannot."""
    assert read(code="// \ud800\nint f();").code == "// \ufffd\nint f();"


@pytest.mark.parametrize(
    ("problem", "name"),
    [
        ("-dash", "_-dash.cpp"),
        ("-", "_-.cpp"),
        ("set/-dash", "_-dash.cpp"),
        ("@file", "__file.cpp"),
        ("set/A+B", "a+b.cpp"),
        ("set/", "_.cpp"),
        ("..", "_...cpp"),
        ("nul\0", "nul_.cpp"),
        ("two words", "two_words.cpp"),
        ("\u00e9t\u00e9", "\u00e9t\u00e9.cpp"),
        ("\u00e9" * 1000, "\u00e9" * 50 + ".cpp"),
    ],
)
def test_every_source_has_the_name_of_a_file(problem: str, name: str) -> None:
    """A source is named after its problem. A compiler would read `-dash.cpp` as an option, and sees only `nul` of a
    name with a NUL byte: right programs were CE.
    """
    row = {"uuid": "u", "problem_id": problem, "code": "int main() {}"}
    (source,) = submission_from_row(row).source_files()
    assert source.path == source.name == name


def test_target_subtask_is_read_from_either_column() -> None:
    """Generators write `subtask`, the reference's results have `target_subtask`."""
    rows: list[dict[str, Any]] = [
        {"subtask": "01-a"},
        {"subtask": "01-a", "target_subtask": "02-b"},
        {"subtask": None},
        {},
    ]
    found = [target_subtask(Row(source="d", number=1, values=values)) for values in rows]
    assert found == ["01-a", "02-b", None, None]


def test_empty_texts_of_a_csv_file_are_no_values() -> None:
    """pandas, called as the message about CSV files says, reads an empty cell as an empty text."""
    columns = dict.fromkeys(
        ("year", "messages", "source_files", "outputs", "files", "language", "target_subtask", "subtask"), ""
    )
    found = read(code="int g();", **columns)
    assert (found.code, found.problem.year, found.language) == ("int g();", 2024, Language.CPP)
    row = Row(source="dump.csv", number=1, values=columns)
    assert target_subtask(row) is None
    assert read(generation="", **columns).code is None
    task = replace(problem(), method=OutputOnly(output_tests=("a",)))
    assert with_outputs(Submission(id="u", problem=task.key, code=None), row, task).outputs == ()


def test_columns_are_complete() -> None:
    """If only these columns are read, the submission is the same."""
    values = {"uuid": "u", "year": 2023, "problem_id": "nile", "generation": GENERATION, "subtask": "01-a", "more": 1}
    kept = {name: value for name, value in values.items() if name in submission_columns("uuid")}
    rows = [Row(source="d", number=1, values=some) for some in (values, kept)]
    assert submission_from_row(rows[0]) == submission_from_row(rows[1])
    assert target_subtask(rows[1]) == "01-a"


@pytest.mark.parametrize(
    "columns",
    [
        {"source_files": {"first.cpp": "int f();", "second.cpp": "int g();", "third.cpp": None}},
        {"source_files": [["first.cpp", "int f();"], ["second.cpp", "int g();"]], "code": "int main() {}"},
        {"code": {"first.cpp": "int f();", "second.cpp": "int g();"}},
        {"source_files": {"first.cpp": None}, "code": {"first.cpp": "int f();", "second.cpp": "int g();"}},
    ],
)
def test_a_program_with_several_files(columns: dict[str, Any]) -> None:
    """By name, or as pairs. Nulls that a table adds to a row are ignored."""
    found = read(**columns)
    assert [(file.path, file.content) for file in found.sources] == [
        ("first.cpp", b"int f();"),
        ("second.cpp", b"int g();"),
    ]
    assert (found.code, found.extraction) == ("int f();\nint g();", "column:sources")
    assert read(code="x").source_files()[0].path == "nile.cpp"


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            {"source_files": {"../a.cpp": "x"}},
            "source_files holds the file '../a.cpp', which is not the name of a source",
        ),
        ({"source_files": {f"{'a' * 252}.cpp": "x"}}, "aaa.cpp', which is not the name of .*, of at most 255 bytes"),
        ({"source_files": {"a.h": "x"}}, "source_files holds headers only: a.h"),
        ({"source_files": {f"{number}.h": "x" for number in range(12)}}, "headers only: .*, 9.h and 2 more"),
        ({"source_files": {"a.txt": "x"}}, r"the file 'a\.txt', which is not the name of a source in .* \(\.cpp, \.cc"),
        ({"source_files": {"a.cpp": "x"}, "language": "C"}, "the file 'a.cpp', .* in its language \\(.c\\)"),
        ({"source_files": {"a.cpp": 5}}, "source_files has 'a.cpp' with a value that is not text"),
        ({"code": [["a.cpp", "x"], ["a.cpp", "y"]]}, "code holds a.cpp twice"),
        ({"source_files": 5}, "source_files is 5; it must be a list"),
    ],
)
def test_invalid_source_files(columns: dict[str, Any], words: str) -> None:
    """The message has the file and the reason."""
    with pytest.raises(RowError, match=words):
        read(**columns)


def test_the_length_limit_applies_to_each_file() -> None:
    """Source: CMS, whose limit is for one file."""
    assert read(source_files={"a.cpp": "x" * 60_000, "b.cpp": "x" * 60_000}).refused == ""
    assert "has 100,001 bytes" in read(source_files={"a.cpp": "x" * 100_001, "b.cpp": ""}).refused


def test_too_many_files_are_refused() -> None:
    """Each file needs a descriptor in the job. Above the machine's limit the result would be JE."""
    files = {f"h{number}.h": "" for number in range(31)}
    assert read(source_files={"a.cpp": "int a;", **files}).refused == ""
    found = read(source_files={"a.cpp": "int a;", "b.cpp": "", **files})
    assert (found.code, found.sources) == (None, ())
    assert "has 33 files; at most 32 are accepted" in found.refused


def test_a_problem_s_own_length_limit_applies_to_all_files() -> None:
    """Source: DOMjudge, whose limit is for all files of a submission together."""
    nile = replace(problem(), code_limit_bytes=120_000)
    values = {"uuid": "u", "problem_id": "nile", "year": 2023}
    for more, words in ((0, ""), (1, "has 120,001 bytes; the contest server accepts at most 120,000")):
        files = {"a.cpp": "x" * 60_000, "a.h": "ü" * 30_000 + "x" * more}
        row = Row(source="d", number=1, values={**values, "source_files": files})
        found = submission_from_row(row, problems={nile.key: nile})
        assert words in found.refused
        assert bool(found.refused) == bool(words)
