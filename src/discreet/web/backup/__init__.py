"""Backups of a whole installation in one encrypted file: made while the server runs, restored into an empty place."""
