"""Fields that every attack has in common, as parameters of its measure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.attacks.people import Attacks, People
from discreet.engine.attacks.rates import BETTER, MEANING, NEUTRAL, WORST, Rates
from discreet.errors import DataError
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

WP216 = (
    "Article 29 Working Party (2014). Opinion 05/2014 on anonymisation techniques (WP216); Giomi, M., Boenisch, F., Wehmeyer, "
    "C. & Tasnádi, B. (2023). A unified framework for quantifying privacy risk in synthetic data. PoPETs 2023(2), 312-328."
)


_SAMPLE = 2_000
"""People in the release, and outside it, that are attacked by default, and for each plan of a search."""


class ControlledAttack(RiskMeasure):
    """An attack on people in a release and on people outside it; see :mod:`discreet.engine.attacks.rates`."""

    citation: ClassVar[str] = WP216
    better: ClassVar[Mapping[str, Direction]] = BETTER
    neutral: ClassVar[Collection[str]] = NEUTRAL
    worst: ClassVar[Mapping[str, float]] = WORST
    meaning: ClassVar[Mapping[str, str]] = MEANING
    original_use: ClassVar[Literal["none", "optional", "required"]] = "required"

    attacks: Attacks = Field(default=_SAMPLE, description="people in the release, and outside it, that are attacked; or all")
    control: str | None = Field(
        default=None, description="file or table of people who are not in the data, besides originals without a released record"
    )
    confidence: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.95, description="confidence of the bounds")

    def sampled(self) -> Self:
        return self.model_copy(update={"attacks": _SAMPLE}) if self.attacks == "all" else self

    def in_full(self) -> Self:
        return self.model_copy(update={"attacks": "all"})

    def require_original(self, original: Microdata | None) -> Microdata:
        """The original table; raises DataError where there is none."""
        if original is None:
            raise DataError(f"{self.name} attacks the release with knowledge of originals, so it needs the original table")
        return original


def score_rates(
    name: str,
    rates: Rates,
    by_record: Mapping[str, NDArray[np.float64]],
    *,
    more: Mapping[str, int | float | None] | None = None,
    per_attribute: pl.DataFrame | None = None,
    notes: tuple[str, ...] = (),
) -> Score:
    """The score of an attack: a limit on its risk is judged on the upper end of the interval."""
    summary = rates.summary() | dict(more or {})
    bounds = {"risk": rates.risk_interval()[1:]}
    per_record = pl.DataFrame(dict(by_record)).fill_nan(None)
    return Score(name, summary, per_record, per_attribute, bounds["risk"], (*notes, *rates.notes()), bounds=bounds)


def spread_over_records(people: People, values: NDArray[np.float64], records: int) -> NDArray[np.float64]:
    """One value per person as one value per released record; NaN for records whose person was not attacked."""
    by_record = np.full(records, np.nan)
    has_row = people.rows >= 0
    by_record[people.rows[has_row]] = values[: people.members][has_row]
    return by_record
