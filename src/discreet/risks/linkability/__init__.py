"""Linkability: two parts of a person's values, linked through the release."""
