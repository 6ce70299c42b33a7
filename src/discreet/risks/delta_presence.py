"""delta-presence: what a release tells about who of the population is in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.groups import class_sizes
from discreet.engine.encoding.columns import encode
from discreet.engine.population.population_table import count_in_population
from discreet.engine.population.table_parameters import table_serializer, table_validator
from discreet.engine.spark.gaps import COLLECTED
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score


class DeltaPresence(RiskMeasure):
    """Membership disclosure: the probability that a person of the population is in the release, given the person's keys.

    For the f released records and F persons of the population with the same key values it is f / F. A release has
    (delta_min, delta_max)-presence if the probability of every person of the population lies between both.

    >>> from discreet.testing import table
    >>> people = {"age": [44, 44, 55, 55, 61]}
    >>> data = table({"age": [44, 55, 55]}, key=["age"])
    >>> score = DeltaPresence.model_construct(population=pl.DataFrame(people), keys=(), missing="category").measure(data)
    >>> score["min"], score["max"]
    (0.0, 1.0)
    """

    name: ClassVar[str] = "delta_presence"
    citation: ClassVar[str] = (
        "Nergiz, M. E., Atzori, M. & Clifton, C. (2007). Hiding the presence of individuals from shared databases. "
        "SIGMOD, 665-676."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.engine.spark.collected:measure_collected", (COLLECTED,))
    better: ClassVar[Mapping[str, Direction]] = {"min": "high", "max": "low", "certain": "low"}
    worst: ClassVar[Mapping[str, float]] = {"min": 0.0, "max": 1.0}
    meaning: ClassVar[Mapping[str, str]] = {
        "min": "smallest probability that a person of the population is in the release (0: absence is certain)",
        "max": "largest probability that a person of the population is in the release (1: presence is certain)",
        "certain": "persons of the population whose presence is certain",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "presence": "probability that a person of the population with the record's key values is in the release",
    }

    population: str | None = Field(
        default=None,
        repr=False,
        description="file or table of the population, with the keys as columns; default: the release is all of it",
    )
    keys: tuple[str, ...] = Field(
        default=(), description="quasi-identifiers that the intruder knows of every person; default: role key"
    )
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null is one more value, or agrees with anything on either side"
    )

    _accept_table, _describe_table = table_validator("population"), table_serializer("population")

    def examines(self, data: Microdata) -> list[str]:
        return list(self.keys) or data.named(Role.KEY)

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys = list(self.keys) or data.named(Role.KEY)
        if not keys:
            raise DataError(f"delta_presence needs at least one attribute with the role key in {data.source}")
        wildcard = self.missing == "wildcard"
        records = class_sizes(encode(data, keys), len(data), wildcard=wildcard)
        notes: tuple[str, ...] = ()
        if self.population is None:
            of_persons, of_records = np.ones(len(data)), np.ones(len(data))
            notes = ("no population is given, so the release is taken to be all of it: everybody's presence is certain",)
        else:
            counted = count_in_population(data, self.population, keys, wildcard=wildcard, measure=self.name)
            of_persons = np.minimum(1.0, counted.records_per_person / counted.persons_per_person)
            of_records = np.minimum(1.0, records / counted.persons_per_record)
        summary = {
            "min": float(of_persons.min(initial=1.0)),
            "max": float(of_persons.max(initial=0.0)),
            "certain": int((of_persons >= 1).sum()),
        }
        return Score(self.name, summary, pl.DataFrame({"presence": of_records}), notes=notes)
