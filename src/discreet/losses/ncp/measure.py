"""The normalized certainty penalty (NCP): how much uncertainty a release adds to each value."""

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
    "the penalty of a group is its share of all values, which are counted on one machine",
)


class Ncp(LossMeasure):
    """NCP(D') = 1/n sum_i sum_j w_j NCP_j(r_i), the weights w_j summing to 1: Orooji & Knapp (2018b), eq. 4 and 5.

    The penalty of a suppressed value is 1, of an unchanged one 0, of an interval its share of the attribute's range, of a group
    of categories its share of the leaves. A number that was changed to another number has |change| / range, at most 1; any other
    changed value 1. A value that was missing in the original has none. Removed records are not part of the loss; their number
    is reported.

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
        "loss": "mean penalty per value, 0 (unchanged) to 1 (suppressed)",
        "suppressed": "values suppressed",
        "values": "values compared: records x attributes",
        "records_lost": "original records that are not in the release",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "loss": "weighted mean penalty of the record's values, 0 to 1",
    }

    attributes: tuple[str, ...] = Field(
        default=(), description="attributes to compare; default: the keys, or if there are none, those an attacker may know"
    )
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="weight of each attribute, normalised to the sum 1; default: 1 each"
    )

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names = self.compared_attributes(original)
        weights = self.normalised_weights(names)
        is_linked, rows, link = _link_records(original, masked)
        if not is_linked:
            return self.score_unlinked(original, masked)
        penalties = np.zeros(len(link))
        sums = []
        for name, weight in zip(names, weights.tolist(), strict=True):
            penalty, suppressed = _attribute_penalties(original, masked, name, rows, link)
            penalties += weight * penalty
            sums.append(PenaltySums(name, weight, float(penalty.sum()), int(suppressed.sum()), int((penalty > 0).sum())))
        is_released = np.zeros(len(original), dtype=np.bool_)
        is_released[link] = True
        per_record = np.full(len(masked), np.nan)
        per_record[rows] = penalties
        statistics = PenaltyStatistics(len(link), int((~is_released).sum()), sums)
        return Score(
            self.name,
            summarize(statistics),
            pl.DataFrame({"loss": pl.Series(per_record).fill_nan(None)}),
            tabulate_attributes(statistics),
        )

    def score_unlinked(self, original: Microdata, masked: Microdata) -> Score:
        """The score of tables whose records are not linked: no numbers, but a note."""
        sizes = f"{masked.source} has {len(masked):,} records, {original.source} {len(original):,}"
        note = f"{sizes}, and nothing links them"
        return Score(self.name, {"loss": None, "suppressed": None, "values": 0, "records_lost": None}, notes=(note,))

    def compared_attributes(self, original: Microdata) -> list[str]:
        """The attributes of the parameters; default: the keys, or if there are none, those with a known probability."""
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

    def normalised_weights(self, names: list[str]) -> NDArray[np.float64]:
        """The weights of the compared attributes, with the sum 1."""
        for name in self.weights:
            if name not in names:
                raise ParameterError(f"ncp.weights names '{name}', which is not compared; {nearest(name, names)}")
        weights = np.array([self.weights.get(name, 1.0) for name in names])
        if weights.sum() == 0:
            raise ParameterError("ncp.weights are all 0; at least one attribute must have a weight")
        return np.asarray(weights / weights.sum())


def _link_records(original: Microdata, masked: Microdata) -> tuple[bool, NDArray[np.int64], NDArray[np.int64]]:
    """Whether the tables can be compared, the masked rows that have an original, and the row of each original."""
    if len(masked) != len(original) and masked.source != original.source and masked.is_initial:
        return False, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if original.is_initial:
        rows = np.flatnonzero((masked.records >= 0) & (masked.records < len(original)))
        return True, rows, masked.records[rows]
    order = np.argsort(original.records, kind="stable")
    positions = np.searchsorted(original.records[order], masked.records)
    candidates = order[np.minimum(positions, max(len(order) - 1, 0))] if len(order) else positions
    rows = np.flatnonzero(original.records[candidates] == masked.records) if len(order) else np.zeros(0, dtype=np.int64)
    rows = rows[masked.records[rows] >= 0]  # a negative number marks a simulated record
    return True, rows, candidates[rows]


# rows, link: for each linked record its row in the masked and in the original table. old, new: the codes of its original and its
# masked value. Cells are read once per distinct masked value, so the cost per record is a few look-ups.
def _attribute_penalties(
    original: Microdata, masked: Microdata, name: str, rows: NDArray[np.int64], link: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The penalty of each linked record in one attribute, and whether its value was suppressed."""
    (before,) = encode(original, [name])
    old = before.codes[link]
    known = ~before.is_null[link]
    if name not in masked.columns:
        return known.astype(np.float64), known
    if len(rows) == len(link) == len(original) == len(masked) and original.is_initial and masked.is_initial:
        series_before, series_after = original.frame[name], masked.frame[name]
        if series_before is series_after or (series_before.dtype == series_after.dtype and series_before.equals(series_after)):
            return np.zeros(len(link)), np.zeros(len(link), dtype=np.bool_)
    level = original.level(name)
    after = _masked_column(masked, name)
    hierarchy = hierarchy_of(original, name) if original.attribute(name).hierarchy is not None else None
    cells = read_containment(before, after, hierarchy, numeric=level in (Level.NUMERIC, Level.DATE), cells=masked.cells.get(name))
    new = after.codes[rows]
    # a label can be spelt like an original value that it does not contain
    unchanged = (_equal_values(before, after)[new] == old) & cells.contains(new, old)
    penalty = np.where(unchanged, 0.0, cells.share[new])
    wrong = ~cells.contains(new, old) & ~unchanged & known
    if wrong.any():
        penalty[wrong] = 1.0
        if level in (Level.NUMERIC, Level.DATE) and cells.range > 0:
            value = cells.numbers[old[wrong]]
            low, high = cells.low[new[wrong]], cells.high[new[wrong]]
            distance = np.maximum(np.maximum(low - value, value - high), 0.0) / cells.range
            penalty[wrong] = np.where(np.isnan(distance), 1.0, np.minimum(1.0, cells.share[new[wrong]] + distance))
    return np.where(known, penalty, 0.0), cells.blank[new] & known


def _masked_column(masked: Microdata, name: str) -> Column:
    """The encoded masked column, without the order of the policy, which lists original values only."""
    from discreet.engine.encoding.columns import encode_series

    if masked.attribute(name).order is None:
        return encode(masked, [name])[0]
    return encode_series(masked.frame[name])


def _equal_values(before: Column, after: Column) -> NDArray[np.int64]:
    """For each masked code the original code of the same value, or -1; values of different types are compared as text."""
    original_codes = np.full(after.cardinality, -1, dtype=np.int64)
    if before.values.dtype == after.values.dtype:
        code_by_value = {value: code for code, value in enumerate(before.values.to_list())}
        original_codes[: len(after.values)] = [code_by_value.get(value, -1) for value in after.values.to_list()]
    else:
        code_by_text = {str(value): code for code, value in enumerate(before.values.to_list())}
        original_codes[: len(after.values)] = [code_by_text.get(str(value), -1) for value in after.values.to_list()]
    return original_codes
