"""The program of a compiled language in a generation: one rule for all of them. Pure."""

from __future__ import annotations

from collections.abc import Callable

from ioi_eval.extract.fences import Block, Extracted, blocks, encodable, split_thoughts


def extract_tagged(
    generation: str, *, name: str, tags: frozenset[str], looks_right: Callable[[str], bool]
) -> Extracted:
    """The program that a model handed in: the last complete block tagged so, else the last untagged one that is one.

    What the model said outside of its thoughts is its answer, and is looked through first: a draft inside
    `<think>…</think>` never wins over it. Only where the answer holds no program at all (the model was cut off while it
    thought, or did not repeat itself) are the thoughts looked through by the same rules, as the reference does; the
    rule's name says so, for those who would rather not count these.

    A last block without its closing fence was cut off in the middle of the program: an earlier complete one is taken,
    else there is none. Blank blocks are passed over.

    Args:
        generation: everything the model said.
        name: what the rule calls the language.
        tags: of the blocks that count as tagged, without a year.
        looks_right: whether the text of an untagged block is a program in the language.

    Returns:
        The code with line feeds for line ends, and the rule: `fence:<name>`, `fence:untagged`, `think:<name>`,
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
