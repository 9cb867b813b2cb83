"""Fenced blocks are found as a reader would find them, in linear time."""

from __future__ import annotations

from typing import SupportsIndex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ioi_eval.extract.fences import blocks, code_blocks, encodable, last_piece, split_thoughts

FENCE = "```"


def found(text: str) -> list[tuple[str, str]]:
    """The tag and the body of each complete block."""
    return [(block.tag, block.body()) for block in blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```cpp\nA\n```", [("cpp", "A\n")]),
        ("```\nA\nB\n```\n", [("", "A\nB\n")]),
        ("~~~C++\nA\n~~~", [("c++", "A\n")]),
        ("```cpp\n```", [("cpp", "")]),
        ("```cpp\n\n```", [("cpp", "\n")]),
        ("words\n```cpp\nA\n```\nwords\n```py\nB\n```\n", [("cpp", "A\n"), ("py", "B\n")]),
        ("", []),
        ("no fence", []),
        ("`` no ``\n~~ fence ~~", []),
    ],
)
def test_plain_blocks(text: str, expected: list[tuple[str, str]]) -> None:
    """Backticks and tildes, with and without a tag."""
    assert found(text) == expected


@pytest.mark.parametrize(
    ("info", "tag"),
    [
        ("cpp", "cpp"),
        (" CPP ", "cpp"),
        ('cpp title="a.cpp" linenums', "cpp"),
        ("cpp{.numberLines}", "cpp"),
        ("{.cpp .numberLines}", "cpp"),
        ("{ .cpp }", "cpp"),
        ("cpp:main.cpp", "cpp"),
        ("cpp,ignore", "cpp"),
        ("c++17", "c++17"),
        ("cpp\x00", "cpp\x00"),
        ("", ""),
        ("   ", ""),
        ("{}", ""),
    ],
)
def test_tag_is_the_language(info: str, tag: str) -> None:
    """Attributes after the language, in any dialect, do not matter."""
    assert found(f"{FENCE}{info}\nA\n{FENCE}") == [(tag, "A\n")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("````cpp\n```\nA\n```\n````", [("cpp", "```\nA\n```\n")]),
        ("```cpp\nA\n`````", [("cpp", "A\n")]),
        ("~~~cpp\n```\nA\n~~~", [("cpp", "```\nA\n")]),
        ("```cpp\n~~~\nA\n```", [("cpp", "~~~\nA\n")]),
        ("````cpp\n```text\nA\n```\n````", [("cpp", "```text\nA\n```\n")]),
        ("````cpp\nA;```\nB\n````", [("cpp", "A;```\nB\n")]),
        ("````cpp\nA\n```", []),
    ],
)
def test_only_an_equal_or_longer_fence_of_its_kind_closes(text: str, expected: list[tuple[str, str]]) -> None:
    """Shorter fences and fences of the other kind belong to the block."""
    assert found(text) == expected


@pytest.mark.parametrize(
    "line",
    ['cout << "```";', 's = "```', 'print("```cpp")', "c = '```", "x ```cpp y", "```a```", 'R"(```'],
)
def test_fences_in_code_do_not_close(line: str) -> None:
    """A fence inside a string, or with more code after it, is code."""
    assert found(f"{FENCE}cpp\n{line}\nA\n{FENCE}") == [("cpp", f"{line}\nA\n")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  ```cpp\n  int a;\n    b;\n  ```", [("cpp", "int a;\n  b;\n")]),
        ("\t```cpp\n\tint a;\n\t\tb;\n\t```", [("cpp", "int a;\n\tb;\n")]),
        ("      ```cpp\n      long\n  short\n\n      long\n```", [("cpp", "long\nshort\n\nlong\n")]),
        ("1. ```cpp\n   A\n   ```", [("cpp", "A\n")]),
        ("- ```cpp\n  A\n  ```", [("cpp", "A\n")]),
    ],
)
def test_indentation_of_the_fence_is_removed(text: str, expected: list[tuple[str, str]]) -> None:
    """A block in a list keeps only its own indentation."""
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1.  So:\n\n    ```py\nif a:\n    b\n    ```", "if a:\n    b\n"),
        ("- ```py\nif a:\n\tb\n\t\tc\n```", "if a:\n\tb\n\t\tc\n"),
        ("- ```py\n\n\tif a:\n\t\tb\n  ```", "\nif a:\n\tb\n"),
        ("  ```py\nif a:\n  b\n  ```", "if a:\n  b\n"),
        ("    ```py\n  if a:\n      b\n    ```", "if a:\n    b\n"),
        ("  ```py\n \t\n  if a:\n\n      b\n  ```", "\nif a:\n\n    b\n"),
        ("   ```py\n# a comment\n   if a:\n       b\n   ```", "# a comment\nif a:\n    b\n"),
    ],
)
def test_a_fence_with_more_indentation_than_the_code(text: str, code: str) -> None:
    """The lines lose the indentation of the first one only: in Python the others' indentation has a meaning."""
    assert found(text) == [("py", code)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("So:\n> ```py\n> if a:\n>\n>     b\n> ```\n", "if a:\n\n    b\n"),
        (">```py\r\n>if a:\r\n>\tb\r\n>```\r\n", "if a:\n\tb\n"),
        ("> ```py\n> a\n```\n", "a\n"),
        ("> ```py\na\n> b\n```\n", "a\n> b\n"),
        ("```py\n\n```\n", "\n"),
    ],
)
def test_marks_of_a_quote_are_removed(text: str, code: str) -> None:
    """If each line of the block has one; in other blocks `>` is code."""
    assert found(text) == [("py", code)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```cpp\r\nA\r\nB\r\n```\r\n", [("cpp", "A\nB\n")]),
        ("```cpp\r\nA\n```\n", [("cpp", "A\n")]),
        ("```cpp\nA\x0bB\x0cC\x1cD\x85E\u2028F\n```", [("cpp", "A\x0bB\x0cC\x1cD\x85E\u2028F\n")]),
        ("```cpp\nA\rB\n```", [("cpp", "A\rB\n")]),
    ],
)
def test_line_ends(text: str, expected: list[tuple[str, str]]) -> None:
    """CRLF is a line end. Other line ends of Unicode are not."""
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Solution: ```cpp\nA\n```", [("cpp", "A\n")]),
        ("Solution: ```cpp-17\nA\n```", [("cpp-17", "A\n")]),
        ("```cpp\nint f() { return 1; }```", [("cpp", "int f() { return 1; }\n")]),
        ("```cpp\nA;``` \nwords\n```\nB\n```", [("cpp", "A;\n"), ("", "B\n")]),
        ('```cpp\nputs("a"); }```\n', [("cpp", 'puts("a"); }\n')]),
        ("```cpp\nA\n``` This runs in O(n).\n", [("cpp", "A\n")]),
        ("```cpp\nA\n``` C is the cost.\n", [("cpp", "A\n")]),
        ("```cpp\nA\n```</answer>", [("cpp", "A\n")]),
        ("```cpp\nA\n\u200b```\nB", [("cpp", "A\n")]),
        ("\ufeff```cpp\nA\n  \u00a0\u200d```", [("cpp", "A\n  \n")]),
    ],
)
def test_fences_that_share_a_line(text: str, expected: list[tuple[str, str]]) -> None:
    """A fence in the middle of a line counts if a reader would see a fence, for example after a missing line end."""
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```cpp\nA\n", []),
        ("```cpp", []),
        ("```cpp\nA\n```\n```cpp\nB\n", [("cpp", "A\n")]),
        ("```cpp\nA\n\n```cpp\nB\n```", [("cpp", "B\n")]),
        ("```markdown\nwords\n```cpp\nB\n```\n", [("cpp", "B\n")]),
        ("```cpp\nA\nOnce more: ```cpp\nB\n```", [("cpp", "B\n")]),
        ("```cpp\nA\n``` cpp\nB\n```", [("cpp", "B\n")]),
        ('```cpp\nA\n```cpp title="b"\nB\n```', [("cpp", "B\n")]),
    ],
)
def test_blocks_without_an_end(text: str, expected: list[tuple[str, str]]) -> None:
    """A block without an end is left out, and does not hide later blocks."""
    assert found(text) == expected


DOCUMENT = "words\n```cpp\nA\n```\nwords\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((f"````{tag}\n{DOCUMENT}````\n", [("cpp", "A\n")]) for tag in ("", "markdown", "md", "text")),
        (f"~~~\n{DOCUMENT}~~~\n```\nB\n```", [("cpp", "A\n"), ("", "B\n")]),
        ("  ````markdown\n  ```cpp\n  A\n  ```\n  ````", [("cpp", "A\n")]),
        (f"````cpp\n{DOCUMENT}````", [("cpp", DOCUMENT)]),
        ('```\n"""\nTitle\n~~~~~\nPart\n~~~~~\n"""\n```', [("", '"""\nTitle\n~~~~~\nPart\n~~~~~\n"""\n')]),
        ("````\n```\nA\n```\n````", [("", "```\nA\n```\n")]),
        ("````\n```cpp\nA\n````", [("", "```cpp\nA\n")]),
    ],
)
def test_blocks_in_a_document(text: str, expected: list[tuple[str, str]]) -> None:
    """An answer inside longer fences has its own blocks. A program that contains fences is no document."""
    assert [(block.tag, block.body()) for block in code_blocks(text)] == expected


@pytest.mark.parametrize(
    ("text", "answer", "thoughts"),
    [
        ("a", ["a"], []),
        ("<think>t</think>a", ["", "a"], ["t"]),
        ("t</think>a", ["a"], ["t"]),
        ("a<think>t", ["a"], ["t"]),
        ("<think>t</think>a<think>u</think>b", ["", "a", "b"], ["t", "u"]),
        ("<think>t</think>u</think>a", ["", "a"], ["t", "u"]),
        ("", [""], []),
        ("<think>t</think>\n```\n'</think>'\n```", ["", "\n```\n'</think>'\n```"], ["t"]),
        ("```\nf('<think>', 'a</think>')\n```", ["```\nf('<think>', 'a</think>')\n```"], []),
        ("```\nset<think> a;\n```", ["```\nset<think> a;\n```"], []),
        ("<think>t</think>\n```\nset<think> a;\n```", ["", "\n```\nset<think> a;\n```"], ["t"]),
        ("```\nb\n```\nset<think>t", ["```\nb\n```\nset"], ["t"]),
        ("```\nb <think>t", ["```\nb "], ["t"]),
        ("<think>```c\n'</think>'\n```</think>a", ["", "a"], ["```c\n'</think>'\n```"]),
        ("<think>I can't.</think>```\nb\n```", ["", "```\nb\n```"], ["I can't."]),
        ("<think>```cpp\nchar c = '</think>\n```cpp\nb\n```", ["", "\n```cpp\nb\n```"], ["```cpp\nchar c = '"]),
    ],
)
def test_thoughts_are_separated_from_the_answer(text: str, answer: list[str], thoughts: list[str]) -> None:
    """Also if the opening marker was part of the prompt, or the thoughts were cut off. A program may print a marker."""
    assert split_thoughts(text) == (answer, thoughts)


MARKERS = (
    *[(f"<{name}>", f"</{name}>") for name in ("thinking", "thought", "reasoning", "seed:think", "longcat_think")],
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel|>analysis", "<|end|><|start|>assistant<|channel|>final<|message|>"),
)


@pytest.mark.parametrize(("opening", "closing"), MARKERS)
def test_other_models_have_other_markers(opening: str, closing: str) -> None:
    """Also if the prompt has the opening marker, and if the thought was cut off."""
    assert split_thoughts(f"{opening}t{closing}a")[0] == ["", "a"]
    assert split_thoughts(f"t{closing}a")[0] == ["a"]
    assert split_thoughts(f"a{opening}t") == (["a"], ["t"])
    assert last_piece(f"a{opening}t") == ("t", True)
    assert last_piece(f"{opening}t{closing}a") == ("a", False)


def test_channels_without_their_special_tokens() -> None:
    """This is what is left of the channels of gpt-oss. The word alone is no marker in its usual spellings."""
    assert split_thoughts("analysisWe need ```.assistantfinalHere")[0] == ["Here"]
    assert split_thoughts("assistantFinal, assistant final")[1] == []


def test_encodable_replaces_only_what_utf8_cannot_hold() -> None:
    """Lone surrogates become U+FFFD. NUL and characters beyond the basic plane stay."""
    text = encodable("a\ud800b\udfff\x00\U0001f600é")
    assert text == "a\ufffdb\ufffd\x00\U0001f600é"
    assert text.encode()


# --------------------------------------------------------------------------- properties

PLAIN = ("```", "````", "~~~", "  ```", "```cpp", "``` cpp", "````cpp", "~~~py", "  ```py")
ODD = ("}```", "}````", '"```', "```a```", "``` Done.", "See: ```cpp", "1. ```cpp")
CODE = ("x = 1;", "", "  y", "words")
lines = st.lists(st.sampled_from(PLAIN + ODD + CODE), max_size=14)


def body(code_lines: list[str], indent: int) -> str:
    """The lines of a block without their indentation."""
    spaces = [len(line) - len(line.lstrip()) for line in code_lines]
    first = next((count for count, line in zip(spaces, code_lines, strict=True) if line), 0)
    return "".join(f"{line[min(count, first, indent) :]}\n" for count, line in zip(spaces, code_lines, strict=True))


def model(text_lines: list[str]) -> list[tuple[str, str]]:
    """The same rules, line by line, for the lines above only."""
    result: list[tuple[str, str]] = []
    opened: tuple[str, str, int, list[str]] | None = None
    for line in text_lines:
        bare = line.strip()
        behind_words = bare.startswith(("See: ", "1. "))
        mark = bare.split(" ")[1][:3] if behind_words else bare[: len(bare) - len(bare.lstrip("`~"))]
        if len(mark) < 3 or bare == "```a```":
            mark = ""
        info = bare.rsplit(mark, 1)[1].strip() if mark else ""
        indent = 3 if bare.startswith("1. ") else len(line) - len(line.lstrip())
        same = opened is not None and mark.startswith(opened[0])
        if opened is not None and not (same and info in ("cpp", "py")):
            if same:
                result.append((opened[1], body(opened[3], opened[2])))
                opened = None
            elif bare.startswith("}") and opened[0] in ("```", bare[1:]):
                result.append((opened[1], body([*opened[3], "}"], opened[2])))
                opened = None
            else:
                opened[3].append(line)
        elif mark:
            opened = (mark, "done." if info == "Done." else info, indent, [])
    return result


@given(lines)
@example(["```cpp", "x = 1;", "}```", "~~~py", "  y", "~~~"])
def test_scanner_agrees_with_the_model(text_lines: list[str]) -> None:
    """The scanner jumps from fence to fence, the model reads every line."""
    assert found("\n".join(text_lines)) == model(text_lines)


@given(st.text(), st.text(alphabet="`~cp+ \n\t{}\"'", max_size=60))
def test_any_text_is_read(before: str, after: str) -> None:
    """No text makes the scanner fail. The blocks are inside the text and in order."""
    at = 0
    for block in blocks(before + after):
        assert at <= block.start <= block.end <= len(before + after)
        at = block.end
        block.body()


class Metered(str):
    """A text that counts the characters which searches and slices read."""

    __slots__ = ("seen",)
    seen: int

    def find(self, sub: str, start: SupportsIndex | None = 0, end: SupportsIndex | None = None) -> int:
        """`str.find`, counted."""
        place = super().find(sub, start, end)
        first, last = slice(start, end).indices(len(self))[:2]
        self.seen += (place if place >= 0 else last) - first + 1
        return place

    def rfind(self, sub: str, start: SupportsIndex | None = 0, end: SupportsIndex | None = None) -> int:
        """`str.rfind`, counted."""
        place = super().rfind(sub, start, end)
        first, last = slice(start, end).indices(len(self))[:2]
        self.seen += last - max(place, first) + 1
        return place

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        part = super().__getitem__(key)
        self.seen += len(part)
        return part


HOSTILE = {
    "backticks": "`" * 20_000,
    "fences": "```\n" * 5_000,
    "openings": "```cpp\n" * 3_000,
    "pairs": "```cpp\nint a;\n```\n" * 1_000,
    "fences in a line": "``` " * 5_000,
    "mixed in a line": "~~~ ``` " * 2_500,
    "tildes, then backticks": "~~~\n" * 2_500 + "```\n" * 2_500,
    "a tilde at the end": "```\n" * 5_000 + "~~~",
    "blanks": "```cpp\n" + " " * 20_000 + "\n```",
    "line feeds": "```cpp\n" + "\n" * 20_000 + "```",
    "behind code": "x```\n" * 4_000,
    "quotes": "> ```cpp\n" + "> " * 10_000 + "\n" + ">\n" * 10_000 + "> ```",
    "documents": "````\n```cpp\n```\n````\n" * 1_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_every_character_is_read_a_few_times_only(text: str) -> None:
    """Searches and slices read at most a fixed multiple of the text, also of texts made to prevent that."""
    metered = Metered(text)
    metered.seen = 0
    for block in code_blocks(metered):
        block.body()
    assert metered.seen <= 8 * len(text)
