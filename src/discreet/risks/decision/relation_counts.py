"""Counting the rows that agree with each query where values agree by a relation, not by being equal.

Candidates come from the attribute of the query with the fewest rows behind it, so nothing is missed and most pairs
are never looked at; the other attributes are then checked on those candidates alone.
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
class Related:
    """One attribute: codes of both sides (-1 for a null that agrees with anything), and for each left code the right codes."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    starts: NDArray[np.int64]
    agreeing: NDArray[np.int64]
    right_size: int
    scores: NDArray[np.float64] | None = None
    """Similarity of every left code with every right code, for the similarity of whole records."""


def relate(
    codes: tuple[NDArray[np.int64], NDArray[np.int64]],
    sizes: tuple[int, int],
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    scores: NDArray[np.float64] | None = None,
) -> Related:
    """An attribute's relation from its pairs of agreeing codes."""
    order = np.lexsort((pairs[1], pairs[0]))
    starts = np.searchsorted(pairs[0][order], np.arange(sizes[0] + 1)).astype(np.int64)
    return Related(*codes, starts, pairs[1][order].astype(np.int64), sizes[1], scores)


def related_counts(attributes: Sequence[Related], times: NDArray[np.int64], threshold: float | None = None) -> NDArray[np.int64]:
    """For each query the sum of ``times`` over the rows that agree with it.

    A row agrees where it does on every attribute that both sides know; with a ``threshold`` where the mean of the
    similarities of the attributes with scores reaches it, and all others agree.
    """
    scored = np.array([threshold is not None and one.scores is not None for one in attributes])
    queries = np.column_stack([one.left for one in attributes])
    table = np.column_stack([one.right for one in attributes])
    starts, start_bases = _joined([one.starts for one in attributes])
    agreeing, agreeing_bases = _joined([one.agreeing for one in attributes])
    rows, bounds, row_bases = [], [], [0]
    for one in attributes:
        # the rows with each right code, and last those that know nothing
        codes = np.where(one.right < 0, one.right_size, one.right)
        rows.append(np.argsort(codes, kind="stable").astype(np.int64))
        bounds.append(np.searchsorted(codes[rows[-1]], np.arange(one.right_size + 2)).astype(np.int64) + row_bases[-1])
        row_bases.append(row_bases[-1] + len(codes))
    posted, (edges, edge_bases) = np.concatenate(rows), _joined(bounds)
    scores, score_bases = _joined([np.zeros(0) if one.scores is None else np.ravel(one.scores) for one in attributes])
    widths = np.array([one.right_size for one in attributes], dtype=np.int64)
    by_all = not scored.all()
    found = _count(
        queries, table, times, starts, start_bases, agreeing, agreeing_bases, posted, edges, edge_bases,
        scored, scores, score_bases, widths, threshold or 0.0, by_all,
    )  # fmt: skip
    if not by_all:
        found = found + _nothing_in_common(queries >= 0, table >= 0, times)
    return np.asarray(found, dtype=np.int64)


def _joined(parts: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Arrays end to end, and where each starts (and the last ends)."""
    return np.concatenate(parts), np.cumsum([0] + [len(part) for part in parts]).astype(np.int64)


def _nothing_in_common(asked: NDArray[np.bool_], held: NDArray[np.bool_], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows that know no attribute which the query knows: nothing speaks against them."""
    patterns, which = np.unique(held, axis=0, return_inverse=True)
    weight = np.bincount(which.ravel(), weights=times, minlength=len(patterns)).astype(np.int64)
    wanted, back = np.unique(asked, axis=0, return_inverse=True)
    apart = ~(wanted[:, None, :] & patterns[None, :, :]).any(axis=2)
    return np.asarray((apart * weight).sum(axis=1)[back.ravel()], dtype=np.int64)


@compiled
def _holds(agreeing: Ints, low: int, high: int, code: int) -> bool:
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
    """The attribute of the query, among those that must agree, that leaves the fewest rows."""
    best, fewest = -1, np.int64(0)
    for a in range(len(query)):
        if query[a] < 0 or scored[a]:
            continue
        unknown = edge_bases[a + 1] - 2
        rows = edges[unknown + 1] - edges[unknown]
        first = start_bases[a] + query[a]
        for at in range(starts[first], starts[first + 1]):
            edge = edge_bases[a] + agreeing[agreeing_bases[a] + at]
            rows += edges[edge + 1] - edges[edge]
        if best < 0 or rows < fewest:
            best, fewest = a, rows
    return best


@compiled
def _agrees(
    query: Ints, row: Ints, starts: Ints, start_bases: Ints, agreeing: Ints, agreeing_bases: Ints,
    scored: Ints, scores: Ints, score_bases: Ints, widths: Ints, threshold: float,
) -> bool:  # fmt: skip
    total, shared = 0.0, 0
    for a in range(len(query)):
        if query[a] < 0 or row[a] < 0:
            continue
        if scored[a]:
            total += scores[score_bases[a] + query[a] * widths[a] + row[a]]
            shared += 1
            continue
        first = start_bases[a] + query[a]
        if not _holds(agreeing, agreeing_bases[a] + starts[first], agreeing_bases[a] + starts[first + 1], row[a]):
            return False
    return total >= threshold * shared


@compiled
def _count(
    queries: Ints, table: Ints, times: Ints, starts: Ints, start_bases: Ints, agreeing: Ints, agreeing_bases: Ints,
    posted: Ints, edges: Ints, edge_bases: Ints, scored: Ints, scores: Ints, score_bases: Ints, widths: Ints,
    threshold: float, by_all: bool,
) -> Ints:  # fmt: skip
    """Candidates: by the rarest attribute that must agree; where none must, a mean that reaches the threshold has a
    member that does, so the rows that reach it in any attribute."""
    number, width = queries.shape
    found = np.zeros(number, np.int64)
    seen = np.full(len(table), -1, np.int64)
    for q in range(number):
        query = queries[q]
        only = _rarest(query, starts, start_bases, agreeing, agreeing_bases, edges, edge_bases, scored) if by_all else 0
        if only < 0:
            for row in range(len(table)):
                if _agrees(query, table[row], starts, start_bases, agreeing, agreeing_bases,
                           scored, scores, score_bases, widths, threshold):  # fmt: skip
                    found[q] += times[row]
            continue
        for a in range(only if by_all else 0, only + 1 if by_all else width):
            if query[a] < 0:
                continue
            first = start_bases[a] + query[a]
            last = starts[first + 1] + (1 if by_all else 0)  # the last one: rows that know nothing
            for at in range(starts[first], last):
                edge = edge_bases[a + 1] - 2
                if at < starts[first + 1]:
                    edge = edge_bases[a] + agreeing[agreeing_bases[a] + at]
                for place in range(edges[edge], edges[edge + 1]):
                    row = posted[place]
                    if seen[row] == q:
                        continue
                    seen[row] = q
                    if _agrees(query, table[row], starts, start_bases, agreeing, agreeing_bases,
                               scored, scores, score_bases, widths, threshold):  # fmt: skip
                        found[q] += times[row]
    return found
