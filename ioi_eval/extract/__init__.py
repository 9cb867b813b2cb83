"""Generation text to code: `messages` to a text, `fences` to its blocks, `cpp` and `python` to the program. Pure."""
