"""Presets: named limits with their source and the conditions under which they apply."""
