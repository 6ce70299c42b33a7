"""Noise: a random error is added to numbers, so that single values are uncertain and aggregates stay approximately right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from discreet.engine.encoding.columns import thread_count
from discreet.engine.runtime.order_free_sums import cholesky_root, multiply_in_order, rows_by_record_number
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.errors import DataError, ParameterError
from discreet.masking.noise.moments import Moments
from discreet.masking.numbers import numbers_of, restore
from discreet.masking.requirements import maskable, need_numbers
from discreet.masking.step_words import say_percent, say_value
from discreet.model.attribute import Level
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = Annotated[float, Field(allow_inf_nan=False)]


class Noise(MaskingMethod):
    """Adds random noise to numbers: x becomes x + e, with e normal with mean 0.

    With c the ``level``, m the means and S the covariance matrix of the columns: ``additive`` uses independent errors with
    variance c^2 S_jj; ``correlated`` uses errors with covariance c^2 S, which preserve correlations; ``kim`` is
    m + (x + e - m) / sqrt(1 + c^2) with correlated errors, which preserves means and covariances (Kim 1986);
    ``multiplicative`` is x exp(s z - s^2 / 2) with z standard normal and s^2 = log(1 + c^2), a factor with mean 1 and standard
    deviation c that preserves the sign (Kim & Winkler 2003).

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"income": [100.0, 200.0, 300.0]}, confidential=["income"])
    >>> masked = Noise(level=0.1, lower=0).mask(data, ["income"], KeyedDraw(7)).frame["income"]
    >>> bool(((masked - data.frame["income"]).abs() < 60).all())
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
    preserves: ClassVar[str] = "Means in expectation; correlated: also correlations; kim: means and covariances."

    level: Annotated[float, Field(gt=0, le=10)] = Field(
        description="standard deviation of the noise, as a multiple of the column's (multiplicative: of the value)",
        examples=[0.1],
    )
    how: Literal["additive", "correlated", "kim", "multiplicative"] = Field(default="additive", description="type of noise")
    lower: Number | None = Field(default=None, description="lower bound; masked values below it are reflected at it")
    upper: Number | None = Field(default=None, description="upper bound; masked values above it are reflected at it")
    within: bool = Field(default=False, description="keep masked values between the column's minimum and maximum")

    @model_validator(mode="after")
    def _check_bounds(self) -> Noise:
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise ValueError(f"lower must be below upper; got {self.lower} and {self.upper}")
        return self

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        how, level = parameters.get("how", "additive"), parameters.get("level", 0)
        if how == "multiplicative":
            return f"multiply {columns} by random noise with a standard deviation of {say_percent(level)} of the value"
        kind = "" if how == "additive" else f"{how} "
        return f"add {kind}random noise to {columns} with {say_value(level)} times the standard deviation of the column"

    def choose(self, data: Microdata) -> list[str]:
        return maskable(data, Level.NUMERIC)

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        need_numbers(self.name, data, columns)
        for name in columns:
            series = data.frame[name]
            if len(data) - series.null_count() < 2 and self.how != "multiplicative":
                raise DataError(f"noise needs a standard deviation, but '{name}' has a value in only 1 record")
            minimum, maximum = float(series.min()), float(series.max())  # type: ignore[arg-type]
            for bound, extreme, is_outside in (
                (self.lower, minimum, self.lower is not None and minimum < self.lower),
                (self.upper, maximum, self.upper is not None and maximum > self.upper),
            ):
                if is_outside:
                    raise ParameterError(f"noise is to keep '{name}' within the bound {bound}, but it already contains {extreme}")
        if self._needs_covariance:
            self.check_complete_records(len(data.frame.select(columns).drop_nulls()), columns)

    def check_complete_records(self, count: int, columns: Sequence[str]) -> None:
        """Raise DataError if fewer than two records have a value in every column, because a covariance needs two."""
        if self._needs_covariance and count < 2:
            raise DataError(f"{self.how} noise needs at least 2 records that have values in all of {', '.join(columns)}")

    @property
    def _needs_covariance(self) -> bool:
        return self.how in ("correlated", "kim")

    def _stack_values(self, data: Microdata, columns: Sequence[str]) -> NDArray[np.float64]:
        """``[column, record]``, NaN for null."""
        return np.stack([numbers_of(data.frame[name]) for name in columns])

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        values = self._stack_values(data, columns)
        order = rows_by_record_number(data.records)
        moments = Moments.of(values, order, covariance=self._needs_covariance, deviations=self.how == "additive")
        return self.add_noise(data, columns, draw, moments)

    def add_noise(self, data: Microdata, columns: Sequence[str], draw: Draw, moments: Moments) -> Microdata:
        """Mask a part of a table with noise whose scale comes from the ``moments`` of the whole table."""
        values = self._stack_values(data, columns)
        with WorkerThreads(thread_count()) as pool:
            normal = np.stack(list(pool.map(lambda name: draw.normal(data.records, name), columns)))
        if self.how == "multiplicative":
            spread = math.sqrt(math.log1p(self.level**2))
            noisy = values * np.exp(spread * normal - spread**2 / 2)
        elif self.how == "additive":
            noisy = values + self.level * moments.deviations[:, None] * normal
        else:
            noisy = self._add_correlated(values, normal, moments)
        extremes = zip(moments.minima.tolist(), moments.maxima.tolist(), strict=True)
        return data.with_columns(
            {
                name: restore(self._reflect_at_bounds(column, minimum, maximum), data.frame[name])
                for name, column, (minimum, maximum) in zip(columns, noisy, extremes, strict=True)
            }
        )

    def _add_correlated(self, values: NDArray[np.float64], normal: NDArray[np.float64], moments: Moments) -> NDArray[np.float64]:
        means, noisy = moments.means, values + multiply_in_order(self.level * cholesky_root(moments.covariance), normal)
        if self.how == "correlated":
            return noisy
        return means[:, None] + (noisy - means[:, None]) / math.sqrt(1 + self.level**2)

    def _reflect_at_bounds(self, values: NDArray[np.float64], minimum: float, maximum: float) -> NDArray[np.float64]:
        """Reflect values at the bounds; a reflected value beyond the other bound is set to that bound."""
        if not self.within and self.lower is None and self.upper is None:
            return values
        lower = minimum if self.within else -math.inf
        upper = maximum if self.within else math.inf
        lower = max(lower, self.lower) if self.lower is not None else lower
        upper = min(upper, self.upper) if self.upper is not None else upper
        if lower > -math.inf:
            values = np.where(values < lower, 2 * lower - values, values)
        if upper < math.inf:
            values = np.where(values > upper, 2 * upper - values, values)
        return np.clip(values, lower, upper)

    def promise(self, final: Microdata, columns: Sequence[str]) -> list[str]:
        """Whether the bounds still hold in the final table."""
        violations = []
        for name in columns:
            if name not in final.columns or not final.frame.schema[name].is_numeric():
                continue
            values = numbers_of(final.frame[name])
            for bound, outside in ((self.lower, values < (self.lower or 0)), (self.upper, values > (self.upper or 0))):
                if bound is not None and outside.any():
                    violations.append(f"'{name}' was kept within the bound {bound}, but {outside.sum()} values are beyond it now")
        return violations
