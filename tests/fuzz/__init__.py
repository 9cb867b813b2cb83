"""Random input for all code that reads data of users or programs."""
