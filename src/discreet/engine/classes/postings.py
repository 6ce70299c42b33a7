"""Counting the rows that agree with a query by comparing it only with the rows that share its rarest value (posting lists).

For tables with many patterns of nulls: the group counts of :func:`discreet.engine.classes.groups.count_agreeing_rows` cost a pass
over the table per pattern, while this costs a short list per query, whatever its pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ints = Any  # int64 arrays inside compiled code


def choose_rarest_attribute(
    queries: Sequence[NDArray[Any]], table: Sequence[NDArray[Any]], cardinalities: Sequence[int], nulls: Sequence[int | None]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each query the attribute (not null in it) with the fewest rows that may agree, -1 for none, and that number of rows."""
    size = len(queries[0])
    attribute, fewest = np.full(size, -1, dtype=np.int64), np.full(size, len(table[0]), dtype=np.int64)
    for index, (query_codes, row_codes, cardinality, null) in enumerate(zip(queries, table, cardinalities, nulls, strict=True)):
        counts = np.bincount(row_codes, minlength=cardinality)
        rows = counts[query_codes] + (counts[null] if null is not None else 0)
        better = (rows < fewest) | (attribute < 0)
        if null is not None:
            better &= query_codes != null
        attribute[better], fewest[better] = index, rows[better]
    return attribute, fewest


def count_by_postings(
    queries: Sequence[NDArray[Any]],
    table: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    nulls: Sequence[int | None],
    times: NDArray[Any],
    attribute: NDArray[np.int64],
) -> NDArray[Any]:
    """For each query the sum of ``times`` over the rows that agree with it, where a null on either side agrees with anything."""
    missing = np.array([-1 if null is None else null for null in nulls], dtype=np.int64)
    rows: list[NDArray[np.int64]] = []
    edges: list[NDArray[np.int64]] = []
    bases = [0]
    for column, cardinality in zip(table, cardinalities, strict=True):
        order = np.argsort(column, kind="stable").astype(np.int64)
        edges.append(np.searchsorted(column[order], np.arange(cardinality + 1)).astype(np.int64) + len(column) * len(rows))
        rows.append(order)
        bases.append(bases[-1] + cardinality + 1)
    query_codes = np.column_stack([column.astype(np.int64) for column in queries])
    row_codes = np.column_stack([column.astype(np.int64) for column in table])
    counts = _count_agreeing_rows(
        query_codes, row_codes, times, missing, np.concatenate(rows), np.concatenate(edges), np.array(bases, np.int64), attribute
    )
    return np.asarray(counts, dtype=times.dtype)


# query_codes[query, column] and row_codes[row, column]: codes over shared dictionaries. missing[column]: code of null, -1 for
# none. rows: for each column the rows sorted by code; those with a code are rows[edges[e]:edges[e + 1]] with e = bases[column] +
# code. attribute[query]: the column whose posting lists are searched. O(sum over the queries of the posting list's length x
# columns). Trap: where the query's own code is null, attribute is another column, so no row is visited twice.
@compiled
def _count_agreeing_rows(
    query_codes: Ints, row_codes: Ints, times: Ints, missing: Ints, rows: Ints, edges: Ints, bases: Ints, attribute: Ints
) -> Ints:
    number, width = query_codes.shape
    everyone = times.sum()
    counts = np.zeros(number, times.dtype)
    for query in range(number):
        chosen = attribute[query]
        if chosen < 0:
            counts[query] = everyone
            continue
        for part in range(2):  # the rows with the query's value, and the rows with null
            code = query_codes[query, chosen] if part == 0 else missing[chosen]
            if code < 0:
                continue
            edge = bases[chosen] + code
            for posting in range(edges[edge], edges[edge + 1]):
                row = rows[posting]
                agrees = True
                for column in range(width):
                    query_code, row_code = query_codes[query, column], row_codes[row, column]
                    if query_code != row_code and query_code != missing[column] and row_code != missing[column]:
                        agrees = False
                        break
                if agrees:
                    counts[query] += times[row]
    return counts
