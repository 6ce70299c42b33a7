"""Intervals within a tolerance for all records of a table at once."""
