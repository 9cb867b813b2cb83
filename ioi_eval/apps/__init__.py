"""APPS: what its users call and what they get. Formats of Eval Protocol and mcpbr, and summaries."""
