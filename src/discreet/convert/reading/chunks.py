"""A table in parts, so that no more than a few of them are held at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl

_LARGEST = 4
"""A row group of more parts than this is read in pieces, though its beginning is then decoded again for each."""


def row_groups(path: Path) -> tuple[int, ...]:
    """The records of each row group of a Parquet file."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        found = file.metadata
        return tuple(found.row_group(at).num_rows for at in range(found.num_row_groups))


def in_parts(lazy: pl.LazyFrame, groups: Sequence[int], size: int) -> Iterator[pl.DataFrame]:
    """A table in parts of about ``size`` records, in its order; there is always one.

    Where its row groups are known they are read whole, one part ahead of the one at hand: Polars by itself reads ahead many
    row groups, and as much memory as they take.
    """
    if not groups:
        made = lazy.collect_batches(chunk_size=size, maintain_order=True, engine="streaming")
        first = next(iter(made), None)
        yield first if first is not None else lazy.head(0).collect()
        yield from made
        return
    with ThreadPoolExecutor(1) as ahead:
        coming = None
        for begin, end in pairwise(_bounds(groups, size)):
            following = ahead.submit(lazy.slice(begin, end - begin).collect, engine="streaming")
            if coming is not None:
                yield coming.result()
            coming = following
        yield coming.result() if coming is not None else lazy.head(0).collect()


def largest_part(groups: Sequence[int], size: int) -> int:
    """The most records that are decoded at once."""
    return max((end - begin for begin, end in pairwise(_bounds(groups, size))), default=size)


def _bounds(groups: Sequence[int], size: int) -> list[int]:
    """Where parts begin and end: small row groups together, large ones by themselves or in pieces.

    >>> _bounds([3, 3, 3, 100, 1], 5)
    [0, 6, 9, 14, 19, 24, 29, 34, 39, 44, 49, 54, 59, 64, 69, 74, 79, 84, 89, 94, 99, 104, 109, 110]
    >>> _bounds([3, 3, 15], 5)
    [0, 6, 21]
    """
    made = [0]
    for before, end in pairwise(accumulate(groups, initial=0)):
        if end - before > _LARGEST * size:
            made.extend(range(before, end, size))
            made.append(end)
        elif end - made[-1] >= size:
            made.append(end)
    return list(dict.fromkeys((*made, sum(groups))))
