"""The program of a compiled language in a generation: one rule for all of them. Pure."""

from __future__ import annotations

from collections.abc import Callable

from ioi_eval.extract.fences import Block, Extracted, blocks, encodable, split_thoughts


def extract_tagged(
    generation: str, *, name: str, tags: frozenset[str], looks_right: Callable[[str], bool]
) -> Extracted:
    """The program in a generation: the last complete block with such a tag, else the last untagged one.

    The text outside of the thoughts is the answer, and is searched first, so a draft inside `<think>…</think>` is never
    preferred to it. Only if the answer has no program at all (the model was cut off while it thought, or did not repeat
    the program) the thoughts are searched by the same rules, as in the reference. The rule's name says so, for users
    who do not want to count these.

    If the last block has no closing fence, it was cut off in the middle of the program. An earlier complete block is
    used, if there is one. Blank blocks are skipped.

    Args:
        generation: the whole text of the model.
        name: the name of the language in the rule.
        tags: the tags of blocks that count, without a year.
        looks_right: whether the text of an untagged block is a program in the language.

    Returns:
        The code with line feeds as line ends, and the rule: `fence:<name>`, `fence:untagged`, `think:<name>`,
        `think:untagged` or `none`.
    """
    answer, thoughts = split_thoughts(generation)
    for where, pieces in (("fence", answer), ("think", thoughts)):
        found = _last_block(pieces, tags, looks_right)
        if found is not None:
            return Extracted(code=encodable(found.body()), rule=f"{where}:{name if found.tag else 'untagged'}")
    return Extracted(code=None, rule="none")


def _last_block(pieces: list[str], tags: frozenset[str], looks_right: Callable[[str], bool]) -> Block | None:
    """The last tagged block of all pieces, else the last untagged one that looks right."""
    tagged: Block | None = None
    untagged: Block | None = None
    for piece in pieces:
        for block in blocks(piece, tags):
            if block.tag.rstrip("0123456789") in tags:
                tagged = tagged if block.blank else block
            elif not (block.tag or block.blank) and looks_right(block.text[block.start : block.end]):
                untagged = block
    return tagged or untagged
