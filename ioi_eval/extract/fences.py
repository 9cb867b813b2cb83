"""Fenced blocks in the text of a model, and the program of a compiled language in them. Pure.

Fences are those of CommonMark, with exceptions that generations need:

- A fence may be indented by any amount, or be in a list item. From the block's lines the indentation of its first line
  is removed, at most that of the fence: models often indent the fence more than the code.
- An opening fence that names a language may follow words on the same line (`Solution: ```cpp`).
- In a quote of Markdown (each line begins with `>`) the marks of the quote are no part of the code.
- Words may follow a closing fence, and the fence may follow the last line of code on the same line (`}` and the fence),
  because models forget to end lines. A fence in a quoted string is code.
- A fence that names a language inside an open block opens a new block: the earlier block was never closed.

A block that is never closed is not complete, and is not returned. A block that contains fences needs longer fences
around it, as in any Markdown. If it is no program but a document, the blocks in it count (`code_blocks`).

The text is searched from fence to fence with `find`. Each character is read a bounded number of times, whatever the
text is: generations of 50 MB occur, and some consist only of backticks.

Source: CommonMark 0.31, section 4.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

_LEADING = re.compile(r"([ \t]*+(?:[-*+][ \t]++|\d{1,9}[.)][ \t]++)?)(`{3,}+|~{3,}+)(.*)", re.DOTALL)
_BEHIND_WORDS = re.compile(r"[^`]*+(`{3,}+)([a-z][a-z0-9+#._-]*+)[ \t\r]*+", re.IGNORECASE)
_BEHIND_CODE = re.compile(r"([^`]*+)(`{3,}+)[ \t\r]*+")

# The language in the text after a fence: `cpp`, `cpp title="a.cpp"`, `cpp:a.cpp`, `{.cpp #id}`.
_TAG = re.compile(r"[ \t]*+\{?[ \t]*+\.?([^\s{}:,;=\"']*+)")

# Inside an open block, a fence with one of these names opens a new block. Other words follow a closing fence.
_LANGUAGES = frozenset(
    {"bash", "c", "c#", "c++", "cc", "cpp", "csharp", "cxx", "go", "java", "javascript", "js", "json", "kotlin"}
    | {"markdown", "md", "pascal", "plaintext", "py", "python", "ruby", "rust", "sh", "shell", "text", "ts", "txt"}
)

_DOCUMENTS = frozenset({"", "markdown", "md", "plaintext", "text", "txt"})

_NAMES = ("think", "thinking", "thought", "reasoning", "seed:think", "mm:think", "longcat_think")
_OPENING_TAGS = tuple(f"<{name}>" for name in _NAMES)
_OPENING = (
    *_OPENING_TAGS,
    *("<|begin_of_thought|>", "<|START_THINKING|>", "<|channel|>analysis", "<|channel>thought", "[THINK]", "◁think▷"),
)
_CLOSING = (
    *(f"</{name}>" for name in _NAMES),
    *("<|end_of_thought|>", "<|END_THINKING|>", "<|channel|>final<|message|>", "<channel|>", "[/THINK]", "◁/think▷"),
    "assistantfinal",
)
"""What models print around their thoughts.

Source: the reasoning parsers of vLLM, SGLang and Dynamo; tags that prompts of training runs ask for. `assistantfinal`
is what remains of gpt-oss's channels if special tokens are dropped.
"""

_ANY, _USUAL = (
    re.compile("|".join(re.escape(marker) for marker in (*_OPENING, *_CLOSING) if marker.startswith(start)))
    for start in ("", "<")  # all begin with the same character: found 20 times as fast
)
_UNUSUAL = ("THINK]", "think▷", "assistantfinal")  # in all other markers
_INVISIBLE = "\u00a0\u200b\u200c\u200d\u2060\ufeff"
"""Spaces by which writers keep a fence inside a block from ending it. No compiler accepts them."""

_FIRST_LINE = re.compile(r"(?:[ \t]*+(?:#[^\n]*+)?\n)*([ \t]*+)")  # after blank lines and comments of Python
_IN_NO_QUOTE = re.compile(r"^[ \t]*+[^>\s]", re.MULTILINE)
_QUOTE_MARK = re.compile(r"^[ \t]*+> ?", re.MULTILINE)
_WORD_CHAR = re.compile(r"\w")
_STRING_CHARS = 1000  # so far before a marker the beginning of a quoted string is looked for
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

LOOKED_AT = 1 << 16
"""How many characters of a text are searched for signs of a language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What was found in a generation."""

    code: str | None  # the program, which can be encoded in UTF-8
    rule: str  # that found it (`fence:cpp`, …, `none`)


class Block(NamedTuple):
    """A complete fenced block. It refers to the text by positions, so a million blocks need little memory."""

    tag: str  # the language in the opening fence, in lower case; empty if there is none
    text: str
    start: int  # of the block's lines in the text
    end: int
    indent: int

    @property
    def blank(self) -> bool:
        """Whether there is nothing in the block."""
        return not self.text[self.start : self.end].strip()

    def body(self) -> str:
        """The block's lines, each ended by a line feed, without the indentation that they share with the fence, and
        without the marks of a quote: no program has a `>` at the beginning of each line."""
        body = unindented(self.text[self.start : self.end].replace("\r\n", "\n"), self.indent)
        if not _IN_NO_QUOTE.search(body):
            body = _QUOTE_MARK.sub("", body)
        return body if body.endswith("\n") or not body else body + "\n"


def unindented(code: str, most: int) -> str:
    """The lines without the indentation of the first one that is not blank and no comment of Python, of at most `most`
    blanks. A line with less indentation loses all of it."""
    first = _FIRST_LINE.match(code) if most else None
    width = min(most, len(first[1])) if first else 0
    return re.sub(rf"^[ \t]{{1,{width}}}", "", code, flags=re.MULTILINE) if width else code


def blocks(text: str, tags: frozenset[str] = frozenset()) -> Generator[Block, None, bool]:
    """The complete fenced blocks of a text, in order. The generator returns whether the text ends inside a block."""
    known = _LANGUAGES | tags
    opened: _Fence | None = None
    start = 0
    for line_start, line_end in _lines_with_fences(text):
        line = text[line_start:line_end]
        fence = _fence(line, known)
        if opened is not None:
            close = _closes(opened, fence, line)
            if close is not None:
                yield Block(opened.tag, text, start, line_start + close, opened.indent)
                opened = None
                continue
            if fence is None or not (fence.counts_inside(opened) and fence.names_language):
                continue
        if fence is not None and fence.opens:
            opened, start = fence, line_end + 1
    return opened is not None


def code_blocks(text: str, tags: frozenset[str] = frozenset()) -> Iterator[Block]:
    """The complete blocks of a text. If one of them is a document, the blocks in it take its place.

    A model that is asked for Markdown puts its whole answer into a block with longer fences. Such a block is a document
    if a block in it names a language.
    """
    languages = (_LANGUAGES | tags) - _DOCUMENTS
    for block in blocks(text, tags):
        inner = list(blocks(text[block.start : block.end], tags)) if block.tag in _DOCUMENTS else []
        is_document = any(language_of(within.tag) in languages for within in inner)
        yield from inner if is_document else (block,)


def language_of(tag: str) -> str:
    """The language that a tag names, without the version: `c++17`, `cpp-17`, `python3.11`, `language-cpp` (HTML's)."""
    return tag.removeprefix("language-").rstrip("0123456789.-_")


def ends_in_block(text: str) -> bool:
    """Whether a text ends inside a block that is not closed."""
    found = blocks(text)
    while True:
        try:
            next(found)
        except StopIteration as end:
            return bool(end.value)


def split_thoughts(text: str) -> tuple[list[str], list[str]]:
    """Separate a model's answer from its thoughts, which are between `<think>` and `</think>`, or markers like these.

    Templates often put the opening marker into the prompt, so all text before a closing marker is a thought, also if no
    opening marker precedes it. A thought that was cut off ends at the end of the text. In a complete block, a marker in
    a quoted string is code, and so is an opening tag behind a letter, a digit or `_`. The answer and the thoughts are
    returned as lists of pieces, in order.
    """
    answer: list[str] = []
    thoughts: list[str] = []
    for piece, is_thought in _pieces(text):
        (thoughts if is_thought else answer).append(piece)
    return answer, thoughts


def last_piece(text: str) -> tuple[str, bool]:
    """The text after the last marker of thoughts, and whether it is a thought: one that was cut off."""
    *_, last = _pieces(text)
    return last


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces between the markers of thoughts, and whether each is a thought."""
    thinking, at = False, 0
    for marker in _markers(text):
        opens = marker[0] in _OPENING
        yield text[at : marker.start()], thinking or not opens
        thinking, at = opens, marker.end()
    yield text[at:], thinking


def _markers(text: str) -> Iterator[re.Match[str]]:
    complete = blocks(text)
    block: Block | None = None
    pattern = _ANY if any(part in text for part in _UNUSUAL) else _USUAL
    for marker in pattern.finditer(text):
        before = text[max(0, marker.start() - _STRING_CHARS) : marker.start()].rpartition("\n")[2]
        is_type = marker[0] in _OPENING_TAGS and _WORD_CHAR.match(before[-1:])  # as in `vector<thought>`
        if is_type or _ends_in_string(before):
            while block is None or block.end <= marker.start():
                block = next(complete, Block("", text, len(text), len(text) + 1, 0))
            if block.start <= marker.start():
                continue
        yield marker


def encodable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which JSON can represent and UTF-8 cannot."""
    return _LONE_SURROGATE.sub("\ufffd", text)


# --------------------------------------------------------------------------- lines


class _Fence(NamedTuple):
    """The parts of a line with a fence: at its beginning, or before a language at its end."""

    mark: str
    info: str
    indent: int
    known: frozenset[str]

    @property
    def opens(self) -> bool:
        """Whether it can open a block. With backticks after it, it is inline code."""
        return self.mark[0] == "~" or "`" not in self.info

    @property
    def tag(self) -> str:
        match = _TAG.match(self.info)
        return match[1].lower() if match else ""

    @property
    def names_language(self) -> bool:
        """Whether it names a language, and the other words are not a sentence."""
        named = language_of(self.tag) in self.known
        return named and self.opens and (not self.info[0].isspace() or len(self.info.split()) == 1)

    def counts_inside(self, opened: _Fence) -> bool:
        """Whether a fence of its kind and length counts inside the open block."""
        return self.mark[0] == opened.mark[0] and len(self.mark) >= len(opened.mark)


def _fence(line: str, known: frozenset[str]) -> _Fence | None:
    if match := _LEADING.fullmatch(line):
        return _Fence(match[2], match[3], len(match[1]), known)
    match = _BEHIND_WORDS.fullmatch(line)
    if match and language_of(match[2].lower()) in known:
        return _Fence(match[1], match[2], 0, known)
    return None


def _closes(opened: _Fence, fence: _Fence | None, line: str) -> int | None:
    """The position in a line at which the open block ends; `None` if it does not end there."""
    if fence is not None:
        closing = fence.counts_inside(opened) and fence.opens and not fence.names_language
        return 0 if closing else None
    match = _BEHIND_CODE.fullmatch(line)
    if match is None or opened.mark[0] == "~" or len(match[2]) < len(opened.mark):
        return None
    return None if _ends_in_string(match[1]) else len(match[1].rstrip(_INVISIBLE))


def _ends_in_string(text: str) -> bool:
    """Whether a part of a line ends inside a quoted string."""
    return text.count('"') % 2 == 1 or text.count("'") % 2 == 1


def _lines_with_fences(text: str) -> Iterator[tuple[int, int]]:
    """The positions of the lines with a fence of either kind. Only these matter, and mostly they are few."""
    at = 0
    ticks = text.find("```")
    tildes = text.find("~~~")
    while ticks >= 0 or tildes >= 0:
        nearest = tildes if ticks < 0 else ticks if tildes < 0 else min(ticks, tildes)
        start = max(at, text.rfind("\n", at, nearest) + 1)
        end = text.find("\n", nearest)
        if end < 0:
            end = len(text)
        yield start, end
        at = end + 1
        if 0 <= ticks < at:
            ticks = text.find("```", at)
        if 0 <= tildes < at:
            tildes = text.find("~~~", at)


# ----------------------------------------------------------------------------- the program of a compiled language


def extract_tagged(
    generation: str, *, name: str, tags: frozenset[str], looks_right: Callable[[str], bool]
) -> Extracted:
    """The program in a generation: the last complete block with such a tag, else the last untagged one.

    The text outside of the thoughts is the answer, and is searched first, so a draft inside `<think>…</think>` is never
    preferred to it. The thoughts are searched, by the same rules, only if the answer has no program at all (the model
    was cut off while it thought, or did not repeat the program), as in the reference. The rule's name says so, for
    users who do not want to count these.

    If the last block has no closing fence, it was cut off in the middle of the program. An earlier complete block is
    used, if there is one. Blank blocks are skipped. If the answer, or the thoughts, have none of these blocks, the last
    block counts whose tag names the language in another way (`_is_other_name`), and which looks like a program in it.
    (`looks_right` is asked about that, and about untagged blocks; `tags` have no versions.)

    The code has line feeds as line ends; the rule is `fence:<name>`, `fence:untagged`, `think:<name>`, `think:untagged`
    or `none`.
    """
    answer, thoughts = split_thoughts(generation)
    for where, pieces in (("fence", answer), ("think", thoughts)):
        for find in (_last_block, _last_with_other_name):
            block = find(pieces, tags, looks_right)
            if block is not None:
                return Extracted(code=encodable(block.body()), rule=f"{where}:{name if block.tag else 'untagged'}")
    return Extracted(code=None, rule="none")


def _is_other_name(tag: str, tags: frozenset[str]) -> bool:
    """Whether a tag is the name of a file in the language (`solution.cpp`), or has its signs as words (`cplusplus`)."""
    return language_of(tag.rpartition(".")[2].replace("plus", "+")) in tags


def _last_block(pieces: list[str], tags: frozenset[str], looks_right: Callable[[str], bool]) -> Block | None:
    """The last tagged block of all pieces, else the last untagged one that looks right."""
    tagged: Block | None = None
    untagged: Block | None = None
    for piece in pieces:
        for block in code_blocks(piece, tags):
            if language_of(block.tag) in tags:
                tagged = tagged if block.blank else block
            elif not (block.tag or block.blank) and looks_right(block.text[block.start : block.end]):
                untagged = block
    return tagged or untagged


def _last_with_other_name(pieces: list[str], tags: frozenset[str], looks_right: Callable[[str], bool]) -> Block | None:
    """The last block whose tag names the language in another way, and that looks right."""
    found = [block for piece in pieces for block in code_blocks(piece, tags) if _is_other_name(block.tag, tags)]
    return next((block for block in reversed(found) if looks_right(block.text[block.start : block.end])), None)
