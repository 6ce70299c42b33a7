"""Microaggregation: the values of small groups of similar records are replaced by a value of the group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.cells.handover import describe_labels
from discreet.engine.cells.hierarchies import usable_hierarchy
from discreet.engine.classes.groups import class_sizes, refine_groups
from discreet.engine.encoding.columns import encode
from discreet.engine.runtime.order_free_sums import rows_by_record_number
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.microaggregation.aggregates import Aggregate, aggregate
from discreet.masking.microaggregation.grouping import Features, Grouping, Scale
from discreet.masking.microaggregation.ranges import publish_ranges
from discreet.masking.numbers import numbers_of, restore, restore_exactly
from discreet.masking.requirements import Strata, maskable, need_columns, need_other_columns, need_values
from discreet.masking.step_words import say_required, say_strata, say_weights
from discreet.model.attribute import Level
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALLOWED_AGGREGATES: dict[Level, tuple[Aggregate, ...]] = {
    Level.NUMERIC: ("mean", "median", "mode"),
    Level.DATE: ("mean", "median", "mode"),
    Level.ORDINAL: ("median", "mode"),
    Level.NOMINAL: ("mode",),
}


class Microaggregation(MaskingMethod):
    """Forms groups of at least ``size`` similar records, and replaces values by the mean, median or mode of the group.

    ``how: optimal`` (one column at a time) minimises the sum over the groups of (x - mean)^2 exactly, by the shortest path of
    Hansen & Mukherjee (2003). ``how: mdav`` groups by all columns at once (Domingo-Ferrer & Torra 2005). Its squared distance
    adds, over the columns, (a - b)^2 / variance for numbers and dates, the same on the ranks of ordinal categories, and
    (a != b) / ((1 - sum of p^2) / 2) for nominal ones, whose divisor is the variance of the 0/1 distance. Groups have size to
    2 size - 1 records.

    With ``publish: ranges`` nothing false is released: a group publishes the range of its numbers and dates, and the set of its
    categories, as in k-member clustering (Byun et al. 2007). An end of a range that fewer than ``size`` records hold is rounded
    outward, so that it is nobody's own value.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55, 25, 35, 55]}, key=["age"])
    >>> Microaggregation(size=2).mask(data, ["age"], draw=None).frame["age"].to_list()
    [44, 44, 55, 30, 30, 55]
    >>> Microaggregation(size=2, publish="ranges").mask(data, ["age"], draw=None).frame["age"].to_list()
    ['44', '44', '55', '[24, 35]', '[24, 35]', '55']
    """

    name: ClassVar[str] = "microaggregation"
    citation: ClassVar[str] = (
        "Hansen, S. L. & Mukherjee, S. (2003). A polynomial algorithm for optimal univariate microaggregation. IEEE TKDE 15(4), "
        "1043-1044; Domingo-Ferrer, J. & Torra, V. (2005). Ordinal, continuous and heterogeneous k-anonymity through "
        "microaggregation. DMKD 11(2), 195-212; Byun, J.-W. et al. (2007). Efficient k-anonymization using clustering. "
        "DASFAA, 188-200."
    )
    scope: ClassVar[Scope] = Scope.GROUP
    default_columns: ClassVar[str] = "the keys"
    preserves: ClassVar[str] = (
        "With the mean as aggregate, means and totals exactly; every record shares its values with size - 1 others."
    )

    size: Annotated[int, Field(ge=2)] = Field(description="minimum number of records in a group", examples=[3])
    how: Literal["optimal", "mdav"] | None = Field(
        default=None,
        description="optimal (univariate, per column) or mdav (multivariate); default: optimal for one ordered column",
    )
    aggregate: Aggregate | None = Field(
        default=None, description="mean, median or mode; default: mean of numbers, median of ordinal and mode of nominal values"
    )
    publish: Literal["aggregates", "ranges"] = Field(
        default="aggregates",
        description="aggregates, which are false for most records, or ranges of numbers and sets of categories, which are true",
    )
    ends: Literal["rounded", "exact"] = Field(
        default="rounded",
        description="ends of published ranges: rounded outward where fewer than size records hold the value, or as they are",
    )
    strata: tuple[str, ...] = Field(default=(), description="columns on which all records of a group agree")
    whole: bool = Field(default=False, description="round the aggregates of integer columns")
    exact_up_to: Annotated[int, Field(ge=100)] = Field(
        default=100_000, description="mdav splits more records than this into parts first, and the log reports it"
    )
    missing: Literal["apart", "category"] = Field(
        default="apart",
        description="apart: group records with the same missing columns; category: missing nominal values are a category",
    )
    scale: Scale = Field(
        default="std",
        description="unit of distances in mdav: the standard deviation or the range; by range, two categories differ by 1",
    )
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="importance of columns in mdav, by which squared distances are multiplied; default: 1",
    )

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        how = parameters.get("aggregate")
        released = f"the {how} of each group" if how else "the mean, median or most frequent value of each group"
        if parameters.get("publish") == "ranges":
            released = "the ranges or sets of values of each group"
        similar = f"group at least {say_required(parameters.get('size'))} similar records by {columns}{say_strata(parameters)}"
        return f"{similar}, and release {released}{say_weights(parameters)}"

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
        for names in self._columns_grouped_together(data, columns):
            has_value = np.zeros(len(data), np.bool_)
            for name in names:
                has_value |= self._missing_is_category(data, name) or data.frame[name].is_not_null().to_numpy()
            counts = np.bincount(strata.ids[has_value], minlength=strata.number)
            small = np.flatnonzero((counts > 0) & (counts < self.size))
            if len(small):
                stratum = f" in the stratum {strata.title(data, int(small[0]))}" if self.strata else ""
                raise ParameterError(
                    f"microaggregation.size is {self.size}, but {' and '.join(names)} {'has' if len(names) == 1 else 'have'} "
                    f"values in only {counts[small[0]]} record{'s' if counts[small[0]] != 1 else ''}{stratum}"
                )

    def _check_level(self, data: Microdata, name: str) -> None:
        level, dtype = data.level(name), data.frame.schema[name]
        if level is Level.NUMERIC and not dtype.is_numeric():
            raise DataError(f"microaggregation of a numeric attribute needs numbers, but '{name}' is {dtype}")
        if dtype.is_float() and data.frame[name].is_infinite().any():
            raise DataError(f"microaggregation needs finite numbers, but '{name}' holds an infinite one")
        if self.aggregate is not None and self.aggregate not in _ALLOWED_AGGREGATES[level]:
            allowed = " or ".join(_ALLOWED_AGGREGATES[level])
            raise ParameterError(f"microaggregation.aggregate is {self.aggregate}, but '{name}' is {level}; use {allowed}")
        if self.how == "optimal" and level is Level.NOMINAL:
            raise ParameterError(f"microaggregation.how is optimal, which needs an order, but '{name}' is nominal; use mdav")

    def _columns_grouped_together(self, data: Microdata, columns: Sequence[str]) -> list[list[str]]:
        """The sets of columns that are grouped together."""
        if self._chosen_algorithm(data, columns) == "mdav":
            return [list(columns)]
        return [[name] for name in columns]

    def _chosen_algorithm(self, data: Microdata, columns: Sequence[str]) -> str:
        is_ordered = len(columns) == 1 and data.level(columns[0]) is not Level.NOMINAL
        return self.how or ("optimal" if is_ordered else "mdav")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        order = rows_by_record_number(data.records)
        masked: dict[str, pl.Series] = {}
        for names in self._columns_grouped_together(data, columns):
            groups = np.empty(len(data), dtype=np.int64)
            groups[order] = self._build_grouping(data, names, order).groups(self._chosen_algorithm(data, columns) == "optimal")
            for name in names:
                if self.publish == "ranges":
                    masked[name] = publish_ranges(data, name, groups, self.size if self.ends == "rounded" else 0)
                else:
                    masked[name] = self._aggregate_column(data, name, groups, order)
        if self.publish == "aggregates":
            return data.with_columns(masked)
        labelled = {name: series for name, series in masked.items() if series.dtype == pl.String}
        return data.with_columns(
            masked,
            {
                name: describe_labels(data, name, series, hierarchy=usable_hierarchy(data, name))
                for name, series in labelled.items()
            },
        )

    def _build_grouping(self, data: Microdata, names: Sequence[str], order: NDArray[np.int64]) -> Grouping:
        """The records as points, sorted by record number, so that neither sums nor ties depend on the order of the rows."""
        features = [self._column_as_numbers(data, name)[order] for name in names]
        nominal = [data.level(name) is Level.NOMINAL for name in names]
        importance = [self.weights.get(name, 1.0) for name in names]
        if self.publish == "ranges" and self.missing == "category":
            for column, weight in list(zip(features, importance, strict=True)):
                unknown = np.isnan(column)
                if unknown.any():  # a missing number is a category beside the numbers, and in their middle otherwise
                    column[unknown] = column[~unknown].mean() if not unknown.all() else 0.0
                    features.append(unknown.astype(np.float64))
                    nominal.append(True)
                    importance.append(weight)
        strata = Strata.of(data, self.strata)
        cells, number = strata.ids[order], strata.number
        for column in features:
            cells, number = refine_groups(cells, number, np.isnan(column).astype(np.int64), 2)
        points = Features.of(features, np.array(nominal), scale=self.scale, importance=importance)
        return Grouping(points, cells, self.size, self.exact_up_to)

    def _missing_is_category(self, data: Microdata, name: str) -> bool:
        return self.missing == "category" and data.level(name) is Level.NOMINAL

    def _column_as_numbers(self, data: Microdata, name: str) -> NDArray[np.float64]:
        """A column as numbers, NaN for null: its values or the codes of its categories, null being the last if it is one."""
        if data.level(name) in (Level.NUMERIC, Level.DATE) and data.frame.schema[name] != pl.String:
            return numbers_of(data.frame[name])
        (column,) = encode(data, [name])
        null_code = len(column.values) if self._missing_is_category(data, name) else np.nan
        return np.where(column.is_null, null_code, column.codes.astype(np.float64))

    def _aggregate_column(self, data: Microdata, name: str, groups: NDArray[np.int64], order: NDArray[np.int64]) -> pl.Series:
        """The masked column: the aggregate of each record's group, null for records without a group."""
        level, values = data.level(name), self._column_as_numbers(data, name)
        how = self.aggregate or _ALLOWED_AGGREGATES[level][0]
        grouped = order[(groups[order] >= 0) & ~np.isnan(values[order])]
        aggregated = np.full(len(values), np.nan)
        if len(grouped):
            used = np.bincount(groups[grouped]) > 0
            dense_groups = (np.cumsum(used) - 1)[groups[grouped]]
            aggregated[grouped] = aggregate(values[grouped], dense_groups, how, between=level in (Level.NUMERIC, Level.DATE))
        series = data.frame[name]
        if level in (Level.NUMERIC, Level.DATE) and series.dtype != pl.String:
            return restore(aggregated, series) if self.whole else restore_exactly(aggregated, series)
        (column,) = encode(data, [name])
        blank = np.isnan(aggregated) | (aggregated == len(column.values))
        codes = pl.Series(np.where(blank, 0, aggregated).astype(np.uint32))
        return column.values.gather(codes).set(pl.Series(blank), None).cast(series.dtype).alias(name)

    def promise(self, final: Microdata, columns: Sequence[str]) -> list[str]:
        """A warning per set of columns in which a record with values no longer shares them with size - 1 others."""
        sentences = []
        strata = [name for name in self.strata if name in final.columns]
        for names in [list(columns)] if self._is_multivariate(final, columns) else [[name] for name in columns]:
            present = [name for name in names if name in final.columns]
            if not present or not len(final):
                continue
            encoded = encode(final, present)
            sizes = class_sizes([*encoded, *encode(final, strata)], len(final))
            all_null = np.logical_and.reduce([column.is_null for column in encoded])
            too_small = (sizes < self.size) & ~all_null
            if too_small.any():
                number = int(too_small.sum())
                sentences.append(
                    f"its groups of at least {self.size} records with equal {' and '.join(present)} no longer exist: {number} "
                    f"record{' is' if number == 1 else 's are'} now in smaller ones, the smallest of {sizes[too_small].min()}"
                )
        return sentences

    def _is_multivariate(self, final: Microdata, columns: Sequence[str]) -> bool:
        return self.how == "mdav" or (self.how is None and len(columns) > 1)

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        """Values suppressed because too few records have the same missing columns, and the estimated cost of splitting."""
        if self.publish == "ranges":
            return [*self._notes_on_ranges(before, after, columns), *self._notes_on_splitting(before, columns)]
        sentences = []
        nulls = [
            (before.frame[name].is_null(), after.frame[name].is_null(), self._missing_is_category(before, name))
            for name in columns
        ]
        suppressed = sum(int((~was & now).sum()) for was, now, is_category in nulls if not is_category)
        if suppressed:
            sentences.append(
                f"{suppressed} values were suppressed: fewer than {self.size} records have values in the same columns, "
                "so they cannot form a group"
            )
        blanked = sum(int((~was & now).sum()) for was, now, is_category in nulls if is_category)
        filled = sum(int((was & ~now).sum()) for was, now, _ in nulls)
        if blanked or filled:
            sentences.append(
                f"{filled} missing values became the most frequent category of their group, and {blanked} values became missing, "
                "because missing is a category here (missing: category)"
            )
        return sentences + self._notes_on_splitting(before, columns)

    def _notes_on_ranges(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        blank = sum(after.frame[name].null_count() - before.frame[name].null_count() for name in columns)
        reason = "their group has every category, a missing value, or too few records with values in the same columns"
        return [f"{blank:,} values were suppressed, because {reason}"] if blank else []

    def _notes_on_splitting(self, before: Microdata, columns: Sequence[str]) -> list[str]:
        if self._chosen_algorithm(before, columns) != "mdav":
            return []
        return self._build_grouping(before, columns, rows_by_record_number(before.records)).describe_splitting_cost()
