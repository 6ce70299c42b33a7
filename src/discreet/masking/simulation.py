"""Simulation: synthetic records, drawn from a model of the table, are mixed with the original ones or replace them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.encoding.columns import Column, encode
from discreet.engine.runtime.order_free_sums import cholesky_root, multiply_in_order, rows_by_record_number
from discreet.engine.statistics.copula import Margin, correlation, latent_correlation, nearest_correlation, pairwise_correlation
from discreet.errors import DataError
from discreet.masking.step_words import say_percent
from discreet.model.attribute import Attribute, Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CALIBRATION_RECORDS = 20_000


class Simulation(MaskingMethod):
    """Adds synthetic records drawn from a Gaussian copula over all attributes; ``factor`` is their share of the result.

    ``factor`` is the simulated factor fs = (t - r) / t of Truta et al., eq. 3.8. Each attribute is a step function of a latent
    normal variable, with its own values and frequencies; whether it is null is a step function of a second one.
    ``how: copula`` draws the latent variables with the correlation matrix R under which the attributes' normal scores have the
    correlations of the table (Cario & Nelson 1997). ``how: bootstrap`` starts from the latent variables z of a random record and
    perturbs them: sqrt(1 - h^2) z + h e, with h the ``smoothing`` and e such that the correlation is R again, which also
    preserves relations that are not monotone.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"age": [20, 30, 40, 50], "state": ["MI", "MI", "IN", "MI"]}, key=["age", "state"])
    >>> masked = Simulation(factor=0.5).mask(data, [], KeyedDraw(7))
    >>> len(masked), int((masked.records < 0).sum())
    (8, 4)
    """

    name: ClassVar[str] = "simulation"
    citation: ClassVar[str] = (
        "Cario, M. C. & Nelson, B. L. (1997). Modeling and generating random vectors with arbitrary marginal distributions and "
        "correlation matrix. Northwestern University; Truta, T. M., Fotouhi, F. & Barth-Jones, D., section 3, (3.8)."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "Every original record; univariate distributions and rank correlations in expectation."

    factor: Annotated[float, Field(gt=0, le=1)] = Field(
        description="simulated factor fs: share of synthetic records in the result; 1 replaces all records", examples=[0.2]
    )
    how: Literal["copula", "bootstrap"] = Field(
        default="copula", description="draw from the fitted copula, or perturb randomly chosen records"
    )
    smoothing: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.5, description="bootstrap: strength of the perturbation, from 0 (a copy) to 1 (the copula)"
    )

    @classmethod
    def example_data(cls) -> Microdata:
        rows = 40
        frame = pl.DataFrame(
            {
                "age": [20 + 7 * row % 50 for row in range(rows)],
                "state": ["MI", "IN", "OH", "MI"] * (rows // 4),
                "income": [1.5 * row for row in range(rows)],
            }
        )
        roles = {"age": Role.KEY, "state": Role.KEY, "income": Role.CONFIDENTIAL}
        return Microdata(frame, Policy(attributes={name: Attribute(role=role) for name, role in roles.items()}), "the example")

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:  # noqa: ARG003 - it works on whole records
        share = parameters.get("factor", 0)
        how = "by perturbing records" if parameters.get("how") == "bootstrap" else "from a Gaussian copula"
        if share == 1:
            return f"replace all records by synthetic ones, drawn {how}"
        return f"add synthetic records, drawn {how}, until they are {say_percent(share)} of the release"

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if columns:
            raise DataError("simulation generates whole records: the step must not name columns")
        for role in (Role.IDENTIFIER, Role.PERSON):
            if names := data.named(role):
                raise DataError(
                    f"simulation generates synthetic records, but '{names[0]}' has the role {role}: remove that column first"
                )
        if len(data) < 2:
            raise DataError(f"simulation needs at least 2 records to learn from; there {'is 1' if len(data) else 'are none'}")
        if not data.columns:
            raise DataError("simulation needs at least one attribute")
        if self.synthetic_count(len(data)) < 1:
            raise DataError(f"a simulated factor of {self.factor:g} adds no record to {len(data)}; use a larger factor")

    def synthetic_count(self, record_count: int) -> int:
        """The number of synthetic records whose share of the result is ``factor``."""
        return record_count if self.factor == 1 else round(record_count * self.factor / (1 - self.factor))

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        synthetic_count = self.synthetic_count(len(data))
        first = min(int(data.records.min()), 0) - 1  # synthetic records have negative numbers; earlier steps may have used some
        records = first - np.arange(synthetic_count, dtype=np.int64)
        frame = self._draw_records(data, records, draw)
        if self.factor < 1:
            frame, records = pl.concat([data.frame, frame]), np.concatenate((data.records, records))
        mixed = data.replace(frame, records)
        return mixed.take(draw.order(records, "mix"))

    def _draw_records(self, data: Microdata, records: NDArray[np.int64], draw: Draw) -> pl.DataFrame:
        order = rows_by_record_number(data.records)
        latents = [latent for column in encode(data, data.columns) for latent in _build_latents(column, order)]
        trial_records = np.arange(_CALIBRATION_RECORDS, dtype=np.int64)
        target = pairwise_correlation([latent.scores for latent in latents])
        trial_scores = np.stack([draw.normal(trial_records, f"calibration/{latent.name}") for latent in latents])
        correlations = latent_correlation([latent.margin for latent in latents], target, trial_scores)
        normal = np.stack([draw.normal(records, f"normal/{latent.name}") for latent in latents])
        if self.how == "copula":
            normal = multiply_in_order(cholesky_root(correlations), normal)
        else:
            normal = self._perturb_donors(latents, correlations, normal, records, draw)
        codes = {latent.name: latent.margin.codes(row) for latent, row in zip(latents, normal, strict=True)}
        schema = data.frame.schema
        return pl.DataFrame([_decode_column(column, codes, schema[column.name]) for column in encode(data, data.columns)])

    def _perturb_donors(
        self,
        latents: Sequence[_Latent],
        correlations: NDArray[np.float64],
        normal: NDArray[np.float64],
        records: NDArray[np.int64],
        draw: Draw,
    ) -> NDArray[np.float64]:
        """Scores ``[latent, record]`` of random records of the table, perturbed by ``normal`` so that R is preserved."""
        size = len(latents[0].codes)
        donors = np.minimum((draw.uniform(records, "donor") * size).astype(np.int64), size - 1)
        scores = np.stack([latent.donor_scores(donors, draw.uniform(records, f"inside/{latent.name}")) for latent in latents])
        donor_share, noise_correlations = 1 - self.smoothing**2, correlations
        if len(records) > 1:
            # random scores within tied values weaken the donors' correlations; those of the noise compensate for it
            noise_correlations = nearest_correlation((correlations - donor_share * correlation(scores)) / (1 - donor_share))
        noise = multiply_in_order(cholesky_root(noise_correlations), normal)
        return np.asarray(np.sqrt(donor_share) * scores + self.smoothing * noise)


@dataclass(frozen=True)
class _Latent:
    """A latent normal variable of the model, for the value of an attribute or for whether it is null.

    ``codes[record]`` are codes of the margin in the order of the record numbers; -1 if the record has no value.
    """

    name: str
    margin: Margin
    codes: NDArray[np.int64]

    @property
    def scores(self) -> NDArray[np.float64]:
        """Normal scores in the order of the record numbers, NaN if the record has no value."""
        return np.where(self.codes < 0, np.nan, self.margin.scores[self.codes])

    def donor_scores(self, donors: NDArray[np.int64], uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        """A score within the range of each donor's code; any score if the donor has no value."""
        whole = Margin(np.ones(1), np.zeros(1))
        codes = self.codes[donors]
        return np.where(codes < 0, whole.inside(np.zeros_like(codes), uniform), self.margin.inside(codes, uniform))


def _build_latents(column: Column, order: NDArray[np.int64]) -> list[_Latent]:
    latents, codes, size = [], column.codes[order].astype(np.int64), len(column.values)
    if size:
        counts = np.bincount(codes, minlength=column.cardinality)[:size]
        latents.append(_Latent(f"value/{column.name}", Margin.of(counts), np.where(codes < size, codes, -1)))
    if column.has_null:
        is_missing = (codes == size).astype(np.int64)
        latents.append(_Latent(f"missing/{column.name}", Margin.of(np.bincount(is_missing, minlength=2)), is_missing))
    return latents


def _decode_column(column: Column, codes: Mapping[str, NDArray[np.int64]], dtype: pl.DataType) -> pl.Series:
    missing = codes.get(f"missing/{column.name}")
    if not len(column.values):
        return pl.Series(column.name, [None] * len(missing if missing is not None else ()), dtype=dtype)
    values = column.values.gather(pl.Series(codes[f"value/{column.name}"])).cast(dtype).alias(column.name)
    return values if missing is None else values.set(pl.Series(missing == 1), None)
