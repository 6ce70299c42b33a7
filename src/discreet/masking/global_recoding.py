"""Global recoding: the same coarser value for every record that had a finer one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from discreet.engine.columns import Column, encode, encode_series
from discreet.engine.hierarchies import hierarchy_of, leaf_codes
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.numbers import numbers_of
from discreet.masking.requirements import need_columns, need_numbers, need_values
from discreet.model.attribute import printed
from discreet.model.cells import Group, Interval
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.hierarchy import DateUnit
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = Annotated[float, Field(allow_inf_nan=False)]
_WAYS = ("breaks", "width", "groups", "level", "unit")
_DATES = {"week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}


class GlobalRecoding(MaskingMethod):
    """Replaces x by f(x), the same f for all records: an interval, a named group, a hierarchy's label, a unit of time.

    ``breaks: [18, 65]`` gives ``<18``, ``18..65`` and ``>=65``; ``width: 10`` gives ``40..50`` (lower bound inside, upper
    outside); ``groups`` gives the owner's labels; ``level`` that of the attribute's hierarchy; ``unit`` months, years, ….

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 55, None]}, key=["age"])
    >>> GlobalRecoding(width=10).mask(data, ["age"], draw=None).frame["age"].to_list()
    ['40..50', '50..60', None]
    """

    name: ClassVar[str] = "global_recoding"
    citation: ClassVar[str] = "Hundepool, A. et al. (2012). Statistical Disclosure Control, section 3.3.1. Wiley."
    scope: ClassVar[Scope] = Scope.CELL
    preserves: ClassVar[str] = (
        "Every value is inside its coarser one: nothing false is said, and counts of whole groups are exact."
    )

    breaks: tuple[Number, ...] = Field(
        default=(), description="bounds of intervals, rising; values outside go to an open interval"
    )
    width: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, examples=[10], description="width of equal intervals"
    )
    origin: Number = Field(default=0.0, description="where intervals of a width start to be counted")
    groups: dict[str, tuple[str, ...]] | tuple[tuple[str, ...], ...] = Field(
        default=(), description="values by the label of their group, or lists of values, whose label is then {a|b}"
    )
    other: str | None = Field(
        default=None, description="label of the values that no group names; they stay as they are where absent"
    )
    level: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="level of the attribute's hierarchy, 1 just above the values"
    )
    unit: DateUnit | None = Field(default=None, description="week, month, quarter, year or decade of a date")

    @field_validator("breaks")
    @classmethod
    def _breaks_rise(cls, breaks: tuple[float, ...]) -> tuple[float, ...]:
        if any(one >= other for one, other in itertools.pairwise(breaks)):
            raise ValueError(f"breaks must rise; got {list(breaks)}")
        return breaks

    @field_validator("groups", mode="before")
    @classmethod
    def _members_as_text(cls, groups: Any) -> Any:
        if isinstance(groups, dict):
            return {str(label): [_text(member) for member in members] for label, members in groups.items()}
        return [[_text(member) for member in members] for members in groups] if isinstance(groups, list | tuple) else groups

    @model_validator(mode="after")
    def _exactly_one_way(self) -> GlobalRecoding:
        ways = [name for name in _WAYS if getattr(self, name) not in (None, (), {})]
        if len(ways) != 1:
            raise ValueError(
                f"global_recoding needs exactly one of {', '.join(_WAYS)}; got {' and '.join(ways) if ways else 'none'}"
            )
        if self.other is not None and ways != ["groups"]:
            raise ValueError("other goes with groups only")
        seen: dict[str, str] = {}
        for label, members in self._labelled().items():
            for member in members:
                if seen.setdefault(member, label) != label:
                    raise ValueError(f"'{member}' stands in the groups '{seen[member]}' and '{label}'")
        return self

    @classmethod
    def example(cls) -> Self:
        return cls(width=10)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_columns(self.name, columns, "the attributes to recode")
        if self.breaks or self.width is not None:
            need_numbers(self.name, data, columns)
        need_values(self.name, data, columns)
        for name in columns:
            dtype = data.frame.schema[name]
            if self.unit is not None and not (dtype == pl.Date or isinstance(dtype, pl.Datetime)):
                raise DataError(f"global_recoding to a {self.unit} needs dates, but '{name}' is {dtype}")
            if self.level is not None and self.level > (height := hierarchy_of(data, name).height):
                raise ParameterError(f"global_recoding.level is {self.level}, but the hierarchy of '{name}' has {height} levels")
            if self.groups:
                self._check_members(encode(data, [name])[0])

    def _check_members(self, column: Column) -> None:
        known = {text for value in column.values.to_list() for text in printed(value)}
        for label, members in self._labelled().items():
            if known.isdisjoint(members):
                raise ParameterError(
                    f"no value of '{column.name}' stands in the group '{label}'; {nearest(members[0] if members else '', known)}"
                )

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        return data.with_columns({name: self._recode(data, name) for name in columns})

    def _recode(self, data: Microdata, name: str) -> pl.Series:
        series = data.frame[name]
        if self.unit is not None:
            return _coarser_date(series, self.unit)
        if self.groups or self.level is not None:
            (column,) = encode(data, [name])
            made = self._group_labels(column) if self.groups else self._level_labels(data, column)
            return _from_codes(name, made, column.codes)
        if series.dtype.is_integer():  # a few values stand for many records
            (column,) = encode(data, [name])
            labels, codes = self._intervals(numbers_of(column.values))
            return _from_codes(name, [labels[code] for code in codes.tolist()], column.codes)
        numbers = numbers_of(series)
        if not series.null_count():
            return _from_codes(name, *self._intervals(numbers))
        missing = np.isnan(numbers)
        labels, codes = self._intervals(numbers[~missing])
        places = np.full(len(numbers), len(labels))
        places[~missing] = codes
        return _from_codes(name, labels, places)

    def _intervals(self, numbers: NDArray[np.float64]) -> tuple[list[str], NDArray[Any]]:
        """The labels in use, and for each number which of them is its."""
        if self.width is None:
            edges = [-math.inf, *self.breaks, math.inf]
            labels = [str(Interval(low, high, low > -math.inf)) for low, high in itertools.pairwise(edges)]
            return labels, np.searchsorted(np.array(self.breaks), numbers, side="right")
        bins = np.floor((numbers - self.origin) / self.width)
        # division may round a number over a bound as the bound is written
        occurring, codes = _distinct(bins)
        under, over = numbers < self._bounds(occurring)[codes], numbers >= self._bounds(occurring + 1)[codes]
        if under.any() or over.any():
            occurring, codes = _distinct(bins - under + over)
        bounds = zip(self._bounds(occurring).tolist(), self._bounds(occurring + 1).tolist(), strict=True)
        return [str(Interval(low, high)) for low, high in bounds], codes

    def _bounds(self, bins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lower bounds of intervals as a person would write them: 3 x 0.1 is 0.3."""
        exact = self.origin + bins * (self.width or 1.0)
        return np.array([float(f"{bound:.12g}") for bound in exact.tolist()])

    def _labelled(self) -> dict[str, tuple[str, ...]]:
        if isinstance(self.groups, dict):
            return self.groups
        return {str(Group(frozenset(members))): members for members in self.groups}

    def _group_labels(self, column: Column) -> list[str | None]:
        label_of = {member: label for label, members in self._labelled().items() for member in members}
        made: list[str | None] = []
        for value in column.values.to_list():
            found = next((label_of[text] for text in printed(value) if text in label_of), self.other)
            made.append(printed(value)[-1] if found is None else found)
        return made

    def _level_labels(self, data: Microdata, column: Column) -> list[str | None]:
        hierarchy = hierarchy_of(data, column.name)
        labels = hierarchy.labels[self.level or 1]
        return [labels[leaf] for leaf in leaf_codes(column, hierarchy)[: len(column.values)].tolist()]


def _distinct(bins: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The bins in use, rising, and which of them each is."""
    if len(bins) and np.abs(bins).max() < 2**53:
        column = encode_series(pl.Series(bins.astype(np.int64)))
        return column.values.cast(pl.Float64).to_numpy(), column.codes
    return np.unique(bins, return_inverse=True)


def _text(member: Any) -> str:
    return str(member).lower() if isinstance(member, bool) else str(member)


def _from_codes(name: str, labels: Sequence[str | None], codes: NDArray[Any]) -> pl.Series:
    """labels[code] a record; a code behind the last label is null."""
    return pl.Series(name, [*labels, None], dtype=pl.String).gather(pl.Series(codes.astype(np.uint32)))


def _coarser_date(series: pl.Series, unit: DateUnit) -> pl.Series:
    if unit in _DATES:
        return series.dt.strftime(_DATES[unit])
    year = series.dt.year().cast(pl.Int64)
    if unit == "decade":
        return (year // 10 * 10).cast(pl.String).str.zfill(4) + "s"
    return year.cast(pl.String).str.zfill(4) + "-Q" + series.dt.quarter().cast(pl.String)
