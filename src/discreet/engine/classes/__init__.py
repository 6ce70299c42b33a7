"""Equivalence classes: group ids, counts, diversity, closeness, persons."""
