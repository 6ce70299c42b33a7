"""The table that file formats and databases exchange with Microdata: a frame and the labels of statistical packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl


@dataclass(frozen=True)
class Table:
    """A frame with its value labels and variable labels."""

    frame: pl.DataFrame = field(repr=False)
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    """Value labels: column -> code -> label."""
    variable_labels: Mapping[str, str] = field(default_factory=dict)
    """Variable labels: column -> description."""
