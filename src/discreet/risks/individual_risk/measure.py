"""Individual risk in a sample with sampling weights: the probability that a record is re-identified by its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from discreet.engine.classes.groups import class_sizes, count_agreeing_rows, number_classes, refuse_nulls_beside_original
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.population.benedetti_franconi import household_risk, individual_risk
from discreet.engine.spark.gaps import COLLECTED
from discreet.engine.statistics.sampling_design import record_weights
from discreet.errors import DataError
from discreet.model.attribute import Attribute, Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.score import Score
from discreet.model.sensitivity import Sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Partial(BaseModel):
    """How much a record counts that agrees with another only because one of them has a null (alpha of sdcMicro)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    partial: Annotated[float, Field(ge=0, le=1)] = Field(description="1: fully, as with wildcard; 0: not at all")


class IndividualRisk(RiskMeasure):
    """The probability that a record of a sample is re-identified by an intruder who knows the keys of a person.

    The intruder does not know who is in the sample (journalist). With f the records of the equivalence class and F the sum of
    their sampling weights, the risk of a record is the expected value of 1/F (Benedetti & Franconi); for a sample unique with
    weight w it is log(w) / (w - 1). Where an attribute has the role household, ``household_risk`` is the probability that at
    least one member of the record's household is re-identified.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "w": [10.0, 10.0, 20.0]}, key=["age"], weight=["w"])
    >>> [round(risk, 4) for risk in IndividualRisk().measure(data).per_record["risk"]]
    [0.0827, 0.0827, 0.1577]
    """

    name: ClassVar[str] = "individual_risk"
    citation: ClassVar[str] = (
        "Benedetti, R. & Franconi, L. (1998). Statistical and technological solutions for controlled data dissemination. "
        "Pre-proceedings of New Techniques and Technologies for Statistics, 225-232; Franconi, L. & Polettini, S. (2004). "
        "Individual risk estimation in mu-Argus: a review. Privacy in Statistical Databases, 262-272."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.engine.spark.collected:measure_collected", (COLLECTED,))
    better: ClassVar[Mapping[str, Direction]] = {
        "expected": "low", "mean": "low", "max": "low", "high_risk": "low", "household_expected": "low", "household_max": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = {"mean": 1.0, "max": 1.0, "household_max": 1.0}
    meaning: ClassVar[Mapping[str, str]] = {
        "expected": "expected number of re-identified records: sum of the individual risks",
        "mean": "mean individual risk (global risk)",
        "max": "largest individual risk",
        "high_risk": "records with an individual risk above the threshold",
        "household_expected": "expected number of records in households of which a member is re-identified",
        "household_max": "largest household risk",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "max": "nobody is easier to find in the population than one in {one_in}",
        "mean": "people are on average found in the population with a probability of at most {percent} %",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "class_size": "records in the record's equivalence class",
        "population_size": "estimated size of its class in the population: sum of the sampling weights of the class",
        "risk": "probability that the record is re-identified",
        "household_risk": "probability that a member of the record's household is re-identified",
    }
    at_risk: ClassVar[tuple[str, str] | None] = (
        "high_risk",
        "{number} of {records} records with an individual risk above its threshold",
    )
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    keys: tuple[str, ...] = Field(
        default=(), description="quasi-identifiers that form the equivalence classes; default: role key"
    )
    missing: Literal["category", "wildcard"] | Partial = Field(
        default="category",
        description="a null is one more value, or agrees with anything on either side, fully or in part ({partial: 0.5})",
    )
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(default=0.2, description="risk above which a record is high-risk")
    sampling_fraction: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="share of the population that is in the sample; default: the weights of the role weight"
    )

    larger_classes: Literal["exact", "approximate"] = Field(
        default="exact",
        description="classes of three records and more: exact, or the approximation p / (f - (1 - p)) of sdcMicro",
    )

    @classmethod
    def example_data(cls) -> Microdata:
        columns = {
            "age": [34, 34, 34, 51, 51, 60], "sex": ["f", "f", "m", "m", None, "f"], "hh": [1, 1, 2, 2, 3, 3],
            "w": [12.0, 9.5, 20.0, 1.0, 3.0, 100.0],
        }  # fmt: skip
        roles = {"age": Role.KEY, "sex": Role.KEY, "hh": Role.HOUSEHOLD, "w": Role.WEIGHT}
        return Microdata(pl.DataFrame(columns), Policy(attributes={name: Attribute(role=role) for name, role in roles.items()}))

    def uses_original(self, data: Microdata) -> bool:
        """Only nulls that agree with anything give an intruder who knows the original values more than the release does."""
        return self.missing != "category"

    def examines(self, data: Microdata) -> list[str]:
        return list(self.keys) or data.named(Role.KEY)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        return 90.0 * records

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys = list(self.keys) or data.named(Role.KEY)
        if not keys:
            raise DataError(f"individual_risk needs at least one attribute with the role key in {data.source}")
        columns = encode(data, keys)
        if self.missing != "category":
            refuse_nulls_beside_original(self.name, columns, "wildcard", original)
        of_record, sizes, weighted = self._count(columns, self._read_weights(data))
        risks = self._risks(of_record, sizes, weighted)
        sizes, weighted = sizes[of_record], weighted[of_record]
        together = self._household_risks(data, risks)
        summary = self._summarize(risks, together)
        per_record = {"class_size": sizes, "population_size": weighted, "risk": risks}
        if together is not None:
            per_record["household_risk"] = together
        basis = "sampling weights of each class (Benedetti & Franconi); no interval: the model's error is not known"
        return Score(self.name, summary, pl.DataFrame(per_record), basis=dict.fromkeys(summary, basis))

    def examine_guesses(
        self, data: Microdata, limits: Mapping[str, float], *, original: Microdata | None = None, alone: bool = True,
        seconds: float = 60.0, one_by_one: bool = True,
    ) -> Sensitivity | None:  # fmt: skip
        from discreet.risks.individual_risk.sensitivity import examine_weights  # not needed by most runs

        keys = list(self.keys) or data.named(Role.KEY)
        columns = encode(data, keys)

        def summary_of(weights: NDArray[np.float64]) -> Mapping[str, float | None]:
            risks = self._risks(*self._count(columns, weights))
            return self._summarize(risks, self._household_risks(data, risks))

        return examine_weights(
            summary_of, self._read_weights(data), self.sampling_fraction, limits, self.better, len(data), seconds
        )

    def _risks(
        self, of_record: NDArray[np.int64], sizes: NDArray[np.float64], weighted: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The risk of each record, from the numbers of its class."""
        return np.asarray(individual_risk(sizes, weighted, approximate=self.larger_classes == "approximate")[of_record])

    def _household_risks(self, data: Microdata, risks: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """For each record the risk of its household; None where no attribute has that role."""
        households = data.named(Role.HOUSEHOLD)
        return household_risk(risks, *_number_households(encode(data, households[:1])[0])) if households else None

    def _summarize(self, risks: NDArray[np.float64], together: NDArray[np.float64] | None) -> dict[str, int | float | None]:
        return {
            "expected": float(risks.sum()),
            "mean": float(risks.mean()) if len(risks) else 0.0,
            "max": float(risks.max(initial=0.0)),
            "high_risk": int((risks > self.threshold).sum()),
            "household_expected": None if together is None else float(together.sum()),
            "household_max": None if together is None else float(together.max(initial=0.0)),
        }

    def _read_weights(self, data: Microdata) -> NDArray[np.float64]:
        if self.sampling_fraction is not None:
            return np.full(len(data), 1 / self.sampling_fraction)
        weights = record_weights(data, self.name)
        if weights is None:
            raise DataError(
                f"individual_risk needs the sampling weights of {data.source}: give an attribute the role weight, the policy a "
                "section sampling, or the measure its sampling_fraction"
            )
        return weights

    def _count(
        self, columns: list[Column], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """The class of each record, and for each class its records and the sum of their weights.

        Where a null agrees with other values, classes overlap, and each record has one of its own.
        """
        ids, counts = number_classes(columns, len(weights))
        weighted = np.bincount(ids, weights=weights, minlength=len(counts)).astype(np.float64, copy=False)
        sizes = counts.astype(np.float64)
        if self.missing == "category" or not any(column.has_null for column in columns):
            return ids, sizes, weighted
        share = self.missing.partial if isinstance(self.missing, Partial) else 1.0
        codes, nulls = [column.codes for column in columns], [column.null_code for column in columns]
        agreeing = class_sizes(columns, len(weights), wildcard=True)
        persons = count_agreeing_rows(codes, codes, [column.cardinality for column in columns], nulls, weights)
        own = np.arange(len(weights))
        return own, sizes[ids] + share * (agreeing - sizes[ids]), weighted[ids] + share * (persons - weighted[ids])


def _number_households(column: Column) -> tuple[NDArray[np.int64], int]:
    """A number per record; a record without a household is one of its own."""
    codes = column.codes.astype(np.int64)
    alone = np.flatnonzero(column.is_null)
    codes[alone] = len(column.values) + np.arange(len(alone))
    return codes, len(column.values) + len(alone)
