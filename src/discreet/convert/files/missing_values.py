"""Missing-value markers: texts and numbers that the policy declares to mean 'no value'."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from discreet.model.attribute import Attribute
from discreet.model.policy import Policy

_NO_MARKERS = Attribute()


def missing_markers(policy: Policy, name: str) -> tuple[str, ...]:
    """The markers of one column: those of the policy, then those of the attribute."""
    return tuple(dict.fromkeys((*table_markers(policy), *policy.attributes.get(name, _NO_MARKERS).missing)))


def table_markers(policy: Policy) -> tuple[str, ...]:
    """The markers of all columns: those of the policy, then those of its section ``read``."""
    return tuple(dict.fromkeys((*policy.missing, *policy.read.missing)))


def null_out_markers(schema: Mapping[str, pl.DataType], policy: Policy) -> list[pl.Expr]:
    """Expressions that replace markers by null in typed columns: a text equals its marker, a number has its value.

    >>> frame = pl.DataFrame({"age": [41, 999], "state": ["MI", "n/a"]})
    >>> policy = Policy.from_dict({"missing": ["n/a"], "attributes": {"age": {"missing": ["999"]}}})
    >>> frame.with_columns(null_out_markers(frame.schema, policy)).rows()
    [(41, 'MI'), (None, None)]
    """
    columns = ((name, dtype, missing_markers(policy, name)) for name, dtype in schema.items())
    return [
        expression for name, dtype, markers in columns if markers and (expression := _null_out(name, dtype, markers)) is not None
    ]


def _null_out(name: str, dtype: pl.DataType, markers: tuple[str, ...]) -> pl.Expr | None:
    column = pl.col(name)
    if dtype == pl.String:
        return pl.when(~column.is_in(markers)).then(column)
    if dtype.is_integer():
        whole = [int(number) for text in markers if (number := _canonical_number(text)) is not None and number == int(number)]
        return pl.when(~column.is_in(whole)).then(column) if whole else None
    if dtype.is_float():
        numbers = [float(number) for text in markers if (number := _canonical_number(text)) is not None]
        # as the column's type: polars refuses to look fractions up among whole numbers
        return pl.when(~column.is_in(pl.Series(numbers, dtype=dtype).implode())).then(column) if numbers else None
    if dtype.is_temporal():
        return pl.when(~column.cast(pl.String).is_in(markers)).then(column)
    return None


def _canonical_number(text: str) -> float | int | None:
    """The number that a marker spells in canonical form; None for '01', which a numeric column cannot contain."""
    if re.fullmatch(r"-?(?:0|[1-9][0-9]*)", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?(?:0|[1-9][0-9]*)\.[0-9]+", text) else None
