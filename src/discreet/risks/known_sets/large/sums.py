"""The record-level risk of a table in which equal codes agree, in few passes over the records and few bytes for each.

The same sums as in :mod:`discreet.engine.known_sets.counter`, with less work and less in memory:

* sets are summed on the distinct rows of few covers (:mod:`discreet.risks.known_sets.large.cover_sums`), and only the sums reach
  the records; sets of covers with too many rows are counted on the records (:mod:`discreet.risks.known_sets.large.counter`);
* a record holds the number of its class (:mod:`discreet.risks.known_sets.large.consequence_classes`) instead of its weights;
* only two sums per query are stored, that of the kept sets and that including all larger sets; the set that contributes most
  to the risk of a record is computed on demand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import Column, encode
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.inputs import build_queries, single_pattern, weights_of
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.sums import KnownSets, build_classes, sum_in_one_walk
from discreet.engine.known_sets.terms import Terms, terms
from discreet.engine.known_sets.threads import KernelThreads
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.large import cover_kernels
from discreet.risks.known_sets.large.agreeing_records import count_agreeing_records
from discreet.risks.known_sets.large.consequence_classes import ConsequenceClasses, consequence_classes
from discreet.risks.known_sets.large.counter import LargeCounter
from discreet.risks.known_sets.large.cover_sums import sum_covers
from discreet.risks.known_sets.large.covers import choose_covers, partial_tree
from discreet.risks.known_sets.large.record_sums import LargeSums
from discreet.risks.known_sets.large.row_sums import CoverTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 16
"""Records whose classes are looked at at once."""
_MOST = (1 << 31) - 1


def large_sums(data: Microdata, names: list[str], tree: Family) -> LargeSums | None:
    """Sum over the kept sets and bound the sum over all sets, null being a value; None where this method does not apply."""
    if not 0 < len(data) <= _MOST:
        return None
    ordered = tree.known_names(names)
    columns = encode(data, ordered)
    with WorkerThreads(1) as pool:
        counting = pool.submit(count_agreeing_records, columns, len(data))
        classes = consequence_classes(data, names)
        counts = counting.result()
    if classes is None:
        return None
    pattern, patterns = single_pattern(len(classes.example))
    queries = build_queries(data, tree, names, classes.example, pattern, patterns)
    slots = _query_rows(classes)
    kind = classes.of if slots is None else classes.of[slots]
    counts = counts if slots is None else counts[slots]
    parts = terms(tree, queries.singles, queries.patterns)
    by_code = weights_of(data, names)
    weights = {place: by_code[name] for place, name in enumerate(ordered[: tree.width]) if name in by_code}
    near, far = _sum_sets(columns, weights, slots, classes, tree, parts, queries)
    kept, whole = parts.kept_below[0, 0], parts.whole_below[0, 0]
    kept_mass = kept[0] * queries.weight + queries.single @ kept[1:]
    whole_mass = whole[0] * (queries.weight - queries.rest) + queries.single @ whole[1:]
    empty = float(tree.chance[0])
    masses = queries.weight, kept_mass - empty * queries.weight, whole_mass * queries.spread - empty * queries.weight
    dropped = whole_mass * queries.spread - kept_mass
    return LargeSums(len(data), slots, near, far, counts, kind, queries.spread, dropped, masses, empty)


def _sum_sets(
    columns: Sequence[Column],
    by_code: Mapping[int, NDArray[np.float64]],
    slots: NDArray[np.uint32] | None,
    classes: ConsequenceClasses,
    tree: Family,
    parts: Terms,
    queries: Queries,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each query the sum over the kept sets, and the sum that includes all larger sets."""
    size, kind = len(classes.of), classes.of if slots is None else classes.of[slots]
    codes, cardinalities = [column.codes for column in columns], [column.cardinality for column in columns]
    weights, left = (
        np.column_stack((queries.weight, queries.single)),
        np.column_stack((queries.weight - queries.rest, queries.single)),
    )
    near = (weights @ (parts.kept_below if size == 1 else parts.kept)[0, 0] / size)[kind]
    far = (left @ (parts.whole_below if size == 1 else parts.whole)[0, 0] / size)[kind]
    if size == 1:
        return near, far
    table = CoverTable(size, codes, cardinalities, by_code)
    steps = _left_by_step(tree, queries)
    uncovered: list[int] = []
    with KernelThreads() as kernel_threads:
        covers = choose_covers(tree, [math.log(max(cardinality, 1)) for cardinality in cardinalities])
        for cover, cover_sums in sum_covers(table, tree, parts, covers):
            if cover_sums is None:
                uncovered.extend(cover.nodes)
                continue
            arguments = (
                slots,
                cover_sums.of,
                kind,
                queries.weight,
                np.take(steps, cover_sums.steps, axis=1),
                cover_sums.sums,
                near,
                far,
            )
            kernel_threads.run_slices(cover_kernels.spread, len(near), *arguments)
    if uncovered:
        sets = partial_tree(tree, sorted(uncovered))
        query_codes = codes if slots is None else [column_codes[slots] for column_codes in codes]
        with LargeCounter(size, codes, query_codes, cardinalities, kind, everyone=slots is None) as counter:
            counter.add_sets(sets, sets.terms(parts), weights, left, near, far)
    return near, far


def _left_by_step(tree: Family, queries: Queries) -> NDArray[np.float64]:
    """C - rest - D_q of each consequence class, by how many sensitive attributes of kept sets stand up to place q.

    D_q (:mod:`discreet.engine.known_sets.terms`) is the sum of c p / (1 + p) over the others, or of c p.
    """
    behind = np.cumsum((queries.single * tree.share[np.array(queries.singles, dtype=np.int64)])[:, ::-1], axis=1)[:, ::-1]
    left = queries.weight - queries.rest
    return np.column_stack([left[:, None] - behind, left])


def sums_of_rows(data: Microdata, names: list[str], tree: Family, rows: NDArray[np.int64]) -> KnownSets:
    """The full result for a few records, counted for these records only."""
    classes, queries, ordered = build_classes(data, names, tree, rows, "category", None)
    return KnownSets(names, tree, rows, sum_in_one_walk(tree, classes, queries, len(ordered)), queries.weight)


def _query_rows(classes: ConsequenceClasses) -> NDArray[np.uint32] | None:
    """The rows of records with something to learn; None where they are the majority, so that every record is a query."""
    if classes.learns.all():
        return None
    parts = []
    number = 0
    for begin in range(0, len(classes.of), _BLOCK):
        rows = np.flatnonzero(classes.learns[classes.of[begin : begin + _BLOCK]])
        parts.append((rows + begin).astype(np.uint32))
        number += len(rows)
        if 2 * number > len(classes.of):
            return None
    return np.concatenate(parts)
