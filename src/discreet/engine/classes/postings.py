"""Counting rows that agree with a query by looking only at those that share its rarest value.

The answer to many patterns of nulls: group counts (:func:`discreet.engine.classes.groups.consistent_counts`) cost a pass over
the table for each pattern, this costs a short list for each query whatever its pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ints = Any  # int64 arrays inside compiled code


def rarest(
    queries: Sequence[NDArray[Any]], table: Sequence[NDArray[Any]], cardinalities: Sequence[int], nulls: Sequence[int | None]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each query the attribute it knows with the fewest rows that may agree (-1 where it knows none), and how many."""
    size = len(queries[0])
    attribute, fewest = np.full(size, -1, dtype=np.int64), np.full(size, len(table[0]), dtype=np.int64)
    for at, (asked, held, cardinality, null) in enumerate(zip(queries, table, cardinalities, nulls, strict=True)):
        counts = np.bincount(held, minlength=cardinality)
        rows = counts[asked] + (counts[null] if null is not None else 0)
        better = (rows < fewest) | (attribute < 0)
        if null is not None:
            better &= asked != null
        attribute[better], fewest[better] = at, rows[better]
    return attribute, fewest


def posting_counts(
    queries: Sequence[NDArray[Any]],
    table: Sequence[NDArray[Any]],
    cardinalities: Sequence[int],
    nulls: Sequence[int | None],
    times: NDArray[np.int64],
    attribute: NDArray[np.int64],
) -> NDArray[np.int64]:
    """For each query the sum of ``times`` over the rows that agree with it where both say something."""
    missing = np.array([-1 if null is None else null for null in nulls], dtype=np.int64)
    rows: list[NDArray[np.int64]] = []
    edges: list[NDArray[np.int64]] = []
    bases = [0]
    for column, cardinality in zip(table, cardinalities, strict=True):
        order = np.argsort(column, kind="stable").astype(np.int64)
        edges.append(np.searchsorted(column[order], np.arange(cardinality + 1)).astype(np.int64) + len(column) * len(rows))
        rows.append(order)
        bases.append(bases[-1] + cardinality + 1)
    asked = np.column_stack([column.astype(np.int64) for column in queries])
    held = np.column_stack([column.astype(np.int64) for column in table])
    found = _count(asked, held, times, missing, np.concatenate(rows), np.concatenate(edges), np.array(bases, np.int64), attribute)
    return np.asarray(found, dtype=np.int64)


@compiled
def _count(asked: Ints, held: Ints, times: Ints, missing: Ints, rows: Ints, edges: Ints, bases: Ints, attribute: Ints) -> Ints:
    number, width = asked.shape
    everyone = times.sum()
    found = np.zeros(number, np.int64)
    for query in range(number):
        chosen = attribute[query]
        if chosen < 0:
            found[query] = everyone
            continue
        for part in range(2):  # the rows with the value, and those with none
            code = asked[query, chosen] if part == 0 else missing[chosen]
            if code < 0:
                continue
            edge = bases[chosen] + code
            for place in range(edges[edge], edges[edge + 1]):
                row = rows[place]
                agrees = True
                for at in range(width):
                    one, other = asked[query, at], held[row, at]
                    if one != other and one != missing[at] and other != missing[at]:
                        agrees = False
                        break
                if agrees:
                    found[query] += times[row]
    return found
