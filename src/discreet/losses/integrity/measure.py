"""Statistical integrity: whether the statistics that users compute stay within a given range."""

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
from discreet.losses.integrity.statistics import ColumnSide, Side
from discreet.model.attribute import Level, Role
from discreet.model.contracts import Direction, LossMeasure
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEFT_OUT = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
Kind = Literal["mean", "variance", "standard_deviation", "quantile", "correlation", "regression", "share", "contingency"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class _Statistic:
    """One statistic before and after masking, its deviation, and the range in which that must stay."""

    kind: str
    attributes: tuple[str, ...]
    detail: str
    before: float
    after: float
    deviation: float
    within: float


WEIGHTED = Gap("survey weights", "weighted quantiles need all records in their order")


class Integrity(LossMeasure):
    """How far statistics of the masked table lie from those of the original, against the range each must stay in.

    For means, variances, standard deviations and quantiles the deviation is |after - before| / |before| (relative to the
    standard deviation where ``before`` is 0); for correlations and standardised regression slopes it is |after - before|;
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
    better: ClassVar[Mapping[str, Direction]] = {"loss": "low", "outside": "low", **dict.fromkeys(KINDS, "low")}
    neutral: ClassVar[Collection[str]] = ("statistics",)
    meaning: ClassVar[Mapping[str, str]] = {
        "loss": "share of statistics outside their range",
        "outside": "statistics outside their range",
        "statistics": "statistics compared",
        "mean": "largest relative deviation of a mean",
        "variance": "largest relative deviation of a variance",
        "standard_deviation": "largest relative deviation of a standard deviation",
        "quantile": "largest relative deviation of a quantile",
        "correlation": "largest change of a correlation",
        "regression": "largest change of a standardised slope",
        "share": "largest distance of the shares of an attribute",
        "contingency": "largest distance of a two-way table",
    }

    attributes: tuple[str, ...] = Field(default=(), description="attributes looked at; all that both tables have where empty")
    range: Annotated[float, Field(ge=0)] = Field(default=0.05, description="largest deviation that still counts as kept")
    ranges: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict, description="the same by attribute; of two attributes the narrower range holds"
    )
    regressions: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="responses with their predictors; each number on all others where empty"
    )
    categories: Annotated[int, Field(ge=1)] = Field(
        default=50, description="attributes with more different values are left out of shares and two-way tables"
    )
    kinds: tuple[Kind, ...] = Field(default=(), description="kinds of statistics compared; all where empty")

    def only(self, fields: Collection[str]) -> Self:
        wanted = tuple(kind for kind in self.kinds or KINDS if kind in fields)
        # what counts over all kinds needs them all
        return self.model_copy(update={"kinds": wanted}) if wanted and set(fields) <= set(KINDS) else self

    def measure(self, original: Microdata, masked: Microdata) -> Score:
        names, numbers = self.compared(original, masked)
        weights = _weights(original), _weights(masked)
        columns: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
        notes: list[str] = []
        for name in numbers:
            columns[name] = released_numbers(original, masked, name)
            unread = int((np.isnan(columns[name][1]) & masked.frame[name].is_not_null().to_numpy()).sum())
            notes += self.unread(name, unread)
        sides = [ColumnSide({name: both[side] for name, both in columns.items()}, weights[side]) for side in (0, 1)]
        small: list[str] = []
        left_out = [name for name in names if name not in numbers]
        if self.asks("share", "contingency"):
            small, told = self.small({name: original.frame[name].n_unique() for name in left_out})
            notes += told

        coded: dict[str, SharedCodes] = {}  # each attribute once, however many pairs it is in

        def distance(chosen: Sequence[str]) -> float:
            for name in chosen:
                if name not in coded:
                    one, other = as_categories(original.frame[name], masked.frame[name], masked.cells.get(name))
                    (coded[name],) = encode_shared(one.to_frame(), other.to_frame(), [(name, name)])
            return total_variation([coded[name] for name in chosen], *weights)

        return self.score(names, numbers, sides[0], sides[1], small, distance, notes)

    def score(
        self,
        names: list[str],
        numbers: list[str],
        before: Side,
        after: Side,
        small: list[str],
        distance: Callable[[Sequence[str]], float],
        notes: list[str],
    ) -> Score:
        """The score from the statistics of both tables, wherever they were computed."""
        found = [one for name in numbers for one in self._alone(name, before, after)]
        found += self._together(numbers, before, after)
        for kind, sets in (("share", [(name,) for name in small]), ("contingency", list(combinations(small, 2)))):
            for chosen in sets if self.asks(kind) else ():
                found.append(_Statistic(kind, chosen, "", math.nan, math.nan, distance(chosen), self._within(*chosen)))
        return self._score(found, names, tuple(notes))

    def unread(self, name: str, number: int) -> list[str]:
        """What is said of masked values that no number can be made of."""
        return [f"'{name}': {number:,} masked values are no numbers or intervals and count as missing"] if number else []

    def small(self, different: Mapping[str, int]) -> tuple[list[str], list[str]]:
        """The attributes whose shares are compared, by how many different values they have, and what is said of the others."""
        kept = [name for name, number in different.items() if number <= self.categories]
        return kept, [
            f"'{name}' has more than {self.categories} different values, so its shares are not compared"
            for name in different
            if name not in kept
        ]

    def compared(self, original: Microdata, masked: Microdata) -> tuple[list[str], list[str]]:
        """The attributes that are looked at, and those of them that are numbers."""
        names = self._names(original, masked)
        numbers = [name for name in names if original.level(name) is Level.NUMERIC and is_number(original.frame[name])]
        for name in (name for response, others in self.regressions.items() for name in (response, *others)):
            if name not in numbers and self.asks("regression") and len(numbers) > 1:
                raise DataError(f"integrity: a regression needs numbers, but '{name}' is none")
        return names, numbers

    def responses(self, numbers: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The regressions that are compared: responses with their predictors."""
        if not self.asks("regression") or len(numbers) < 2:
            return {}
        return self.regressions or {name: tuple(other for other in numbers if other != name) for name in numbers}

    def _names(self, original: Microdata, masked: Microdata) -> list[str]:
        listed = [*self.attributes, *self.ranges, *self.regressions, *(x for xs in self.regressions.values() for x in xs)]
        for name in listed:
            original.attribute(name)
            if name not in masked.columns:
                raise DataError(f"integrity: {masked.source} has no column '{name}'; {nearest(name, masked.columns)}")
        usual = [name for name in original.columns if original.attribute(name).role not in _LEFT_OUT and name in masked.columns]
        return list(dict.fromkeys([*(self.attributes or usual), *self.regressions]))

    def _within(self, *names: str) -> float:
        return min(self.ranges.get(name, self.range) for name in names)

    def _alone(self, name: str, before: Side, after: Side) -> list[_Statistic]:
        """Mean, variance, standard deviation and quantiles of one attribute."""
        (mean, variance), (mean_after, variance_after) = before.mean_and_variance(name), after.mean_and_variance(name)
        spread, spread_after = math.sqrt(variance), math.sqrt(variance_after)
        within = self._within(name)
        made = [
            _Statistic("mean", (name,), "", mean, mean_after, _relative(mean, mean_after, spread), within),
            _Statistic("variance", (name,), "", variance, variance_after, _relative(variance, variance_after, 0.0), within),
            _Statistic("standard_deviation", (name,), "", spread, spread_after, _relative(spread, spread_after, 0.0), within),
        ]
        made = [one for one in made if self.asks(one.kind)]
        if not self.asks("quantile"):
            return made
        shares = np.array(_SHARES)
        for share, one, other in zip(_SHARES, before.quantiles(name, shares), after.quantiles(name, shares), strict=True):
            deviation = _relative(float(one), float(other), spread)
            made.append(_Statistic("quantile", (name,), f"{share:g}", float(one), float(other), deviation, within))
        return made

    def asks(self, *kinds: str) -> bool:
        """Whether statistics of one of these kinds are compared."""
        return not self.kinds or bool(set(kinds) & set(self.kinds))

    def _together(self, names: Sequence[str], before: Side, after: Side) -> list[_Statistic]:
        """Correlations and regression slopes of the numeric attributes."""
        made: list[_Statistic] = []
        if len(names) < 2:
            return made
        if self.asks("correlation"):
            one, other = before.correlations(names), after.correlations(names)
            for (at, first), (to, second) in combinations(enumerate(names), 2):
                made.append(self._difference("correlation", (first, second), "", one[at, to], other[at, to]))
        wanted = self.responses(names)
        spread = np.array([math.sqrt(before.mean_and_variance(name)[1]) for name in names]) if wanted else np.zeros(0)
        for response, predictors in wanted.items():
            at, by = names.index(response), [names.index(name) for name in predictors]
            # on the original's scale: the change in standard deviations for one standard deviation more
            scale = np.divide(spread[by], spread[at], out=np.zeros(len(by)), where=spread[at] > 0)
            slopes = [side.regression(response, predictors) * scale for side in (before, after)]
            for predictor, slope, slope_after in zip(predictors, *slopes, strict=True):
                made.append(self._difference("regression", (response, predictor), f"on {predictor}", slope, slope_after))
        return made

    def _difference(self, kind: str, names: tuple[str, ...], detail: str, one: float, other: float) -> _Statistic:
        """A statistic on a scale of its own: the deviation is the plain difference, 0 where the original has none."""
        before, after = float(one), float(other)
        # a relation that cannot be computed any more is lost whole; one that never could is not lost
        gone = abs(before) if math.isnan(after) else abs(after - before)
        deviation = 0.0 if math.isnan(before) else gone
        return _Statistic(kind, names, detail, before, after, deviation, self._within(*names))

    def distance(
        self,
        original: pl.DataFrame,
        masked: pl.DataFrame,
        chosen: Sequence[str],
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> float:
        """How far the shares of combinations of categorical attributes lie apart; a null is a category."""
        return total_variation(encode_shared(original, masked, [(name, name) for name in chosen]), *weights)

    def _score(self, found: list[_Statistic], names: list[str], notes: tuple[str, ...]) -> Score:
        outside = [one for one in found if _outside(one)]
        summary: dict[str, int | float] = {
            "loss": len(outside) / len(found) if found else 0.0,
            "outside": len(outside),
            "statistics": len(found),
            **{kind: max((one.deviation for one in found if one.kind == kind), default=0.0) for kind in KINDS},
        }
        rows = []
        for name in names:
            mine = [one for one in found if name in one.attributes]
            row: dict[str, object] = {"attribute": name, "range": self._within(name)}
            row |= {"outside": sum(_outside(one) for one in mine), "statistics": len(mine)}
            for one in mine:
                if one.kind in ("mean", "standard_deviation"):
                    row |= {f"{one.kind}_before": one.before, f"{one.kind}_after": one.after}
            rows.append(row | {kind: max((one.deviation for one in mine if one.kind == kind), default=None) for kind in KINDS})
        order = ["attribute", "range", "outside", "statistics", "mean_before", "mean_after", "standard_deviation_before"]
        schema: dict[str, type[pl.DataType]] = dict.fromkeys([*order, "standard_deviation_after", *KINDS], pl.Float64)
        schema |= {"attribute": pl.String, "outside": pl.Int64, "statistics": pl.Int64}
        return Score(self.name, summary, None, pl.DataFrame(rows, schema=schema), notes=notes)


def _outside(one: _Statistic) -> bool:
    return one.deviation > one.within * (1 + 1e-12)


def _relative(before: float, after: float, spread: float) -> float:
    """|after - before| / |before|; of the standard deviation where ``before`` is 0; a statistic that is gone is all lost."""
    if math.isnan(before):
        return 0.0
    if math.isnan(after):
        return 1.0
    apart = abs(after - before)
    scale = abs(before) if before != 0 else spread
    return apart / scale if scale > 0 else (math.inf if apart > 0 else 0.0)


def _weights(data: Microdata) -> NDArray[np.float64]:
    """The survey's weights, or ones."""
    for name in data.named(Role.WEIGHT)[:1]:
        series = data.frame[name]
        if not series.dtype.is_numeric() or (len(series) and (series.fill_null(0) < 0).any()):
            raise DataError(f"integrity: the weights '{name}' must be numbers that are not negative")
        return series.cast(pl.Float64).fill_null(0.0).to_numpy()
    return np.ones(len(data))


def total_variation(attributes: Sequence[SharedCodes], old: NDArray[np.float64], new: NDArray[np.float64]) -> float:
    """Half the sum of the differences of the weighted shares of all cells; 0 is equal, 1 is nothing in common."""
    shares = []
    room = math.prod(one.cardinality for one in attributes)
    for side, weights in (("left", old), ("right", new)):
        cells = np.zeros(len(weights), dtype=np.int64)
        for one in attributes:
            cells = cells * one.cardinality + getattr(one, side)
        table = np.bincount(cells, weights=weights, minlength=room)
        shares.append(table / total if (total := table.sum()) > 0 else table)
    return float(np.abs(shares[0] - shares[1]).sum()) / 2
