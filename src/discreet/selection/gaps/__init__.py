"""Gaps in the evidence that a plan causes: counting them, and the columns beside the keys that cause them."""
