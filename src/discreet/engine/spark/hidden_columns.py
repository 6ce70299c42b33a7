"""The columns of a Spark frame that are no attributes: they travel with the rows and are never written."""

from __future__ import annotations

HIDDEN = "discreet: "
"""The prefix of every hidden column; a source with such a name is refused."""
RECORD = f"{HIDDEN}record"
"""The record number of each row."""
CHANGED = f"{HIDDEN}changed"
"""The number of values in each record that a masking step changed."""
