"""The normalized certainty penalty: how much of each value a release leaves open."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.spark.gaps import QUANTILES
from discreet.errors import DataError, ParameterError, nearest
from discreet.losses.ncp.summary import PenaltyStatistics, PenaltySums, summarize, tabulate_attributes
from discreet.model.attribute import Level, Role
from discreet.model.contracts import Direction, LossMeasure
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

MANY_COARSE = Gap(
    "categories, groups or hierarchies of attributes with more than a million values",
    "a group costs its share of all values, which are counted on one machine",
)


class Ncp(LossMeasure):
    """NCP(D') = 1/n sum_i sum_j w_j NCP_j(r_i), the weights summing to 1 (seed 001, equations 4 and 5).

    A suppressed value costs 1, an unchanged one 0, an interval its share of the attribute's range, a group of categories
    its share of the leaves. A plain number that was changed costs |change| / range, at most 1; another changed value costs
    1. A value that was missing before costs nothing. Records that are gone are not counted as loss, but told.

    >>> from discreet.testing import table
    >>> data = table({"age": [20, 30, 40, 60]}, key=["age"])
    >>> masked = table({"age": ["20..40", "30", "40", None]}, key=["age"])
    >>> Ncp().measure(data, masked)["loss"]
    0.375
    """

    name: ClassVar[str] = "ncp"
    citation: ClassVar[str] = (
        "Xu, J. et al. (2006). Utility-based anonymization using local recoding. KDD, 785-790; "
        "Orooji, M. & Knapp, G. M. (2018). Improving suppression to reduce disclosure risk and enhance data utility, eq. 4-5."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.losses.ncp.spark:ncp", (QUANTILES, MANY_COARSE))
    better: ClassVar[Mapping[str, Direction]] = {"loss": "low", "suppressed": "low", "records_lost": "low"}

    neutral: ClassVar[Collection[str]] = ("values",)
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "mean penalty of a value, 0 (kept) to 1 (nothing left)",
        "suppressed": "values that say nothing any more",
        "values": "values compared: records x attributes",
        "records_lost": "original records without a masked one",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "loss": "weighted mean penalty of the record's values, 0 to 1",
    }

    attributes: tuple[str, ...] = Field(
        default=(), description="attributes to count; the keys where empty, or those an intruder may know where there are no keys"
    )
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="weight of each attribute, 1 where not named; brought to the sum 1"
    )

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names = self.counted(original)
        weights = self.shares(names)
        linked, rows, link = _linked(original, masked)
        if not linked:
            return self.unlinked(original, masked)
        cost = np.zeros(len(link))
        sums = []
        for name, weight in zip(names, weights.tolist(), strict=True):
            share, blank = _attribute(original, masked, name, rows, link)
            cost += weight * share
            sums.append(PenaltySums(name, weight, float(share.sum()), int(blank.sum()), int((share > 0).sum())))
        kept = np.zeros(len(original), dtype=np.bool_)
        kept[link] = True
        per_record = np.full(len(masked), np.nan)
        per_record[rows] = cost
        statistics = PenaltyStatistics(len(link), int((~kept).sum()), sums)
        return Score(
            self.name,
            summarize(statistics),
            pl.DataFrame({"loss": pl.Series(per_record).fill_nan(None)}),
            tabulate_attributes(statistics),
        )

    def unlinked(self, original: Microdata, masked: Microdata) -> Score:
        """What can be said of tables whose records are not tied to each other."""
        sizes = f"{len(masked):,} records where {original.source} has {len(original):,}"
        note = f"{masked.source} has {sizes}, and nothing ties one to the other"
        return Score(self.name, {"loss": None, "suppressed": None, "values": 0, "records_lost": None}, notes=(note,))

    def counted(self, original: Microdata) -> list[str]:
        """The attributes that are counted."""
        if self.attributes:
            for name in self.attributes:
                original.attribute(name)
            return list(self.attributes)
        if keys := original.named(Role.KEY):
            return keys
        hidden = set(original.named(Role.IDENTIFIER, Role.PERSON))
        known = [name for name in original.columns if name not in hidden and original.attribute(name).known > 0]
        if not known:
            raise DataError(
                f"ncp needs attributes with the role key or a known probability in {original.source}, or a list of attributes"
            )
        return known

    def shares(self, names: list[str]) -> NDArray[np.float64]:
        """Their weights, brought to the sum 1."""
        for name in self.weights:
            if name not in names:
                raise ParameterError(f"ncp.weights names '{name}', which is not counted; {nearest(name, names)}")
        weights = np.array([self.weights.get(name, 1.0) for name in names])
        if weights.sum() == 0:
            raise ParameterError("ncp.weights are all 0; at least one attribute must have a weight")
        return np.asarray(weights / weights.sum())


def _linked(original: Microdata, masked: Microdata) -> tuple[bool, NDArray[np.int64], NDArray[np.int64]]:
    """Whether the tables can be compared, the masked rows that have an original, and where each original is."""
    if len(masked) != len(original) and masked.source != original.source and masked.is_initial:
        return False, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if original.is_initial:
        rows = np.flatnonzero((masked.records >= 0) & (masked.records < len(original)))
        return True, rows, masked.records[rows]
    order = np.argsort(original.records, kind="stable")
    at = np.searchsorted(original.records[order], masked.records)
    found = order[np.minimum(at, max(len(order) - 1, 0))] if len(order) else at
    rows = np.flatnonzero(original.records[found] == masked.records) if len(order) else np.zeros(0, dtype=np.int64)
    rows = rows[masked.records[rows] >= 0]
    return True, rows, found[rows]


def _attribute(
    original: Microdata, masked: Microdata, name: str, rows: NDArray[np.int64], link: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The penalty of each linked record in one attribute, and whether its value was suppressed."""
    (before,) = encode(original, [name])
    old = before.codes[link]
    known = ~before.is_null[link]
    if name not in masked.columns:
        return known.astype(np.float64), known
    if len(rows) == len(link) == len(original) == len(masked) and original.is_initial and masked.is_initial:
        one, other = original.frame[name], masked.frame[name]
        if one is other or (one.dtype == other.dtype and one.equals(other)):
            return np.zeros(len(link)), np.zeros(len(link), dtype=np.bool_)
    level = original.level(name)
    after = _masked_column(masked, name)
    hierarchy = hierarchy_of(original, name) if original.attribute(name).hierarchy is not None else None
    read = read_containment(before, after, hierarchy, numeric=level in (Level.NUMERIC, Level.DATE), cells=masked.cells.get(name))
    new = after.codes[rows]
    # a label may look like a true value that it does not stand for
    same = (_equal_texts(before, after)[new] == old) & read.contains(new, old)
    share = np.where(same, 0.0, read.share[new])
    wrong = ~read.contains(new, old) & ~same & known
    if wrong.any():
        share[wrong] = 1.0
        if level in (Level.NUMERIC, Level.DATE) and read.range > 0:
            value = read.numbers[old[wrong]]
            low, high = read.low[new[wrong]], read.high[new[wrong]]
            away = np.maximum(np.maximum(low - value, value - high), 0.0) / read.range
            share[wrong] = np.where(np.isnan(away), 1.0, np.minimum(1.0, read.share[new[wrong]] + away))
    return np.where(known, share, 0.0), read.blank[new] & known


def _masked_column(masked: Microdata, name: str) -> Column:
    """The masked column in its own order: the owner's order speaks of true values only."""
    from discreet.engine.encoding.columns import encode_series

    if masked.attribute(name).order is None:
        return encode(masked, [name])[0]
    return encode_series(masked.frame[name])


def _equal_texts(before: Column, after: Column) -> NDArray[np.int64]:
    """For each masked code the original code of the very same value, or -1: so unchanged values cost nothing."""
    found = np.full(after.cardinality, -1, dtype=np.int64)
    if before.values.dtype == after.values.dtype:
        place = {value: code for code, value in enumerate(before.values.to_list())}
        found[: len(after.values)] = [place.get(value, -1) for value in after.values.to_list()]
    else:
        place = {str(value): code for code, value in enumerate(before.values.to_list())}
        found[: len(after.values)] = [place.get(str(value), -1) for value in after.values.to_list()]
    return found
