"""The commands: one file for each one's arguments, a second one for what it does where that takes more than a call."""
