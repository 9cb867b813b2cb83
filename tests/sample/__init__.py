"""The sample contest and the sample of APPS: each program gets the verdict that is stated for it."""
