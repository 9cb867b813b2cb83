"""The commands. Each has a file with its arguments; longer commands have a second file with their work."""
