"""Statistical integrity: whether the statistics that users compute stay within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, get_args

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.cells.midpoints import is_number, released_numbers
from discreet.engine.encoding.shared_codes import SharedCodes, encode_shared
from discreet.errors import DataError, nearest
from discreet.losses.integrity.categories import as_categories
from discreet.losses.integrity.statistics import LocalStatistics, TableStatistics
from discreet.model.attribute import Level, Role
from discreet.model.contracts import Direction, LossMeasure
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEFT_OUT = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
StatisticKind = Literal["mean", "variance", "standard_deviation", "quantile", "correlation", "regression", "share", "contingency"]
STATISTIC_KINDS: tuple[StatisticKind, ...] = get_args(StatisticKind)


@dataclass(frozen=True)
class _Statistic:
    """One statistic before and after masking, its deviation, and the largest allowed deviation."""

    kind: str
    attributes: tuple[str, ...]
    detail: str
    before: float
    after: float
    deviation: float
    tolerance: float


WEIGHTED = Gap("survey weights", "weighted quantiles need all records in their order")


class Integrity(LossMeasure):
    """The deviations of the masked table's statistics from the original's, compared with the range allowed for each.

    For means, variances, standard deviations and quantiles the deviation is |after - before| / |before| (relative to the
    standard deviation if ``before`` is 0); for correlations and standardised regression slopes it is |after - before|;
    for shares and two-way tables the total variation distance, half the sum of the cells' differences. Each field of the
    summary is the largest deviation of its kind, ``loss`` the share of statistics outside their range.

    >>> from discreet.testing import table
    >>> before = table({"income": [10, 20, 30]}, confidential=["income"])
    >>> after = before.with_columns({"income": pl.Series([10, 20, 33])})
    >>> Integrity().measure(before, after).summary["mean"]
    0.05
    """

    name: ClassVar[str] = "integrity"
    citation: ClassVar[str] = "Fellegi, I. P. (1972). On the question of statistical confidentiality. JASA 67, 7-18."
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.losses.integrity.spark:integrity", (WEIGHTED,))
    better: ClassVar[Mapping[str, Direction]] = {"loss": "low", "outside": "low", **dict.fromkeys(STATISTIC_KINDS, "low")}
    neutral: ClassVar[Collection[str]] = ("statistics",)
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "mean": "no mean of a numeric attribute moves by more than {percent} %",
    }
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "share of statistics outside their allowed range",
        "outside": "statistics outside their allowed range",
        "statistics": "statistics compared",
        "mean": "largest relative deviation of a mean",
        "variance": "largest relative deviation of a variance",
        "standard_deviation": "largest relative deviation of a standard deviation",
        "quantile": "largest relative deviation of a quantile",
        "correlation": "largest change of a correlation",
        "regression": "largest change of a standardised regression slope",
        "share": "largest total variation distance of the categories of an attribute",
        "contingency": "largest total variation distance of a two-way table",
    }

    attributes: tuple[str, ...] = Field(default=(), description="attributes to compare; default: all that both tables have")
    range: Annotated[float, Field(ge=0)] = Field(default=0.05, description="largest allowed deviation")
    ranges: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict, description="largest allowed deviation by attribute; for two attributes the smaller one applies"
    )
    regressions: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="responses with their predictors; default: each number on all others"
    )
    categories: Annotated[int, Field(ge=1)] = Field(
        default=50, description="attributes with more distinct values are left out of shares and two-way tables"
    )
    kinds: tuple[StatisticKind, ...] = Field(default=(), description="kinds of statistics to compare; default: all")

    def only(self, fields: Collection[str]) -> Self:
        requested = tuple(kind for kind in self.kinds or STATISTIC_KINDS if kind in fields)
        # fields such as loss count statistics of all kinds
        return self.model_copy(update={"kinds": requested}) if requested and set(fields) <= set(STATISTIC_KINDS) else self

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names, numbers = self.compared_attributes(original, masked)
        weights = _weights(original), _weights(masked)
        columns: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        notes: list[str] = []
        for name in numbers:
            columns[name] = released_numbers(original, masked, name)
            unread = int((np.isnan(columns[name][1]) & masked.frame[name].is_not_null().to_numpy()).sum())
            notes += self.note_unread(name, unread)
        sides = [LocalStatistics({name: both[side] for name, both in columns.items()}, weights[side]) for side in (0, 1)]
        categorical: list[str] = []
        if self.compares("share", "contingency"):
            distinct = {name: original.frame[name].n_unique() for name in names if name not in numbers}
            categorical, left_out_notes = self.choose_categorical(distinct)
            notes += left_out_notes

        codes: dict[str, SharedCodes] = {}  # each attribute is encoded once, however many pairs it is in

        def distance(chosen: Sequence[str]) -> float:
            for name in chosen:
                if name not in codes:
                    before, after = as_categories(original.frame[name], masked.frame[name], masked.cells.get(name))
                    (codes[name],) = encode_shared(before.to_frame(), after.to_frame(), [(name, name)])
            return total_variation([codes[name] for name in chosen], *weights)

        return self.score(names, numbers, sides[0], sides[1], categorical, distance, notes)

    def score(
        self,
        names: list[str],
        numbers: list[str],
        before: TableStatistics,
        after: TableStatistics,
        categorical: list[str],
        distance: Callable[[Sequence[str]], float],
        notes: list[str],
    ) -> Score:
        """The score from the statistics of both tables, wherever they were computed."""
        statistics = [statistic for name in numbers for statistic in self._univariate(name, before, after)]
        statistics += self._multivariate(numbers, before, after)
        for kind, sets in (("share", [(name,) for name in categorical]), ("contingency", list(combinations(categorical, 2)))):
            for chosen in sets if self.compares(kind) else ():
                tolerance = self._tolerance(*chosen)
                statistics.append(_Statistic(kind, chosen, "", math.nan, math.nan, distance(chosen), tolerance))
        return self._summarize(statistics, names, tuple(notes))

    def note_unread(self, name: str, number: int) -> list[str]:
        """A note on masked values that are neither numbers nor intervals; empty if there are none."""
        return [f"'{name}': {number:,} masked values are neither numbers nor intervals and count as missing"] if number else []

    def choose_categorical(self, distinct: Mapping[str, int]) -> tuple[list[str], list[str]]:
        """The attributes whose shares are compared, by their numbers of distinct values, and notes on the others."""
        chosen = [name for name, number in distinct.items() if number <= self.categories]
        return chosen, [
            f"'{name}' has more than {self.categories} distinct values, so its shares are not compared"
            for name in distinct
            if name not in chosen
        ]

    def compared_attributes(self, original: Microdata, masked: Microdata) -> tuple[list[str], list[str]]:
        """The attributes that are compared, and those of them that are numbers."""
        names = self._names(original, masked)
        numbers = [name for name in names if original.level(name) is Level.NUMERIC and is_number(original.frame[name])]
        for name in (name for response, others in self.regressions.items() for name in (response, *others)):
            if name not in numbers and self.compares("regression") and len(numbers) > 1:
                raise DataError(f"integrity: a regression needs numbers, but '{name}' is not numeric")
        return names, numbers

    def responses(self, numbers: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The regressions that are compared: responses with their predictors."""
        if not self.compares("regression") or len(numbers) < 2:
            return {}
        return self.regressions or {name: tuple(other for other in numbers if other != name) for name in numbers}

    def _names(self, original: Microdata, masked: Microdata) -> list[str]:
        listed = [
            *self.attributes,
            *self.ranges,
            *self.regressions,
            *(name for predictors in self.regressions.values() for name in predictors),
        ]
        for name in listed:
            original.attribute(name)
            if name not in masked.columns:
                raise DataError(f"integrity: {masked.source} has no column '{name}'; {nearest(name, masked.columns)}")
        default = [name for name in original.columns if original.attribute(name).role not in _LEFT_OUT and name in masked.columns]
        return list(dict.fromkeys([*(self.attributes or default), *self.regressions]))

    def _tolerance(self, *names: str) -> float:
        return min(self.ranges.get(name, self.range) for name in names)

    def _univariate(self, name: str, before: TableStatistics, after: TableStatistics) -> list[_Statistic]:
        """Mean, variance, standard deviation and quantiles of one attribute."""
        (mean, variance), (mean_after, variance_after) = before.mean_and_variance(name), after.mean_and_variance(name)
        spread, spread_after = math.sqrt(variance), math.sqrt(variance_after)
        tolerance = self._tolerance(name)
        statistics = [
            _Statistic("mean", (name,), "", mean, mean_after, _relative(mean, mean_after, spread), tolerance),
            _Statistic("variance", (name,), "", variance, variance_after, _relative(variance, variance_after, 0.0), tolerance),
            _Statistic("standard_deviation", (name,), "", spread, spread_after, _relative(spread, spread_after, 0.0), tolerance),
        ]
        statistics = [statistic for statistic in statistics if self.compares(statistic.kind)]
        if not self.compares("quantile"):
            return statistics
        shares = np.array(_QUANTILES)
        for share, old, new in zip(_QUANTILES, before.quantiles(name, shares), after.quantiles(name, shares), strict=True):
            deviation = _relative(float(old), float(new), spread)
            statistics.append(_Statistic("quantile", (name,), f"{share:g}", float(old), float(new), deviation, tolerance))
        return statistics

    def compares(self, *kinds: str) -> bool:
        """Whether statistics of one of these kinds are compared."""
        return not self.kinds or bool(set(kinds) & set(self.kinds))

    def _multivariate(self, names: Sequence[str], before: TableStatistics, after: TableStatistics) -> list[_Statistic]:
        """Correlations and regression slopes of the numeric attributes."""
        statistics: list[_Statistic] = []
        if len(names) < 2:
            return statistics
        if self.compares("correlation"):
            old, new = before.correlations(names), after.correlations(names)
            for (row, first), (column, second) in combinations(enumerate(names), 2):
                statistics.append(self._difference("correlation", (first, second), "", old[row, column], new[row, column]))
        regressions = self.responses(names)
        spread = np.array([math.sqrt(before.mean_and_variance(name)[1]) for name in names]) if regressions else np.zeros(0)
        for response, predictors in regressions.items():
            y, x = names.index(response), [names.index(name) for name in predictors]
            # slopes are standardised with the standard deviations of the original, on both sides
            scale = np.divide(spread[x], spread[y], out=np.zeros(len(x)), where=spread[y] > 0)
            slopes = [side.regression(response, predictors) * scale for side in (before, after)]
            for predictor, slope, slope_after in zip(predictors, *slopes, strict=True):
                detail = f"on {predictor}"
                statistics.append(self._difference("regression", (response, predictor), detail, slope, slope_after))
        return statistics

    def _difference(self, kind: str, names: tuple[str, ...], detail: str, before: float, after: float) -> _Statistic:
        """A statistic whose deviation is the absolute difference.

        A statistic that can no longer be computed deviates by its full value; one that never could be computed by 0.
        """
        before, after = float(before), float(after)
        difference = abs(before) if math.isnan(after) else abs(after - before)
        deviation = 0.0 if math.isnan(before) else difference
        return _Statistic(kind, names, detail, before, after, deviation, self._tolerance(*names))

    def distance(
        self,
        original: pl.DataFrame,
        masked: pl.DataFrame,
        chosen: Sequence[str],
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> float:
        """The total variation distance of the combinations of categorical attributes; null is a category."""
        return total_variation(encode_shared(original, masked, [(name, name) for name in chosen]), *weights)

    def _summarize(self, statistics: list[_Statistic], names: list[str], notes: tuple[str, ...]) -> Score:
        outside = sum(_is_outside(statistic) for statistic in statistics)
        summary: dict[str, int | float] = {
            "loss": outside / len(statistics) if statistics else 0.0,
            "outside": outside,
            "statistics": len(statistics),
        }
        for kind in STATISTIC_KINDS:
            summary[kind] = max((statistic.deviation for statistic in statistics if statistic.kind == kind), default=0.0)
        rows = []
        for name in names:
            own = [statistic for statistic in statistics if name in statistic.attributes]
            row: dict[str, object] = {"attribute": name, "range": self._tolerance(name)}
            row |= {"outside": sum(_is_outside(statistic) for statistic in own), "statistics": len(own)}
            for statistic in own:
                if statistic.kind in ("mean", "standard_deviation"):
                    row |= {f"{statistic.kind}_before": statistic.before, f"{statistic.kind}_after": statistic.after}
            for kind in STATISTIC_KINDS:
                row[kind] = max((statistic.deviation for statistic in own if statistic.kind == kind), default=None)
            rows.append(row)
        order = ["attribute", "range", "outside", "statistics", "mean_before", "mean_after", "standard_deviation_before"]
        schema: dict[str, type[pl.DataType]] = dict.fromkeys([*order, "standard_deviation_after", *STATISTIC_KINDS], pl.Float64)
        schema |= {"attribute": pl.String, "outside": pl.Int64, "statistics": pl.Int64}
        return Score(self.name, summary, None, pl.DataFrame(rows, schema=schema), notes=notes)


def _is_outside(statistic: _Statistic) -> bool:
    return statistic.deviation > statistic.tolerance * (1 + 1e-12)


def _relative(before: float, after: float, spread: float) -> float:
    """|after - before| / |before|, or / ``spread`` if ``before`` is 0; 1 if the statistic can no longer be computed."""
    if math.isnan(before):
        return 0.0
    if math.isnan(after):
        return 1.0
    difference = abs(after - before)
    scale = abs(before) if before != 0 else spread
    return difference / scale if scale > 0 else (math.inf if difference > 0 else 0.0)


def _weights(data: Microdata) -> NDArray[np.float64]:
    """The sampling weights of the table; default: 1 each."""
    for name in data.named(Role.WEIGHT)[:1]:
        series = data.frame[name]
        if not series.dtype.is_numeric() or (len(series) and (series.fill_null(0) < 0).any()):
            raise DataError(f"integrity: the weights '{name}' must be non-negative numbers")
        return series.cast(pl.Float64).fill_null(0.0).to_numpy()
    return np.ones(len(data))


# old, new: one weight per record of the original and of the masked table. cells: the cell of each record in the table of all
# combinations of the attributes' shared codes. O(records x attributes + cells); all cells must fit into memory.
def total_variation(attributes: Sequence[SharedCodes], old: NDArray[np.float64], new: NDArray[np.float64]) -> float:
    """The total variation distance: half the sum of the absolute differences of weighted shares; 0: equal, 1: disjoint."""
    shares = []
    cell_count = math.prod(attribute.cardinality for attribute in attributes)
    for side, weights in (("left", old), ("right", new)):
        cells = np.zeros(len(weights), dtype=np.int64)
        for attribute in attributes:
            cells = cells * attribute.cardinality + getattr(attribute, side)
        table = np.bincount(cells, weights=weights, minlength=cell_count)
        shares.append(table / total if (total := table.sum()) > 0 else table)
    return float(np.abs(shares[0] - shares[1]).sum()) / 2
