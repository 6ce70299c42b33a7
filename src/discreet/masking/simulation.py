"""Simulation: records of nobody, drawn from a model of the table and mixed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.encoding.columns import Column, encode
from discreet.engine.runtime.order_free_sums import by_record, combine, root
from discreet.engine.statistics.copula import Margin, correlation, latent_correlation, pairwise_correlation, possible
from discreet.errors import DataError
from discreet.model.attribute import Attribute, Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CALIBRATION = 20_000


class Simulation(MaskingMethod):
    """Adds records drawn from a Gaussian copula over all attributes, so that the simulated factor (t - r) / t is ``factor``.

    Each attribute is a step function of a normal variable, with its own values and frequencies; whether it is null is a step
    function of another. ``how: copula`` draws the normal variables with the correlation R under which the attributes' normal
    scores have the table's correlations. ``how: bootstrap`` takes those of a random record, z, and moves them:
    sqrt(1 - h^2) z + h e, with h the ``smoothing`` and e such that the correlation is R again, which also keeps relations
    that no correlation tells.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"age": [20, 30, 40, 50], "state": ["MI", "MI", "IN", "MI"]}, key=["age", "state"])
    >>> made = Simulation(factor=0.5).mask(data, [], KeyedDraw(7))
    >>> len(made), int((made.records < 0).sum())
    (8, 4)
    """

    name: ClassVar[str] = "simulation"
    citation: ClassVar[str] = (
        "Cario, M. C. & Nelson, B. L. (1997). Modeling and generating random vectors with arbitrary marginal distributions and "
        "correlation matrix. Northwestern University; Truta, T. M., Fotouhi, F. & Barth-Jones, D., section 3, (3.8)."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "Every original record; margins and rank correlations of the whole in expectation."

    factor: Annotated[float, Field(gt=0, le=1)] = Field(
        description="simulated factor fs: share of the result that is simulated; 1 replaces all records", examples=[0.2]
    )
    how: Literal["copula", "bootstrap"] = Field(
        default="copula", description="draw from the fitted copula, or move records at random"
    )
    smoothing: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.5, description="bootstrap: how far a record is moved, from 0 (a copy) to 1 (the copula)"
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

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        if columns:
            raise DataError("simulation makes whole records: leave out the step's columns")
        for role in (Role.IDENTIFIER, Role.PERSON):
            if names := data.named(role):
                raise DataError(f"simulation makes records of nobody, but '{names[0]}' is {role}: remove that column first")
        if len(data) < 2:
            raise DataError(f"simulation needs at least 2 records to learn from; there {'is 1' if len(data) else 'are none'}")
        if not data.columns:
            raise DataError("simulation needs at least one attribute")
        if self.number(len(data)) < 1:
            raise DataError(f"a simulated factor of {self.factor:g} adds no record to {len(data)}; take a larger one")

    def number(self, present: int) -> int:
        """How many records to simulate so that they are ``factor`` of the result."""
        return present if self.factor == 1 else round(present * self.factor / (1 - self.factor))

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        number = self.number(len(data))
        first = min(int(data.records.min()), 0) - 1
        records = first - np.arange(number, dtype=np.int64)
        frame = self._simulated(data, records, draw)
        if self.factor < 1:
            frame, records = pl.concat([data.frame, frame]), np.concatenate((data.records, records))
        made = data.replace(frame, records)
        return made.take(draw.order(records, "mix"))

    def _simulated(self, data: Microdata, records: NDArray[np.int64], draw: Draw) -> pl.DataFrame:
        order = by_record(data.records)
        latents = [latent for column in encode(data, data.columns) for latent in _latents(column, order)]
        trial = np.arange(_CALIBRATION, dtype=np.int64)
        target = pairwise_correlation([latent.scores for latent in latents])
        tried = np.stack([draw.normal(trial, f"calibration/{latent.name}") for latent in latents])
        correlations = latent_correlation([latent.margin for latent in latents], target, tried)
        normal = np.stack([draw.normal(records, f"normal/{latent.name}") for latent in latents])
        if self.how == "copula":
            normal = combine(root(correlations), normal)
        else:
            kept = 1 - self.smoothing**2
            donors = np.minimum((draw.uniform(records, "donor") * len(order)).astype(np.int64), len(order) - 1)
            own = np.stack([latent.inside(donors, draw.uniform(records, f"inside/{latent.name}")) for latent in latents])
            # a place at random within a tied value weakens the donors' correlations; what is added makes up for it
            added = possible((correlations - kept * correlation(own)) / (1 - kept)) if len(records) > 1 else correlations
            normal = np.sqrt(kept) * own + self.smoothing * combine(root(added), normal)
        codes = {latent.name: latent.margin.codes(row) for latent, row in zip(latents, normal, strict=True)}
        return pl.DataFrame([_values(column, codes, data.frame.schema[column.name]) for column in encode(data, data.columns)])


@dataclass(frozen=True)
class _Latent:
    """One normal variable of the model: an attribute's value where it has one, or whether it lacks one."""

    name: str
    margin: Margin
    codes: NDArray[np.int64]

    @property
    def scores(self) -> NDArray[np.float64]:
        """In the order of the records' numbers, NaN where the record says nothing of it."""
        return np.where(self.codes < 0, np.nan, self.margin.scores[self.codes])

    def inside(self, donors: NDArray[np.int64], uniform: NDArray[np.float64]) -> NDArray[np.float64]:
        """The donors' values of the variable; anything where a donor has none."""
        whole = Margin(np.ones(1), np.zeros(1))
        codes = self.codes[donors]
        return np.where(codes < 0, whole.inside(np.zeros_like(codes), uniform), self.margin.inside(codes, uniform))


def _latents(column: Column, order: NDArray[np.int64]) -> list[_Latent]:
    made, codes, size = [], column.codes[order].astype(np.int64), len(column.values)
    if size:
        counts = np.bincount(codes, minlength=column.cardinality)[:size]
        made.append(_Latent(f"value/{column.name}", Margin.of(counts), np.where(codes < size, codes, -1)))
    if column.has_null:
        lacks = (codes == size).astype(np.int64)
        made.append(_Latent(f"missing/{column.name}", Margin.of(np.bincount(lacks, minlength=2)), lacks))
    return made


def _values(column: Column, codes: Mapping[str, NDArray[np.int64]], dtype: pl.DataType) -> pl.Series:
    missing = codes.get(f"missing/{column.name}")
    if not len(column.values):
        return pl.Series(column.name, [None] * len(missing if missing is not None else ()), dtype=dtype)
    made = column.values.gather(pl.Series(codes[f"value/{column.name}"])).cast(dtype).alias(column.name)
    return made if missing is None else made.set(pl.Series(missing == 1), None)
