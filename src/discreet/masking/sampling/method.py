"""Sampling: releasing a random sample of the records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.spark.gaps import MANY_STRATA
from discreet.errors import DataError, ParameterError
from discreet.masking.numbers import numbers_of
from discreet.masking.requirements import Strata, need_numbers, need_other_columns
from discreet.masking.step_words import say_percent, say_strata
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Sampling(MaskingMethod):
    """Releases a random sample without replacement of exactly round(fraction x n) records, in their original order.

    With ``strata``, r_h = fraction x n_h records are drawn from stratum h, rounded by largest remainders so that the total is
    unchanged. The step's columns are sampling weights (default: the columns with the role weight): they are multiplied by
    n_h / r_h, so that weighted totals still estimate those of the whole table.

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
    preserves: ClassVar[str] = "Every value of the sampled records; means, shares and weighted totals in expectation."

    fraction: Annotated[float, Field(gt=0, le=1)] = Field(
        description="share of the records to release (sampling factor sf)", examples=[0.5]
    )
    strata: tuple[str, ...] = Field(default=(), description="columns that define the strata to sample from")
    least: Annotated[int, Field(ge=0)] = Field(
        default=0, description="minimum number of records to release from each stratum (all of a smaller stratum)"
    )

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:  # noqa: ARG003 - it works on whole records
        share = say_percent(parameters.get("fraction", 1))
        return f"release a random sample of {share} of the records{say_strata(parameters)}"

    def choose(self, data: Microdata) -> list[str]:
        return data.named(Role.WEIGHT)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        self.check_columns(data, columns)
        if len(data):
            strata = Strata.of(data, self.strata)
            self.check_sizes(data, strata, strata.sizes)

    def check_columns(self, data: Microdata, columns: Sequence[str]) -> None:
        """The checks that do not need the sizes of the strata."""
        need_other_columns(self.name, data, "strata", self.strata, columns)
        if columns:
            need_numbers("sampling (which corrects weights)", data, columns)
        if self.least and not self.strata:
            raise ParameterError(f"sampling.least is {self.least}, which needs strata")

    def check_sizes(self, data: Microdata, strata: Strata, sizes: NDArray[np.int64]) -> None:
        """Raise DataError if the sample would leave a stratum empty; ``data`` has at least one record of each stratum."""
        empty = np.flatnonzero(self.allocate(sizes) == 0)
        if len(empty):
            size = sizes[empty[0]]
            emptied = f"the stratum {strata.title(data, int(empty[0]))}" if self.strata else "the release"
            hint = "; set least to keep some records, or use a larger fraction" if self.strata else ""
            raise DataError(f"sampling {self.fraction:g} of {size} record{'s' if size != 1 else ''} leaves {emptied} empty{hint}")

    def allocate(self, stratum_sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of records to release from each stratum: proportional allocation with largest remainders."""
        exact = self.fraction * stratum_sizes
        sample_sizes = np.floor(exact + 1e-9).astype(np.int64)
        remaining = round(self.fraction * int(stratum_sizes.sum())) - int(sample_sizes.sum())
        by_remainder = np.lexsort((np.arange(len(stratum_sizes)), -stratum_sizes, -np.round(exact - sample_sizes, 9)))
        sample_sizes[by_remainder[: max(remaining, 0)]] += 1
        return np.asarray(np.maximum(sample_sizes, np.minimum(self.least, stratum_sizes)))

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        strata = Strata.of(data, self.strata)
        sample_sizes = self.allocate(strata.sizes)
        order = draw.order(data.records)
        order = order[np.argsort(strata.ids[order], kind="stable")]
        position = np.arange(len(data)) - (np.cumsum(strata.sizes) - strata.sizes)[strata.ids[order]]
        rows = np.sort(order[position < sample_sizes[strata.ids[order]]])
        sample = self._with_design(data.take(rows), sample_sizes, strata.sizes)
        if not columns:
            return sample
        factor = (strata.sizes / np.maximum(sample_sizes, 1))[strata.ids[rows]]
        weights = {name: pl.Series(name, numbers_of(sample.frame[name]) * factor).fill_nan(None) for name in columns}
        return sample.with_columns(weights)

    def _with_design(self, sample: Microdata, drawn: NDArray[np.int64], sizes: NDArray[np.int64]) -> Microdata:
        """The sample with its share of the population, for measures of the release; it stays in memory and is never written.

        With ``least``, strata have different shares: the largest is kept, which never understates a risk, because a later step
        may change the columns that tell the strata apart.
        """
        if not sizes.sum():
            return sample
        share = float((drawn / sizes).max()) if self.least else float(drawn.sum() / sizes.sum())
        return sample.with_policy(sample.policy.with_(sampling=sample.policy.sampling.thinned(share)))
