"""What the measures share that estimate the population behind a sample: its keys and its share of the population."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from discreet.engine.statistics.sampling_design import sampling_fraction
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import RiskMeasure
from discreet.model.microdata import Microdata


class SampledMeasure(RiskMeasure):
    """A risk measure of equivalence classes in a file that is a sample of a population."""

    keys: tuple[str, ...] = Field(
        default=(), description="quasi-identifiers that form the equivalence classes; default: role key"
    )
    size: Annotated[int, Field(ge=1)] | None = Field(default=None, description="number of persons in the population")
    sampling_fraction: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="share of the population that is in the file; default: size, the weights of the role weight, "
        "or the policy's section sampling",
    )

    def examines(self, data: Microdata) -> list[str]:
        return list(self.keys) or data.named(Role.KEY)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        keys = len(self.examines(sample))
        return 8.0 * records * (keys * (keys + 3) + 40)

    def require_keys(self, data: Microdata) -> list[str]:
        """The keys; raises DataError if there are none."""
        if not (keys := self.examines(data)):
            raise DataError(f"{self.name} needs at least one attribute with the role key in {data.source}")
        return keys

    def find_fraction(self, data: Microdata) -> float | None:
        """The share of the population that is in the file; None where nothing says it."""
        return sampling_fraction(data, self.name, self.sampling_fraction, self.size)
