"""One file a command; arguments and exit codes."""
