"""Noise: numbers with a random error, drawn so that what is computed from them stays about right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from discreet.engine.encoding.columns import threads
from discreet.engine.runtime.order_free_sums import by_record, combine, root
from discreet.errors import DataError, ParameterError
from discreet.masking.noise.moments import Moments
from discreet.masking.numbers import numbers_of, restore
from discreet.masking.requirements import maskable, need_numbers
from discreet.model.attribute import Level
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = Annotated[float, Field(allow_inf_nan=False)]


class Noise(MaskingMethod):
    """x becomes x + e, with e normal of mean 0; c is the ``level`` and S the covariance matrix of the columns.

    ``additive``: independent errors of variance c^2 S_jj. ``correlated``: errors with covariance c^2 S: correlations stay.
    ``kim``: m + (x + e - m) / sqrt(1 + c^2) with correlated errors, so that means and covariances stay. ``multiplicative``:
    x exp(s z - s^2 / 2) with s^2 = log(1 + c^2), a factor of mean 1 and standard deviation c that keeps the sign.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"income": [100.0, 200.0, 300.0]}, confidential=["income"])
    >>> made = Noise(level=0.1, lower=0).mask(data, ["income"], KeyedDraw(7)).frame["income"]
    >>> bool(((made - data.frame["income"]).abs() < 60).all())
    True
    """

    name: ClassVar[str] = "noise"
    citation: ClassVar[str] = (
        "Kim, J. J. (1986). A method for limiting disclosure in microdata based on random noise and transformation. Proc. ASA "
        "Section on Survey Research Methods, 303-308; Kim, J. J. & Winkler, W. E. (2003). Multiplicative noise for masking "
        "continuous data. US Census Bureau."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.masking.noise.spark:noise")
    scope: ClassVar[Scope] = Scope.COLUMN
    preserves: ClassVar[str] = "Means in expectation; correlations too where correlated; means and covariances with kim."

    level: Annotated[float, Field(gt=0, le=10)] = Field(
        description="standard deviation of the noise, as a multiple of the column's (of the value, where multiplicative)",
        examples=[0.1],
    )
    how: Literal["additive", "correlated", "kim", "multiplicative"] = Field(default="additive", description="the kind of noise")
    lower: Number | None = Field(default=None, description="masked values below this are mirrored at it")
    upper: Number | None = Field(default=None, description="masked values above this are mirrored at it")
    within: bool = Field(default=False, description="stay within the smallest and largest value of the column")

    @model_validator(mode="after")
    def _bounds_have_room(self) -> Noise:
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ValueError(f"lower must lie below upper; got {self.lower} and {self.upper}")
        return self

    def choose(self, data: Microdata) -> list[str]:
        return maskable(data, Level.NUMERIC)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_numbers(self.name, data, columns)
        for name in columns:
            series = data.frame[name]
            if len(data) - series.null_count() < 2 and self.how != "multiplicative":
                raise DataError(f"noise needs a spread, but '{name}' has a value in 1 record only")
            least, most = float(series.min()), float(series.max())  # type: ignore[arg-type]
            if (self.lower is not None and least < self.lower) or (self.upper is not None and most > self.upper):
                bound, odd = (self.lower, least) if self.lower is not None and least < self.lower else (self.upper, most)
                raise ParameterError(f"noise keeps '{name}' on one side of {bound}, but it holds {odd} already")
        if self._together:
            self.need_complete(len(data.frame.select(columns).drop_nulls()), columns)

    def need_complete(self, number: int, columns: Sequence[str]) -> None:
        """A covariance needs two records that have all values."""
        if self._together and number < 2:
            raise DataError(f"{self.how} noise needs at least 2 records that have values in all of {', '.join(columns)}")

    @property
    def _together(self) -> bool:
        return self.how in ("correlated", "kim")

    def _values(self, data: Microdata, columns: Sequence[str]) -> NDArray[np.float64]:
        """An attribute a row."""
        return np.stack([numbers_of(data.frame[name]) for name in columns])

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        values = self._values(data, columns)
        moments = Moments.of(values, by_record(data.records), together=self._together, alone=self.how == "additive")
        return self.noisy(data, columns, draw, moments)

    def noisy(self, data: Microdata, columns: Sequence[str], draw: Draw, moments: Moments) -> Microdata:
        """Some records with noise, of the spread of the whole table."""
        values = self._values(data, columns)
        with ThreadPoolExecutor(threads()) as pool:
            normal = np.stack(list(pool.map(lambda name: draw.normal(data.records, name), columns)))
        if self.how == "multiplicative":
            spread = math.sqrt(math.log1p(self.level**2))
            made = values * np.exp(spread * normal - spread**2 / 2)
        elif self.how == "additive":
            made = values + self.level * moments.deviations[:, None] * normal
        else:
            made = self._correlated(values, normal, moments)
        return data.with_columns(
            {
                name: restore(self._bounded(masked, least, most), data.frame[name])
                for name, masked, least, most in zip(columns, made, moments.least.tolist(), moments.most.tolist(), strict=True)
            }
        )

    def _correlated(self, values: NDArray[np.float64], normal: NDArray[np.float64], moments: Moments) -> NDArray[np.float64]:
        means, noisy = moments.means, values + combine(self.level * root(moments.covariance), normal)
        if self.how == "correlated":
            return noisy
        return means[:, None] + (noisy - means[:, None]) / math.sqrt(1 + self.level**2)

    def _bounded(self, made: NDArray[np.float64], least: float, most: float) -> NDArray[np.float64]:
        """Mirrored at the bounds, and at a bound itself where a mirror image is out again on the other side."""
        if not self.within and self.lower is None and self.upper is None:
            return made
        lower = least if self.within else -math.inf
        upper = most if self.within else math.inf
        lower = max(lower, self.lower) if self.lower is not None else lower
        upper = min(upper, self.upper) if self.upper is not None else upper
        if lower > -math.inf:
            made = np.where(made < lower, 2 * lower - made, made)
        if upper < math.inf:
            made = np.where(made > upper, 2 * upper - made, made)
        return np.clip(made, lower, upper)

    def promise(self, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Bounds still hold."""
        found = []
        for name in columns:
            if name not in final.columns or not final.frame.schema[name].is_numeric():
                continue
            values = numbers_of(final.frame[name])
            for bound, outside in ((self.lower, values < (self.lower or 0)), (self.upper, values > (self.upper or 0))):
                if bound is not None and outside.any():
                    found.append(f"'{name}' was kept on one side of {bound}, but {outside.sum()} values are beyond it now")
        return found
