"""The Python program in a generation, by our rule and by those of other graders. Pure."""

from __future__ import annotations

import re

from ioi_eval.extract.fences import (
    LOOKED_AT,
    Block,
    Extracted,
    code_blocks,
    encodable,
    language_of,
    split_thoughts,
    unindented,
)

_TAGS = frozenset({"py", "python", "pypy", "ipython", "sage"})
_OTHER_LANGUAGES = frozenset(
    {"bash", "c", "c#", "c++", "cc", "console", "cpp", "csharp", "css", "cxx", "diff", "go", "golang", "haskell"}
    | {"html", "input", "java", "javascript", "js", "json", "julia", "kotlin", "output", "pascal", "pycon", "ruby"}
    | {"rust", "scala", "sh", "shell", "sql", "stdin", "stdout", "swift", "ts", "typescript", "xml", "yaml"}
)

# Words with which lines of Python programs begin, but not lines of prose or of sample output.
# What follows the first index is read again for each "]" in it, so its length is limited. Other parts are read once.
# No group is repeated possessively: before Python 3.11.5, a try that fails inside such a group may keep what it read.
_NAME = r"[^\W\d]\w*+"
_NAMES = rf"[^\W\d][\w.]*+(?:\[[^\n]{{0,60}}?\])?(?:[ \t]*+,[ \t]*+\*?{_NAME}(?:\[[^\n\]]*+\])?)*"
_TARGET = rf"[(\[]*+\*?{_NAME}(?:\[[^\n\]]*+\])?[)\]]*+"
_CODE_LINE = re.compile(
    r"^[ \t\f]*+(?:"
    r"import[ \t]++[A-Za-z_][\w.]*+[ \t]*+(?:$|[,;#\\]|as[ \t])"
    r"|from[ \t]++\.*[A-Za-z_][\w.]*+[ \t]++import(?:[ \t]++\w|[ \t]*+[(*\\])"
    r"|(?:async[ \t]++)?def[ \t]++\w++[ \t]*+\("
    r"|class[ \t]++\w++[ \t]*+[(:]"
    r"|for\b[ \t]*+[(]*+\w++[)]*+(?:[ \t]*+,[ \t]*+\(?\w++[)]*+)*[ \t]*+in\b[^\n]*:"
    r"|(?:while|if)\b(?:[^\n]*?:[ \t]*+(?:#|$)|(?>[^\n]*?:[ \t]*+(?=\w))(?:[^\n]+[=(]|(?:pass|break)\b))"
    r"|(?:try|else|finally)[ \t]*+:"
    r"|with[ \t]++[\w.]++\([^\n]*:"
    r"|@\w[\w.]*+[ \t]*+(?:\(|$)"
    r"|(?:[A-Za-z_]\w*+\.)*(?:print|input|exit|main|solve|write|append|setrecursionlimit|stack_size|exec)[ \t]*+\("
    r"|(?:\*?[\w.]*+[(\[{])+(?:(?:input|open)\(|print[(,]|lambda\b[^\n]*:)"
    rf"|{_NAMES}[ \t]*+,?[ \t]*+(?::[ \t]*+[\w\[\], .'\"]++)?(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?!=)"
    rf"|(?=\*[^\n=]*,|[(\[][^\n=]*[)\]])\*?{_TARGET}(?:[ \t]*+,[ \t]*+{_TARGET})*[ \t]*+,?[)\]]*+[ \t]*+=(?![=>])"
    r"|\w++[ \t]*+=[ \t]*+lambda\b"
    r")",
    re.MULTILINE,
)
_BLANK_LINES = re.compile(r"(?:[ \t\f]*+(?:#[^\n]*+)?\n)*")
_QUOTES = re.compile(r"[ \t\f]*+[rRuUbBfF]{0,2}(\"\"\"|''')")
_TAG_LINE = re.compile(r"^[ \t]*+(?:\[(/?)PYTHON\]|<(/?)code>)[ \t\r]*+$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t]*+(?:`{3,}+|~{3,}+)[ \t\r]*+(\S?)", re.MULTILINE)


def extract_python(generation: str) -> Extracted:
    """The Python program in a generation: the last complete block tagged Python, else the last untagged block.

    Among untagged blocks those that look like Python are preferred. Blocks with tags that are not languages, such as
    `solution` or `text`, count as untagged if they look like Python. No other tagged block is used.

    If there is no fence at all, the text itself may be the program: from its first line, the last one between lines
    `[PYTHON]` and `[/PYTHON]` (or `<code>` and `</code>`), or from its first line of code, after words. If the only
    fence is a closing one (the prompt had opened the block), the text before it is the program.

    A byte order mark at the beginning of the text, and form feeds before code, are skipped, as by Python.

    The answer is the text outside of the thoughts. The blocks in `<think>…</think>` are searched only if the answer has
    no program, and the rule's name says so. A block without its closing fence was cut off, and is not used.

    The code has line feeds as line ends; the rule is `fence:python`, `fence:untagged`, `bare`, `bare:between-tags`,
    `bare:after-words`, `bare:before-fence`, `think:python`, `think:untagged`, or `none`.
    """
    answer, thoughts = split_thoughts(generation.lstrip("\ufeff"))
    if extracted := _last_block(answer, "fence"):
        return extracted
    if extracted := _bare("".join(answer)):
        return extracted
    return _last_block(thoughts, "think") or Extracted(code=None, rule="none")


def looks_like_python(code: str) -> bool:
    """Whether code without a tag is Python, judged by its first 64 kB."""
    return _CODE_LINE.search(code, 0, LOOKED_AT) is not None


def _last_block(pieces: list[str], where: str) -> Extracted | None:
    tagged: Block | None = None
    likely: Block | None = None
    untagged: Block | None = None
    for block in (block for piece in pieces for block in code_blocks(piece) if not block.blank):
        if language_of(block.tag) in _TAGS:
            tagged = block
        elif language_of(block.tag) in _OTHER_LANGUAGES:
            continue
        elif looks_like_python(block.text[block.start : min(block.end, block.start + LOOKED_AT)]):
            likely = block
        elif not block.tag:
            untagged = block
    chosen = tagged or likely or untagged
    if chosen is None:
        return None
    return Extracted(code=encodable(chosen.body()), rule=f"{where}:{'python' if chosen is tagged else 'untagged'}")


def _bare(text: str) -> Extracted | None:
    """The program in a text whose code is not in a block."""
    text = text.replace("\r\n", "\n")
    fences = [match for _, match in zip(range(2), _FENCE_LINE.finditer(text), strict=False)]
    if fences:
        first = fences[0]
        if len(fences) > 1 or first[1] or not _is_code_from_start(text):
            return None
        return _program(text[: first.start()], "bare:before-fence")
    if _is_code_from_start(text):
        return _program(text, "bare")
    if between := _between_tags(text):
        return _program(between, "bare:between-tags")
    code = _CODE_LINE.search(text, 0, LOOKED_AT)
    return _program(text[code.start() :], "bare:after-words") if code else None


def _between_tags(text: str) -> str:
    """The last Python program between two lines that are tags; empty if there is none.

    Source: Code Llama prints `[PYTHON]`, as LiveCodeBench's `extract_code` reads it.
    """
    found, start = "", -1
    for tag in _TAG_LINE.finditer(text):
        is_closing = tag[1] or tag[2]
        if is_closing and start >= 0 and looks_like_python(text[start : min(tag.start(), start + LOOKED_AT)]):
            found = text[start : tag.start()]
        start = -1 if is_closing else tag.end() + 1
    return found


def _is_code_from_start(text: str) -> bool:
    """Whether the first line that is neither blank nor a comment is code. A quoted text may precede it."""
    start = _BLANK_LINES.match(text)
    at = start.end() if start else 0
    if quotes := _QUOTES.match(text, at):
        end = text.find(quotes[1], quotes.end())
        return end > 0 and looks_like_python(text[end:])
    return _CODE_LINE.match(text, at) is not None


def _program(text: str, rule: str) -> Extracted:
    text = unindented(text, len(text))  # a block of Markdown may be indented by four blanks in the place of fences
    return Extracted(code=encodable(text if text.endswith("\n") else text + "\n"), rule=rule)


# --------------------------------------------------------------------------- the rules of other graders

_OPEN_OR_CLOSE = re.compile(r"<(/?)think>", re.IGNORECASE)


def extract_eval_protocol(content: str) -> str | None:
    """The code that Eval Protocol extracts, including its errors, so often not the program that was meant; `None` if
    the text has only thoughts.

    Closed thoughts are removed. Then the code is the first block opened by "```python", else the first block of any
    kind (its tag becomes code), else the text from the first "def " (imports above it are lost), else the whole text.
    Surrounding blanks are removed.

    Source: `_extract_python_code` in eval-protocol 0.3, in linear time.
    """
    text = _without_closed_thoughts(content).strip()
    if not text:
        return None if content.strip() else ""
    for opening in ("```python", "```"):
        start = text.find(opening)
        end = text.find("```", start + len(opening)) if start >= 0 else -1
        if end >= 0:
            return text[start + len(opening) : end].strip()
    start = text.find("def ")
    return text[start:].strip() if start >= 0 else text


def extract_eval_protocol_page(text: str) -> Extracted:
    """The program by our rule; if it finds none, the text that Eval Protocol would use as a program."""
    extracted = extract_python(text)
    if extracted.code is not None and extracted.code.strip():
        return extracted
    return Extracted(code=encodable(extract_eval_protocol(text) or "").strip(), rule="eval-protocol")


def extract_livecodebench(output: str) -> str:
    """The code that LiveCodeBench extracts: the text between the last two lines with a fence; empty without two.

    Source: `extract_code` in LiveCodeBench, for chat models.
    """
    lines = output.split("\n")
    fences = [number for number, line in enumerate(lines) if "```" in line]
    return "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) >= 2 else ""


def _without_closed_thoughts(text: str) -> str:
    parts: list[str] = []
    at, opened = 0, -1
    for marker in _OPEN_OR_CLOSE.finditer(text):
        if not marker[1] and opened < 0:
            opened = marker.start()
        elif marker[1] and opened >= 0:
            parts.append(text[at:opened])
            at, opened = marker.end(), -1
    parts.append(text[at:])
    return "".join(parts)
