"""What a group of records publishes where its values must stay true: the range of its numbers, the set of its categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.cells.hierarchies import leaf_text
from discreet.engine.cells.nested_groups import flatten_groups
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
    return flatten_groups(data, name, pl.Series(name, [*texts, None], dtype=pl.String).gather(published))


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
    sizes = np.bincount(owners, minlength=number)
    ends = np.cumsum(sizes)
    # of most groups all records have the same category, and most others have a set that other groups have too
    only = np.array([*texts, None], dtype=object)[np.minimum(members[ends - sizes], len(texts))]
    only[missing] = None
    labels: list[str | None] = only.tolist()
    sets: dict[tuple[int, ...], str] = {}
    for place in np.flatnonzero((sizes > 1) & ~missing).tolist():
        own = tuple(members[ends[place] - sizes[place] : ends[place]].tolist())
        if own not in sets:
            sets[own] = str(Group(frozenset(texts[member] for member in own)))
        labels[place] = None if len(own) == len(texts) else sets[own]
    return labels


def _values(
    column: Column, group: NDArray[np.int64], codes: NDArray[np.int64], number: int, missing: NDArray[np.bool_]
) -> list[str | None]:
    """The single value of each group as text."""
    code_of_group = np.zeros(number, dtype=np.int64)
    code_of_group[group] = codes
    texts = [leaf_text(value) for value in column.values.to_list()]
    return [None if blank else texts[code] for code, blank in zip(code_of_group.tolist(), missing.tolist(), strict=True)]
