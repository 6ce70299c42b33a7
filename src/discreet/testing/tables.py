"""Small tables for examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from discreet.model.attribute import Attribute, Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy


def table(
    columns: Mapping[str, Sequence[Any]],
    *,
    known: Mapping[str, float] | None = None,
    sensitivity: Mapping[str, float] | None = None,
    **roles: Sequence[str],
) -> Microdata:
    """Microdata from lists, with one keyword per role: ``table({"age": [1, 2]}, key=["age"])``.

    ``known`` and ``sensitivity`` give attributes their known probabilities and sensitivities.
    """
    known_probabilities, sensitivities = dict(known or {}), dict(sensitivity or {})
    role = {name: Role(role_name) for role_name, names in roles.items() for name in names}
    attributes = {
        name: Attribute(
            role=role.get(name, Role.OTHER), known=known_probabilities.get(name, 0.0), sensitivity=sensitivities.get(name, 0.0)
        )
        for name in [*role, *known_probabilities, *sensitivities]
    }
    return Microdata(pl.DataFrame(columns, strict=False), Policy(attributes=attributes), "the example")
