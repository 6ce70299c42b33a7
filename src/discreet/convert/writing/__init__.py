"""Microdata to files and database tables: atomically, and never over an input."""
