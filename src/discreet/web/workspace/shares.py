"""Where the risk comes from: by attribute and by set of attributes, before and after masking.

With known_sets, a record's risk is counted for the set that contributes most to it, and for each attribute of that set. With
k-anonymity, a set counts the records that an intruder who knows it alone finds in a class that is too small, and an attribute the
records that would no longer be in such a class without it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from discreet import registry
from discreet.engine.runtime.progress import report_progress
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.results import Assessment, Release
from discreet.model.score import Score

MOST_ROWS = 8
SMALL_CLASSES = "small classes"
"""Where the cache of a table holds how many records are in small classes, by attributes and threshold."""
_MOST_SETS = 40


@dataclass(frozen=True)
class Share:
    """What one attribute or set contributes."""

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Shares:
    """The attributes and the sets that contribute most before masking, with the meaning of the numbers."""

    attributes: list[Share]
    sets: list[Share]
    meaning_of_attributes: str
    meaning_of_sets: str

    @property
    def most_of_attributes(self) -> float:
        """The largest number among the attributes, the length of the longest bar."""
        return max((max(one.before, one.after) for one in self.attributes), default=0.0) or 1.0

    @property
    def most_of_sets(self) -> float:
        """The largest number among the sets."""
        return max((max(one.before, one.after) for one in self.sets), default=0.0) or 1.0


def describe_shares(measure: str, release: Release, assessment: Assessment, threshold: float) -> Shares:
    """Where the risk of a draft comes from."""
    if measure == "known_sets":
        sets = [_sum_by_set(assessment.before[measure]), _sum_by_set(assessment.after[measure])]
        attributes = [_sum_by_attribute(table, release.original) for table in sets]
        meaning = "sum of the risks of the records"
        return Shares(
            _rank(*attributes), _rank(*sets), f"{meaning} to whose main set it belongs", f"{meaning} of which it is the main set"
        )
    keys = _keys(release.original)
    tables = [
        {"+".join(subset): _count_small(data, subset, threshold) for subset in _subsets(keys)}
        for data in (release.original, release.masked)
    ]
    attributes = [
        {name: all_small - _count_small(data, [one for one in keys if one != name], threshold) for name in keys}
        for data in (release.original, release.masked)
        for all_small in [_count_small(data, keys, threshold)]
    ]
    return Shares(
        _rank(*attributes), _rank(*tables), "records that would leave a class that is too small, if it were dropped",
        "records in a class that is too small, to an intruder who knows this alone",
    )  # fmt: skip


def _rank(before: dict[str, float], after: dict[str, float]) -> list[Share]:
    ranked = sorted(before, key=lambda name: (-before[name], name))
    return [Share(name.replace("+", " + "), before[name], after.get(name, 0.0)) for name in ranked if before[name] > 0][
        :MOST_ROWS
    ]


def _sum_by_set(score: Score) -> dict[str, float]:
    table = score.per_record
    if table is None:
        return {}
    sums = table.lazy().filter(pl.col("risk") > 0, pl.col("top_set") != "").group_by("top_set").agg(pl.col("risk").sum())
    return {str(name): float(risk) for name, risk in sums.collect().iter_rows()}


def _sum_by_attribute(sets: dict[str, float], data: Microdata) -> dict[str, float]:
    sums: dict[str, float] = {}
    for text, risk in sets.items():
        names = text.split("+")
        for name in names if all(one in data.columns for one in names) else [text]:
            sums[name] = sums.get(name, 0.0) + risk
    return sums


def _keys(data: Microdata) -> list[str]:
    measure = registry.create("risk", "k_anonymity", data.policy.risk.get("k_anonymity"), origin=data.policy.origin)
    return list(getattr(measure, "keys", ())) or data.named(Role.KEY)


def _subsets(keys: Sequence[str]) -> Iterable[tuple[str, ...]]:
    sizes = (itertools.combinations(keys, size) for size in (1, 2, 3))
    return itertools.islice(itertools.chain.from_iterable(sizes), _MOST_SETS)


def _count_small(data: Microdata, names: Sequence[str], threshold: float) -> float:
    """Records in a class of fewer than one over the threshold, by some attributes; a missing value is one of its own."""
    report_progress("counting small classes", 0, 1)
    shown = tuple(name for name in names if name in data.columns)
    if not shown:
        return 0.0
    known = data.cache.setdefault(SMALL_CLASSES, {})
    if (shown, threshold) not in known:
        sizes = data.frame.lazy().group_by(shown).agg(pl.len().alias("\0n")).select("\0n").collect()["\0n"].to_numpy()
        known[shown, threshold] = float(sizes[1 / sizes.astype(np.float64) > threshold].sum())
    count: float = known[shown, threshold]
    return count
