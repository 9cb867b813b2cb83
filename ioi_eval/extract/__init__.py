"""Generation text to code. Pure.

`messages` makes a text of a conversation, `fences` finds its blocks; `tagged`, with `cpp`, and `python` the program.
"""
