"""What a box is asked to do, and what it answered. Pure."""
