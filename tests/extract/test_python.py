"""The extracted Python program is the one that the model submitted. Other graders' rules are reproduced exactly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioi_eval.extract.python import (
    extract_eval_protocol,
    extract_livecodebench,
    extract_python,
    looks_like_python,
)
from tests.cpu_time import limit_cpu_time

CODE = "import sys\n\nn = int(input())\nprint(n * 2)\n"
OTHER = "print(0)\n"


def block(code: str, tag: str = "python") -> str:
    """A fenced block."""
    return f"```{tag}\n{code}```\n"


def found(generation: str) -> tuple[str | None, str]:
    """The code and the rule."""
    extracted = extract_python(generation)
    return extracted.code, extracted.rule


# --------------------------------------------------------------------------- fences


@pytest.mark.parametrize(
    "tag", ["python", "Python", "py", "python3", "py3", "python3.11", "pypy3", "{.python}", "py x=1", "language-python"]
)
def test_tagged_block_is_extracted(tag: str) -> None:
    """With each tag that models use for Python."""
    assert found(f"Here:\n\n{block(CODE, tag)}\nDone.") == (CODE, "fence:python")


def test_the_last_tagged_block_counts() -> None:
    """A model corrects itself in a later block, and shows examples in other blocks."""
    text = block(OTHER) + block(CODE) + block("3\n6\n", "") + block("int main() {}\n", "cpp") + block("x = 1\n", "")
    assert found(text) == (CODE, "fence:python")


@pytest.mark.parametrize("tag", ["", "text", "solution", "plaintext"])
def test_without_a_tagged_block(tag: str) -> None:
    """The last block that looks like Python counts. Sample outputs do not."""
    text = block(OTHER, tag) + block(CODE, tag) + block("3\n1 2 3\n", tag) + block("YES\n", tag)
    assert found(text) == (CODE, "fence:untagged")


def test_an_untagged_block_that_does_not_look_like_python() -> None:
    """It is the program if there is no better block."""
    assert found(block("x\n", "")) == ("x\n", "fence:untagged")


@pytest.mark.parametrize("tag", ["cpp", "c++17", "java", "javascript", "bash", "json", "output", "rust"])
def test_blocks_in_other_languages_do_not_count(tag: str) -> None:
    """The tag decides, not the content."""
    assert found(block(CODE, tag)) == (None, "none")


def test_cut_off_block() -> None:
    """An incomplete program does not count. The last complete block is used."""
    assert found(block(OTHER) + "Better:\n```python\n" + CODE) == (OTHER, "fence:python")
    assert found("```python\n" + CODE) == (None, "none")
    assert found("Code:\n```\n" + CODE) == (None, "none")


def test_empty_blocks_are_ignored() -> None:
    """An empty block at the end is not the program."""
    assert found(block(CODE) + block(" \n")) == (CODE, "fence:python")


def test_fences_in_strings_need_longer_fences() -> None:
    """A program that prints a fence is extracted completely, as in Markdown."""
    code = 'print("""\n```\n""")\n'
    assert found(f"````python\n{code}````\n") == (code, "fence:python")


def test_indented_block_loses_its_indentation() -> None:
    """In Python indentation matters, and a list item adds indentation to its block."""
    text = "1. So:\n   ```python\n   if True:\n       print(1)\n   ```\n"
    assert found(text) == ("if True:\n    print(1)\n", "fence:python")


@pytest.mark.parametrize(("before", "rule"), [("", "bare"), ("My solution:\n\n", "bare:after-words")])
def test_code_without_fences_loses_its_indentation(before: str, rule: str) -> None:
    """In Markdown, lines with four blanks before them are code."""
    text = before + "    import sys\n\n    if True:\n        print(1)\n"
    assert found(text) == ("import sys\n\nif True:\n    print(1)\n", rule)


def test_a_comment_with_another_indentation_than_the_code() -> None:
    """Python ignores its indentation."""
    text = " # read n\nn = int(input())\nif n:\n\tprint(1)\n"
    assert found(text) == (text, "bare")


# --------------------------------------------------------------------------- thoughts


def test_the_answer_has_precedence_over_thoughts() -> None:
    """A draft does not replace the submitted program, with or without fences."""
    for answer, rule in ((block(CODE), "fence:python"), (block(CODE, ""), "fence:untagged"), (CODE, "bare")):
        for text in (f"<think>Maybe\n{block(OTHER)}</think>\n{answer}", f"Maybe\n{block(OTHER)}</think>\n{answer}"):
            code, how = found(text)
            assert how == rule
            assert code is not None
            assert code.strip() == CODE.strip()


@pytest.mark.parametrize("text", [f"<think>{block(CODE)}</think>See above.", f"<think>{block(CODE)}and now"])
def test_code_only_in_thoughts_is_extracted(text: str) -> None:
    """If the answer has no program, the last draft is used, and the rule says so."""
    assert found(text) == (CODE, "think:python")


def test_untagged_thoughts() -> None:
    """The same for drafts without a tag."""
    assert found(f"<think>{block(CODE, '')}</think>") == (CODE, "think:untagged")


# --------------------------------------------------------------------------- code without fences


@pytest.mark.parametrize(
    "code",
    [
        CODE,
        "#!/usr/bin/env python\n# coding: utf-8\n" + CODE,
        '"""What it does."""\n' + CODE,
        "n = int(input())\nprint(n)\n",
        "a, b = map(int, input().split())\nprint(a + b)\n",
        "for _ in range(int(input())):\n    print(1)\n",
        "for i, (a, b) in enumerate(x):\n    print(a)\n",
        "def main():\n    pass\nmain()\n",
        "class Solution:\n    def f(self):\n        return 1\n",
        "from math import *\nprint(pi)\n",
        "print('Hello')\n",
        "t=int(input())\nwhile t:t-=1;print(t)\n",
        "import sys, os\n",
        "sys.setrecursionlimit(5000)\n",
        "a.b.write('1')\n",
        "x: int = 5\n",
        "@cache\ndef f(): pass\n",
        "try:\n    pass\nexcept:\n    pass\n",
    ],
)
def test_code_without_fences(code: str) -> None:
    """If the whole text is a program, it is the program."""
    assert found(code) == (code, "bare")
    assert looks_like_python(code)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "from math import*",
            "from math import \\\n  pi",
            "from itertools import(permutations)",
            "import sys, \\\n  os",
        ),
        *(
            "n, = map(int, input().split())",
            "(n, m) = map(int, input().split())",
            "[n, m] = [1, 2]",
            "(n) = 4",
            "(a,) = x",
        ),
        *(
            "((a, b), c) = x",
            "(a, b), (c, d) = x",
            "*a, b = x",
            "*_, = x",
            "x: 'int' = 4",
            'x: "List[int]" = []',
            "π = 3",
        ),
        *(
            "exec('x = 1')",
            "int(input())",
            "threading.stack_size(1 << 27)",
            "list(map(print, [1]))",
            "[print(i) for i in x]",
        ),
        *("(lambda n: print(n))(3)", "for(i)in range(3):print(i)", "for (i, j), k in x: print(i)", "while True: pass"),
    ],
)
def test_unusual_first_lines(line: str) -> None:
    """No line of the program is lost, at the beginning, after words or before a fence that the prompt had opened."""
    code = f"{line}\nfor i in range(3):\n    print(i)\n"
    assert found(code) == (code, "bare")
    assert found(f"Here is my solution:\n\n{code}") == (code, "bare:after-words")
    assert found(f"{code}```") == (code, "bare:before-fence")
    assert found(line + "\n") == (line + "\n", "bare")


@pytest.mark.parametrize("before", ["\ufeff", "\ufeff\ufeff\n", "\f", "\f\n \f# x\n\f"])
def test_byte_order_mark_and_form_feed(before: str) -> None:
    """Python reads past them. The program does not lose its first line."""
    assert found(before + CODE) == (before.lstrip("\ufeff") + CODE, "bare")
    assert found("Here:\n\n\f" + CODE) == ("\f" + CODE, "bare:after-words")
    assert found("\ufeff" + block(CODE, "")) == (CODE, "fence:untagged")


def test_quoted_text_with_a_prefix_before_the_code() -> None:
    """It is a string of Python, and belongs to the program."""
    code = "r'''a \\d'''\n" + CODE
    assert found(code) == (code, "bare")


def test_quoted_text_before_words() -> None:
    """It alone makes no program. One that is not closed is left out."""
    assert found('"""A summary."""\nThat was the idea.\n') == (None, "none")
    assert found(f'"""A summary\n{CODE}') == (CODE, "bare:after-words")


@pytest.mark.parametrize(
    "text",
    [
        *("", " \n\t", "I give up.", "I'm sorry, I cannot solve this.", "The answer is 42.", "42", "YES\n3 4 5\n"),
        *("import the data and go on", "from here we go", "for each test case, print it", "if you want", "x == y"),
        *("while it lasts", "class struggle", "Let x = 5", "print it", "a = b?"[:1], "with care: think", "- item"),
        *("(n = 5, m = 6)", "*a* = 5", "**n** = 5", "(see x = 5)", "[1, 2, 3]", "O(n)", "max(a, b) is best", "(a, b)"),
        *(
            "(I use input() here)",
            "[Note: print(x)]",
            "(1) x = 4",
            "for test case in the input: go",
            "(x) => y",
            "n, is",
        ),
        *("*p = 0;", "while we pass: go on"),
    ],
)
def test_prose_is_no_program(text: str) -> None:
    """Words of a sentence that are also keywords do not make it a program."""
    assert found(text) == (None, "none")


def test_code_without_fences_after_a_sentence() -> None:
    """It begins with its first line of code."""
    assert found("Here is my solution.\n\n" + CODE) == (CODE, "bare:after-words")


@pytest.mark.parametrize(("opening", "closing"), [("[PYTHON]", "[/PYTHON]"), ("<code>", "</code>")])
def test_code_between_tags(opening: str, closing: str) -> None:
    """Tags of other models count on lines of their own, and only without fences. The last program counts; an example
    of the input is none. A program that begins the text is taken as it is."""
    between = f"{opening}\n{CODE}{closing}\n"
    for text in (between, f"Solution:\n{between}", f"{opening}\n{OTHER}{closing}\nBetter:\n{between}This doubles it."):
        assert found(text) == (CODE, "bare:between-tags")
    assert found(f"{between}Input:\n{opening}\n3\n{closing}\n") == (CODE, "bare:between-tags")
    assert found(f"Input:\n{opening}\n3\n{closing}\n\n{CODE}") == (CODE, "bare:after-words")
    assert found(between + block(OTHER)) == (OTHER, "fence:python")
    quoting = f'{CODE}text = """\n{between}"""\n'
    assert found(quoting) == (quoting, "bare")


def test_a_block_opened_in_the_prompt() -> None:
    """If the only fence closes a block, the text before it is the program."""
    assert found(CODE + "```\nThis doubles the number.") == (CODE, "bare:before-fence")
    assert found("So be it.\n```\n") == (None, "none")


def test_line_ends_and_surrogates() -> None:
    """The same program is the same text, whatever system generated it, and can be written to a file."""
    assert found(CODE.replace("\n", "\r\n")) == (CODE, "bare")
    assert found(block(CODE).replace("\n", "\r\n")) == (CODE, "fence:python")
    code, _ = found(json.loads('"print(1) # \\ud800"'))
    assert code == "print(1) # \ufffd\n"


@given(st.lists(st.sampled_from(["```", "```python\n", "<think>", "</think>", "\n", "x = 1", " ", "~~~", "def f("])))
def test_any_text_is_read(pieces: list[str]) -> None:
    """For any text, there is code exactly if the rule says so."""
    extracted = extract_python("".join(pieces))
    assert (extracted.code is None) is (extracted.rule == "none")
    assert extracted.code is None or extracted.code.strip()


HOSTILE = [
    "`" * 1_000_000,
    "<think>" * 170_000,
    "<|channel|>" * 85_000 + "THINK]",
    "a[" * 350_000,
    "a," * 350_000 + "=",
    "```python " * 100_000,
    "if " + "a" * 1_000_000,
    "\n" * 1_000_000,
    "# x\n" * 350_000,
    "def " * 270_000,
    "```python" + " " * 1_000_000 + "x",
    "if" + ":a" * 500_000,
    "while" + ": " * 500_000,
    "a[" + "],b[" * 250_000,
    "a[" + "]:" * 500_000,
    "(" * 1_000_000,
    "(a" * 500_000 + ")",
    "(a[" * 300_000 + ")",
    "(a[]," + "a[]," * 250_000 + ")",
    "*a," * 300_000,
    "[*a(" * 250_000,
    "lambda:" * 150_000,
    "(lambda " * 120_000,
    "words\n" + "[PYTHON]\n" * 110_000,
    "words\n<code>\n" + "</code>\n" * 125_000,
    "```\n" + "if" + ":a" * 30_000 + "\n```\n",
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:10]))
def test_extraction_takes_linear_time(text: str) -> None:
    """A text of 1 MB is read quickly, whatever it contains. In quadratic time it would take an hour."""
    with limit_cpu_time(30.0):
        assert extract_python(text).rule
        assert extract_livecodebench(text) is not None
        code = extract_eval_protocol(text)
    assert code is not None
    assert len(code) <= len(text)


# --------------------------------------------------------------------------- Eval Protocol's rule


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (f"a{block(OTHER)}b{block(CODE)}", "print(0)"),
        ("```python\nx```", "x"),
        ("```python```", ""),
        ("```\nx\n```\n```python\ny\n```", "y"),
        ("```cpp\nint x;\n```", "cpp\nint x;"),
        ("``````", ""),
        ("```python\nimport sys\ndef f():\n  pass", "def f():\n  pass"),
        ("import sys\nx = 1\n def f(): pass\n", "def f(): pass"),
        ("import sys\nundef x", "def x"),
        ("I cannot.", "I cannot."),
        ("", ""),
        (" \n", ""),
        ("<think>a</think>", None),
        (" <THINK>a</Think> ", None),
        ("<think>a</think><think>b", "<think>b"),
        ("<think>```python\nx\n```", "x"),
        ("<think>```python\nx\n```</think>```\ny\n```", "y"),
        ("x</think>y", "x</think>y"),
        ("<think><think>a</think>b", "b"),
        ("```Python\nx\n```", "Python\nx"),
        ("```python3\nx\n```", "3\nx"),
        ("  ```python  \n  def f():\n    v = 1\n  ```  ", "def f():\n    v = 1"),
        ("```x", "```x"),
    ],
)
def test_eval_protocol(content: str, code: str | None) -> None:
    """Its rule in all cases: the first fence, tags taken as code, lost imports."""
    assert extract_eval_protocol(content) == code


# --------------------------------------------------------------------------- LiveCodeBench's rule


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (block(OTHER) + block(CODE), CODE.removesuffix("\n")),
        (block(CODE) + "```\n", ""),
        ("```python\nx\n", ""),
        ("x = 1", ""),
        ("", ""),
        ("a ``` b\nx\n```cpp\ny\nz ```", "y"),
    ],
)
def test_livecodebench(output: str, code: str) -> None:
    """Its rule: the text between the last two lines with a fence."""
    assert extract_livecodebench(output) == code
