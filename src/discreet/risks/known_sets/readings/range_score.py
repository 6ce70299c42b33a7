"""The score of a table whose policy has ranges: the worst case, with the best case beside it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.known_sets.effective_size import Sizes
from discreet.engine.known_sets.summary import QUANTILES, Summary, median_size, quantiles
from discreet.engine.known_sets.sums import KnownSets as Sums
from discreet.engine.known_sets.sums import attributes, family_of
from discreet.errors import DataError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.score import Score
from discreet.model.threshold import Among
from discreet.risks.known_sets.bounded_sums import bounded_sums, sizes_of, summarize
from discreet.risks.known_sets.ranges import MOST_CORNERED, End, Extremes, extremes_over_ranges
from discreet.risks.known_sets.readings.scenario_score import takes_part
from discreet.risks.known_sets.record_tables import list_riskiest, tabulate_records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.risks.known_sets.measure import KnownSets

_NOTE = (
    "the policy has ranges: risks are those of their upper ends, the worst case, and limits are judged on the worst case; "
    "effective class sizes are the smaller of both ends, between bounds that hold for every guess within the ranges"
)

_CORNERS_NOTE = (
    "the policy has ranges: with knowledge: independent the risk does not rise in every probability, but is linear in each, so "
    "all {corners} corners of the ranges were summed; risks are the largest and effective class sizes the smallest of any corner"
)


def measure_ranges(plugin: KnownSets, data: Microdata, original: Microdata | None) -> Score:
    """The worst case over all ranges of the policy, with the best case beside it."""
    if plugin.knowledge == "independent":
        return _measure_corners(plugin, data, original)
    worst = bounded_sums(plugin, data, original)
    sums, records = worst.sums, len(data)
    end = _end(plugin, sums, worst.lower, worst.upper, records)
    best = _at_corner(plugin, data, data.policy.at_low_ends(), original, sums.slots)
    extremes = extremes_over_ranges(best, end, plugin.alpha, records)
    if data.policy.ranges <= MOST_CORNERED:
        mixtures = list(data.policy.corners())[1:-1]
        corners = (_at_corner(plugin, data, corner, original, sums.slots) for corner in mixtures)
        extremes = extremes.narrowed_to_corners(chain([best, end], corners))
    decided = bool(plugin.decide) and not isinstance(plugin.threshold, Among)
    result = summarize(plugin, sums, worst.lower, worst.upper, records, decided=decided, sizes=extremes.sizes)
    return Score(
        plugin.name,
        result.fields | extremes.fields(plugin.threshold, records),
        lambda: tabulate_records(plugin, data, sums, worst.lower, worst.upper, original).with_columns(
            extremes.columns(sums.slots, records)
        ),
        notes=(_NOTE, *result.notes, *worst.notes),
        riskiest=lambda number: list_riskiest(plugin, sums, sums.per_record.risk * plugin.alpha, number),
        bounds=result.bounds,
    )


def _at_corner(plugin: KnownSets, data: Microdata, corner: Policy, original: Microdata | None, slots: NDArray[np.int64]) -> End:
    """The sums under other guesses, for the records that have something to learn at the upper ends."""
    there = data.with_policy(corner)
    end = End.empty(len(slots))
    if not takes_part(corner):
        return end  # nothing is known or sensitive there
    sums = plugin.sums_of(there, original)
    own = _end(plugin, sums, sums.per_record.lower * plugin.alpha, sums.per_record.upper * plugin.alpha, len(data))
    end.fill(np.searchsorted(slots, sums.slots), own)
    return end


def _end(plugin: KnownSets, sums: Sums, lower: NDArray[np.float64], upper: NDArray[np.float64], records: int) -> End:
    own, alone = sums.per_record, sums.tree.chance[0] * sums.consequence / max(records, 1)  # the empty set's part
    sizes = sizes_of(plugin, sums, lower, upper, records)
    return End(own.risk, sizes, own.whole_mass, lower / plugin.alpha - alone, upper / plugin.alpha - alone)


def _measure_corners(plugin: KnownSets, data: Microdata, original: Microdata | None) -> Score:
    """The largest risk of each record over all corners of the ranges, which is the largest over the whole box."""
    if data.policy.ranges > MOST_CORNERED:
        raise DataError(
            "known_sets: with knowledge: independent every corner of the policy's ranges is summed, and "
            f"{data.policy.ranges} ranges have too many; give at most {MOST_CORNERED} ranges, or use knowledge: products, "
            "which needs two sums"
        )
    if plugin.decide or plugin.tolerance is not None:
        narrowing = "decide" if plugin.decide else "tolerance"
        raise DataError(
            f"known_sets: {narrowing} is not available with knowledge: independent and ranges; a smaller epsilon narrows every "
            "interval"
        )
    tables = [data.with_policy(corner) for corner in data.policy.corners()]
    records, every = len(data), np.arange(len(data))
    corners = [_at_corner(plugin, data, table.policy, original, every) for table in tables]
    risks = np.array([corner.risk for corner in corners])
    place = risks.argmax(axis=0)
    undefined = Sizes(*(np.full(records, np.nan) for _ in range(3)))
    box = Extremes(risks.min(axis=0) * plugin.alpha, risks.max(axis=0) * plugin.alpha, undefined, np.zeros(records))
    empty = [_empty_set(plugin, table, original) for table in tables]
    extremes = box.narrowed_to_corners(corners)
    # the largest sum of any corner is at least the largest lower end, and at most the largest upper end
    lower, upper = (
        np.array([getattr(corner, side) + alone for corner, alone in zip(corners, empty, strict=True)]).max(axis=0) * plugin.alpha
        for side in ("lower", "upper")
    )
    summary = Summary(plugin.threshold)
    worst = extremes.worst_risk
    asking = upper > 0
    summary.add(worst[asking], lower[asking], upper[asking], extremes.sizes.part(asking))
    some = extremes.sizes.part(extremes.sizes.defined)
    middle, low, high = (median_size(values) for values in (some.value, some.lower, some.upper))
    sets = len(family_of(tables[-1], attributes(data), plugin.epsilon, plugin.max_sets, plugin.knowledge))
    fields = summary.fields(sets, records, quantiles(worst, records, QUANTILES), middle)
    bounds = summary.bounds(records, middle, None if low is None or high is None else (low, high))

    def per_record() -> pl.DataFrame:
        frames = []
        for table in tables:
            sums = plugin.sums_of(table, original)
            ends = sums.per_record.lower * plugin.alpha, sums.per_record.upper * plugin.alpha
            frames.append(tabulate_records(plugin, table, sums, *ends, original))
        rows = pl.concat(frames).gather(pl.Series(place * records + every)) if records else frames[-1]
        sized = [pl.Series(f"effective_k{end}", values).fill_nan(None) for end, values in _ends(extremes.sizes)]
        return rows.with_columns(pl.Series("lower", lower), pl.Series("upper", upper), *sized, *extremes.columns(every, records))

    return Score(
        plugin.name,
        fields | extremes.fields(plugin.threshold, records),
        per_record,
        notes=(_CORNERS_NOTE.format(corners=len(tables)), *summary.notes(records, bounds)),
        bounds=bounds,
    )


def _empty_set(plugin: KnownSets, data: Microdata, original: Microdata | None) -> NDArray[np.float64]:
    """The part of the empty set in each record's sum: its probability times the whole consequence, by the number of records."""
    part = np.zeros(len(data))
    if takes_part(data.policy):
        sums = plugin.sums_of(data, original)
        part[sums.slots] = sums.tree.chance[0] * sums.consequence / max(len(data), 1)
    return part


def _ends(sizes: Sizes) -> list[tuple[str, NDArray[np.float64]]]:
    return [("", sizes.value), ("_lower", sizes.lower), ("_upper", sizes.upper)]
