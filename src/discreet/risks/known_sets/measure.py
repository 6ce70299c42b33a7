"""known_sets: the risk of every record under every state of an intruder's knowledge."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from discreet.engine.cells.perturbed import with_perturbed_values
from discreet.engine.known_sets.family import Knowledge
from discreet.engine.known_sets.sums import KnownSets as Sums
from discreet.engine.known_sets.sums import attributes, known_sets
from discreet.engine.population.table_parameters import table_serializer, table_validator
from discreet.engine.spark.gaps import OVERLAPPING, SCENARIOS, WILDCARD
from discreet.errors import DataError
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.model.sensitivity import Sensitivity
from discreet.model.threshold import Threshold
from discreet.risks.known_sets.bounded_sums import bounded_sums
from discreet.risks.known_sets.explain import explain
from discreet.risks.known_sets.fields import BETTER, LIMIT_SENTENCES, MEANING, OCCASIONAL, RECORD_MEANING
from discreet.risks.known_sets.gaps import INDEPENDENT, NARROWING, ORIGINAL_VALUES, POPULATION, RANGES, TOGETHER
from discreet.risks.known_sets.large.size import NOT_NARROWED, is_large, working_bytes
from discreet.risks.known_sets.readings.range_score import measure_ranges
from discreet.risks.known_sets.readings.reidentification import annotate_knowledge
from discreet.risks.known_sets.readings.scenario_score import (
    attributes_in_kept_sets,
    attributes_in_scenarios,
    explain_in_worst,
    measure_scenarios,
)
from discreet.risks.known_sets.record_tables import list_riskiest, tabulate_records


class KnownSets(RiskMeasure):
    """Likelihood times consequence, summed over every split of the attributes into known and unknown.

    D(r) = sum over known sets S of  PK(S) / count(r(S))  x  alpha  x  sum over A outside S of W(A) W(r(A)).

    ``risk`` is the sum over the sets with PK(S) > epsilon. ``lower`` and ``upper`` hold the sum over all 2^m sets for certain,
    whatever epsilon is; ``tolerance`` and ``decide`` narrow them. ``effective_k`` is the effective class size of a record: the
    weighted harmonic mean of the counts over all known sets but the empty one, 1 where everything known finds it alone.

    With ``knowledge: independent`` PK(S) is the probability that an intruder knows the attributes of S and no others. The PK of
    all sets add up to 1, and D(r) / alpha is the expected consequence; ``reidentification`` is that with every consequence 1.

    >>> from discreet.testing import table
    >>> data = table({"age": [34, 34, 51], "disease": ["Flu", "Cancer", "Flu"]}, known={"age": 0.5}, sensitivity={"disease": 1.0})
    >>> KnownSets(alpha=1, epsilon=0).measure(data).per_record["risk"].round(4).to_list()
    [0.5833, 0.5833, 0.8333]
    """

    name: ClassVar[str] = "known_sets"
    citation: ClassVar[str] = (
        "Orooji, M. & Knapp, G. M. (2018). A novel microdata privacy disclosure risk measure. Proc. IISE Annual Conference."
    )
    spark: ClassVar[EngineWork | None] = EngineWork(
        "discreet.risks.known_sets.spark:known_sets",
        (WILDCARD, ORIGINAL_VALUES, NARROWING, OVERLAPPING, POPULATION, RANGES, INDEPENDENT, TOGETHER, SCENARIOS),
    )
    better: ClassVar[Mapping[str, Direction]] = BETTER
    worst: ClassVar[Mapping[str, float]] = {"high_risk_share": 1.0, "effective_k_min": 1.0, "effective_k_median": 1.0}
    occasional: ClassVar[Collection[str]] = OCCASIONAL
    descriptive: ClassVar[Collection[str]] = ("sets", "undecided")
    neutral: ClassVar[Collection[str]] = ("widest",)
    meaning: ClassVar[Mapping[str, str]] = MEANING
    limit_sentences: ClassVar[Mapping[str, str]] = LIMIT_SENTENCES
    record_meaning: ClassVar[Mapping[str, str]] = RECORD_MEANING
    at_risk: ClassVar[tuple[str, str] | None] = ("high_risk", "{number} of {records} records at high risk")
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"

    alpha: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=100.0, description="consequence coefficient, above 1 in the paper"
    )
    epsilon: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01, description="known sets are kept where their probability is greater"
    )
    threshold: Threshold = Field(
        default=0.01,
        description="a record is high-risk where its risk is greater; {among: 20}: where its effective class size is below 20",
    )
    missing: Literal["category", "wildcard"] = Field(
        default="category", description="a null is one more value, or agrees with anything on either side"
    )
    knowledge: Knowledge = Field(
        default="products",
        description="likelihood of a known set: the product of the probabilities of its attributes (products, the paper's), or "
        "the probability that an intruder knows these and no others (independent)",
    )
    tolerance: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="narrow every interval until its width is at most this share of its lower end"
    )
    decide: bool = Field(default=False, description="narrow the intervals until no record's side of the threshold is in doubt")
    max_sets: Annotated[int, Field(ge=1)] = Field(
        default=1_000_000, description="most known sets to keep, and most counts to take when narrowing"
    )
    seconds: Annotated[float, Field(gt=0)] = Field(
        default=60.0, description="most seconds for narrowing (tolerance, decide); what is not narrow enough then is said"
    )

    population: Literal["none", "weights", "table", "model"] = Field(
        default="none",
        description="class sizes: of the file (none), or of the population by sampling weights, a population table or a model",
    )
    population_table: str | None = Field(
        default=None,
        repr=False,
        description="file or table of the population, with the attributes as columns, for population: table",
    )
    sampling_fraction: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None,
        description="population: model: share of the population that is in the file; default: size, weights, or section sampling",
    )
    size: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="population: model: number of persons in the population"
    )
    confidence: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.95, description="population: level of the interval for sampling and model error"
    )

    _accept_table, _describe_table = table_validator("population_table"), table_serializer("population_table")
    _limits: dict[str, float] = PrivateAttr(default_factory=dict)
    _seconds: float = PrivateAttr(default=0.0)

    @model_validator(mode="after")
    def _population_is_not_narrowed(self) -> Self:
        if self.population != "none" and (self.tolerance is not None or self.decide):
            narrowing = "decide" if self.decide else "tolerance"
            raise ValueError(
                f"{narrowing} narrows counts in the file and has no meaning with population: {self.population}; leave it out"
            )
        if self.population != "none" and self.knowledge != "products":
            raise ValueError(
                f"population: {self.population} takes knowledge: products, because class sizes of the population are estimated "
                "for the sets that the paper's reading keeps; measure knowledge: independent with population: none"
            )
        if self.population_table is not None and self.population != "table":
            raise ValueError(f"population_table needs population: table; got population: {self.population}")
        return self

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        if self.population != "none":
            from discreet.risks.known_sets.population.score import measure_population  # not needed by most runs, and slow to load

            return annotate_knowledge(self, data, None, measure_population(self, data, original))
        if data.policy.scenarios:
            return measure_scenarios(self, data, original)
        score = self._measure_file(data, self._as_searched(data, original))
        return annotate_knowledge(self, data, self._as_searched(data, original), score)

    def _measure_file(self, data: Microdata, original: Microdata | None) -> Score:
        """The risk by class sizes of the file, under the probabilities of the attribute table."""
        if any(data.attribute(name).ranges for name in attributes(data)):
            return measure_ranges(self, data, original)
        if original is None and is_large(len(data)) and self.tolerance is None and not self.decide:
            from discreet.risks.known_sets.large.score import measure_large  # small tables start sooner without it

            score = measure_large(self, data)
            if score is not None and not self._is_narrowed(score, len(data)):
                return score
        bounded = bounded_sums(self, data, original)
        result = bounded.result
        return Score(
            self.name,
            result.fields,
            lambda: tabulate_records(self, data, bounded.sums, bounded.lower, bounded.upper, original),
            notes=(*result.notes, *bounded.notes),
            riskiest=lambda number: list_riskiest(self, bounded.sums, bounded.sums.per_record.risk * self.alpha, number),
            bounds=result.bounds,
        )

    def examine_guesses(
        self, data: Microdata, limits: Mapping[str, float], *, original: Microdata | None = None, alone: bool = True,
        seconds: float = 60.0, one_by_one: bool = True,
    ) -> Sensitivity | None:  # fmt: skip
        if self.population != "none":
            raise DataError(
                f"known_sets: how far a verdict holds is examined on the class sizes of the file, not with population: "
                f"{self.population}; measure with population: none"
            )
        from discreet.risks.known_sets.sensitivity.examine import examine  # not needed by most runs

        informed = [] if original is None else [self._as_searched(data, original)]
        intruders = [*([None] if alone or not informed else []), *informed]
        return examine(self, data, limits, intruders, seconds, one_by_one=one_by_one)

    def uses_original(self, data: Microdata) -> bool:
        """Class sizes of the population belong to the released values: the release alone is measured then."""
        return self.population == "none"

    def for_limits(self, limits: Mapping[str, float], *, seconds: float) -> KnownSets:
        limited = self.model_copy()
        limited._limits, limited._seconds = dict(limits), seconds
        return limited

    @property
    def seconds_for_limits(self) -> float:
        """The most seconds for narrowing where a limit asks for it."""
        return min(self.seconds, self._seconds)

    def open_limits(self, bounds: Mapping[str, tuple[float, float]]) -> dict[str, float]:
        """The limits that the bounds of their fields do not settle."""
        still_open = {}
        for field, required in self._limits.items():
            low, high = bounds.get(field, (0.0, 0.0))
            if low <= required < high if self.better[field] == "low" else low < required <= high:
                still_open[field] = required
        return still_open

    def has_open_limit(self, bounds: Mapping[str, tuple[float, float]]) -> bool:
        """Whether the bounds of some fields leave a limit on one of them open."""
        return any(field in bounds for field in self.open_limits(bounds))

    def _is_narrowed(self, score: Score, records: int) -> bool:
        """Whether the intervals are still to be narrowed for limits that the bounds leave open."""
        certain, possible = score.bounds["high_risk"]
        open_limits = self.open_limits({**score.bounds, "undecided": (0, possible - certain)})
        return records < NOT_NARROWED and bool(open_limits)

    def reads(self, data: Microdata) -> list[str] | None:
        return attributes_in_scenarios(data) if self.population == "none" else None

    def examines(self, data: Microdata) -> list[str]:
        return attributes_in_kept_sets(self, data)

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        narrows = self.tolerance is not None or self.decide or (bool(self._limits) and records < NOT_NARROWED)
        return working_bytes(self, sample, records, narrows=narrows, by_record=by_record)

    def explain(self, data: Microdata, record: int, *, original: Microdata | None = None) -> list[str]:
        if self.population != "none":
            from discreet.risks.known_sets.population.score import explain_population

            return explain_population(self, data, record)
        if data.policy.scenarios:
            return explain_in_worst(self, data, record, original)
        return explain(
            data,
            record,
            alpha=self.alpha,
            epsilon=self.epsilon,
            max_sets=self.max_sets,
            missing=self.missing,
            original=self._as_searched(data, original),
            knowledge=self.knowledge,
        )

    def _as_searched(self, data: Microdata, original: Microdata | None) -> Microdata | None:
        """The original values as an intruder asks for them where nulls agree with anything: rounded or cut off as in the release.

        Otherwise a null would hide a record on the release alone, and a rounded value from whoever knows the original. Where a
        null is a value of its own, the release alone is the worse case already.
        """
        if original is None or self.missing != "wildcard":
            return original
        known = [name for name in data.columns if data.attribute(name).known > 0 and data.attribute(name).sensitivity == 0]
        return with_perturbed_values(original, data, [name for name in known if name in original.columns])

    def sums_of(self, data: Microdata, original: Microdata | None, *, everyone: bool = False) -> Sums:
        return known_sets(
            data, epsilon=self.epsilon, max_sets=self.max_sets, missing=self.missing, original=original, everyone=everyone,
            knowledge=self.knowledge,
        )  # fmt: skip
