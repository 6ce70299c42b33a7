"""Sections of a policy that are models of their own."""
