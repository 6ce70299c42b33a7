"""Reading a table in chunks, so that only a few of them are in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl

from discreet.engine.runtime.worker_threads import WorkerThreads

_MAX_CHUNKS_PER_GROUP = 4
"""A row group larger than this many chunks is split, although its beginning is then decoded again for each chunk."""


def row_group_sizes(path: Path) -> tuple[int, ...]:
    """Number of records of each row group of a Parquet file."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        return tuple(metadata.row_group(index).num_rows for index in range(metadata.num_row_groups))


def iterate_chunks(lazy: pl.LazyFrame, groups: Sequence[int], size: int) -> Iterator[pl.DataFrame]:
    """Yield a table in chunks of about ``size`` records, in its order; at least one chunk, even for an empty table.

    If the row groups are known, they are read whole and one chunk ahead. Polars on its own reads many row groups ahead, and
    needs the memory for them.
    """
    if not groups:
        batches = lazy.collect_batches(chunk_size=size, maintain_order=True, engine="streaming")
        first = next(iter(batches), None)
        yield first if first is not None else lazy.head(0).collect()
        yield from batches
        return
    with WorkerThreads(1) as executor:
        pending = None
        for begin, end in pairwise(_chunk_bounds(groups, size)):
            following = executor.submit(lazy.slice(begin, end - begin).collect, engine="streaming")
            if pending is not None:
                yield pending.result()
            pending = following
        yield pending.result() if pending is not None else lazy.head(0).collect()


def largest_chunk(groups: Sequence[int], size: int) -> int:
    """The largest number of records that are decoded at once."""
    return max((end - begin for begin, end in pairwise(_chunk_bounds(groups, size))), default=size)


def _chunk_bounds(groups: Sequence[int], size: int) -> list[int]:
    """The boundaries of the chunks: small row groups are combined, large ones are kept or split.

    >>> _chunk_bounds([3, 3, 3, 100, 1], 5)
    [0, 6, 9, 14, 19, 24, 29, 34, 39, 44, 49, 54, 59, 64, 69, 74, 79, 84, 89, 94, 99, 104, 109, 110]
    >>> _chunk_bounds([3, 3, 15], 5)
    [0, 6, 21]
    """
    bounds = [0]
    for begin, end in pairwise(accumulate(groups, initial=0)):
        if end - begin > _MAX_CHUNKS_PER_GROUP * size:
            bounds.extend(range(begin, end, size))
            bounds.append(end)
        elif end - bounds[-1] >= size:
            bounds.append(end)
    return list(dict.fromkeys((*bounds, sum(groups))))
