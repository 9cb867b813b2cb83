"""The commands. One file has the arguments of a command; longer commands have a second file with what they do."""
