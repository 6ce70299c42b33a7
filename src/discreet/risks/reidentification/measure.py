"""Re-identification risk by the classical intruders: prosecutor, journalist and marketer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.distinct_classes import list_classes
from discreet.engine.classes.groups import class_sizes, refuse_nulls_beside_original
from discreet.engine.encoding.columns import Column, encode
from discreet.engine.population.cross_fitted import estimate_sizes
from discreet.engine.population.intervals import interval
from discreet.engine.population.population_table import count_in_population
from discreet.engine.population.sampled_measure import SampledMeasure
from discreet.engine.population.table_parameters import table_serializer, table_validator
from discreet.engine.spark.gaps import COLLECTED
from discreet.model.contracts import Direction
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Journalist(NamedTuple):
    """1/F of each record (its expected value where a model estimates it), and what is known about its sums."""

    risks: NDArray[np.float64]
    smallest: int | None
    uniques: float
    bounds: dict[str, tuple[float, float]]
    notes: tuple[str, ...]
    basis: str = ""
    """What the fields of the population rest on; empty where nothing is known of it."""


_POPULATION_FIELDS = (
    "journalist_max", "journalist_mean", "journalist_above", "marketer", "k_map", "population_uniques",
)  # fmt: skip


class Reidentification(SampledMeasure):
    """The risk that an intruder who knows the keys re-identifies a record, for three intruders.

    The prosecutor knows that the person is in the file: 1/f, with f the records of the equivalence class. The journalist does
    not: 1/F, with F the persons of the population with these key values. The marketer links every record to a register of the
    population: the expected share of correct links, the mean of 1/F. F is counted in ``population``; without it, F is estimated
    where the sampling fraction is known, and else the file is taken to be the whole population, F = f, which overstates the risk.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "sex": ["f", "f", "m"]}, key=["age", "sex"])
    >>> Reidentification().measure(data)["prosecutor_max"]
    1.0
    """

    name: ClassVar[str] = "reidentification"
    citation: ClassVar[str] = (
        "El Emam, K. (2013). Guide to the De-Identification of Personal Health Information. CRC Press; Dankar, F. K. & El Emam, "
        "K. (2010). A method for evaluating marketer re-identification risk. EDBT/ICDT Workshops."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.engine.spark.collected:measure_collected", (COLLECTED,))
    better: ClassVar[Mapping[str, Direction]] = {
        "prosecutor_max": "low", "prosecutor_mean": "low", "prosecutor_above": "low", "journalist_max": "low",
        "journalist_mean": "low", "journalist_above": "low", "marketer": "low", "k_map": "high", "sample_uniques": "low",
        "population_uniques": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = {
        "prosecutor_max": 1.0, "prosecutor_mean": 1.0, "prosecutor_above": 1.0, "journalist_max": 1.0, "journalist_mean": 1.0,
        "journalist_above": 1.0, "marketer": 1.0, "k_map": 1.0,
    }  # fmt: skip
    meaning: ClassVar[Mapping[str, str]] = {
        "prosecutor_max": "largest prosecutor risk: 1 / smallest equivalence class",
        "prosecutor_mean": "mean prosecutor risk over the records",
        "prosecutor_above": "share of records with a prosecutor risk above the threshold",
        "journalist_max": "largest journalist risk: 1 / smallest population class of a released record",
        "journalist_mean": "mean journalist risk over the records",
        "journalist_above": "share of records with a journalist risk above the threshold",
        "marketer": "marketer risk: expected share of records linked correctly to a register of the population",
        "k_map": "smallest population class of a released record; empty where the population is estimated",
        "sample_uniques": "records alone in their equivalence class",
        "population_uniques": "sample uniques that are unique in the population (expected number where it is estimated)",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "prosecutor_max": "nobody is easier to find than one in {one_in}",
        "prosecutor_mean": "people are on average found with a probability of at most {percent} %",
        "journalist_max": "nobody is easier to find in the population than one in {one_in}",
        "marketer": "at most {percent} % of the people are expected to be found in a register",
        "sample_uniques": "there are at most {number} records alone in their equivalence class",
        "population_uniques": "there are at most {number} records unique in the population",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "prosecutor": "prosecutor risk: 1 / records in the equivalence class",
        "journalist": "journalist risk: 1 / persons of the population with the same key values, or its expected value",
    }
    at_risk: ClassVar[tuple[str, str] | None] = (
        "prosecutor_above",
        "{percent} % of the records with a prosecutor risk above its threshold",
    )
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null is one more value, or agrees with anything on either side"
    )
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(default=0.2, description="risk above which a record counts as at risk")
    population: str | None = Field(
        default=None, repr=False, description="file or table of the population, with the keys as columns"
    )

    _accept_table, _describe_table = table_validator("population"), table_serializer("population")

    def uses_original(self, data: Microdata) -> bool:
        """Only wildcard nulls give an intruder who knows the original values more than the release does."""
        return self.missing == "wildcard"

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys = self.require_keys(data)
        columns = encode(data, keys)
        refuse_nulls_beside_original(self.name, columns, self.missing, original)
        sizes = class_sizes(columns, len(data), wildcard=self.missing == "wildcard").astype(np.float64)
        prosecutor = 1 / sizes
        journalist = self._journalist(data, keys, columns, prosecutor, sizes)
        fields = {"prosecutor": prosecutor, "journalist": journalist.risks}
        summary: dict[str, int | float | None] = {}
        for name, risks in fields.items():
            summary[f"{name}_max"] = float(risks.max(initial=0.0))
            summary[f"{name}_mean"] = float(risks.mean()) if len(risks) else 0.0
            summary[f"{name}_above"] = float((risks > self.threshold).mean()) if len(risks) else 0.0
        summary["prosecutor_mean"] = _mean_of_inverses(sizes)
        if journalist.risks is prosecutor:  # the file is the population
            summary["journalist_mean"] = summary["prosecutor_mean"]
        summary |= {
            "marketer": summary["journalist_mean"],
            "k_map": journalist.smallest,
            "sample_uniques": int((sizes == 1).sum()),
            "population_uniques": journalist.uniques,
        }
        bounds = dict(journalist.bounds)
        if bounds:  # no model bounds a single record's 1/F, but it is never above 1/f
            bounds |= {f"journalist_{end}": (0.0, float(summary[f"prosecutor_{end}"] or 0.0)) for end in ("max", "above")}
        basis = dict.fromkeys(_POPULATION_FIELDS, journalist.basis) if journalist.basis else {}
        return Score(self.name, summary, pl.DataFrame(fields), notes=journalist.notes, bounds=bounds, basis=basis)

    def _journalist(
        self, data: Microdata, keys: list[str], columns: list[Column], prosecutor: NDArray[np.float64], sizes: NDArray[np.float64]
    ) -> _Journalist:
        if self.population is not None:
            counted = count_in_population(data, self.population, keys, wildcard=self.missing == "wildcard", measure=self.name)
            persons = counted.persons_per_record.astype(np.float64)
            smallest = int(persons.min()) if len(persons) else 0
            return _Journalist(1 / persons, smallest, int((persons == 1).sum()), {}, (), "counted in the population table: exact")
        fraction = self.find_fraction(data)
        if fraction is None or fraction >= 1:
            note = (
                "nothing says what share of the population the file is, so it is taken to be all of it: the journalist's and the "
                "marketer's risk equal the prosecutor's mean and largest; give population, size or sampling_fraction"
            )
            smallest = int(sizes.min()) if len(sizes) else 0
            return _Journalist(prosecutor, smallest, int((sizes == 1).sum()), {}, () if fraction == 1 else (note,))
        return _estimate(columns, len(data), fraction)


def _mean_of_inverses(sizes: NDArray[np.float64]) -> float:
    """The mean of 1/size, summed by size: the mean of classes of five is 0.2, and not the next number above it."""
    counts = np.bincount(sizes.astype(np.int64))
    numbers = np.arange(1, len(counts))
    return float((counts[1:] / numbers).sum() / len(sizes)) if len(sizes) else 0.0


def _estimate(columns: list[Column], records: int, fraction: float) -> _Journalist:
    """The expected 1/F of every record by the model of population_uniqueness; a null is one more value."""
    classes = list_classes(columns, records)
    sizes = estimate_sizes(classes.codes, classes.cardinalities, classes.counts, fraction)
    risks = sizes.inverse[classes.ids] if records else np.zeros(0)
    single = classes.counts == 1
    uniques, number = float(sizes.alone[single].sum()), int(single.sum())
    low, high = interval(float(risks.sum()), sizes.total_error, len(classes.counts))
    mean = (low / max(records, 1), high / max(records, 1))
    note = (
        f"the journalist's and the marketer's risk are estimated for a sample of {fraction:.3g} of the population; "
        "their intervals have a level of 95 %"
    )
    bounds = {
        "population_uniques": interval(uniques, sizes.alone_error, number),
        "journalist_mean": mean,
        "marketer": mean,
    }
    return _Journalist(risks, None, uniques, bounds, (note,), "model of the class sizes; level of the interval 95 %")
