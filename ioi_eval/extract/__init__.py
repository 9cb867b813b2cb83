"""Generation text to code. Pure."""
