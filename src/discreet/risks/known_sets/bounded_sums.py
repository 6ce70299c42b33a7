"""The sums of known_sets as certain intervals: narrowed as far as parameters and limits require, and summarized."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.engine.known_sets.effective_size import FEW, Sizes, effective_sizes, risk_levels
from discreet.engine.known_sets.summary import QUANTILES, Bounds, Summary, median_size, quantiles
from discreet.engine.known_sets.sums import KnownSets as Sums
from discreet.model.microdata import Microdata
from discreet.model.threshold import Among
from discreet.risks.known_sets.large.size import is_large

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.risks.known_sets.measure import KnownSets

_CLOSE = 1e-3
"""The width of intervals, as a share of their lower ends, to which they are narrowed for a limit on an average."""


class Result(NamedTuple):
    """What is said of a table: the summary's fields, between what numbers they lie, and notes."""

    fields: dict[str, Any]
    bounds: Bounds
    notes: tuple[str, ...]


class BoundedSums(NamedTuple):
    """The sums of the records, the ends of their intervals over all known sets (with alpha), the summary, and notes."""

    sums: Sums
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    result: Result
    notes: tuple[str, ...]


def bounded_sums(plugin: KnownSets, data: Microdata, original: Microdata | None) -> BoundedSums:
    """The sums of the records and their intervals, narrowed as far as parameters and limits require, with the summary."""
    sums = plugin.sums_of(data, original)
    lower, upper = sums.per_record.lower * plugin.alpha, sums.per_record.upper * plugin.alpha
    result = summarize(plugin, sums, lower, upper, len(data))
    levels = [plugin.threshold] if plugin.decide else []
    open_limits = plugin.open_limits({**result.bounds, "undecided": (0, result.fields["undecided"])})
    levels += [level for field, required in open_limits.items() if (level := _level(plugin, field, required)) is not None]
    tolerance = plugin.tolerance
    if tolerance is None and {"mean", "effective_k_median"} & set(open_limits):
        tolerance = _CLOSE
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    if tolerance is not None or levels:  # most runs need none of this, and start sooner without it
        from discreet.risks.known_sets.finer import bounds_of_larger_families, narrow_by_families
        from discreet.risks.known_sets.refine import narrow_intervals
        from discreet.risks.known_sets.requirements import Requirements
        from discreet.risks.known_sets.tolerance.narrow import narrow_where_possible

        risks = [_levels(plugin, sums, level, len(data)) for level in dict.fromkeys(levels)]
        allowed_seconds = plugin.seconds_for_limits if open_limits else plugin.seconds
        required = Requirements(tolerance, risks, time.monotonic() + allowed_seconds)
        if not sums.tree.is_plain:
            lower, upper, notes = narrow_by_families(
                data, sums, lower, upper, alpha=plugin.alpha, epsilon=plugin.epsilon, required=required, max_sets=plugin.max_sets,
                missing=plugin.missing, original=original, knowledge=plugin.knowledge,
            )  # fmt: skip
            result = summarize(plugin, sums, lower, upper, len(data), decided=plugin.threshold in levels)
            return BoundedSums(sums, lower, upper, result, notes)
        if risks and result.fields["undecided"] and original is None and is_large(len(data)):
            lower, upper = bounds_of_larger_families(
                data, sums, lower, upper, alpha=plugin.alpha, epsilon=plugin.epsilon, required=required, max_sets=plugin.max_sets,
                missing=plugin.missing,
            )  # fmt: skip
        if required.tolerance is not None and original is None and is_large(len(data)):
            lower, upper, left_out = narrow_where_possible(
                data, sums, lower, upper, alpha=plugin.alpha, required=required, max_sets=plugin.max_sets, missing=plugin.missing
            )
        lower, upper, notes = narrow_intervals(
            data, sums, lower, upper, alpha=plugin.alpha, required=required, budget=plugin.max_sets, missing=plugin.missing,
            original=original,
        )  # fmt: skip
        result = summarize(plugin, sums, lower, upper, len(data), decided=plugin.threshold in levels)
    return BoundedSums(sums, lower, upper, result, (*notes, *left_out) if notes else ())


def summarize(
    plugin: KnownSets,
    sums: Sums,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    records: int,
    *,
    decided: bool = False,
    sizes: Sizes | None = None,
) -> Result:
    """Fields, bounds and notes; where the threshold was ``decided`` over all sets, what is still in doubt is high-risk.

    ``sizes`` are the effective class sizes (default: those that follow from the sums).
    """
    risk = sums.per_record.risk * plugin.alpha
    sizes = sizes_of(plugin, sums, lower, upper, records) if sizes is None else sizes
    summary = Summary(plugin.threshold)
    summary.add(risk, lower, upper, sizes)
    if decided:
        summary.high = summary.possible
    some = sizes.part(sizes.defined)
    middle, low, high = (median_size(values) for values in (some.value, some.lower, some.upper))
    fields = summary.fields(len(sums.tree), records, quantiles(risk, records, QUANTILES), middle)
    medians = None if low is None or high is None else (low, high)
    bounds = summary.bounds(records, middle, medians)
    return Result(fields, bounds, summary.notes(records, bounds))


def sizes_of(plugin: KnownSets, sums: Sums, lower: NDArray[np.float64], upper: NDArray[np.float64], records: int) -> Sizes:
    """The effective class sizes that follow from sums and (narrowed) bounds."""
    per_record = sums.per_record
    return effective_sizes(
        per_record.risk,
        lower / plugin.alpha,
        upper / plugin.alpha,
        sums.consequence,
        per_record.kept_mass,
        per_record.whole_mass,
        records,
        float(sums.tree.chance[0]),
    )


def _levels(plugin: KnownSets, sums: Sums, threshold: float | Among, records: int) -> NDArray[np.float64]:
    empty = float(sums.tree.chance[0])
    return risk_levels(threshold, sums.consequence, sums.per_record.whole_mass, records, plugin.alpha, empty)


def _level(plugin: KnownSets, field: str, required: float) -> float | Among | None:
    """What every record must be decided about for a limit on a field to be settled; none for averages."""
    if field in ("high_risk", "high_risk_share", "undecided"):
        return plugin.threshold
    if field == "below_5":
        return Among(among=FEW)
    if field == "effective_k_min":
        return Among(among=required) if required > 1 else None
    return required if field == "max" else None
