"""Hierarchies for display and editing: built from an attribute's values, summarised per level, and stored as groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet import registry
from discreet.engine.cells import hierarchies
from discreet.engine.cells.hierarchies import hierarchy_from_spec, leaf_codes, leaf_text
from discreet.engine.encoding.columns import Column, encode
from discreet.errors import DiscreetError
from discreet.model.attribute import Attribute, Role
from discreet.model.hierarchy import Hierarchy
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.web.projects.risk_sample import read_sample

MAX_LEAVES = 50_000
"""Maximum number of distinct values for which a hierarchy is built for display."""
MAX_GRID_VALUES = 200
"""Maximum number of distinct values for editing in a table; larger hierarchies are edited as text."""
TOP_LABELS = 12
TOP_VALUES = 100
"""Number of labels shown per level; number of most frequent values shown if there are more than ``MAX_LEAVES``."""


@dataclass(frozen=True)
class LevelSummary:
    """A level of a hierarchy: the number of its labels, and the number of records per label."""

    number: int
    labels: int
    least: int
    """Number of records of the rarest label."""
    largest: tuple[tuple[str, int], ...]
    """The most frequent labels with their numbers of records."""


@dataclass(frozen=True)
class ValueCounts:
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
def _count_values(file: Path, _written: int, name: str) -> ValueCounts:
    frame = pl.read_parquet(file, columns=[name])
    data = Microdata(frame, Policy())
    series = data.frame[name]
    present = series.drop_nulls()
    distinct = present.n_unique()
    has_range = (series.dtype.is_numeric() or series.dtype.is_temporal()) and distinct
    bounds = (leaf_text(present.min()), leaf_text(present.max())) if has_range else ("", "")
    if distinct > MAX_LEAVES:
        top = present.alias("value").value_counts(name="records").top_k(TOP_VALUES, by="records")
        pairs = tuple((leaf_text(value), int(count)) for value, count in top.iter_rows())
        return ValueCounts(pairs, series.null_count(), distinct, len(series), *bounds)
    (column,) = encode(data, [name])
    counts = np.bincount(column.codes, minlength=column.cardinality)[: len(column.values)]
    order = np.argsort(-counts, kind="stable")
    ordered_values = column.values.gather(order).to_list()
    pairs = tuple((leaf_text(value), int(counts[code])) for value, code in zip(ordered_values, order, strict=True))
    return ValueCounts(pairs, series.null_count(), distinct, len(series), *bounds, column, data)


def count_values(file: Path, name: str) -> ValueCounts:
    """Count the values of a column of a Parquet file; the most recent columns are cached."""
    return _count_values(file, file.stat().st_mtime_ns, name)


def build_hierarchy(values: ValueCounts, attribute: Attribute) -> Hierarchy | None:
    """The hierarchy of an attribute over its values; None if it has none, or more than ``MAX_LEAVES`` values."""
    if attribute.hierarchy is None or values.column is None or values.data is None or values.distinct > MAX_LEAVES:
        return None
    if attribute.hierarchy.file:
        raise DiscreetError(
            f"the hierarchy is in the file {attribute.hierarchy.file}, which the server does not read; enter it as groups instead"
        )
    hierarchy = hierarchy_from_spec(values.column, attribute.hierarchy, values.data)
    leaf_codes(values.column, hierarchy)
    return hierarchy


def summarize_levels(values: ValueCounts, hierarchy: Hierarchy) -> list[LevelSummary]:
    """Summarise each level: its labels and their numbers of records."""
    records = dict(values.counts)
    leaf_records = [records.get(leaf, 0) for leaf in hierarchy.leaves]
    summaries = []
    for number, labels in enumerate(hierarchy.labels):
        label_records: dict[str, int] = {}
        for label, count in zip(labels, leaf_records, strict=True):
            label_records[label] = label_records.get(label, 0) + count
        ranked = sorted(label_records.items(), key=lambda pair: -pair[1])
        summaries.append(LevelSummary(number, len(ranked), ranked[-1][1], tuple(ranked[:TOP_LABELS])))
    return summaries


def editor_rows(values: ValueCounts, hierarchy: Hierarchy | None) -> list[tuple[str, int, list[str]]]:
    """One row per value for an editor: value, count and labels of the higher levels, without a top level ``*``."""
    records = dict(values.counts)
    if hierarchy is None:
        return [(leaf, count, []) for leaf, count in sorted(values.counts, key=_numbers_first)]
    top = hierarchy.height if set(hierarchy.labels[-1]) == {"*"} else hierarchy.height + 1
    return [
        (leaf, records.get(leaf, 0), [hierarchy.labels[level][leaf_index] for level in range(1, top)])
        for leaf_index, leaf in enumerate(hierarchy.leaves)
    ]


def groups_from_rows(rows: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, list[str]]]:
    """The levels of a policy from editor rows (value, labels); an empty label means the label of the level below.

    >>> groups_from_rows([("Flu", ["lung"]), ("Asthma", ["lung"]), ("Cancer", [""])])
    [{'lung': ['Flu', 'Asthma'], 'Cancer': ['Cancer']}]
    """
    depth = max((len(labels) for _, labels in rows), default=0)
    below = [leaf for leaf, _ in rows]
    levels: list[dict[str, list[str]]] = []
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
        levels.append(groups)
        below = above
    return levels


def format_text(rows: Sequence[tuple[str, int, Sequence[str]]]) -> str:
    """Editor rows as a hierarchy file in ARX's form, with the top level ``*``."""
    depth = max((len(labels) for _, _, labels in rows), default=0)
    complete = []
    for leaf, _, labels in rows:
        row = [leaf]
        for level in range(depth):
            row.append((labels[level] if level < len(labels) else "") or row[-1])
        complete.append([*row, "*"])
    return hierarchies.format_rows(complete)


def parse_text(text: str) -> list[tuple[str, list[str]]]:
    """Editor rows from a hierarchy file in ARX's form, without a top level ``*``."""
    return [
        (leaf.strip(), [label.strip() for label in labels if label.strip() != "*"])
        for leaf, *labels in hierarchies.parse_rows(text)
    ]


def fit_rows(
    rows: Sequence[tuple[str, Sequence[str]]], values: ValueCounts
) -> tuple[list[tuple[str, tuple[str, ...]]], list[str], int]:
    """Rows of a file fitted to the data: a row per value, the values that the file misses, and how many others it has.

    A value that the file misses gets a row without labels, so it stays as it is until somebody groups it.
    """
    given = {leaf: tuple(labels) for leaf, labels in rows}
    leaves = [leaf for leaf, _, _ in editor_rows(values, None)]
    missing = [leaf for leaf in leaves if leaf not in given]
    return [(leaf, given.get(leaf, ())) for leaf in leaves], missing, len(given.keys() - set(leaves))


def measure_effect(file: Path, policy: Policy, name: str, hierarchy: Hierarchy) -> dict[str, Any] | None:
    """What each level would do to the equivalence classes of the keys, on a sample; None where the attribute is no key.

    Measured by k_anonymity itself, with this attribute at the level and every other key as it is.
    """
    keys = {key: attribute for key, attribute in policy.attributes.items() if attribute.role is Role.KEY}
    if name not in keys:
        return None
    bare = {key: attribute.model_copy(update={"hierarchy": None, "allow_absent": True}) for key, attribute in keys.items()}
    sample, records = read_sample(file, bare, policy)
    (column,) = encode(sample, [name])
    leaves = leaf_codes(column, hierarchy)[column.codes]
    measure = registry.create("risk", "k_anonymity", {}, origin=policy.origin)
    levels = []
    for number, labels in enumerate(hierarchy.labels):
        recoded = pl.Series(name, [labels[leaf] if leaf >= 0 else None for leaf in leaves.tolist()], dtype=pl.String)
        summary = measure.measure(Microdata(sample.frame.with_columns(recoded), sample.policy)).to_dict()
        levels.append({"level": number, **{field: summary[field] for field in ("k", "unique", "violating_5")}})
    return {"records": len(sample), "of": records, "keys": list(keys), "levels": levels}


def specification_from_form(kind: str, form: Mapping[str, str]) -> dict[str, Any] | None:
    """The specification of a hierarchy from a form: its kind and its numbers or texts; None for no hierarchy."""
    if kind in ("", "none"):
        return None
    listed = [part for part in form.get(kind, "").replace(";", " ").replace(",", " ").split() if part]
    specification: dict[str, Any] = {kind: listed}
    if kind == "widths" and form.get("origin", "").strip() not in ("", "0"):
        specification["origin"] = form["origin"].strip()
    return specification


def _numbers_first(pair: tuple[str, int]) -> tuple[int, float, str]:
    try:
        return 0, float(pair[0]), pair[0]
    except ValueError:
        return 1, 0.0, pair[0]
