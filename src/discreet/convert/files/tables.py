"""A table between a format and Microdata: the frame, and the labels that statistical packages keep with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Table:
    """What a format holds."""

    frame: pl.DataFrame = field(repr=False)
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    """Value labels: for each column the words for its codes."""
    variable_labels: Mapping[str, str] = field(default_factory=dict)
    """For each column a line that says what it is."""
