"""Counting the rows that agree with each query, where values agree by a relation and not only if they are equal.

Candidates come from the attribute of the query with the fewest agreeing rows, so that none is missed and most pairs are never
compared; the other attributes are then checked on these candidates only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.runtime.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ints = Any  # int64 arrays inside compiled code


@dataclass(frozen=True)
class ValueRelation:
    """One attribute: codes of both sides (-1: a wildcard null), and for each left code the agreeing right codes."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    starts: NDArray[np.int64]
    agreeing: NDArray[np.int64]
    right_size: int
    scores: NDArray[np.float64] | None = None
    """Similarity of every left code with every right code, for the similarity of whole records."""


def build_relation(
    codes: tuple[NDArray[np.int64], NDArray[np.int64]],
    sizes: tuple[int, int],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    scores: NDArray[np.float64] | None = None,
) -> ValueRelation:
    """Build an attribute's relation from its pairs of agreeing codes."""
    order = np.lexsort((pairs[1], pairs[0]))
    starts = np.searchsorted(pairs[0][order], np.arange(sizes[0] + 1)).astype(np.int64)
    return ValueRelation(*codes, starts, pairs[1][order].astype(np.int64), sizes[1], scores)


def count_related(
    attributes: Sequence[ValueRelation], times: NDArray[np.int64], threshold: float | None = None
) -> NDArray[np.int64]:
    """For each query the sum of ``times`` over the rows that agree with it.

    A row agrees if it agrees on every attribute that is not null on either side; with a ``threshold`` if the mean similarity of
    the attributes with scores reaches it, and all other attributes agree.
    """
    scored = np.array([threshold is not None and relation.scores is not None for relation in attributes])
    queries = np.column_stack([relation.left for relation in attributes])
    table = np.column_stack([relation.right for relation in attributes])
    starts, start_bases = _concatenate([relation.starts for relation in attributes])
    agreeing, agreeing_bases = _concatenate([relation.agreeing for relation in attributes])
    rows, bounds, row_bases = [], [], [0]
    for relation in attributes:
        # the rows with each right code, and last the rows with null
        codes = np.where(relation.right < 0, relation.right_size, relation.right)
        rows.append(np.argsort(codes, kind="stable").astype(np.int64))
        bounds.append(np.searchsorted(codes[rows[-1]], np.arange(relation.right_size + 2)).astype(np.int64) + row_bases[-1])
        row_bases.append(row_bases[-1] + len(codes))
    postings, (edges, edge_bases) = np.concatenate(rows), _concatenate(bounds)
    scores, score_bases = _concatenate(
        [np.zeros(0) if relation.scores is None else np.ravel(relation.scores) for relation in attributes]
    )
    widths = np.array([relation.right_size for relation in attributes], dtype=np.int64)
    has_exact = not scored.all()
    counts = _count_related(
        queries, table, times, starts, start_bases, agreeing, agreeing_bases, postings, edges, edge_bases,
        scored, scores, score_bases, widths, threshold or 0.0, has_exact,
    )  # fmt: skip
    if not has_exact:
        counts = counts + _nothing_in_common(queries >= 0, table >= 0, times)
    return np.asarray(counts, dtype=np.int64)


def _concatenate(parts: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The arrays concatenated, and the start of each (and the end of the last)."""
    return np.concatenate(parts), np.cumsum([0] + [len(part) for part in parts]).astype(np.int64)


def _nothing_in_common(
    query_known: NDArray[np.bool_], row_known: NDArray[np.bool_], times: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each query the number of rows that share no known attribute with it, so that nothing contradicts them."""
    patterns, which = np.unique(row_known, axis=0, return_inverse=True)
    weight = np.bincount(which.ravel(), weights=times, minlength=len(patterns)).astype(np.int64)
    query_patterns, query_index = np.unique(query_known, axis=0, return_inverse=True)
    disjoint = ~(query_patterns[:, None, :] & patterns[None, :, :]).any(axis=2)
    return np.asarray((disjoint * weight).sum(axis=1)[query_index.ravel()], dtype=np.int64)


@compiled
def _contains(agreeing: Ints, low: int, high: int, code: int) -> bool:
    """Whether a code is in ``agreeing[low:high]``, which is sorted: binary search."""
    while low < high:
        middle = (low + high) // 2
        if agreeing[middle] < code:
            low = middle + 1
        elif agreeing[middle] > code:
            high = middle
        else:
            return True
    return False


@compiled
def _rarest(
    query: Ints,
    starts: Ints,
    start_bases: Ints,
    agreeing: Ints,
    agreeing_bases: Ints,
    edges: Ints,
    edge_bases: Ints,
    scored: Ints,
) -> int:
    """The attribute of the query, among those that must agree, with the fewest agreeing rows; -1 for none.

    O(agreeing codes of the query). The arrays are those of :func:`_count_related`.
    """
    best, fewest = -1, np.int64(0)
    for attribute in range(len(query)):
        if query[attribute] < 0 or scored[attribute]:
            continue
        unknown = edge_bases[attribute + 1] - 2
        rows = edges[unknown + 1] - edges[unknown]
        first = start_bases[attribute] + query[attribute]
        for index in range(starts[first], starts[first + 1]):
            edge = edge_bases[attribute] + agreeing[agreeing_bases[attribute] + index]
            rows += edges[edge + 1] - edges[edge]
        if best < 0 or rows < fewest:
            best, fewest = attribute, rows
    return best


@compiled
def _agrees(
    query: Ints, row: Ints, starts: Ints, start_bases: Ints, agreeing: Ints, agreeing_bases: Ints,
    scored: Ints, scores: Ints, score_bases: Ints, widths: Ints, threshold: float,
) -> bool:  # fmt: skip
    """Whether a row agrees in every attribute, and with a mean similarity of the scored ones; O(attributes x log agreeing codes).

    Trap: an attribute that is null on either side says nothing, so it is no part of the mean.
    """
    total, shared = 0.0, 0
    for attribute in range(len(query)):
        if query[attribute] < 0 or row[attribute] < 0:
            continue
        if scored[attribute]:
            total += scores[score_bases[attribute] + query[attribute] * widths[attribute] + row[attribute]]
            shared += 1
            continue
        first = start_bases[attribute] + query[attribute]
        if not _contains(
            agreeing, agreeing_bases[attribute] + starts[first], agreeing_bases[attribute] + starts[first + 1], row[attribute]
        ):
            return False
    return total >= threshold * shared


# queries[query, attribute], table[row, attribute]: codes, -1 for null. times[row]: multiplicity of a row. The right codes that
# agree with a left code are agreeing[agreeing_bases[a] + starts[s]:…starts[s + 1]] with s = start_bases[a] + code. The rows with
# a right code are postings[edges[e]:edges[e + 1]] with e = edge_bases[a] + code; the last e of an attribute is null. scores:
# similarity matrices, row by row, of width widths[a]. O(sum over queries of candidates x attributes). Trap: a row may be a
# candidate several times, so `seen` holds the last query that visited it.
@compiled
def _count_related(
    queries: Ints, table: Ints, times: Ints, starts: Ints, start_bases: Ints, agreeing: Ints, agreeing_bases: Ints,
    postings: Ints, edges: Ints, edge_bases: Ints, scored: Ints, scores: Ints, score_bases: Ints, widths: Ints,
    threshold: float, has_exact: bool,
) -> Ints:  # fmt: skip
    """For each query the number of agreeing rows, counted with multiplicity.

    Candidates are the rows that agree on the rarest attribute that must agree (``has_exact``). Where no attribute must agree, a
    mean similarity that reaches the threshold has at least one attribute that reaches it, so the rows that do so in any
    attribute.
    """
    number, width = queries.shape
    counts = np.zeros(number, np.int64)
    seen = np.full(len(table), -1, np.int64)
    for query_number in range(number):
        query = queries[query_number]
        rarest = _rarest(query, starts, start_bases, agreeing, agreeing_bases, edges, edge_bases, scored) if has_exact else 0
        if rarest < 0:
            for row in range(len(table)):
                if _agrees(query, table[row], starts, start_bases, agreeing, agreeing_bases,
                           scored, scores, score_bases, widths, threshold):  # fmt: skip
                    counts[query_number] += times[row]
            continue
        for attribute in range(rarest if has_exact else 0, rarest + 1 if has_exact else width):
            if query[attribute] < 0:
                continue
            first = start_bases[attribute] + query[attribute]
            last = starts[first + 1] + (1 if has_exact else 0)  # the last one: rows with null
            for index in range(starts[first], last):
                edge = edge_bases[attribute + 1] - 2
                if index < starts[first + 1]:
                    edge = edge_bases[attribute] + agreeing[agreeing_bases[attribute] + index]
                for posting in range(edges[edge], edges[edge + 1]):
                    row = postings[posting]
                    if seen[row] == query_number:
                        continue
                    seen[row] = query_number
                    if _agrees(query, table[row], starts, start_bases, agreeing, agreeing_bases,
                               scored, scores, score_bases, widths, threshold):  # fmt: skip
                        counts[query_number] += times[row]
    return counts
