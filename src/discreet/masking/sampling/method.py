"""Sampling: releasing some of the records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.spark.gaps import MANY_STRATA
from discreet.errors import DataError, ParameterError
from discreet.masking.numbers import numbers_of
from discreet.masking.requirements import Strata, need_numbers, need_other_columns
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Sampling(MaskingMethod):
    """A random sample without replacement of exactly round(fraction x n) records, in their old order.

    With ``strata`` each stratum h gives fraction x n_h records, rounded so that the total stays (largest remainders). The
    step's columns are weights (those with the role weight where it names none): they are multiplied by n_h / r_h, so
    that weighted totals still speak of everyone.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"age": list(range(10))}, key=["age"])
    >>> len(Sampling(fraction=0.8).mask(data, [], KeyedDraw(7)))
    8
    """

    name: ClassVar[str] = "sampling"
    citation: ClassVar[str] = "Cochran, W. G. (1977). Sampling Techniques, 3rd ed., chapters 2 and 5. Wiley."
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.sampling.spark:sampling", (MANY_STRATA,))
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "Every value of the records kept; means and shares in expectation; weighted totals in expectation."

    fraction: Annotated[float, Field(gt=0, le=1)] = Field(
        description="share of the records to release, the sampling factor sf", examples=[0.5]
    )
    strata: tuple[str, ...] = Field(default=(), description="sample within records that agree on these columns")
    least: Annotated[int, Field(ge=0)] = Field(
        default=0, description="release at least this many records of each stratum (all of them where it has fewer)"
    )

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.WEIGHT)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        self.check_columns(data, columns)
        if len(data):
            strata = Strata.of(data, self.strata)
            self.check_sizes(data, strata, strata.sizes)

    def check_columns(self, data: Microdata, columns: Sequence[str]) -> None:
        """What can be said before strata are counted."""
        need_other_columns(self.name, data, "strata", self.strata, columns)
        if columns:
            need_numbers("sampling (which corrects weights)", data, columns)
        if self.least and not self.strata:
            raise ParameterError(f"sampling.least is {self.least}, which needs strata")

    def check_sizes(self, data: Microdata, strata: Strata, sizes: NDArray[np.int64]) -> None:
        """No stratum of these sizes may be left empty; ``data`` has at least one record of each."""
        empty = np.flatnonzero(self.sizes(sizes) == 0)
        if len(empty):
            size = sizes[empty[0]]
            where = f"the stratum {strata.title(data, int(empty[0]))}" if self.strata else "the release"
            hint = "; set least to keep some, or take a larger fraction" if self.strata else ""
            raise DataError(f"sampling {self.fraction:g} of {size} record{'s' if size != 1 else ''} leaves {where} empty{hint}")

    def sizes(self, strata: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many records to release of each stratum, by the strata's sizes."""
        exact = self.fraction * strata
        made = np.floor(exact + 1e-9).astype(np.int64)
        rest = round(self.fraction * int(strata.sum())) - int(made.sum())
        largest = np.lexsort((np.arange(len(strata)), -strata, -np.round(exact - made, 9)))
        made[largest[: max(rest, 0)]] += 1
        return np.asarray(np.maximum(made, np.minimum(self.least, strata)))

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        strata = Strata.of(data, self.strata)
        wanted = self.sizes(strata.sizes)
        order = draw.order(data.records)
        order = order[np.argsort(strata.ids[order], kind="stable")]
        place = np.arange(len(data)) - (np.cumsum(strata.sizes) - strata.sizes)[strata.ids[order]]
        kept = np.sort(order[place < wanted[strata.ids[order]]])
        made = data.take(kept)
        if not columns:
            return made
        factor = (strata.sizes / np.maximum(wanted, 1))[strata.ids[kept]]
        weights = {name: pl.Series(name, numbers_of(made.frame[name]) * factor).fill_nan(None) for name in columns}
        return made.with_columns(weights)
