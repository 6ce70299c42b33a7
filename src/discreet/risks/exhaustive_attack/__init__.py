"""Singling out and inference over every set of columns that an intruder may know."""
