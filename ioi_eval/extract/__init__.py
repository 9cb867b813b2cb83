"""Generation text to code. Pure.

`messages` gets the text from a conversation, and `fences` finds its blocks. `python`, and `tagged` with `cpp`, find the
program.
"""
