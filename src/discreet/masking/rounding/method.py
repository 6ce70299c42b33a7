"""Rounding to multiples of a base: nearest, unbiased random, or controlled rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.masking.numbers import numbers_of
from discreet.masking.requirements import Strata, need_numbers, need_other_columns
from discreet.masking.step_words import say_value
from discreet.model.cells import number_text
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONTROLLED = Gap(
    "how: controlled",
    "its running sum goes through all records one by one",
    lambda plugin: plugin.how == "controlled",
)


class Rounding(MaskingMethod):
    """Rounds numbers to multiples of ``base``: to the nearest multiple, at random without bias, or by controlled rounding.

    x becomes q or q + 1 times base, with q = floor(x / base) and the remainder p = x / base - q. ``nearest``: q + 1 if
    p >= 1/2. ``random``: q + 1 with probability p, so that the expected value is x. ``controlled``: also q + 1 with probability
    p, but by systematic sampling: with the records in random order (stratum by stratum) and one uniform number u, a record is
    rounded up if the running sum of u and the remainders passes an integer. The total of the column and of each stratum
    therefore differs from the original total by less than base.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"income": [45500, 37900]}, confidential=["income"])
    >>> Rounding(base=1000).mask(data, ["income"], KeyedDraw(7)).frame["income"].to_list()
    [46000, 38000]
    """

    name: ClassVar[str] = "rounding"
    citation: ClassVar[str] = (
        "Willenborg, L. & de Waal, T. (2001). Elements of Statistical Disclosure Control. Springer; Cox, L. H. (1987). A "
        "constructive procedure for unbiased controlled rounding. JASA 82(398), 520-524."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.rounding.spark:rounding", (CONTROLLED,))
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = (
        "Each value to within base (nearest: half of it); random, controlled: means in expectation; controlled: sums within base."
    )

    base: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        examples=[10], description="released values are multiples of this number"
    )
    how: Literal["nearest", "random", "controlled"] = Field(
        default="nearest", description="to the nearest multiple, unbiased random rounding, or controlled rounding"
    )
    strata: tuple[str, ...] = Field(
        default=(), description="controlled: also preserve the sums over records that agree on these columns"
    )

    @model_validator(mode="after")
    def _check_strata(self) -> Self:
        if self.strata and self.how != "controlled":
            raise ValueError(f"strata is allowed only with how: controlled, not with how: {self.how}")
        return self

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        hows = {"random": " at random without bias", "controlled": ", preserving sums (controlled rounding)"}
        base = say_value(parameters.get("base", "the base"))
        return f"round {columns} to multiples of {base}{hows.get(str(parameters.get('how')), '')}"

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_numbers(self.name, data, columns)
        need_other_columns(self.name, data, "strata", self.strata, columns)

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        order = self._random_order(data, draw) if self.how == "controlled" else None
        return data.with_columns({name: self._round(data, name, order, draw) for name in columns})

    def _random_order(self, data: Microdata, draw: Draw) -> NDArray[np.int64]:
        """The records in a random order, stratum by stratum."""
        order = draw.order(data.records, "order")
        return order[np.argsort(Strata.of(data, self.strata).ids[order], kind="stable")]

    def _round(self, data: Microdata, name: str, order: NDArray[np.int64] | None, draw: Draw) -> pl.Series:
        series = data.frame[name]
        is_exact = series.dtype.is_integer() and self.base.is_integer() and series.dtype != pl.UInt64
        filled = series.fill_null(0) if series.null_count() else series
        quotient: NDArray[Any]
        remainder: NDArray[Any]
        if is_exact:  # integer arithmetic, exact for numbers of any size
            unit: int | float = int(self.base)
            quotient, remainder = np.divmod(filled.cast(pl.Int64).to_numpy(), unit)
        else:
            unit = 1.0
            scaled = filled.cast(pl.Float64).to_numpy() / self.base
            quotient = np.floor(scaled)
            remainder = scaled - quotient
        if self.how == "nearest":
            round_up = 2 * remainder >= unit
        elif order is None:
            round_up = remainder > draw.uniform(data.records, name) * unit
        else:
            start = float(draw.uniform(np.zeros(1, np.int64), f"start/{name}")[0])
            round_up = _round_up_systematically(remainder, order, start, unit)
        rounded = pl.Series(name, (quotient + round_up) * (int(self.base) if is_exact else self.base))
        if is_exact:
            rounded = rounded.cast(series.dtype, strict=False)
        elif (digits := -Decimal(repr(self.base)).as_tuple().exponent) in range(16):  # type: ignore[operator]
            rounded = rounded.round(digits)  # 3 x 0.1 is 0.3
        return rounded.set(series.is_null(), None) if series.null_count() else rounded

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Whether values are still multiples of the base, and controlled sums still within base of the original ones."""
        violations = []
        for name in columns:
            if name not in final.columns or not final.frame.schema[name].is_numeric():
                continue
            scaled = numbers_of(final.frame[name]) / self.base
            not_multiples = int((np.abs(scaled - np.rint(scaled)) > 1e-6).sum())
            if not_multiples:
                violations.append(f"{not_multiples} values of '{name}' are no longer multiples of {number_text(self.base)}")
            if self.how == "controlled":
                violations += self._find_moved_sums(before, final, name)
        return violations

    def _find_moved_sums(self, before: Microdata, final: Microdata, name: str) -> list[str]:
        strata = [stratum for stratum in self.strata if stratum in final.columns]
        for keys in ([], strata) if strata else ([],):
            old, new = (_sum_by_stratum(data.frame, keys, name) for data in (before, final))
            moved_count = sum(abs(new.get(key, 0.0) - value) >= self.base * (1 + 1e-9) for key, value in old.items())
            if moved_count:
                by_strata = f"the sums of '{name}' by {' and '.join(keys)} in {moved_count} strata"
                subject = by_strata if keys else f"the sum of '{name}'"
                return [f"{subject} moved by {number_text(self.base)} or more from the original"]
        return []


def _round_up_systematically(remainder: NDArray[Any], order: NDArray[np.int64], start: float, unit: float) -> NDArray[np.bool_]:
    """For each record whether the running sum of the remainders passes a multiple of the unit."""
    is_integer = np.issubdtype(remainder.dtype, np.integer)
    first = int(start * unit) if is_integer else start * unit
    running_sums = np.concatenate((np.array([first]), first + np.cumsum(remainder[order])))
    round_up = np.zeros(len(remainder), dtype=np.bool_)
    round_up[order] = np.diff(np.floor_divide(running_sums, unit)) > 0
    return round_up


def _sum_by_stratum(frame: pl.DataFrame, keys: Sequence[str], name: str) -> dict[Any, float]:
    if not keys:
        return {(): float(frame[name].sum() or 0)}
    sums = frame.group_by(keys).agg(pl.col(name).sum().cast(pl.Float64))
    return {row[:-1]: row[-1] for row in sums.iter_rows()}
