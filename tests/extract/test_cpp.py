"""The extracted program is the one that the model submitted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.extract import fences
from ioi_eval.extract.cpp import C_TAGS, extract_cpp, fix_includes, looks_like_cpp
from tests.cpu_time import limit_cpu_time

CODE = "#include <vector>\nint solve(std::vector<int> a) {\n  return a[0];\n}\n"
OTHER = "int solve(int a) {\n  return a;\n}\n"


def block(code: str, tag: str = "cpp") -> str:
    """A fenced block."""
    return f"```{tag}\n{code}```\n"


@pytest.mark.parametrize(
    "tag",
    [
        "cpp",
        "CPP",
        "Cpp",
        "c++",
        "C++",
        "cc",
        "cxx",
        "c++17",
        "cpp20",
        "cpp-17",
        "cpp_20",
        "gnu++17",
        "g++",
        "language-cpp",
        "cpp linenums=1",
    ],
)
def test_tagged_block_is_extracted(tag: str) -> None:
    """With all four tags, in any case, with a standard's number or attributes after them."""
    found = extract_cpp(f"Here it is:\n\n{block(CODE, tag)}\nDone.")
    assert (found.code, found.rule) == (CODE, "fence:cpp")


def test_the_last_tagged_block_counts() -> None:
    """A model corrects itself in a later block, and shows examples in other blocks."""
    found = extract_cpp(block(OTHER) + block(CODE) + block("1 2 3\n", "") + block("x = 1\n", "python"))
    assert (found.code, found.rule) == (CODE, "fence:cpp")


def test_tagged_block_has_precedence_over_a_later_untagged_one() -> None:
    """An untagged block only counts if there is no tagged one."""
    found = extract_cpp(block(CODE) + block(OTHER, ""))
    assert (found.code, found.rule) == (CODE, "fence:cpp")


def test_last_untagged_block_that_looks_like_cpp() -> None:
    """Sample outputs and other languages do not count."""
    found = extract_cpp(block(OTHER, "") + block(CODE, "") + block("3\n1 2 3\n", "") + block("print(1)\n", "python"))
    assert (found.code, found.rule) == (CODE, "fence:untagged")


@pytest.mark.parametrize("tag", ["solution.cpp", "src/Main.CC", "cplusplus", "CPlusPlus17", "a.b.cxx"])
def test_tags_that_name_the_language_in_another_way(tag: str) -> None:
    """The block counts only if the answer has no other program. A draft in the thoughts is not preferred to it."""
    found = extract_cpp(f"{block(OTHER, tag)}{block(CODE, tag)}{block('', tag)}")
    assert (found.code, found.rule) == (CODE, "fence:cpp")
    found = extract_cpp(f"<think>{block(CODE, tag)}</think>Done.")
    assert (found.code, found.rule) == (CODE, "think:cpp")
    for first in (block(CODE), block(CODE, "")):
        assert extract_cpp(f"{first}{block(OTHER, tag)}").code == CODE
    found = extract_cpp(f"<think>{block(OTHER)}</think>{block(CODE, tag)}")
    assert (found.code, found.rule) == (CODE, "fence:cpp")
    assert extract_cpp(block(CODE, tag), C_TAGS).code is None
    found = extract_cpp(f"<think>{block(CODE)}</think>The input: {block('5', 'input.cpp')}")
    assert (found.code, found.rule) == (CODE, "think:cpp")


@pytest.mark.parametrize(
    "tag", ["python", "java", "text", "solution.c", "solution.py", "cpp.txt", "c", "rust", "cppython", "plaintext"]
)
def test_blocks_in_other_languages_do_not_count(tag: str) -> None:
    """The tag decides, not the content."""
    found = extract_cpp(block(CODE, tag))
    assert (found.code, found.rule) == (None, "none")


@pytest.mark.parametrize("generation", ["", "I give up.", CODE, "```cpp\n```", "```cpp\n \n\t\n```", "```\n42\n```"])
def test_no_block_is_no_code(generation: str) -> None:
    """Without a non-empty block there is no program, even if the text looks like one."""
    found = extract_cpp(generation)
    assert (found.code, found.rule) == (None, "none")


def test_an_empty_last_block_is_ignored() -> None:
    """An empty block at the end is not the program."""
    assert extract_cpp(block(CODE) + block("\n")).code == CODE


def test_cut_off_generation_falls_back_to_an_earlier_complete_block() -> None:
    """An incomplete program does not count. The last complete block is used."""
    found = extract_cpp(block(OTHER) + "Better:\n```cpp\n" + CODE)
    assert (found.code, found.rule) == (OTHER, "fence:cpp")
    assert extract_cpp("```cpp\n" + CODE).rule == "none"


def test_the_answer_has_precedence_over_thoughts() -> None:
    """A draft does not replace the submitted program, whether it comes before or after the answer."""
    for generation in (
        f"<think>Maybe\n{block(OTHER)}</think>\n{block(CODE)}",
        f"Maybe\n{block(OTHER)}</think>\n{block(CODE)}",
        f"{block(CODE)}<think>or\n{block(OTHER)}</think>",
        f"<think>\n```cpp\nint never_closed(\n</think>\n{block(CODE)}",
    ):
        found = extract_cpp(generation)
        assert (found.code, found.rule) == (CODE, "fence:cpp")


def test_an_untagged_answer_has_precedence_over_a_tagged_thought() -> None:
    """The answer comes first, with any tag."""
    found = extract_cpp(f"<think>{block(OTHER)}</think>{block(CODE, '')}")
    assert (found.code, found.rule) == (CODE, "fence:untagged")


def test_an_odd_fence_in_a_thought_does_not_hide_the_answer() -> None:
    """Thoughts and answer are searched separately, whatever the model prints around its thoughts."""
    for opening, closing in (("<thinking>", "</thinking>"), ("<|channel|>analysis", "<|channel|>final<|message|>")):
        found = extract_cpp(f"{opening}Use ```.\n```\n{closing}\n{block(CODE, '')}")
        assert (found.code, found.rule) == (CODE, "fence:untagged")


@pytest.mark.parametrize(("tag", "rule"), [("cpp", "think:cpp"), ("", "think:untagged")])
def test_code_only_in_thoughts_is_extracted(tag: str, rule: str) -> None:
    """If the answer has no program, the last draft is used, as in the reference. The rule says so."""
    draft = block(OTHER) * (tag == "cpp") + block(CODE, tag)
    for generation in (
        f"<think>{draft}</think>See above.",
        f"<think>{draft}and now",
        f"<think>{draft}</think>```cpp\nint",
    ):
        found = extract_cpp(generation)
        assert (found.code, found.rule) == (CODE, rule)


def test_crlf_becomes_line_feeds() -> None:
    """So the same program is the same text, whatever system generated it."""
    assert extract_cpp(block(CODE).replace("\n", "\r\n")).code == CODE


def test_inline_code_at_the_beginning_of_a_line_opens_no_block() -> None:
    """Else the fence of the program's block would close it."""
    assert extract_cpp(f"```x``` is too large:\n```\n{CODE}```\n").code == CODE


def test_a_thought_that_begins_again_is_a_thought() -> None:
    """Its first part too, although no closing marker follows that at once."""
    found = extract_cpp(f"<think>\n{block(CODE)}\n<think>no</think>\nI do not know.")
    assert (found.code, found.rule) == (CODE, "think:cpp")


def test_backticks_after_tildes_are_no_inline_code() -> None:
    """As in CommonMark: only a fence of backticks has none of them behind it."""
    assert extract_cpp(f"~~~cpp `a.cpp`\n{CODE}~~~\n").code == CODE


def test_lone_surrogates_and_nul_are_handled() -> None:
    """JSON can contain them. The code can be encoded, and NUL is passed to the compiler."""
    generation = json.loads('"```cpp\\nint a; // \\ud800 \\u0000\\n```"')
    found = extract_cpp(generation)
    assert found.code == "int a; // \ufffd \x00\n"
    assert found.code.encode()


def test_huge_generation() -> None:
    """A program of 50 MB is extracted completely."""
    code = "int a;\n" * (50_000_000 // 7)
    found = extract_cpp(f"<think>hm</think>\n```cpp\n{code}```\n")
    assert found.rule == "fence:cpp"
    assert found.code == code


@pytest.mark.timeout(300)
def test_extraction_takes_linear_time() -> None:
    """The search for words of C++ in untagged blocks does not backtrack, which would take two minutes here."""
    text = "```\nint f()" + " " * 60_000 + "\n```\n"
    with limit_cpu_time(30.0):
        assert extract_cpp(60 * text).rule == "none"


def has_none(text: str, *others: str) -> bool:
    """Whether a text has neither a fence nor a marker of thoughts, nor one of the other strings."""
    return not any(part in text for part in ("```", *fences._OPENING, *fences._CLOSING, *others))


prose = st.text().filter(lambda text: has_none(text, "~~~"))
programs = st.text(min_size=1).filter(lambda text: fences._IN_NO_QUOTE.search(text) and has_none(text, "\r"))


@given(prose, programs, prose)
def test_the_content_of_a_block_is_exact(before: str, code: str, after: str) -> None:
    """Every character of a block that is no quote is extracted, except its last line end and lone surrogates."""
    found = extract_cpp(f"{before}\n```cpp\n{code}\n```\n{after}")
    assert found.rule == "fence:cpp"
    assert found.code is not None
    assert found.code.rstrip("\n") == "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in code).rstrip("\n")


pieces = st.sampled_from(["```", "~~~", "cpp", "\n", " ", "<think>", "</think>", "int main() {}", "}"])


@given(st.lists(pieces).map("".join))
def test_any_generation_is_read(generation: str) -> None:
    """For any text, there is code exactly if the rule says so."""
    found = extract_cpp(generation)
    assert (found.code is None) == (found.rule == "none")
    assert found.code is None or found.code.strip()


@pytest.mark.parametrize(
    "code",
    [
        "#include <bits/stdc++.h>\n",
        '# include "nile.h"\n',
        "using namespace std;\n",
        "int main() {\n}\n",
        "long long count(vector<int> a) { return a.size(); }\n",
        "void init(int N, int Q) {\n  n = N;\n}\n",
        "static inline int64_t f(int a)\n{\n  return a;\n}\n",
        "template <class T> T f();\n",
        "std::string name(int i) {\n}\n",
    ],
)
def test_cpp_looks_like_cpp(code: str) -> None:
    """Programs with a main function, and submissions with functions only."""
    assert looks_like_cpp(code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "3 4\n1 2 3\n",
        "for i from 1 to n:\n  answer = max(answer, f(i))\n",
        "def main():\n    print(int(input()))\n",
        "dp[i][j] = min(dp[i-1][j], dp[i][j-1]) + c;\n",
        "public class Main {\n  int f(int a) {\n    return a;\n  }\n}\n",
        "use std::io;\nfn main() {\n}\n",
        "function f(a) {\n  return a;\n}\n",
        "g++ -O2 -o nile grader.cpp nile.cpp\n",
        "int solve(int n)\n",
    ],
)
def test_other_text_does_not_look_like_cpp(code: str) -> None:
    """Samples, pseudo-code, commands, signatures and other languages."""
    assert not looks_like_cpp(code)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "int f();\n",
            '#include <bits/stdc++.h>\n#include "nile.h"\n\nusing namespace std;\n\nint f();\n',
        ),
        (
            '#include "nile.h"\nint f();\n',
            '#include <bits/stdc++.h>\n\nusing namespace std;\n\n#include "nile.h"\nint f();\n',
        ),
        (
            "std::string s;\n",
            '#include <bits/stdc++.h>\n#include "nile.h"\nstd::string s;\n',
        ),
        (
            "#include <bits/stdc++.h>\nusing namespace std;\n",
            '#include <bits/stdc++.h>\n#include "nile.h"\n#include <bits/stdc++.h>\nusing namespace std;\n',
        ),
        (
            '#include  "nile.h"\nusing namespace  std;\n',
            '#include <bits/stdc++.h>\n#include "nile.h"\n\nusing namespace std;\n\n'
            '#include  "nile.h"\nusing namespace  std;\n',
        ),
    ],
)
def test_includes_are_fixed_as_the_reference_does(code: str, expected: str) -> None:
    """`bits/stdc++.h` is always added; the problem's header and the namespace only if exactly this text is missing."""
    assert fix_includes(code, "nile.h") == (expected, True)


def test_a_problem_without_a_header() -> None:
    """No line for it is added; no such file exists."""
    code = "int main() {}\n"
    assert fix_includes(code, None) == (f"#include <bits/stdc++.h>\n\nusing namespace std;\n\n{code}", True)


def test_nothing_to_fix_in_no_code() -> None:
    """Empty code stays empty, so that it is still NC."""
    assert fix_includes("", "nile.h") == ("", False)


def test_a_byte_order_mark_is_not_behind_added_lines() -> None:
    """The compiler accepts it at the beginning of a file only."""
    assert fix_includes("\ufeffint main() {}", None)[0].endswith("std;\n\nint main() {}")
