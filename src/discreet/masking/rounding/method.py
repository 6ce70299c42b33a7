"""Rounding numbers to a base: to the nearest multiple, at random without bias, or so that sums stay."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from discreet.masking.numbers import numbers_of
from discreet.masking.requirements import Strata, need_numbers, need_other_columns
from discreet.model.cells import number_text
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONTROLLED = Gap(
    "how: controlled",
    "its running sum passes through all records one by one",
    lambda plugin: plugin.how == "controlled",
)


class Rounding(MaskingMethod):
    """Replaces x by a multiple of ``base``: with q = floor(x / base) and the part p = x / base - q, by q or q + 1 times base.

    ``nearest``: up where p >= 1/2. ``random``: up with probability p, so that the expectation is x itself. ``controlled``: up
    with probability p as well, by systematic sampling: with the records in a random order (stratum by stratum) and one uniform
    number u, a record goes up where the running sum of u and the parts passes a whole number. So the total of the column,
    and of each stratum, stays within base of the true one.

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
        "Each value to within base (half of it where nearest); means in expectation; sums within base if controlled."
    )

    base: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(examples=[10], description="multiples of this are released")
    how: Literal["nearest", "random", "controlled"] = Field(
        default="nearest", description="to the nearest multiple, unbiased at random, or so that sums stay too"
    )
    strata: tuple[str, ...] = Field(
        default=(), description="controlled: sums stay within records that agree on these columns, too"
    )

    @model_validator(mode="after")
    def _strata_are_for_sums(self) -> Self:
        if self.strata and self.how != "controlled":
            raise ValueError(f"strata goes with how: controlled, not with how: {self.how}")
        return self

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_numbers(self.name, data, columns)
        need_other_columns(self.name, data, "strata", self.strata, columns)

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        order = self._order(data, draw) if self.how == "controlled" else None
        return data.with_columns({name: self._round(data, name, order, draw) for name in columns})

    def _order(self, data: Microdata, draw: Draw) -> NDArray[np.int64]:
        """The records in a random order, stratum by stratum."""
        order = draw.order(data.records, "order")
        return order[np.argsort(Strata.of(data, self.strata).ids[order], kind="stable")]

    def _round(self, data: Microdata, name: str, order: NDArray[np.int64] | None, draw: Draw) -> pl.Series:
        series = data.frame[name]
        whole = series.dtype.is_integer() and self.base.is_integer() and series.dtype != pl.UInt64
        filled = series.fill_null(0) if series.null_count() else series
        below: NDArray[Any]
        part: NDArray[Any]
        if whole:  # exact, however large the numbers are
            unit: int | float = int(self.base)
            below, part = np.divmod(filled.cast(pl.Int64).to_numpy(), unit)
        else:
            unit = 1.0
            scaled = filled.cast(pl.Float64).to_numpy() / self.base
            below = np.floor(scaled)
            part = scaled - below
        if self.how == "nearest":
            up = 2 * part >= unit
        elif order is None:
            up = part > draw.uniform(data.records, name) * unit
        else:
            up = _systematic(part, order, float(draw.uniform(np.zeros(1, np.int64), f"start/{name}")[0]), unit)
        made = pl.Series(name, (below + up) * (int(self.base) if whole else self.base))
        if whole:
            made = made.cast(series.dtype, strict=False)
        elif (digits := -Decimal(repr(self.base)).as_tuple().exponent) in range(16):  # type: ignore[operator]
            made = made.round(digits)  # 3 x 0.1 is 0.3
        return made.set(series.is_null(), None) if series.null_count() else made

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Values are multiples of the base, and controlled sums are within base of the true ones."""
        found = []
        for name in columns:
            if name not in final.columns or not final.frame.schema[name].is_numeric():
                continue
            scaled = numbers_of(final.frame[name]) / self.base
            odd = int((np.abs(scaled - np.rint(scaled)) > 1e-6).sum())
            if odd:
                found.append(f"{odd} values of '{name}' are no multiples of {number_text(self.base)} any more")
            if self.how == "controlled":
                found += self._moved_sums(before, final, name)
        return found

    def _moved_sums(self, before: Microdata, final: Microdata, name: str) -> list[str]:
        strata = [stratum for stratum in self.strata if stratum in final.columns]
        for keys in ([], strata) if strata else ([],):
            old, new = (_sums(data.frame, keys, name) for data in (before, final))
            moved = sum(abs(new.get(key, 0.0) - value) >= self.base * (1 + 1e-9) for key, value in old.items())
            if moved:
                what = f"the sums of '{name}' by {' and '.join(keys)} in {moved} strata" if keys else f"the sum of '{name}'"
                return [f"{what} moved by {number_text(self.base)} or more from the true one"]
        return []


def _systematic(part: NDArray[Any], order: NDArray[np.int64], start: float, unit: float) -> NDArray[np.bool_]:
    """Whether the running sum passes a multiple of the unit with each record."""
    whole = np.issubdtype(part.dtype, np.integer)
    begin = int(start * unit) if whole else start * unit
    upto = np.concatenate((np.array([begin]), begin + np.cumsum(part[order])))
    made = np.zeros(len(part), dtype=np.bool_)
    made[order] = np.diff(np.floor_divide(upto, unit)) > 0
    return made


def _sums(frame: pl.DataFrame, keys: Sequence[str], name: str) -> dict[Any, float]:
    if not keys:
        return {(): float(frame[name].sum() or 0)}
    sums = frame.group_by(keys).agg(pl.col(name).sum().cast(pl.Float64))
    return {row[:-1]: row[-1] for row in sums.iter_rows()}
