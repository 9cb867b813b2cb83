"""Generation text to code. Pure.

`messages` gets the text from a conversation, and `fences` finds its blocks, and a compiled language's program in them.
`cpp` and `python` have the rules of these languages.
"""
