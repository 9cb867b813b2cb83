"""The Python program that is judged is the one that the model handed in; other graders' rules are theirs exactly."""

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
    "tag", ["python", "Python", "py", "python3", "py3", "python3.11", "pypy3", "{.python}", "py x=1"]
)
def test_tagged_block_is_taken(tag: str) -> None:
    """All the tags that models use for Python count."""
    assert found(f"Here:\n\n{block(CODE, tag)}\nDone.") == (CODE, "fence:python")


def test_last_tagged_block_wins() -> None:
    """A model corrects itself in a later block, and shows examples in others."""
    text = block(OTHER) + block(CODE) + block("3\n6\n", "") + block("int main() {}\n", "cpp") + block("x = 1\n", "")
    assert found(text) == (CODE, "fence:python")


@pytest.mark.parametrize("tag", ["", "text", "solution", "plaintext"])
def test_any_other_fence(tag: str) -> None:
    """Without a tagged block, the last one that looks like Python counts; sample outputs are passed over."""
    text = block(OTHER, tag) + block(CODE, tag) + block("3\n1 2 3\n", tag) + block("YES\n", tag)
    assert found(text) == (CODE, "fence:untagged")


def test_untagged_block_that_looks_like_nothing() -> None:
    """An untagged block is the program where there is no better one."""
    assert found(block("x\n", "")) == ("x\n", "fence:untagged")


@pytest.mark.parametrize("tag", ["cpp", "c++17", "java", "javascript", "bash", "json", "output", "rust"])
def test_other_languages_are_no_program(tag: str) -> None:
    """A tag that names another language is believed."""
    assert found(block(CODE, tag)) == (None, "none")


def test_cut_off_block() -> None:
    """Half a program is none; the last whole one is what the model had."""
    assert found(block(OTHER) + "Better:\n```python\n" + CODE) == (OTHER, "fence:python")
    assert found("```python\n" + CODE) == (None, "none")
    assert found("Code:\n```\n" + CODE) == (None, "none")


def test_blank_blocks_are_passed_over() -> None:
    """An empty block at the end is not meant to be the program."""
    assert found(block(CODE) + block(" \n")) == (CODE, "fence:python")


def test_fences_in_strings_need_longer_fences() -> None:
    """A program that prints a fence survives, as in any Markdown."""
    code = 'print("""\n```\n""")\n'
    assert found(f"````python\n{code}````\n") == (code, "fence:python")


def test_indented_block_loses_its_indentation() -> None:
    """Python minds the indentation that a list item has put before its block."""
    text = "1. So:\n   ```python\n   if True:\n       print(1)\n   ```\n"
    assert found(text) == ("if True:\n    print(1)\n", "fence:python")


# --------------------------------------------------------------------------- thoughts


def test_thoughts_do_not_win_over_the_answer() -> None:
    """A draft does not replace what was handed in, whether fenced or bare."""
    for answer, rule in ((block(CODE), "fence:python"), (block(CODE, ""), "fence:untagged"), (CODE, "bare")):
        for text in (f"<think>Maybe\n{block(OTHER)}</think>\n{answer}", f"Maybe\n{block(OTHER)}</think>\n{answer}"):
            code, how = found(text)
            assert how == rule
            assert code is not None
            assert code.strip() == CODE.strip()


@pytest.mark.parametrize("text", [f"<think>{block(CODE)}</think>See above.", f"<think>{block(CODE)}and now"])
def test_code_in_thoughts_only_is_named(text: str) -> None:
    """With no program in the answer the last draft is taken, and the rule says so."""
    assert found(text) == (CODE, "think:python")


def test_untagged_thoughts() -> None:
    """The same for drafts without a tag."""
    assert found(f"<think>{block(CODE, '')}</think>") == (CODE, "think:untagged")


# --------------------------------------------------------------------------- bare code


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
        "x: int = 5\n",
        "@cache\ndef f(): pass\n",
        "try:\n    pass\nexcept:\n    pass\n",
    ],
)
def test_bare_code(code: str) -> None:
    """A text that is a program is the program."""
    assert found(code) == (code, "bare")
    assert looks_like_python(code)


@pytest.mark.parametrize(
    "text",
    [
        *("", " \n\t", "I give up.", "I'm sorry, I cannot solve this.", "The answer is 42.", "42", "YES\n3 4 5\n"),
        *("import the data and go on", "from here we go", "for each test case, print it", "if you want", "x == y"),
        *("while it lasts", "class struggle", "Let x = 5", "print it", "a = b?"[:1], "with care: think", "- item"),
    ],
)
def test_prose_is_no_program(text: str) -> None:
    """Words that happen to be keywords do not make a program."""
    assert found(text) == (None, "none")


def test_bare_code_behind_words() -> None:
    """Code without fences behind a sentence begins with its first line of code."""
    assert found("Here is my solution.\n\n" + CODE) == (CODE, "bare:after-words")


def test_prompt_had_opened_the_block() -> None:
    """Where the only fence closes, what stands before it is the program."""
    assert found(CODE + "```\nThis doubles the number.") == (CODE, "bare:before-fence")
    assert found("So be it.\n```\n") == (None, "none")


def test_line_ends_and_surrogates() -> None:
    """The same program is the same text, wherever it was generated, and can be written."""
    assert found(CODE.replace("\n", "\r\n")) == (CODE, "bare")
    assert found(block(CODE).replace("\n", "\r\n")) == (CODE, "fence:python")
    code, _ = found(json.loads('"print(1) # \\ud800"'))
    assert code == "print(1) # \ufffd\n"


@given(st.lists(st.sampled_from(["```", "```python\n", "<think>", "</think>", "\n", "x = 1", " ", "~~~", "def f("])))
def test_anything_is_taken_apart(pieces: list[str]) -> None:
    """Every text has an outcome, and code only where the rule says which."""
    extracted = extract_python("".join(pieces))
    assert (extracted.code is None) is (extracted.rule == "none")
    assert extracted.code is None or extracted.code.strip()


HOSTILE = [
    "`" * 3_000_000,
    "<think>" * 500_000,
    "a[" * 1_000_000,
    "a," * 1_000_000 + "=",
    "```python " * 300_000,
    "if " + "a" * 3_000_000,
    "\n" * 3_000_000,
    "# x\n" * 1_000_000,
    "def " * 800_000,
    "```python" + " " * 3_000_000 + "x",
    "if" + ":a" * 1_500_000,
    "while" + ": " * 1_500_000,
    "a[" + "],b[" * 750_000,
    "a[" + "]:" * 1_500_000,
    "```\n" + "if" + ":a" * 30_000 + "\n```\n",
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:10]))
def test_every_text_comes_to_an_end(text: str) -> None:
    """No text of 3 MB takes long to take apart, whatever it is; in quadratic time it would be hours."""
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
    """Its rule in all its cases: first fence, tags as code, imports lost."""
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
    """Its rule: whatever stands between the last two lines with a fence."""
    assert extract_livecodebench(output) == code
