"""Minimal sample uniques: the search for them over sets of keys, and their scores (SUDA2)."""
