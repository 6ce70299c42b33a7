"""Certain intervals of all records at once, within a tolerance where the table allows it.

Every likely set of main attributes is counted, alone and with one minor attribute more; then, if intervals are still too wide,
the likeliest of them with two minor attributes more (:mod:`discreet.risks.known_sets.tolerance.walk`). What remains is bounded
(:mod:`discreet.risks.known_sets.tolerance.bounds`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.inputs import weights_of
from discreet.engine.known_sets.sums import KnownSets, Missing
from discreet.engine.runtime.memory import available_memory, format_size, resident_memory
from discreet.errors import ParameterError
from discreet.model.microdata import Microdata
from discreet.risks.known_sets.finer import can_sum_rows
from discreet.risks.known_sets.large.row_sums import CoverTable
from discreet.risks.known_sets.large.size import NARROWING_BYTES
from discreet.risks.known_sets.requirements import Requirements
from discreet.risks.known_sets.tolerance.bounds import MassBounds, SplitAttributes
from discreet.risks.known_sets.tolerance.minor import minor_attributes, split_places
from discreet.risks.known_sets.tolerance.walk import MainSets, RowTerms, SetSums

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_SETS = 4096
"""Sets of main attributes that are counted at most."""
_STEP, _LEAST_CHANCE = 0.5, 1e-30
_MOST_PAIRED_ROWS, _PAIRED_ROWS, _LEAST_COST = 0.1, 16.0, 0.002
"""Rows of a set that is counted with two minor attributes, rows of several records of all of them, and the rows whose cost a set
has at least: all as shares of the records."""
_SPARE_SETS, _SPARE_PAIRS = 0.2, 0.5
"""The share of the allowed width that sets may take that are not counted, and that are not counted with two minor attributes."""
_NARROWEST = 0.001
"""The share of the records whose intervals may have to be narrowed further, because they are allowed less than the others."""
_FEW_RECORDS = 2_000
"""Intervals that are too wide up to which a walk that follows each record is faster."""


def narrow_where_possible(
    data: Microdata,
    sums: KnownSets,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    alpha: float,
    required: Requirements,
    max_sets: int,
    missing: Missing,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Narrow the intervals of all records, if many are too wide and the table allows it; a note where memory does not."""
    if required.are_too_wide(lower, upper).sum() <= _FEW_RECORDS or not can_sum_rows(data, sums.names, missing):
        return lower, upper, ()
    need, free = resident_memory() + len(data) * NARROWING_BYTES, available_memory()
    if need > free:
        note = f"narrowing all intervals at once needs about {format_size(need)} of memory; {format_size(free)} are free"
        return lower, upper, (f"{note}, so records were followed one by one",)
    return *narrow_many(data, sums, lower, upper, alpha=alpha, required=required, max_sets=max_sets), ()


def narrow_many(
    data: Microdata,
    sums: KnownSets,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    alpha: float,
    required: Requirements,
    max_sets: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Narrow the intervals of all records; a table in which equal codes agree and no others do."""
    split = _split_attributes(data, sums)
    if not split.main:
        return lower, upper
    table = CoverTable(
        len(data),
        [split.columns[place].codes for place in split.main],
        [split.columns[place].cardinality for place in split.main],
        {at: own for at, place in enumerate(split.main) if (own := split.weights[place]) is not None},
    )
    minor = minor_attributes(
        [split.columns[place] for place in split.minor], [float(split.chances[place]) for place in split.minor],
        [split.weights[place] for place in split.minor], len(data),
    )  # fmt: skip
    bounds = MassBounds(split, sums, minor)
    main_chances = [float(split.chances[place]) for place in split.main]
    allowed = _allowed_share(required, lower, upper, alpha * bounds.whole)
    main = _choose_sets(main_chances, _SPARE_SETS * allowed, min(max_sets, _MOST_SETS))
    terms = SetSums(table, main, minor, 1, required.is_past).sum()
    bounds.add_singles(main, terms)
    lower, upper = bounds.narrow(lower, upper, alpha)
    pairs = (minor.chances.sum() ** 2 - (minor.chances**2).sum()) / 2
    if pairs > 0 and not required.is_past() and required.are_too_wide(lower, upper).any():
        allowed = _allowed_share(required, lower, upper, alpha * bounds.whole * (pairs - bounds.base[2][0]))
        chosen = _choose_paired(main.chance / bounds.main_mass, terms, _SPARE_PAIRS * allowed, len(data))
        paired = main.part(chosen)
        bounds.add_pairs(paired, SetSums(table, paired, minor, 2, required.is_past).sum())
        lower, upper = bounds.narrow(lower, upper, alpha)
    return lower, upper


def _split_attributes(data: Microdata, sums: KnownSets) -> SplitAttributes:
    names = [sums.names[at] for at in sums.tree.order if data.attribute(sums.names[at]).known > 0]
    columns, weights = encode(data, names), weights_of(data, sums.names)
    chances = [data.attribute(name).known for name in names]
    main, minor = split_places(columns, chances)
    bits = CoverTable(len(data), [], [column.cardinality for column in columns], {})
    while not bits.can_pack(main):
        main.pop()
    return SplitAttributes(columns, np.array(chances), [weights.get(name) for name in names], main, minor)


def _choose_sets(chances: Sequence[float], dropped: float, max_sets: int) -> MainSets:
    """The likeliest sets, so many that the others have at most this share of the probability mass, or as many as are allowed."""
    whole, epsilon = math.prod(1 + chance for chance in chances), 1.0
    sets = MainSets([()], np.ones(1))
    while 1 - float(sets.chance.sum()) / whole > dropped and epsilon > _LEAST_CHANCE:
        epsilon *= _STEP
        try:
            tree = family(chances, epsilon, max_sets)
        except ParameterError:  # too many sets
            break
        sets = MainSets(tree.sets, tree.chance)
    return sets


def _choose_paired(shares: NDArray[np.float64], terms: RowTerms, dropped: float, records: int) -> NDArray[np.int64]:
    """The sets to be counted with two minor attributes: those that leave little mass to the others at the least cost in rows.

    ``shares`` are those of the sets in the probability mass. A set in which hardly any record has company needs no pairs, and one
    of many rows is not worth its memory.
    """
    alone = terms.rows - terms.several
    gain = shares * (1 - alone / records)
    possible = np.flatnonzero(terms.counted & (terms.rows <= _MOST_PAIRED_ROWS * records) & (terms.several > 0))
    by_gain = possible[np.argsort(-gain[possible] / np.maximum(terms.several[possible], _LEAST_COST * records), kind="stable")]
    left = gain.sum() - np.cumsum(gain[by_gain])
    rows = np.cumsum(terms.several[by_gain])
    needed = int(np.searchsorted(-left, -dropped)) + 1
    return np.sort(by_gain[: min(needed, int(np.searchsorted(rows, _PAIRED_ROWS * records)))])


def _allowed_share(
    required: Requirements, lower: NDArray[np.float64], upper: NDArray[np.float64], mass: NDArray[np.float64]
) -> float:
    """The width that nearly all intervals that are too wide may have, as a share of a mass."""
    wide = required.are_too_wide(lower, upper)
    allowed = required.allowed_widths(lower, upper)[wide] / np.maximum(mass[wide], 1e-300)
    return float(np.quantile(allowed, _NARROWEST)) if len(allowed) else 1.0
