"""Top and bottom coding: values beyond a limit, which stand out most, are replaced by a common code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.cells.handover import describe_labels
from discreet.engine.runtime.order_free_sums import rows_by_record_number
from discreet.errors import DataError, ParameterError
from discreet.masking.numbers import numbers_of, restore_exactly
from discreet.masking.requirements import need_numbers
from discreet.masking.step_words import list_words, say_percent, say_value
from discreet.model.cells import Interval, number_text
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]


class SortedNumbers(Protocol):
    """Numbers in ascending order, accessed by index; on Spark each access runs a query."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


class TopBottomCoding(MaskingMethod):
    """Replaces values at or above a top limit by one code, and values at or below a bottom limit by another.

    A limit is a value, or the smallest of the ceil(share x m) or count largest values of the m that are not null (likewise for
    the bottom); values equal to the limit are coded too. The code is the limit itself, the mean or the median of the coded
    values (the mean preserves the total), or a label such as ``>=70000``.

    >>> from discreet.testing import table
    >>> data = table({"income": [20, 30, 40, 90, 100]}, confidential=["income"])
    >>> TopBottomCoding(top_count=2, replace="mean").mask(data, ["income"], draw=None).frame["income"].to_list()
    [20, 30, 40, 95, 95]
    """

    name: ClassVar[str] = "top_bottom_coding"
    citation: ClassVar[str] = "Hundepool, A. et al. (2012). Statistical Disclosure Control, section 3.3.2. Wiley."
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.top_bottom_coding.spark:top_bottom_coding")
    scope: ClassVar[Scope] = Scope.COLUMN
    preserves: ClassVar[str] = "All values between the limits; replace: mean also preserves the total and the mean."

    top: Number | None = Field(default=None, description="values at or above this are coded")
    bottom: Number | None = Field(default=None, description="values at or below this are coded")
    top_share: Share | None = Field(default=None, examples=[0.05], description="share of the largest values to code")
    bottom_share: Share | None = Field(default=None, description="share of the smallest values to code")
    top_count: Count | None = Field(default=None, description="number of the largest values to code")
    bottom_count: Count | None = Field(default=None, description="number of the smallest values to code")
    replace: Literal["limit", "mean", "median", "label"] = Field(
        default="limit", description="code for values beyond a limit: the limit, their mean or median, or a label such as >=70000"
    )

    @model_validator(mode="after")
    def _check_limits(self) -> TopBottomCoding:
        for side in ("top", "bottom"):
            limits = [name for name in (side, f"{side}_share", f"{side}_count") if getattr(self, name) is not None]
            if len(limits) > 1:
                raise ValueError(f"give one limit per side, not {' and '.join(limits)}")
        if all(getattr(self, name) is None for name in type(self).model_fields if name != "replace"):
            raise ValueError(
                "top_bottom_coding needs a limit: one of top, top_share, top_count, bottom, bottom_share, bottom_count"
            )
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise ValueError(f"bottom must be below top; got {self.bottom} and {self.top}")
        return self

    @classmethod
    def example(cls) -> Self:
        return cls(top_share=0.1)

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        ends = []
        for end, beyond, extreme in (("top", "at or above", "largest"), ("bottom", "at or below", "smallest")):
            if (limit := parameters.get(end)) is not None:
                ends.append(f"values {beyond} {say_value(limit)}")
            elif (share := parameters.get(f"{end}_share")) is not None:
                ends.append(f"the {extreme} {say_percent(share)}")
            elif (count := parameters.get(f"{end}_count")) is not None:
                ends.append(f"the {extreme} {count:,} values")
        by = {"mean": "their mean", "median": "their median", "label": "a label"}.get(str(parameters.get("replace")), "the limit")
        return f"replace {list_words(ends) or 'the extreme values'} of {columns} by {by}"

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_numbers(self.name, data, columns)
        for name in columns:
            self.find_limits_or_raise(name, np.sort(_present_values(data, name)))

    def find_limits_or_raise(self, name: str, ordered: SortedNumbers) -> tuple[float, float]:
        """As ``find_limits``; raise an error if a side would code all values, or the limits are not in order."""
        for side in ("top", "bottom"):
            count = getattr(self, f"{side}_count")
            if count is not None and count >= len(ordered):
                raise ParameterError(f"top_bottom_coding.{side}_count is {count}, but '{name}' has {len(ordered)} values")
        low, high = self.find_limits(ordered)
        if low >= high:
            raise DataError(f"the bottom limit {number_text(low)} of '{name}' is not below its top limit {number_text(high)}")
        return low, high

    def find_limits(self, ordered: SortedNumbers) -> tuple[float, float]:
        """The bottom and the top limit; infinite on a side without a limit."""
        low, high = -math.inf, math.inf
        if (count := self._coded_count("bottom", len(ordered))) is not None:
            low = float(ordered[count - 1])
        if (count := self._coded_count("top", len(ordered))) is not None:
            high = float(ordered[len(ordered) - count])
        return (low if self.bottom is None else self.bottom), (high if self.top is None else self.top)

    def _coded_count(self, side: str, value_count: int) -> int | None:
        share: float | None = getattr(self, f"{side}_share")
        count: int | None = getattr(self, f"{side}_count")
        # rounded first, because in floating point 0.07 x 100 is slightly greater than 7
        return math.ceil(round(share * value_count, 9)) if share is not None else count

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        coded = {name: self._code_column(data, name) for name in columns}
        return data.with_columns(coded, {name: describe_labels(data, name, series) for name, series in coded.items()})

    def _code_column(self, data: Microdata, name: str) -> pl.Series:
        series = data.frame[name]
        numbers, order = numbers_of(series), rows_by_record_number(data.records)
        limits = self.find_limits(np.sort(numbers[~np.isnan(numbers)]))
        ordered = numbers[order]
        low, high = limits
        replacements = (self._replacement(ordered[ordered <= low], low), self._replacement(ordered[ordered >= high], high))
        return self.replace_extremes(series, limits, replacements)

    def _replacement(self, coded: NDArray[np.float64], limit: float) -> float:
        """The code for the values on one side."""
        if self.replace in ("limit", "label") or not len(coded):
            return limit
        return float(coded.mean() if self.replace == "mean" else np.median(coded))

    def replace_extremes(self, series: pl.Series, limits: tuple[float, float], replacements: tuple[float, ...]) -> pl.Series:
        """Code the values of a part of a column, by the limits and ``replacements`` (bottom, top) of the whole column."""
        numbers, (low, high) = numbers_of(series), limits
        sides = [(numbers <= low, Interval(-math.inf, low, False, True)), (numbers >= high, Interval(high, math.inf))]
        if self.replace == "label":
            texts = series.cast(pl.String)
            for is_beyond, interval in sides:
                if is_beyond.any():
                    label = str(_widen_to_contain(interval, series.filter(pl.Series(is_beyond))))
                    texts = texts.set(pl.Series(is_beyond), label)
            return texts
        coded_numbers = numbers.copy()
        for (is_beyond, _), replacement in zip(sides, replacements, strict=True):
            coded_numbers[is_beyond] = replacement
        return restore_exactly(coded_numbers, series)

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Whether a later step moved values beyond a limit again."""
        violations = []
        for name in columns:
            if name not in final.columns or not all(table.frame.schema[name].is_numeric() for table in (final, after)):
                continue
            minimum, maximum = float(np.min(_present_values(after, name))), float(np.max(_present_values(after, name)))
            numbers = numbers_of(final.frame[name])
            low, high = self.find_limits(np.sort(_present_values(before, name)))
            beyond = int(((numbers > maximum) & (high < math.inf)).sum() + ((numbers < minimum) & (low > -math.inf)).sum())
            if beyond:
                subject = "1 value" if beyond == 1 else f"{beyond} values"
                violations.append(f"{subject} of '{name}' now {'lies' if beyond == 1 else 'lie'} beyond the coded extremes")
        return violations


def _widen_to_contain(interval: Interval, coded: pl.Series) -> Interval:
    """The interval of a label, widened if a coded value lies outside because the limit was rounded to a float."""
    minimum, maximum = coded.min(), coded.max()
    if math.isinf(interval.lower):
        return interval if maximum in interval else Interval(interval.lower, maximum, False, True)
    return interval if minimum in interval else Interval(minimum, interval.upper)


def _present_values(data: Microdata, name: str) -> NDArray[np.float64]:
    numbers = numbers_of(data.frame[name])
    return numbers[~np.isnan(numbers)]
