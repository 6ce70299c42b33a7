"""Top and bottom coding: the largest and smallest values, which stand out most, are said to be one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.engine.cells.handover import describe
from discreet.engine.runtime.order_free_sums import by_record
from discreet.errors import DataError, ParameterError
from discreet.masking.numbers import numbers_of, restore_exactly
from discreet.masking.requirements import need_numbers
from discreet.model.cells import Interval, number_text
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]


class Ordered(Protocol):
    """Rising numbers, of which some are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, at: int, /) -> Any: ...


class TopBottomCoding(MaskingMethod):
    """Values at or above the top limit become one value, those at or below the bottom limit another.

    A limit is a value, or the least value of the largest ceil(share x m) or count values of the m that are not null;
    records that tie with the limit are coded too. What is said instead is the limit itself, the mean or the median of the
    coded values (the mean keeps the total), or a label such as ``>=70000``.

    >>> from discreet.testing import table
    >>> data = table({"income": [20, 30, 40, 90, 100]}, confidential=["income"])
    >>> TopBottomCoding(top_count=2, replace="mean").mask(data, ["income"], draw=None).frame["income"].to_list()
    [20, 30, 40, 95, 95]
    """

    name: ClassVar[str] = "top_bottom_coding"
    citation: ClassVar[str] = "Hundepool, A. et al. (2012). Statistical Disclosure Control, section 3.3.2. Wiley."
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.top_bottom_coding.spark:top_bottom_coding")
    scope: ClassVar[Scope] = Scope.COLUMN
    preserves: ClassVar[str] = "All values between the limits; with replace: mean also the total and the mean."

    top: Number | None = Field(default=None, description="values at or above this are coded")
    bottom: Number | None = Field(default=None, description="values at or below this are coded")
    top_share: Share | None = Field(default=None, examples=[0.05], description="share of the largest values that are coded")
    bottom_share: Share | None = Field(default=None, description="share of the smallest values that are coded")
    top_count: Count | None = Field(default=None, description="number of the largest values that are coded")
    bottom_count: Count | None = Field(default=None, description="number of the smallest values that are coded")
    replace: Literal["limit", "mean", "median", "label"] = Field(
        default="limit", description="what coded values become: the limit, their mean or median, or text such as >=70000"
    )

    @model_validator(mode="after")
    def _one_limit_a_side(self) -> TopBottomCoding:
        for side in ("top", "bottom"):
            given = [name for name in (side, f"{side}_share", f"{side}_count") if getattr(self, name) is not None]
            if len(given) > 1:
                raise ValueError(f"give one limit a side, not {' and '.join(given)}")
        if all(getattr(self, name) is None for name in type(self).model_fields if name != "replace"):
            raise ValueError(
                "top_bottom_coding needs a limit: one of top, top_share, top_count, bottom, bottom_share, bottom_count"
            )
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise ValueError(f"bottom must lie below top; got {self.bottom} and {self.top}")
        return self

    @classmethod
    def example(cls) -> Self:
        return cls(top_share=0.1)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_numbers(self.name, data, columns)
        for name in columns:
            self.checked_limits(name, np.sort(_present(data, name)))

    def checked_limits(self, name: str, ordered: Ordered) -> tuple[float, float]:
        """As ``limits``, where they make sense."""
        for side in ("top", "bottom"):
            count = getattr(self, f"{side}_count")
            if count is not None and count >= len(ordered):
                raise ParameterError(f"top_bottom_coding.{side}_count is {count}, but '{name}' has {len(ordered)} values")
        low, high = self.limits(ordered)
        if low >= high:
            raise DataError(
                f"the bottom limit {number_text(low)} of '{name}' does not lie below its top limit {number_text(high)}"
            )
        return low, high

    def limits(self, ordered: Ordered) -> tuple[float, float]:
        """The bottom and the top limit of rising values; infinite where there is none on that side."""
        low, high = -math.inf, math.inf
        if (coded := self._coded("bottom", len(ordered))) is not None:
            low = float(ordered[coded - 1])
        if (coded := self._coded("top", len(ordered))) is not None:
            high = float(ordered[len(ordered) - coded])
        return (low if self.bottom is None else self.bottom), (high if self.top is None else self.top)

    def _coded(self, side: str, number: int) -> int | None:
        share: float | None = getattr(self, f"{side}_share")
        count: int | None = getattr(self, f"{side}_count")
        # a product such as 0.07 x 100 is a hair above the whole number that is meant
        return math.ceil(round(share * number, 9)) if share is not None else count

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        made = {name: self._code(data, name) for name in columns}
        return data.with_columns(made, {name: describe(data, name, series) for name, series in made.items()})

    def _code(self, data: Microdata, name: str) -> pl.Series:
        series = data.frame[name]
        numbers, order = numbers_of(series), by_record(data.records)
        limits = self.limits(np.sort(numbers[~np.isnan(numbers)]))
        ordered = numbers[order]
        return self.coded(series, limits, tuple(
            self._said(ordered[ordered <= limit if bottom else ordered >= limit], limit)
            for bottom, limit in zip((True, False), limits, strict=True)
        ))  # fmt: skip

    def _said(self, coded: NDArray[np.float64], limit: float) -> float:
        """What is said instead of the values on one side."""
        if self.replace in ("limit", "label") or not len(coded):
            return limit
        return float(coded.mean() if self.replace == "mean" else np.median(coded))

    def coded(self, series: pl.Series, limits: tuple[float, float], said: tuple[float, ...]) -> pl.Series:
        """Some values, with the bottom and the top limit of the whole column and what is said beyond each."""
        numbers, (low, high) = numbers_of(series), limits
        sides = [(numbers <= low, Interval(-math.inf, low, False, True)), (numbers >= high, Interval(high, math.inf))]
        if self.replace == "label":
            texts = series.cast(pl.String)
            for chosen, label in sides:
                texts = (
                    texts.set(pl.Series(chosen), str(_holding(label, series.filter(pl.Series(chosen)))))
                    if chosen.any()
                    else texts
                )
            return texts
        made = numbers.copy()
        for (chosen, _), instead in zip(sides, said, strict=True):
            made[chosen] = instead
        return restore_exactly(made, series)

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        """A later step may bring values back beyond a limit."""
        found = []
        for name in columns:
            if (
                name not in final.columns
                or not final.frame.schema[name].is_numeric()
                or not after.frame.schema[name].is_numeric()
            ):
                continue
            least, most = float(np.min(_present(after, name))), float(np.max(_present(after, name)))
            numbers = numbers_of(final.frame[name])
            low, high = self.limits(np.sort(_present(before, name)))
            beyond = int(((numbers > most) & (high < math.inf)).sum() + ((numbers < least) & (low > -math.inf)).sum())
            if beyond:
                found.append(f"{beyond} {'value' if beyond == 1 else 'values'} of '{name}' now lie beyond the coded extremes")
        return found


def _holding(label: Interval, coded: pl.Series) -> Interval:
    """The label, its limit moved where a float could not say it and a coded value would lie outside."""
    least, most = coded.min(), coded.max()
    if math.isinf(label.lower):
        return label if most in label else Interval(label.lower, most, False, True)
    return label if least in label else Interval(least, label.upper)


def _present(data: Microdata, name: str) -> NDArray[np.float64]:
    numbers = numbers_of(data.frame[name])
    return numbers[~np.isnan(numbers)]
