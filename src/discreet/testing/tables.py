"""Small tables for examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def table(columns: Mapping[str, Sequence[Any]], **roles: Sequence[str]) -> Microdata:
    """Microdata from lists, with roles by name: ``table({"age": [1, 2]}, key=["age"])``."""
    attributes = {name: Attribute(role=Role(role)) for role, names in roles.items() for name in names}
    return Microdata(pl.DataFrame(columns, strict=False), Policy(attributes=attributes), "the example")
