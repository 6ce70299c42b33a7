"""Rare combinations of equivalence classes, from which both engines take summary, attributes and records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.classes.distinct_classes import DistinctClasses
from discreet.engine.classes.groups import refine_groups
from discreet.engine.classes.key_sets import KeySet
from discreet.risks.rare_combinations.counts import count_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 12
NAMED_SETS = 5
"""Rare sets of a record that are named; further ones are counted."""


@dataclass(frozen=True)
class ScoredClasses:
    """The summary, one row per attribute, and for each class its rare sets (``flags``: a bit per class) and least count."""

    summary: dict[str, int | float | Mapping[str, int | float] | None]
    per_attribute: pl.DataFrame
    names: list[str]
    rare_sets: NDArray[np.int64]
    fewest: NDArray[np.int64]
    flags: dict[KeySet, NDArray[np.uint8]]

    def list_values(self, ids: NDArray[np.int64]) -> pl.DataFrame:
        """The values per record of records of these classes."""
        names = _name_rare_sets(self.flags, self.names, len(self.rare_sets))
        smallest = pl.Series(self.fewest[ids])
        return pl.DataFrame(
            {
                "rare": self.rare_sets[ids],
                "fewest": pl.select(pl.when(smallest > 0).then(smallest)).to_series(),
                "sets": names.gather(pl.Series(ids)),
            }
        )


def score_classes(plugin: Any, names: list[str], classes: DistinctClasses, nulls: Sequence[int | None]) -> ScoredClasses:
    """Count the sets of the measure ``plugin`` on the classes."""
    sets = plugin.list_sets(names)
    size = len(classes.counts)
    rare_sets, fewest = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    by_size = {str(number): 0 for number in sorted({len(keys) for keys in sets})}
    by_key = np.zeros(len(names), dtype=np.int64)
    unsafe_by_key = np.zeros((len(names), size), dtype=np.bool_)
    flags: dict[KeySet, NDArray[np.uint8]] = {}
    for keys, counts, representatives in count_sets(classes, nulls, sets, plugin.missing):
        rare = (counts > 0) & (counts < plugin.threshold)
        fewest = np.where((counts > 0) & ((fewest == 0) | (counts < fewest)), counts, fewest)
        if not rare.any():
            continue
        rare_sets += rare
        number = int(rare[representatives].sum())
        by_size[str(len(keys))] += number
        by_key[list(keys)] += number
        unsafe_by_key[list(keys)] |= rare
        flags[keys] = np.packbits(rare)
    seen = fewest[fewest > 0]
    summary: dict[str, int | float | Mapping[str, int | float] | None] = {
        "records": int(classes.counts[rare_sets > 0].sum()),
        "combinations": sum(by_size.values()),
        "fewest": int(seen.min()) if len(seen) else None,
        "by_size": by_size,
    }
    per_attribute = pl.DataFrame(
        {"attribute": names, "combinations": by_key, "records": [int(classes.counts[unsafe].sum()) for unsafe in unsafe_by_key]}
    )
    return ScoredClasses(summary, per_attribute, names, rare_sets, fewest, flags)


def _name_rare_sets(flags: Mapping[KeySet, NDArray[np.uint8]], names: list[str], size: int) -> pl.Series:
    """For each class the names of its rare sets; classes with the same rare sets share one text."""
    ids, number = np.zeros(size, dtype=np.int64), min(size, 1)
    for packed in flags.values():
        ids, number = refine_groups(ids, number, np.unpackbits(packed, count=size), 2)
    first = np.empty(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(size - 1, -1, -1)
    labels = [" + ".join(names[key] for key in keys) for keys in flags]
    texts: list[str | None] = []
    # a block of patterns at a time: there may be as many as classes, and thousands of sets
    for begin in range(0, number, _BLOCK):
        rows = first[begin : begin + _BLOCK]
        bits = [packed[rows >> 3] >> (7 - (rows & 7)).astype(np.uint8) & 1 for packed in flags.values()]
        rare = np.array(bits, dtype=np.uint8).reshape(len(flags), len(rows))
        texts += [_join_labels([labels[index] for index in np.flatnonzero(rare[:, pattern])]) for pattern in range(len(rows))]
    return pl.Series("sets", texts, dtype=pl.String).gather(pl.Series(ids))


def _join_labels(labels: list[str]) -> str | None:
    if not labels:
        return None
    more = f"; {len(labels) - NAMED_SETS:,} more" if len(labels) > NAMED_SETS else ""
    return "; ".join(labels[:NAMED_SETS]) + more
