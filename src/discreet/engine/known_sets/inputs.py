"""Who asks and who is counted: the tables behind a count over known sets, in each reading of missing values.

* ``category``: a null is one more value. One class of records.
* ``wildcard``: a null agrees with anything on either side. A class for each pattern of nulls.
* with an original: the intruder holds true values and searches the masked table. A masked cell agrees with what it contains, so
  an attribute's masked values are laid in *layers* of disjoint cells (plain values, intervals of a width, … , blanks), in each
  of which a true value has at most one cell. A class for each combination of layers; where these are many, one class of all
  records whose cells agree by overlap (:mod:`discreet.engine.overlap`).

Where the release holds coarse cells and no original is given, see :mod:`discreet.engine.overlap.tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.cells.atoms import Atoms
from discreet.engine.cells.containment import Containment, read_containment
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.cells.weights import cell_weights
from discreet.engine.classes.groups import group_ids
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.known_sets.family import Family
from discreet.engine.known_sets.queries import Queries, RecordClass
from discreet.engine.known_sets.small_kernels import mark_heavy
from discreet.engine.known_sets.terms import Pattern
from discreet.engine.overlap.columns import column_relation
from discreet.engine.overlap.relations import relate
from discreet.engine.runtime.compiled import compiled_unless_small
from discreet.errors import DataError
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CLASSES = 20_000
_MOST_LAYERED = 16
"""Combinations of layers up to which a class for each is faster than one class whose cells agree by overlap."""


def weights_of(data: Microdata, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """W(A) W(value) of each code (Orooji & Knapp (2018a), eq. 4), for each attribute that holds anything sensitive."""
    weights: dict[str, NDArray[np.float64]] | None = data.cache.get(("weights", tuple(names)))
    if weights is None:
        sensitive = [name for name in names if data.attribute(name).sensitivity > 0]
        columns = encode(data, sensitive)
        per_column = {
            column.name: cell_weights(column, data.attribute(column.name), data.cells.get(column.name)) for column in columns
        }
        weights = {name: own for name, own in per_column.items() if own.any()}
        data.cache["weights", tuple(names)] = weights
    return weights


def find_sensitive_records(data: Microdata, weights: dict[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
    """Which records have something to learn."""
    flags = np.zeros(len(data), dtype=np.bool_)
    for column in encode(data, weights):
        _mark(column.codes, weights[column.name] > 0, flags)
    return flags


def consequences(data: Microdata, weights: dict[str, NDArray[np.float64]], slots: NDArray[np.int64]) -> NDArray[np.float64]:
    """C of these records with nothing known: Orooji & Knapp (2018a), eq. 4 over all attributes."""
    total = np.zeros(len(slots))
    for column in encode(data, weights):
        total += weights[column.name][column.codes[slots]]
    return total


@compiled_unless_small(mark_heavy)
def _mark(codes: Any, heavy: Any, flags: Any) -> None:
    """Set ``flags[record]`` where ``heavy[code]``; O(records). Trap: flags of earlier attributes stay, so it never clears one."""
    for at in range(len(codes)):
        if heavy[codes[at]]:
            flags[at] = True


def build_queries(
    data: Microdata,
    tree: Family,
    names: Sequence[str],
    slots: NDArray[np.int64],
    pattern: NDArray[np.int32],
    patterns: list[Pattern],
) -> Queries:
    """The records that ask, with their weights split into singles and rest."""
    weights = weights_of(data, names)
    ordered = [names[at] for at in tree.order]
    singles = [place for place in range(tree.width) if ordered[place] in weights]
    columns = {column.name: column.codes[slots] for column in encode(data, weights)}
    single = np.zeros((len(slots), len(singles)))
    for at, place in enumerate(singles):
        single[:, at] = weights[ordered[place]][columns[ordered[place]]]
    behind = enumerate(ordered[tree.width :], tree.width)
    learnt = {place: weights[name][columns[name]] for place, name in behind if name in weights}
    rest, spread = _left_to_rest(tree, patterns, pattern, learnt)
    return Queries(consequences(data, weights, slots), rest, spread, single, singles, pattern, patterns)


def _left_to_rest(
    tree: Family, patterns: list[Pattern], pattern: NDArray[np.int32], learnt: Mapping[int, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """D and P of each query over the attributes that occur in no kept set; ``learnt`` are its weights there, by place."""
    rest, spread = np.zeros(len(pattern)), np.ones(len(pattern))
    flags = np.zeros((len(patterns), len(tree.order)), dtype=np.bool_)
    for at, shape in enumerate(patterns):
        flags[at, list(shape.lost)] = True
    is_lost = tree.spread_lost(flags)
    for place in range(tree.width, len(tree.order)):
        if tree.probabilities[place] == 0:
            continue  # it would multiply by 1 and add 0; this saves passes over all queries
        lost = is_lost[pattern, place]
        if tree.begins[place]:
            spread *= np.where(lost, tree.unknown[place], tree.either[place])
        if place in learnt:
            rest += np.where(lost, 0.0, learnt[place] * tree.share[place])
    return rest, spread


def build_certain_queries(tree: Family, pattern: NDArray[np.int32], patterns: list[Pattern]) -> Queries:
    """Queries whose consequence is 1 whatever is known: the sum over the sets is the probability of being found."""
    size = len(pattern)
    _, spread = _left_to_rest(tree, patterns, pattern, {})
    return Queries(np.ones(size), np.zeros(size), spread, np.zeros((size, 0)), [], pattern, patterns)


def single_class(columns: Sequence[Column], slots: NDArray[np.int64], size: int) -> list[RecordClass]:
    """Every record in one class, a null being one more value."""
    query_codes = [column.codes[slots] for column in columns] if len(slots) < size else [column.codes for column in columns]
    return [
        RecordClass(None, size, [column.codes for column in columns], query_codes, [column.cardinality for column in columns])
    ]


def single_pattern(size: int) -> tuple[NDArray[np.int32], list[Pattern]]:
    """Queries that all ask by every attribute."""
    return np.zeros(size, dtype=np.int32), [Pattern()]


def classes_by_nulls(
    columns: Sequence[Column], slots: NDArray[np.int64], size: int
) -> tuple[list[RecordClass], NDArray[np.int32], list[Pattern]]:
    """A class, and a pattern of queries, for each set of attributes that records lack."""
    layers = [column.is_null.astype(np.uint8) for column in columns]
    blank = np.zeros(size, dtype=np.uint8)

    def codes(place: int, layer: int) -> NDArray[Any]:
        return blank if layer else columns[place].codes

    def query_codes(place: int, layer: int) -> NDArray[Any]:
        return blank[: len(slots)] if layer else columns[place].codes[slots]

    classes = _classes(
        [(layer_codes, 2) for layer_codes in layers],
        size,
        codes,
        query_codes,
        lambda place, layer: 1 if layer else columns[place].cardinality,
    )
    pattern, patterns = patterns_of([layer_codes[slots] for layer_codes in layers], [None] * len(columns), len(slots))
    return classes, pattern, patterns


def classes_by_layers(
    masked: Microdata, original: Microdata, names: Sequence[str], slots: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[list[RecordClass], NDArray[np.int32], list[Pattern]]:
    """Masked records in classes by layers, asked for with true values: those of original ``rows[i]`` for record ``slots[i]``."""
    masked_columns, true_columns = encode(masked, names), encode(original, names)
    meanings = [_meaning_of(original, masked, own, other) for own, other in zip(true_columns, masked_columns, strict=True)]
    unknown = [column.is_null[rows].astype(np.uint8) for column in true_columns]
    lost = [
        (~meaning.contains(other.codes[slots], own.codes[rows])).astype(np.uint8)
        for meaning, own, other in zip(meanings, true_columns, masked_columns, strict=True)
    ]
    pattern, patterns = patterns_of(unknown, lost, len(slots))
    layered = [
        _layers(own, len(column.values), other.cardinality)
        for own, column, other in zip(meanings, true_columns, masked_columns, strict=True)
    ]
    sides = [
        (own[0][other.codes], len(own[1]) + 1) for own, other in zip(layered, masked_columns, strict=True) if own is not None
    ]
    if None in layered or group_ids(sides, len(masked))[1] > _MOST_LAYERED:
        return _by_containment(meanings, true_columns, masked_columns, rows), pattern, patterns
    blank = np.zeros(len(masked), dtype=np.uint8)

    def codes(place: int, layer: int) -> NDArray[Any]:
        return blank if layer == 0 else masked_columns[place].codes

    def query_codes(place: int, layer: int) -> NDArray[Any]:
        if layer == 0:
            return blank[: len(slots)]
        cell_of: NDArray[np.uint32] = layered[place][1][layer - 1]  # type: ignore[index]
        return np.asarray(cell_of[true_columns[place].codes[rows]])

    def cardinality(place: int, layer: int) -> int:
        return 1 if layer == 0 else masked_columns[place].cardinality + 1

    return _classes(sides, len(masked), codes, query_codes, cardinality), pattern, patterns


def _by_containment(
    meanings: Sequence[Containment], true_columns: Sequence[Column], masked_columns: Sequence[Column], rows: NDArray[np.int64]
) -> list[RecordClass]:
    """All masked records as one class, asked for with true values that agree with every cell that holds them."""
    relations = []
    for meaning, column in zip(meanings, true_columns, strict=True):
        size = meaning.originals
        values = Atoms(
            size, np.arange(column.cardinality) >= size, np.append(meaning.ranks, 0)[: column.cardinality],
            np.append(meaning.ranks + 1, 0)[: column.cardinality], np.zeros(column.cardinality + 1, np.int64),
            np.zeros(0, np.int64),
        )  # fmt: skip
        cells, inside = np.divmod(meaning.keys, max(size, 1))
        starts = np.searchsorted(cells, np.arange(len(meaning.blank) + 1))
        masked = Atoms(size, meaning.blank, meaning.first, meaning.last, starts, meaning.ranks[inside])
        relations.append(relate(values, masked, null=None, queried_null=None, name=column.name))
    codes = [relation.place[column.codes].astype(np.uint32) for relation, column in zip(relations, masked_columns, strict=True)]
    query_codes = [column.codes[rows] for column in true_columns]
    size = len(masked_columns[0].codes) if masked_columns else 0
    return [RecordClass(None, size, codes, query_codes, [len(relation.place) for relation in relations], relations)]


def _meaning_of(original: Microdata, masked: Microdata, true: Column, released: Column) -> Containment:
    spec = original.attribute(true.name).hierarchy
    hierarchy = hierarchy_of(original, true.name) if spec is not None else None
    cells = masked.cells.get(true.name)
    if released is not true or hierarchy is not None or cells is not None:
        return read_containment(true, released, hierarchy, cells=cells)
    key = "containment in itself"  # of a column that was not masked; several drafts of one table share it
    if key not in true.cache:
        true.cache[key] = read_containment(true, released)
    meaning: Containment = true.cache[key]
    return meaning


def _layers(meaning: Containment, originals: int, cells: int) -> tuple[NDArray[np.uint8], list[NDArray[np.uint32]]] | None:
    """The layer of each masked code (0: it says nothing), and for each layer the one cell that holds a true value, or none.

    None where the cells overlap in too many ways for layers.
    """
    layer = np.zeros(cells, dtype=np.uint8)
    plain = np.flatnonzero(~meaning.blank & (meaning.last - meaning.first == 1))
    maps = [np.full(originals + 1, cells, dtype=np.uint32)]
    unrank = np.argsort(meaning.ranks, kind="stable")
    own = unrank[meaning.first[plain]]
    free = np.ones(originals, dtype=np.bool_)
    first_seen = np.unique(own, return_index=True)[1]
    maps[0][own[first_seen]] = plain[first_seen]
    free[own] = False
    layer[plain[first_seen]] = 1
    covered = [~free]
    done = np.zeros(cells, dtype=np.bool_)
    done[plain[first_seen]] = True
    every = np.arange(originals)
    for code in np.flatnonzero(~done & ~meaning.blank):
        inside = every[meaning.contains(np.full(originals, code), every)]
        at = next((at for at, cover in enumerate(covered) if not cover[inside].any()), None)
        if at is None:
            if len(covered) == _MOST_LAYERED:
                return None
            covered.append(np.zeros(originals, dtype=np.bool_))
            maps.append(np.full(originals + 1, cells, dtype=np.uint32))
            at = len(covered) - 1
        covered[at][inside] = True
        maps[at][inside] = code
        layer[code] = at + 1
    return layer, maps


def _classes(
    sides: Sequence[tuple[NDArray[np.uint8], int]],
    size: int,
    codes: Callable[[int, int], NDArray[Any]],
    query_codes: Callable[[int, int], NDArray[Any]],
    cardinality: Callable[[int, int], int],
) -> list[RecordClass]:
    """A class of records for each combination of layers that occurs."""
    ids, number = group_ids(sides, size)
    if number > MOST_CLASSES:
        raise DataError(
            f"nulls and coarse values stand in {number:,} different combinations of attributes, and at most {MOST_CLASSES:,} "
            "can be counted at once; use missing: category, or recode fewer attributes"
        )
    order = np.argsort(ids, kind="stable")
    begin = np.searchsorted(ids[order], np.arange(number + 1))
    codes_of_queries: dict[tuple[int, int], NDArray[Any]] = {}
    classes = []
    for group in range(number):
        rows = order[begin[group] : begin[group + 1]].astype(np.uint32)
        layers = [int(side[rows[0]]) for side, _ in sides]
        for place, layer in enumerate(layers):
            if (place, layer) not in codes_of_queries:
                codes_of_queries[place, layer] = query_codes(place, layer)
        classes.append(
            RecordClass(
                None if len(rows) == size else rows,
                len(rows),
                [codes(place, layer) for place, layer in enumerate(layers)],
                [codes_of_queries[place, layer] for place, layer in enumerate(layers)],
                [cardinality(place, layer) for place, layer in enumerate(layers)],
            )
        )
    return classes


def patterns_of(
    unknown: Sequence[NDArray[np.uint8]], lost: Sequence[NDArray[np.uint8] | None], size: int
) -> tuple[NDArray[np.int32], list[Pattern]]:
    """The distinct patterns of the queries, and which each has."""
    sides = [(unknown[at] + (0 if gone is None else 2 * gone), 4) for at, gone in enumerate(lost)]
    sides = [(side, cardinality) for side, cardinality in sides if side.any()] or [(np.zeros(size, np.uint8), 1)]
    ids, number = group_ids(sides, size)
    first = np.zeros(number, dtype=np.int64)
    first[ids[::-1]] = np.arange(size - 1, -1, -1)
    patterns = [
        Pattern(
            frozenset(at for at, flags in enumerate(unknown) if flags[row]),
            frozenset(at for at, flags in enumerate(lost) if flags is not None and flags[row]),
        )
        for row in first
    ]
    return ids.astype(np.int32), patterns or [Pattern()]


def cells_agree(data: Microdata, name: str, record: int, row: int, missing: str, original: Microdata | None) -> NDArray[np.bool_]:
    """Which records of the data agree on an attribute with one record: its cell there, or its true value in the original."""
    column = encode(data, [name])[0]
    if original is None:
        relation = column_relation(data, column, null_agrees=missing == "wildcard")
        return np.asarray(relation.agrees(int(column.codes[record]))[column.codes])
    true = encode(original, [name])[0]
    meaning = _meaning_of(original, data, true, column)
    return meaning.contains(column.codes, np.full(len(data), true.codes[row]))
