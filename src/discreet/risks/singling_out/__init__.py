"""Singling out: statements that hold for exactly one person."""
