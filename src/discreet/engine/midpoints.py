"""Numbers behind coarse cells, by :mod:`discreet.engine.cells.midpoints`."""

from __future__ import annotations

from discreet.engine.cells.midpoints import as_numbers, bounds, is_number

__all__ = ["as_numbers", "bounds", "is_number"]
