"""The normalized certainty penalty (NCP): how much uncertainty a release adds to each value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.cells.comparison import LinkedRows, compare_cells, is_unchanged, link_rows
from discreet.engine.encoding.columns import encode
from discreet.engine.runtime.progress import report_progress
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
    better: ClassVar[Mapping[str, Direction]] = {
        "loss": "low", "worst": "low", "masked": "low", "suppressed": "low", "records_lost": "low",
    }  # fmt: skip

    neutral: ClassVar[Collection[str]] = ("values",)
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "mean penalty per value, 0 (unchanged) to 1 (suppressed)",
        "worst": "largest mean penalty of an attribute",
        "masked": "mean penalty of a value over the attributes of which a value was changed",
        "suppressed": "values suppressed",
        "values": "values compared: records x attributes",
        "records_lost": "original records that are not in the release",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "loss": "at most {percent} % of the detail of the values is lost",
        "suppressed": "there are at most {number} suppressed values",
        "records_lost": "there are at most {number} records left out of the release",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "loss": "weighted mean penalty of the record's values, 0 to 1",
    }

    attributes: tuple[str, ...] = Field(
        default=(), description="attributes to compare; default: the keys, or if there are none, those an intruder may know"
    )
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="weight of each attribute, normalised to the sum 1; default: 1 each"
    )

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names = self.compared_attributes(original)
        weights = self.normalised_weights(names)
        rows = link_rows(original, masked)
        if rows is None:
            return self.score_unlinked(original, masked)
        penalties = np.zeros(len(rows))
        sums = []
        for number, (name, weight) in enumerate(zip(names, weights.tolist(), strict=True)):
            report_progress("measuring information loss", number, len(names))
            penalty, suppressed = _attribute_penalties(original, masked, name, rows)
            penalties += weight * penalty
            sums.append(PenaltySums(name, weight, float(penalty.sum()), int(suppressed.sum()), int((penalty > 0).sum())))
        is_released = np.zeros(len(original), dtype=np.bool_)
        is_released[rows.original] = True
        per_record = np.full(len(masked), np.nan)
        per_record[rows.masked] = penalties
        statistics = PenaltyStatistics(len(rows), int((~is_released).sum()), sums)
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
        missing = dict.fromkeys(("loss", "worst", "masked", "suppressed"))
        return Score(self.name, {**missing, "values": 0, "records_lost": None}, notes=(note,))

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


# Cells are read once per distinct masked value, so the cost per record is a few look-ups.
def _attribute_penalties(
    original: Microdata, masked: Microdata, name: str, rows: LinkedRows
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The penalty of each linked record in one attribute, and whether its value was suppressed."""
    if name not in masked.columns:
        known = ~encode(original, [name])[0].is_null[rows.original]
        return known.astype(np.float64), known
    if is_unchanged(original, masked, name, rows):
        return np.zeros(len(rows)), np.zeros(len(rows), dtype=np.bool_)
    compared = compare_cells(original, masked, name, rows)
    cells, wrong = compared.containment, compared.false
    penalty = np.where(compared.same, 0.0, cells.share[compared.new])
    if wrong.any():
        penalty[wrong] = 1.0
        if original.level(name) in (Level.NUMERIC, Level.DATE) and cells.range > 0:
            new = compared.new[wrong]
            value, low, high = cells.numbers[compared.old[wrong]], cells.low[new], cells.high[new]
            distance = np.maximum(np.maximum(low - value, value - high), 0.0) / cells.range
            penalty[wrong] = np.where(np.isnan(distance), 1.0, np.minimum(1.0, cells.share[new] + distance))
    return np.where(compared.known, penalty, 0.0), cells.blank[compared.new] & compared.known
