"""The evidence report: what was released, from what, how risky it is and what it cost, for a person to read offline."""
