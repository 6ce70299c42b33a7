"""Global recoding: every value of an attribute is replaced by a coarser one, the same for all records."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from discreet.engine.cells.handover import describe_labels, local_time_units_in_utc, original_kind
from discreet.engine.cells.hierarchies import hierarchy_of, leaf_codes
from discreet.engine.cells.intervals import interval_bins, interval_of_bin
from discreet.engine.cells.listed_values import check_groups
from discreet.engine.cells.positions import exact_array, native_positions, same_scale
from discreet.engine.cells.reader import meaning_of
from discreet.engine.encoding.columns import Column, encode, encode_series
from discreet.engine.spark.gaps import MANY_CATEGORIES, QUANTILES
from discreet.errors import DataError, ParameterError
from discreet.masking.numbers import numbers_of
from discreet.masking.requirements import need_columns, need_numbers, need_values
from discreet.masking.step_words import say_value
from discreet.model.attribute import text_forms
from discreet.model.cells import EVERYTHING, Cell, ColumnCells, Group, Interval, Kind, union
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.hierarchy import DateUnit
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = Annotated[float, Field(allow_inf_nan=False)]
_RECODINGS = ("breaks", "width", "groups", "level", "unit")
_DATE_FORMATS = {"week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}


@dataclass(frozen=True)
class _RecodedColumn:
    """A recoded column, the meaning of its labels, and what later work derives from it (see ``Microdata.derived``)."""

    series: pl.Series
    cells: ColumnCells | None
    derived: dict[Any, Any] = field(default_factory=dict)


_MOST_BOUNDS_NAMED = 6
"""Bounds of intervals that a sentence lists; of more it says how many there are."""


class GlobalRecoding(MaskingMethod):
    """Replaces x by f(x), the same f for all records: an interval, a named group, a label of a hierarchy, a unit of time.

    ``breaks: [18, 65]`` gives ``<18``, ``18..65`` and ``>=65``; ``width: 10`` gives ``40..50`` (lower bound included, upper
    excluded); ``groups`` gives the labels of the policy; ``level`` those of a level of the attribute's hierarchy; ``unit`` weeks,
    months, years and so on.

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
    preserves: ClassVar[str] = "Truthfulness: every label contains the true value; the counts of whole groups are exact."

    breaks: tuple[Number, ...] = Field(
        default=(), description="bounds of intervals, increasing; values outside are in an open interval"
    )
    width: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, examples=[10], description="width of equal intervals"
    )
    origin: Number = Field(default=0.0, description="a bound of the intervals of equal width")
    groups: dict[str, tuple[str, ...]] | tuple[tuple[str, ...], ...] = Field(
        default=(), description="the values of each group by its label; or lists of values, which get the label {a|b}"
    )
    other: str | None = Field(
        default=None, description="label of the values that are in no group; default: they remain unchanged"
    )
    level: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="level of the attribute's hierarchy; 1 is the level above the values"
    )
    unit: DateUnit | None = Field(
        default=None, description="unit to which dates are recoded: week, month, quarter, year or decade"
    )

    @field_validator("breaks")
    @classmethod
    def _breaks_rise(cls, breaks: tuple[float, ...]) -> tuple[float, ...]:
        if any(lower >= upper for lower, upper in itertools.pairwise(breaks)):
            raise ValueError(f"breaks must be increasing; got {list(breaks)}")
        return breaks

    @field_validator("groups", mode="before")
    @classmethod
    def _members_as_text(cls, groups: Any) -> Any:
        if isinstance(groups, dict):
            return {str(label): [_member_text(member) for member in members] for label, members in groups.items()}
        return (
            [[_member_text(member) for member in members] for members in groups] if isinstance(groups, list | tuple) else groups
        )

    @model_validator(mode="after")
    def _exactly_one_recoding(self) -> GlobalRecoding:
        recodings = [name for name in _RECODINGS if getattr(self, name) not in (None, (), {})]
        if len(recodings) != 1:
            raise ValueError(
                f"global_recoding needs exactly one of {', '.join(_RECODINGS)}; got {' and '.join(recodings) or 'none'}"
            )
        if self.other is not None and recodings != ["groups"]:
            raise ValueError("other can only be used with groups")
        if EVERYTHING in (self.other, *self._members_by_label()):
            raise ValueError(f"'{EVERYTHING}' is not a label of a group: it means that nothing is known of a value")
        seen: dict[str, str] = {}
        for label, members in self._members_by_label().items():
            for member in members:
                if seen.setdefault(member, label) != label:
                    raise ValueError(f"'{member}' is in the groups '{seen[member]}' and '{label}'")
        return self

    @classmethod
    def example(cls) -> Self:
        return cls(width=10)

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        if (level := parameters.get("level")) is not None:
            return f"recode {columns} to hierarchy level {level}"
        if (unit := parameters.get("unit")) is not None:
            return f"recode {columns} to the {unit}"
        if (width := parameters.get("width")) is not None:
            return f"recode {columns} to intervals of width {say_value(width)}"
        if breaks := parameters.get("breaks"):
            few = len(breaks) <= _MOST_BOUNDS_NAMED
            bounds = f"the bounds {say_value(breaks)}" if few else f"{len(breaks)} bounds"
            return f"recode {columns} to intervals with {bounds}"
        groups = parameters.get("groups") or ()
        into = f" into {len(groups)} group{'' if len(groups) == 1 else 's'}" if groups else ""
        others = ", and all other values into one group" if parameters.get("other") is not None else ""
        return f"recode values of {columns}{into}{others}"

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
                check_groups(encode(data, [name])[0], self._members_by_label(), data.attribute(name), self.name)

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        recoded = {name: self._recode_once(data, name) for name in columns}
        masked = data.with_columns(
            {name: column.series for name, column in recoded.items()}, {name: column.cells for name, column in recoded.items()}
        )
        if "derived" in masked.cache:
            masked.cache["derived"] |= {name: column.derived for name, column in recoded.items()}
        return masked

    def _recode_once(self, data: Microdata, name: str) -> _RecodedColumn:
        """The recoded column; a table that remembers what was derived from its columns has it from the second time on."""
        known = data.derived(name)
        key = (self.name, self.model_dump_json())
        if known is not None and key in known:
            return cast("_RecodedColumn", known[key])
        series = self._recode(data, name)
        column = _RecodedColumn(series, self.describe_cells(data, name, series))
        if known is not None:
            known[key] = column
        return column

    def describe_cells(self, data: Microdata, name: str, released: pl.Series) -> ColumnCells | None:
        """The meaning of the labels of a recoded column."""
        if self.unit is not None:
            zone = getattr(data.frame.schema[name], "time_zone", None)
            return describe_labels(
                data, name, released, nominal=local_time_units_in_utc(released.unique().drop_nulls().to_list(), zone)
            )
        if self.level is not None:
            return describe_labels(data, name, released, hierarchy=hierarchy_of(data, name))
        if not self.groups:
            return describe_labels(data, name, released)
        kind, source_cells = original_kind(data, name), data.cells.get(name)
        groups = {
            label: union([meaning_of(member, kind, source_cells) or member for member in members], kind)
            for label, members in self._members_by_label().items()
        }
        nominal: dict[str, Cell | str] = {label: cell for label, cell in groups.items() if cell != label}
        if self.other is not None:
            nominal[self.other] = _complement(groups.values(), kind)
        (column,) = encode(data, [name])
        sources: dict[str, list[str]] = {}
        for value, label in zip(column.values.to_list(), self._group_labels(column), strict=True):
            sources.setdefault(label or "", []).append(text_forms(value)[-1])
        return describe_labels(data, name, released, sources=sources, nominal=nominal)

    def _recode(self, data: Microdata, name: str) -> pl.Series:
        series = data.frame[name]
        if self.unit is not None:
            return _date_labels(series, self.unit)
        if self.groups or self.level is not None:
            (column,) = encode(data, [name])
            labels_by_code = self._group_labels(column) if self.groups else self._level_labels(data, column)
            return _gather_labels(name, labels_by_code, column.codes)
        if series.dtype.is_integer():  # few distinct values for many records: recode the values
            (column,) = encode(data, [name])
            labels, codes = self._intervals(native_positions(column.values))
            return _gather_labels(name, [labels[code] for code in codes.tolist()], column.codes)
        numbers = numbers_of(series)
        if not series.null_count():
            return _gather_labels(name, *self._intervals(numbers))
        missing = np.isnan(numbers)
        labels, codes = self._intervals(numbers[~missing])
        label_codes = np.full(len(numbers), len(labels))
        label_codes[~missing] = codes
        return _gather_labels(name, labels, label_codes)

    def _intervals(self, numbers: NDArray[Any]) -> tuple[list[str], NDArray[Any]]:
        """The labels that occur, and the code of the label of each number."""
        if self.width is None:
            edges = [-math.inf, *self.breaks, math.inf]
            labels = [str(Interval(low, high, low > -math.inf)) for low, high in itertools.pairwise(edges)]
            bounds, positions = same_scale([exact_array(map(_as_integer, self.breaks)), numbers])
            return labels, np.searchsorted(bounds, positions, side="right")
        bins = interval_bins(numbers, self.width, self.origin)
        if bins.dtype == object:
            occurring, codes = np.unique(bins, return_inverse=True)
        else:
            column = encode_series(pl.Series(bins))
            occurring, codes = column.values.to_numpy(), column.codes
        return [str(interval_of_bin(number, self.width, self.origin)) for number in occurring.tolist()], codes

    def _members_by_label(self) -> dict[str, tuple[str, ...]]:
        if isinstance(self.groups, dict):
            return self.groups
        return {str(Group(frozenset(members))): members for members in self.groups}

    def _group_labels(self, column: Column) -> list[str | None]:
        label_of = {member: label for label, members in self._members_by_label().items() for member in members}
        labels: list[str | None] = []
        for value in column.values.to_list():
            group = next((label_of[text] for text in text_forms(value) if text in label_of), self.other)
            labels.append(text_forms(value)[-1] if group is None else group)
        return labels

    def _level_labels(self, data: Microdata, column: Column) -> list[str | None]:
        hierarchy = hierarchy_of(data, column.name)
        labels = hierarchy.labels[self.level or 1]
        return [labels[leaf] for leaf in leaf_codes(column, hierarchy)[: len(column.values)].tolist()]


def _as_integer(number: float) -> int | float:
    return int(number) if float(number).is_integer() else number


def _complement(groups: Iterable[Cell | str], kind: Kind) -> Cell | str:
    """The values that are in no group, as one cell."""
    all_groups = union(groups, kind)
    if isinstance(all_groups, str):
        return Group(frozenset([all_groups]), others=True)
    if isinstance(all_groups, Group):
        return EVERYTHING if all_groups.others else Group(all_groups.members, all_groups.parts, others=True)
    return Group(frozenset(), frozenset([all_groups]), others=True)


def _member_text(member: Any) -> str:
    return str(member).lower() if isinstance(member, bool) else str(member)


def _gather_labels(name: str, labels: Sequence[str | None], codes: NDArray[Any]) -> pl.Series:
    """The column with ``labels[code]`` for each record; a code behind the last label is null."""
    return pl.Series(name, [*labels, None], dtype=pl.String).gather(pl.Series(codes.astype(np.uint32)))


def _date_labels(series: pl.Series, unit: DateUnit) -> pl.Series:
    if unit in _DATE_FORMATS:
        return series.dt.strftime(_DATE_FORMATS[unit])
    year = series.dt.year().cast(pl.Int64)
    if unit == "decade":
        return (year // 10 * 10).cast(pl.String).str.zfill(4) + "s"
    return year.cast(pl.String).str.zfill(4) + "-Q" + series.dt.quarter().cast(pl.String)
