"""The search itself, and the file that it can be resumed from."""
