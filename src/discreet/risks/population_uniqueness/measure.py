"""Population uniqueness: how many sample uniques are unique in the population, estimated from the sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.classes.distinct_classes import DistinctClasses, list_classes
from discreet.engine.encoding.columns import encode
from discreet.engine.population.cross_fitted import estimate_sizes
from discreet.engine.population.intervals import interval
from discreet.engine.population.sampled_measure import SampledMeasure
from discreet.engine.spark.gaps import COLLECTED
from discreet.errors import DataError
from discreet.model.attribute import Attribute, Role
from discreet.model.contracts import Direction
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.score import Score
from discreet.risks.population_uniqueness.class_size_models import MODELS
from discreet.risks.population_uniqueness.log_linear import Terms, expected_sample_sizes, poisson_uniques

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PopulationUniqueness(SampledMeasure):
    """How many sample uniques are unique in the population, where the file is a sample of a known share of it.

    An intruder who finds a person in the file by the keys is right for certain only if nobody else of the population has the same
    key values. With F the size of a record's class in the population, the measure estimates the number of sample uniques with
    F = 1 and the expected number of correct matches, the sum of 1/F over the sample uniques.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55, 61], "sex": ["f", "f", "m", "f"]}, key=["age", "sex"])
    >>> score = PopulationUniqueness(sampling_fraction=0.5, model="zayatz").measure(data)
    >>> round(score["population_uniques"], 2), round(score["expected_matches"], 2)
    (1.33, 1.67)
    """

    name: ClassVar[str] = "population_uniqueness"
    citation: ClassVar[str] = (
        "Skinner, C. & Shlomo, N. (2008). Assessing identification risk in survey microdata using log-linear models. JASA "
        "103(483), 989-1001; Hoshino, N. (2001). Applying Pitman's sampling formula to microdata disclosure risk assessment. "
        "Journal of Official Statistics 17(4), 499-520; Dankar, F. K. et al. (2012). Estimating the re-identification risk "
        "of clinical data sets. BMC Medical Informatics and Decision Making 12:66."
    )
    spark: ClassVar[EngineWork | None] = EngineWork("discreet.engine.spark.collected:measure_collected", (COLLECTED,))
    better: ClassVar[Mapping[str, Direction]] = {
        "population_uniques": "low", "expected_matches": "low", "share": "low", "low": "low", "high": "low",
    }  # fmt: skip
    worst: ClassVar[Mapping[str, float]] = {"share": 1.0}
    meaning: ClassVar[Mapping[str, str]] = {
        "population_uniques": "expected number of sample uniques that are unique in the population",
        "expected_matches": "expected number of correct matches among the sample uniques: sum of 1/F",
        "share": "population uniques as a share of all records",
        "low": "lower end of the 95 % interval of population_uniques",
        "high": "upper end of the 95 % interval of population_uniques",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "class_size": "records in the record's equivalence class (f)",
        "population_unique": "probability that a sample unique is unique in the population; empty for other records",
        "inverse_size": "expected 1/F of a sample unique; empty for other records",
    }

    model: Literal["auto", "log_linear", "pitman", "zayatz", "snb", "dankar"] = Field(
        default="auto",
        description="auto: negative binomial regression; log_linear: Poisson; the others use the class sizes alone",
    )
    terms: Terms = Field(
        default="chosen", description="log_linear: main effects, all two-way interactions, or those that a held-out half supports"
    )

    @classmethod
    def example_data(cls) -> Microdata:
        columns = {
            "age": [34, 34, 35, 51, 52, 60, 34, 35], "sex": ["f", "f", "m", "m", None, "f", "m", "m"],
            "w": [12.0, 9.5, 20.0, 10.0, 13.0, 11.0, 8.0, 9.0],
        }  # fmt: skip
        roles = {"age": Role.KEY, "sex": Role.KEY, "w": Role.WEIGHT}
        return Microdata(pl.DataFrame(columns), Policy(attributes={name: Attribute(role=role) for name, role in roles.items()}))

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        keys = self.require_keys(data)
        fraction = self.find_fraction(data)
        if fraction is None:
            raise DataError(
                f"population_uniqueness needs to know what share of the population {data.source} is: give sampling_fraction "
                "or size, the policy a section sampling, or an attribute the role weight"
            )
        classes = list_classes(encode(data, keys), len(data))
        uniques, matches, limits, alone, inverse, notes = self._estimate(classes, fraction)
        summary = {
            "population_uniques": uniques,
            "expected_matches": matches,
            "share": uniques / len(data) if len(data) else 0.0,
            "low": limits["population_uniques"][0] if limits else None,
            "high": limits["population_uniques"][1] if limits else None,
        }
        per_record = {"class_size": classes.counts[classes.ids]}
        if alone is not None and inverse is not None:
            single = classes.counts == 1
            per_record["population_unique"] = np.where(single, alone, np.nan)[classes.ids]
            per_record["inverse_size"] = np.where(single, inverse, np.nan)[classes.ids]
        frame = pl.DataFrame(per_record).fill_nan(None)
        if limits and len(data):
            low, high = limits["population_uniques"]
            limits["share"] = (low / len(data), high / len(data))
        # an estimate whose error is not known decides no limit
        basis = f"model {self.model} of the class sizes; " + ("level of the interval 95 %" if limits else "no interval")
        return Score(self.name, summary, frame, gaps=notes, bounds=limits, basis=dict.fromkeys(list(summary)[:3], basis))

    def _estimate(
        self, classes: DistinctClasses, fraction: float
    ) -> tuple[
        float, float, dict[str, tuple[float, float]], NDArray[np.float64] | None, NDArray[np.float64] | None, tuple[str, ...]
    ]:
        single = classes.counts == 1
        number = int(single.sum())
        notes: tuple[str, ...] = ()
        if self.model in MODELS:
            sizes, numbers = np.unique(classes.counts, return_counts=True)
            estimate = MODELS[self.model](sizes, numbers, fraction)
            note = f"the model {self.model} states no interval; model: auto does"
            return min(estimate.uniques, number), min(estimate.matches, number), {}, None, None, (note,)
        if self.model == "log_linear":
            mu = expected_sample_sizes(classes.codes, classes.cardinalities, classes.counts, self.terms)
            alone, inverse = poisson_uniques(mu, fraction)
            spread = float(np.sqrt((alone * (1 - alone))[single].sum()))
            errors, notes = (
                (spread, spread),
                ("the interval of log_linear covers chance alone, not a wrong model; model: auto covers both",),
            )
        else:
            sizes_of = estimate_sizes(classes.codes, classes.cardinalities, classes.counts, fraction)
            alone, inverse = sizes_of.alone, sizes_of.inverse
            errors = (sizes_of.alone_error, sizes_of.inverse_error)
        uniques, matches = float(alone[single].sum()), float(inverse[single].sum())
        limits = {
            "population_uniques": interval(uniques, errors[0], number),
            "expected_matches": interval(matches, errors[1], number),
        }
        return uniques, matches, limits, alone, inverse, notes
