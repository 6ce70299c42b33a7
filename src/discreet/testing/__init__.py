"""For plug-in authors and tests: the conformance kit and makers of realistic data."""

from __future__ import annotations

from discreet.testing.tables import table

__all__ = ["table"]
