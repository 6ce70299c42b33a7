"""What the owner says about the sample: its share of the population, as a whole or by stratum."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Fraction = Annotated[float, Field(gt=0, le=1)]
Size = Annotated[int, Field(ge=1)]


class SamplingDesign(BaseModel):
    """``{fraction: 0.05}``, ``{population: 1000000}``, or either by stratum: ``{strata: [region], fraction: {north: 0.1}}``.

    A stratum of several attributes is named by its values joined with ' / '. The file is a simple random sample, or one within
    each stratum. Nothing of this is ever written beside a release.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fraction: Fraction | dict[str, Fraction] | None = Field(
        default=None, description="share of the population that is in the file; by stratum as {stratum: share}"
    )
    population: Size | dict[str, Size] | None = Field(
        default=None, description="number of persons in the population; by stratum as {stratum: persons}"
    )
    strata: tuple[str, ...] = Field(default=(), description="attributes that define the strata of the sample")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.fraction is not None and self.population is not None:
            raise ValueError("sampling has a fraction or a population, not both; the other follows from the number of records")
        by_stratum = isinstance(self.fraction, dict) or isinstance(self.population, dict)
        if by_stratum and not self.strata:
            raise ValueError("sampling has numbers by stratum, so it needs strata: the attributes that define them")
        return self

    @property
    def is_stated(self) -> bool:
        """Whether anything says what share of the population the file is."""
        return self.fraction is not None or self.population is not None

    def thinned(self, share: float) -> SamplingDesign:
        """The design of a random sample of this share of the file; a file without a design is taken for the whole population."""
        if self.population is not None:
            return self  # the population is the same, and the number of records says the rest
        if isinstance(self.fraction, dict):
            return self.model_copy(update={"fraction": {name: fraction * share for name, fraction in self.fraction.items()}})
        return self.model_copy(update={"fraction": (1.0 if self.fraction is None else self.fraction) * share})
