"""What a group of records publishes where its values must stay true: the range of its numbers, the set of its categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.hierarchies import leaf_text
from discreet.engine.cells.range_ends import round_ends_outward
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.encoding.unique_keys import unique_keys
from discreet.model.attribute import Level
from discreet.model.cells import Group
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


def publish_ranges(data: Microdata, name: str, groups: NDArray[np.int64], enough: int) -> pl.Series:
    """For each record the range of its group in a column: a value, a closed interval or a set of categories.

    An end of an interval that fewer than ``enough`` records hold is rounded outward.

    Null stands for a group of which a value is missing, for a set of all categories, which says nothing, and for records without
    a group (-1). A column of which every group has a single value stays as it is.
    """
    (column,) = encode(data, [name])
    number = int(groups.max(initial=-1)) + 1
    grouped = groups >= 0
    group, codes = groups[grouped], column.codes[grouped].astype(np.int64)
    missing = np.bincount(group, weights=column.is_null[grouped], minlength=number) > 0
    in_order = data.level(name) in (Level.NUMERIC, Level.DATE) and data.frame.schema[name] != pl.String
    if in_order:
        labels = _intervals(column, group, codes, number, missing, enough)
    else:
        labels = _sets(column, group, codes, number, missing)
    if grouped.all() and labels is None:
        return data.frame[name]
    texts = labels if labels is not None else _values(column, group, codes, number, missing)
    published = np.where(grouped, groups, number)
    return pl.Series(name, [*texts, None], dtype=pl.String).gather(published)


def _intervals(
    column: Column, group: NDArray[np.int64], codes: NDArray[np.int64], number: int, missing: NDArray[np.bool_], enough: int
) -> list[str | None] | None:
    """The interval of each group; None where every group has one value, and it is the whole group's."""
    low, high = np.full(number, column.cardinality, dtype=np.int64), np.full(number, -1, dtype=np.int64)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    if (low == high).all():
        return None
    labels: list[str | None] = [None] * number
    single, wide = np.flatnonzero(~missing & (low == high)), np.flatnonzero(~missing & (low < high))
    for place, value in zip(single.tolist(), column.values.gather(low[single]).to_list(), strict=True):
        labels[place] = leaf_text(value)
    frequencies = np.bincount(column.codes, minlength=column.cardinality)
    ends = round_ends_outward(column.values, low[wide], high[wide], frequencies, enough)
    for place, first, last in zip(wide.tolist(), *ends, strict=True):
        labels[place] = f"[{leaf_text(first)}, {leaf_text(last)}]"
    return labels


def _sets(
    column: Column, group: NDArray[np.int64], codes: NDArray[np.int64], number: int, missing: NDArray[np.bool_]
) -> list[str | None] | None:
    """The set of the categories of each group; None where every group has one category."""
    pairs = unique_keys(group * column.cardinality + codes)
    owners, members = pairs // column.cardinality, pairs % column.cardinality
    if len(pairs) == number:
        return None
    texts = [leaf_text(value) for value in column.values.to_list()]
    names: list[list[str]] = [[] for _ in range(number)]
    for owner, member in zip(owners.tolist(), members.tolist(), strict=True):
        if member < len(texts):
            names[owner].append(texts[member])
    return [
        None if blank or len(own) == len(texts) > 1 else own[0] if len(own) == 1 else str(Group(frozenset(own)))
        for own, blank in zip(names, missing.tolist(), strict=True)
    ]


def _values(
    column: Column, group: NDArray[np.int64], codes: NDArray[np.int64], number: int, missing: NDArray[np.bool_]
) -> list[str | None]:
    """The single value of each group as text."""
    code_of_group = np.zeros(number, dtype=np.int64)
    code_of_group[group] = codes
    texts = [leaf_text(value) for value in column.values.to_list()]
    return [None if blank else texts[code] for code, blank in zip(code_of_group.tolist(), missing.tolist(), strict=True)]
