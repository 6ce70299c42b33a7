"""Microaggregation: small groups of similar records say their group's value instead of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.groups import class_sizes, refine_groups
from discreet.engine.encoding.columns import encode
from discreet.engine.runtime.order_free_sums import rows_by_record_number
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.microaggregation.aggregates import Aggregate, aggregate
from discreet.masking.microaggregation.grouping import Features, Grouping, Scale
from discreet.masking.numbers import numbers_of, restore, restore_exactly
from discreet.masking.requirements import Strata, maskable, need_columns, need_other_columns, need_values
from discreet.model.attribute import Level
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALLOWED: dict[Level, tuple[Aggregate, ...]] = {
    Level.NUMERIC: ("mean", "median", "mode"),
    Level.DATE: ("mean", "median", "mode"),
    Level.ORDINAL: ("median", "mode"),
    Level.NOMINAL: ("mode",),
}


class Microaggregation(MaskingMethod):
    """Groups of at least ``size`` similar records; each record gets its group's mean, median or mode.

    ``how: optimal`` (one column at a time) minimises the sum over the groups of (x - mean)^2 exactly, by Hansen and Mukherjee's
    shortest path. ``how: mdav`` groups by all columns at once. Its squared distance adds, over the columns, (a - b)^2 / variance
    for numbers and dates, the same on the ranks of ordinal categories, and (a != b) / ((1 - sum of p^2) / 2) for nominal ones,
    where the divisor is what the variance is for a 0/1 distance. Groups have size to 2 size - 1 records.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55, 25, 35, 55]}, key=["age"])
    >>> Microaggregation(size=2).mask(data, ["age"], draw=None).frame["age"].to_list()
    [44, 44, 55, 30, 30, 55]
    """

    name: ClassVar[str] = "microaggregation"
    citation: ClassVar[str] = (
        "Hansen, S. L. & Mukherjee, S. (2003). A polynomial algorithm for optimal univariate microaggregation. IEEE TKDE 15(4), "
        "1043-1044; Domingo-Ferrer, J. & Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through "
        "microaggregation. DMKD 11(2), 195-212."
    )
    scope: ClassVar[Scope] = Scope.GROUP
    preserves: ClassVar[str] = (
        "Means and totals exactly where groups get their mean; every record shares its values with size - 1 others."
    )

    size: Annotated[int, Field(ge=2)] = Field(description="least number of records in a group", examples=[3])
    how: Literal["optimal", "mdav"] | None = Field(
        default=None, description="optimal a column, or mdav over all columns; optimal for one ordered column where absent"
    )
    aggregate: Aggregate | None = Field(
        default=None, description="mean, median or mode; by level where absent: mean of numbers, median of ranks, mode of names"
    )
    strata: tuple[str, ...] = Field(default=(), description="records are grouped only with those that agree on these columns")
    whole: bool = Field(default=False, description="round the values of groups in columns of whole numbers")
    exact_up_to: Annotated[int, Field(ge=100)] = Field(
        default=100_000, description="mdav on more records than this splits them into parts first, and says so"
    )
    missing: Literal["apart", "category"] = Field(
        default="apart",
        description="apart: records are grouped with those that lack the same columns; category: a missing name is one more name",
    )
    scale: Scale = Field(
        default="std",
        description="what mdav divides distances by: the standard deviation, or the range, where two names differ by 1",
    )
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="importance of columns for mdav: squared distances are multiplied by it; 1 where not named",
    )

    def choose(self, data: Microdata) -> list[str]:
        return maskable(data, Level.NUMERIC)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes to aggregate")
        need_other_columns(self.name, data, "strata", self.strata, columns)
        need_values(self.name, data, columns)
        for name in columns:
            self._check_level(data, name)
        for name in self.weights:
            if name not in columns:
                raise ParameterError(f"microaggregation.weights names '{name}', which is not grouped; {nearest(name, columns)}")
        strata = Strata.of(data, self.strata)
        for names in self._together(data, columns):
            some = np.zeros(len(data), np.bool_)
            for name in names:
                some |= self._counts_missing(data, name) or data.frame[name].is_not_null().to_numpy()
            counts = np.bincount(strata.ids[some], minlength=strata.number)
            small = np.flatnonzero((counts > 0) & (counts < self.size))
            if len(small):
                where = f" in the stratum {strata.title(data, int(small[0]))}" if self.strata else ""
                raise ParameterError(
                    f"microaggregation.size is {self.size}, but {' and '.join(names)} {'has' if len(names) == 1 else 'have'} "
                    f"values in only {counts[small[0]]} record{'s' if counts[small[0]] != 1 else ''}{where}"
                )

    def _check_level(self, data: Microdata, name: str) -> None:
        level, dtype = data.level(name), data.frame.schema[name]
        if level is Level.NUMERIC and not dtype.is_numeric():
            raise DataError(f"microaggregation of a numeric attribute needs numbers, but '{name}' is {dtype}")
        if dtype.is_float() and data.frame[name].is_infinite().any():
            raise DataError(f"microaggregation needs finite numbers, but '{name}' holds an infinite one")
        if self.aggregate is not None and self.aggregate not in _ALLOWED[level]:
            raise ParameterError(
                f"microaggregation.aggregate is {self.aggregate}, but '{name}' is {level}; use {' or '.join(_ALLOWED[level])}"
            )
        if self.how == "optimal" and level is Level.NOMINAL:
            raise ParameterError(f"microaggregation.how is optimal, which needs an order, but '{name}' is nominal; use mdav")

    def _together(self, data: Microdata, columns: Sequence[str]) -> list[list[str]]:
        """The columns that are grouped at once."""
        if self._how(data, columns) == "mdav":
            return [list(columns)]
        return [[name] for name in columns]

    def _how(self, data: Microdata, columns: Sequence[str]) -> str:
        one = len(columns) == 1 and data.level(columns[0]) is not Level.NOMINAL
        return self.how or ("optimal" if one else "mdav")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        order = rows_by_record_number(data.records)
        made: dict[str, pl.Series] = {}
        for names in self._together(data, columns):
            groups = np.empty(len(data), dtype=np.int64)
            groups[order] = self._grouping(data, names, order).groups(self._how(data, columns) == "optimal")
            for name in names:
                made[name] = self._aggregated(data, name, groups, order)
        return data.with_columns(made)

    def _grouping(self, data: Microdata, names: Sequence[str], order: NDArray[np.int64]) -> Grouping:
        """The records in the order of their numbers, so that neither sums nor ties depend on how the rows lie."""
        features = [self._feature(data, name)[order] for name in names]
        nominal = np.array([data.level(name) is Level.NOMINAL for name in names])
        strata = Strata.of(data, self.strata)
        cells, number = strata.ids[order], strata.number
        for column in features:
            cells, number = refine_groups(cells, number, np.isnan(column).astype(np.int64), 2)
        importance = [self.weights.get(name, 1.0) for name in names]
        made = Features.of(features, nominal, scale=self.scale, importance=importance)
        return Grouping(made, cells, self.size, self.exact_up_to)

    def _counts_missing(self, data: Microdata, name: str) -> bool:
        return self.missing == "category" and data.level(name) is Level.NOMINAL

    def _feature(self, data: Microdata, name: str) -> NDArray[np.float64]:
        """A column as numbers, NaN for null: itself, or the codes of its categories, the last of which may be a missing name."""
        if data.level(name) in (Level.NUMERIC, Level.DATE) and data.frame.schema[name] != pl.String:
            return numbers_of(data.frame[name])
        (column,) = encode(data, [name])
        lacking = len(column.values) if self._counts_missing(data, name) else np.nan
        return np.where(column.is_null, lacking, column.codes.astype(np.float64))

    def _aggregated(self, data: Microdata, name: str, groups: NDArray[np.int64], order: NDArray[np.int64]) -> pl.Series:
        level, values = data.level(name), self._feature(data, name)
        how = self.aggregate or _ALLOWED[level][0]
        inside = order[(groups[order] >= 0) & ~np.isnan(values[order])]
        made = np.full(len(values), np.nan)
        if len(inside):
            used = np.bincount(groups[inside]) > 0
            numbers = (np.cumsum(used) - 1)[groups[inside]]
            made[inside] = aggregate(values[inside], numbers, how, between=level in (Level.NUMERIC, Level.DATE))
        series = data.frame[name]
        if level in (Level.NUMERIC, Level.DATE) and series.dtype != pl.String:
            return restore(made, series) if self.whole else restore_exactly(made, series)
        (column,) = encode(data, [name])
        blank = np.isnan(made) | (made == len(column.values))
        codes = pl.Series(np.where(blank, 0, made).astype(np.uint32))
        return column.values.gather(codes).set(pl.Series(blank), None).cast(series.dtype).alias(name)

    def promise(self, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Every record that says something shares it with size - 1 others."""
        found = []
        strata = [name for name in self.strata if name in final.columns]
        for names in [list(columns)] if self._grouped_at_once(final, columns) else [[name] for name in columns]:
            present = [name for name in names if name in final.columns]
            if not present or not len(final):
                continue
            encoded = encode(final, present)
            sizes = class_sizes([*encoded, *encode(final, strata)], len(final))
            silent = np.logical_and.reduce([column.is_null for column in encoded])
            broken = (sizes < self.size) & ~silent
            if broken.any():
                number = int(broken.sum())
                found.append(
                    f"its groups of at least {self.size} records with equal {' and '.join(present)} are broken: {number} "
                    f"record{' is' if number == 1 else 's are'} now in smaller ones, the smallest of {sizes[broken].min()}"
                )
        return found

    def _grouped_at_once(self, final: Microdata, columns: Sequence[str]) -> bool:
        return self.how == "mdav" or (self.how is None and len(columns) > 1)

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """What was suppressed because too few records lack the same columns, and what splitting may have cost."""
        made = []
        lost = sum(after.frame[name].null_count() - before.frame[name].null_count() for name in columns)
        if lost:
            made.append(
                f"{lost} values were suppressed: fewer than {self.size} records have values in just the same columns, "
                "so no group of them can be made"
            )
        if self._how(before, columns) == "mdav":
            made += self._grouping(before, columns, rows_by_record_number(before.records)).cost_of_splitting()
        return made
