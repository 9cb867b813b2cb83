"""Random input to everything that reads what users or programs wrote."""
