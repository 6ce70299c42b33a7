"""Global recoding: the same coarser value for every record that had a finer one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from discreet.engine.cells.handover import describe, kind_in, local_units
from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes
from discreet.engine.cells.intervals import interval_bins, interval_of_bin
from discreet.engine.cells.positions import exact_array, native_positions, same_scale
from discreet.engine.cells.reader import meaning_of
from discreet.engine.encoding.columns import Column, encode, encode_series
from discreet.engine.spark.gaps import MANY_CATEGORIES, QUANTILES
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.numbers import numbers_of
from discreet.masking.requirements import need_columns, need_numbers, need_values
from discreet.model.attribute import printed
from discreet.model.cells import EVERYTHING, Cell, ColumnCells, Group, Interval, Kind, union
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
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
    spark: ClassVar[EngineWork | None] = EngineWork(
        "discreet.masking.global_recoding.spark:global_recoding", (QUANTILES, MANY_CATEGORIES)
    )
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
        made = {name: self._recode(data, name) for name in columns}
        return data.with_columns(made, {name: self.described(data, name, series) for name, series in made.items()})

    def described(self, data: Microdata, name: str, released: pl.Series) -> ColumnCells | None:
        """What the labels of a recoded column stand for."""
        if self.unit is not None:
            zone = getattr(data.frame.schema[name], "time_zone", None)
            return describe(data, name, released, nominal=local_units(released.unique().drop_nulls().to_list(), zone))
        if self.level is not None:
            return describe(data, name, released, hierarchy=hierarchy_of(data, name))
        if not self.groups:
            return describe(data, name, released)
        kind, own = kind_in(data, name), data.cells.get(name)
        groups = {
            label: union([meaning_of(member, kind, own) or member for member in members], kind)
            for label, members in self._labelled().items()
        }
        nominal: dict[str, Cell | str] = {label: cell for label, cell in groups.items() if cell != label}
        if self.other is not None:
            nominal[self.other] = _all_but(groups.values(), kind)
        (column,) = encode(data, [name])
        sources: dict[str, list[str]] = {}
        for value, label in zip(column.values.to_list(), self._group_labels(column), strict=True):
            sources.setdefault(label or "", []).append(printed(value)[-1])
        return describe(data, name, released, sources=sources, nominal=nominal)

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
            labels, codes = self._intervals(native_positions(column.values))
            return _from_codes(name, [labels[code] for code in codes.tolist()], column.codes)
        numbers = numbers_of(series)
        if not series.null_count():
            return _from_codes(name, *self._intervals(numbers))
        missing = np.isnan(numbers)
        labels, codes = self._intervals(numbers[~missing])
        places = np.full(len(numbers), len(labels))
        places[~missing] = codes
        return _from_codes(name, labels, places)

    def _intervals(self, numbers: NDArray[Any]) -> tuple[list[str], NDArray[Any]]:
        """The labels in use, and for each number which of them is its."""
        if self.width is None:
            edges = [-math.inf, *self.breaks, math.inf]
            labels = [str(Interval(low, high, low > -math.inf)) for low, high in itertools.pairwise(edges)]
            bounds, places = same_scale([exact_array(map(_whole, self.breaks)), numbers])
            return labels, np.searchsorted(bounds, places, side="right")
        bins = interval_bins(numbers, self.width, self.origin)
        if bins.dtype == object:
            occurring, codes = np.unique(bins, return_inverse=True)
        else:
            column = encode_series(pl.Series(bins))
            occurring, codes = column.values.to_numpy(), column.codes
        return [str(interval_of_bin(number, self.width, self.origin)) for number in occurring.tolist()], codes

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


def _whole(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number


def _all_but(groups: Iterable[Cell | str], kind: Kind) -> Cell | str:
    """What no group names."""
    every = union(groups, kind)
    if isinstance(every, str):
        return Group(frozenset([every]), others=True)
    if isinstance(every, Group):
        return EVERYTHING if every.others else Group(every.members, every.parts, others=True)
    return Group(frozenset(), frozenset([every]), others=True)


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
