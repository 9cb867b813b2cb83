"""Official packages to rows."""
