"""Extracts programs from generations. Pure.

`messages` gets the text from a conversation. `fences` finds the blocks in a text, and a compiled language's program in
them. `cpp` and `python` have the rules of these languages.
"""
