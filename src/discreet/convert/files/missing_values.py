"""Missing-value markers: the texts and numbers that the policy says mean 'no value'."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from discreet.model.attribute import Attribute
from discreet.model.policy import Policy

_PLAIN = Attribute()


def markers(policy: Policy, name: str) -> tuple[str, ...]:
    """The texts that mean 'missing' in one column: those of the policy, then those of the attribute."""
    return tuple(dict.fromkeys((*policy.missing, *policy.attributes.get(name, _PLAIN).missing)))


def without_markers(schema: Mapping[str, pl.DataType], policy: Policy) -> list[pl.Expr]:
    """Changes that make markers null in a table with types: a text equals its marker, a number has its value.

    >>> frame = pl.DataFrame({"age": [41, 999], "state": ["MI", "n/a"]})
    >>> policy = Policy.from_dict({"missing": ["n/a"], "attributes": {"age": {"missing": ["999"]}}})
    >>> frame.with_columns(without_markers(frame.schema, policy)).rows()
    [(41, 'MI'), (None, None)]
    """
    found = ((name, dtype, markers(policy, name)) for name, dtype in schema.items())
    return [change for name, dtype, texts in found if texts and (change := _change(name, dtype, texts)) is not None]


def _change(name: str, dtype: pl.DataType, texts: tuple[str, ...]) -> pl.Expr | None:
    column = pl.col(name)
    if dtype == pl.String:
        return pl.when(~column.is_in(texts)).then(column)
    if dtype.is_integer():
        whole = [int(number) for text in texts if (number := _number(text)) is not None and number == int(number)]
        return pl.when(~column.is_in(whole)).then(column) if whole else None
    if dtype.is_float():
        numbers = [number for text in texts if (number := _number(text)) is not None]
        return pl.when(~column.is_in(numbers)).then(column) if numbers else None
    if dtype.is_temporal():
        return pl.when(~column.cast(pl.String).is_in(texts)).then(column)
    return None


def _number(text: str) -> float | int | None:
    """The number that a marker is; '01' is none, for it is no number's usual spelling."""
    if re.fullmatch(r"-?(?:0|[1-9][0-9]*)", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?(?:0|[1-9][0-9]*)\.[0-9]+", text) else None
