"""Comparison of attribute values for record linkage."""
