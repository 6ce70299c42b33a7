"""A hierarchy looked at and edited: built from an attribute's values, shown level by level with counts, and kept as groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.engine.cells.hierarchies import hierarchy_from, leaf_codes, leaf_text
from discreet.engine.encoding.columns import Column, encode
from discreet.errors import DiscreetError
from discreet.model.attribute import Attribute
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

MOST_LEAVES = 50_000
"""Distinct values up to which a hierarchy is built to be looked at."""
GRID = 200
"""Distinct values up to which a hierarchy can be edited in a table; a longer one is edited as text."""
SHOWN = 12
SHOWN_OF_MANY = 100
"""Labels of a level that are shown; most frequent values that are counted out where there are too many."""


@dataclass(frozen=True)
class Level:
    """One level: how many labels it has and how many records stand behind them."""

    number: int
    labels: int
    least: int
    """Records behind the rarest label."""
    largest: tuple[tuple[str, int], ...]
    """The most frequent labels with their records."""


@dataclass(frozen=True)
class Values:
    """The values of one attribute with their counts, most frequent first."""

    counts: tuple[tuple[str, int], ...]
    nulls: int
    distinct: int
    records: int
    minimum: str = ""
    maximum: str = ""
    column: Column | None = field(default=None, repr=False)
    data: Microdata | None = field(default=None, repr=False)


@lru_cache(maxsize=4)
def _values(place: Path, _written: int, name: str) -> Values:
    frame = pl.read_parquet(place, columns=[name])
    data = Microdata(frame, Policy())
    series = data.frame[name]
    held = series.drop_nulls()
    distinct = held.n_unique()
    ranged = (series.dtype.is_numeric() or series.dtype.is_temporal()) and distinct
    bounds = (leaf_text(held.min()), leaf_text(held.max())) if ranged else ("", "")
    if distinct > MOST_LEAVES:
        top = held.alias("value").value_counts(name="records").top_k(SHOWN_OF_MANY, by="records")
        pairs = tuple((leaf_text(value), int(count)) for value, count in top.iter_rows())
        return Values(pairs, series.null_count(), distinct, len(series), *bounds)
    (column,) = encode(data, [name])
    tallied = np.bincount(column.codes, minlength=column.cardinality)[: len(column.values)]
    order = np.argsort(-tallied, kind="stable")
    texts = column.values.gather(order).to_list()
    pairs = tuple((leaf_text(value), int(tallied[code])) for value, code in zip(texts, order, strict=True))
    return Values(pairs, series.null_count(), distinct, len(series), *bounds, column, data)


def values(place: Path, name: str) -> Values:
    """The values of a column of a Parquet file; the last few columns asked for are kept."""
    return _values(place, place.stat().st_mtime_ns, name)


def build(found: Values, attribute: Attribute) -> Hierarchy | None:
    """The hierarchy of an attribute over its values; None where it has none, or too many values to show it."""
    if attribute.hierarchy is None or found.column is None or found.data is None or found.distinct > MOST_LEAVES:
        return None
    if attribute.hierarchy.file:
        raise DiscreetError(
            f"the hierarchy is in the file {attribute.hierarchy.file}, which the server does not read; write it as groups here"
        )
    made = hierarchy_from(found.column, attribute.hierarchy, found.data)
    leaf_codes(found.column, made)
    return made


def levels(found: Values, hierarchy: Hierarchy) -> list[Level]:
    """Each level with its labels and the records behind them."""
    records = dict(found.counts)
    weights = [records.get(leaf, 0) for leaf in hierarchy.leaves]
    made = []
    for number, labels in enumerate(hierarchy.labels):
        behind: dict[str, int] = {}
        for label, weight in zip(labels, weights, strict=True):
            behind[label] = behind.get(label, 0) + weight
        ranked = sorted(behind.items(), key=lambda pair: -pair[1])
        made.append(Level(number, len(ranked), ranked[-1][1], tuple(ranked[:SHOWN])))
    return made


def as_rows(found: Values, hierarchy: Hierarchy | None) -> list[tuple[str, int, list[str]]]:
    """Every value with its count and its labels, for an editor; ``*`` on top is left out."""
    records = dict(found.counts)
    if hierarchy is None:
        return [(leaf, count, []) for leaf, count in sorted(found.counts, key=_natural)]
    upto = hierarchy.height if set(hierarchy.labels[-1]) == {"*"} else hierarchy.height + 1
    return [
        (leaf, records.get(leaf, 0), [hierarchy.labels[level][at] for level in range(1, upto)])
        for at, leaf in enumerate(hierarchy.leaves)
    ]


def as_groups(rows: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, list[str]]]:
    """Rows of an editor (value, labels) as the levels of a policy; a label left empty keeps what stands below it.

    >>> as_groups([("Flu", ["lung"]), ("Asthma", ["lung"]), ("Cancer", [""])])
    [{'lung': ['Flu', 'Asthma'], 'Cancer': ['Cancer']}]
    """
    depth = max((len(labels) for _, labels in rows), default=0)
    below = [leaf for leaf, _ in rows]
    made: list[dict[str, list[str]]] = []
    for level in range(depth):
        above = [
            (labels[level].strip() if level < len(labels) else "") or under
            for (_, labels), under in zip(rows, below, strict=True)
        ]
        if above == below:
            break
        groups: dict[str, list[str]] = {}
        for under, label in zip(below, above, strict=True):
            members = groups.setdefault(label, [])
            if under not in members:
                members.append(under)
        made.append(groups)
        below = above
    return made


def as_text(rows: Sequence[tuple[str, int, Sequence[str]]]) -> str:
    """The rows as lines ``value;label;label``, the form of a hierarchy file."""
    return "\n".join(";".join([leaf, *labels]) for leaf, _, labels in rows)


def from_text(text: str) -> list[tuple[str, list[str]]]:
    """Lines ``value;label;label`` as rows."""
    parts = [line.split(";") for line in text.splitlines() if line.strip()]
    return [(leaf.strip(), [label.strip() for label in labels if label.strip() != "*"]) for leaf, *labels in parts]


def proposed(kind: str, said: Mapping[str, str]) -> dict[str, Any] | None:
    """A specification from what a form says: a kind and its numbers or words; None for no hierarchy."""
    if kind in ("", "none"):
        return None
    listed = [part for part in said.get(kind, "").replace(";", " ").replace(",", " ").split() if part]
    made: dict[str, Any] = {kind: listed}
    if kind == "widths" and said.get("origin", "").strip() not in ("", "0"):
        made["origin"] = said["origin"].strip()
    return made


def _natural(pair: tuple[str, int]) -> tuple[int, float, str]:
    try:
        return 0, float(pair[0]), pair[0]
    except ValueError:
        return 1, 0.0, pair[0]
