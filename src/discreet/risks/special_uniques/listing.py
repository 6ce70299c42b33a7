"""The minimal sample uniques of every record, a batch of records at a time: all of them would not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.classes.key_sets import Missing
from discreet.engine.special_uniques.walk import DistinctKeys, find_minimal_uniques

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH = 1 << 12
"""Records of a batch: with 500 sets of each, their names take about thirty megabytes."""


def list_sets_in_batches(names: Sequence[str], keys: DistinctKeys, max_size: int, missing: Missing) -> Iterator[pl.Series]:
    """For each record its minimal sample uniques, small sets first, as ``age + job; sex + town``; null where it has none.

    At least one batch, which may be empty.
    One bit per sample unique and set is kept, whatever the number of minimal sample uniques.
    """
    minimal_uniques = sorted(find_minimal_uniques(keys, max_size, missing), key=lambda pair: (len(pair[0]), pair[0]))
    sets = [chosen for chosen, _ in minimal_uniques]
    labels = [" + ".join(names[key] for key in chosen) for chosen in sets]
    for begin in range(0, max(1, len(keys.rows)), BATCH):
        yield _name_sets(labels, [bits for _, bits in minimal_uniques], keys.rows[begin : begin + BATCH], keys.candidates)


def _name_sets(labels: Sequence[str], bits: Sequence[NDArray[np.uint8]], rows: NDArray[np.int64], candidates: int) -> pl.Series:
    unique = np.flatnonzero(rows < candidates)
    texts: list[list[str]] = [[] for _ in range(len(rows))]
    own = rows[unique]
    for label, packed in zip(labels, bits, strict=True):
        is_minimal = packed[own >> 3] >> (7 - (own & 7)).astype(np.uint8) & 1
        for record in unique[np.flatnonzero(is_minimal)].tolist():
            texts[record].append(label)
    return pl.Series("sets", ["; ".join(text) if text else None for text in texts], dtype=pl.String)
