"""Inference: guesses of a secret from the nearest released records."""
