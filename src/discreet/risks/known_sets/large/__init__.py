"""Sums over known sets for tables of many records, on the distinct rows of few covers."""
