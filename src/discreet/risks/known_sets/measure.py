"""known_sets: the risk of every record under every state of an intruder's knowledge."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import polars as pl
from pydantic import Field, PrivateAttr, model_validator

from discreet.engine.cells.perturbed import with_perturbed_values
from discreet.engine.encoding.columns import encode
from discreet.engine.known_sets.effective_size import FEW, Sizes, effective_sizes, risk_levels
from discreet.engine.known_sets.family import Family, Knowledge
from discreet.engine.known_sets.inputs import find_sensitive_records, weights_of
from discreet.engine.known_sets.summary import QUANTILES, Bounds, Summary, median_size, quantiles
from discreet.engine.known_sets.sums import KnownSets as Sums
from discreet.engine.known_sets.sums import attributes, family_of, known_sets
from discreet.engine.population.table_parameters import table_serializer, table_validator
from discreet.engine.runtime.memory import PROGRAM, available_memory, check_memory
from discreet.engine.spark.gaps import OVERLAPPING, SCENARIOS, WILDCARD
from discreet.errors import DataError
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.model.sensitivity import Sensitivity
from discreet.model.threshold import Among, Threshold
from discreet.risks.known_sets import large
from discreet.risks.known_sets.explain import explain
from discreet.risks.known_sets.fields import BETTER, LIMIT_SENTENCES, MEANING, OCCASIONAL, RECORD_MEANING
from discreet.risks.known_sets.finer import bounds_of_larger_families, can_sum_rows, narrow_by_families
from discreet.risks.known_sets.readings.range_score import measure_ranges
from discreet.risks.known_sets.readings.reidentification import annotate_knowledge
from discreet.risks.known_sets.readings.scenario_score import (
    attributes_in_scenarios,
    explain_in_worst,
    measure_scenarios,
    takes_part,
)
from discreet.risks.known_sets.refine import narrow_intervals
from discreet.risks.known_sets.requirements import Requirements
from discreet.risks.known_sets.tolerance.narrow import BYTES_PER_RECORD as NARROWING_BYTES
from discreet.risks.known_sets.tolerance.narrow import narrow_where_possible

if TYPE_CHECKING:
    from numpy.typing import NDArray


_CLOSE = 1e-3
"""The width of intervals, as a share of their lower ends, to which they are narrowed for a limit on an average."""


class Result(NamedTuple):
    """What is told of a table: the summary's fields, between what numbers they lie, and notes."""

    fields: dict[str, Any]
    bounds: Bounds
    notes: tuple[str, ...]


class BoundedSums(NamedTuple):
    """The sums of the records, the ends of their intervals over all known sets (with alpha), the summary, and notes."""

    sums: Sums
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    result: Result
    notes: tuple[str, ...]


ORIGINAL_VALUES = Gap("original=", "coarse cells that contain original values are compared on one machine only")
RANGES = Gap("ranges in the policy", "best and worst cases are compared record by record on one machine only")
NARROWING = Gap(
    "tolerance or decide",
    "intervals are narrowed by counting on one machine",
    lambda plugin: plugin.tolerance is not None or plugin.decide,
)

INDEPENDENT = Gap(
    "knowledge: independent",
    "the probability of being found is counted for every record on one machine",
    lambda plugin: plugin.knowledge != "products",
)
TOGETHER = Gap("known_together in the policy", "units of several attributes are counted on one machine")

POPULATION = Gap(
    "population",
    "class sizes of the population are estimated from all classes of each set on one machine",
    lambda plugin: plugin.population != "none",
)


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
            return annotate_knowledge(self, data, None, self._measure_population(data, original))
        if data.policy.scenarios:
            return measure_scenarios(self, data, original)
        score = self._measure_file(data, self._as_searched(data, original))
        return annotate_knowledge(self, data, self._as_searched(data, original), score)

    def _measure_file(self, data: Microdata, original: Microdata | None) -> Score:
        """The risk by class sizes of the file, under the probabilities of the attribute table."""
        if any(data.attribute(name).ranges for name in attributes(data)):
            return measure_ranges(self, data, original)
        if original is None and self._is_large(len(data)) and self.tolerance is None and not self.decide:
            score = self._measure_large(data)
            if score is not None and not self._is_narrowed(score, len(data)):
                return score
        bounded = self.bounded_sums(data, original)
        result = bounded.result
        return Score(
            self.name,
            result.fields,
            lambda: self.records_of(data, bounded.sums, bounded.lower, bounded.upper, original),
            notes=(*result.notes, *bounded.notes),
            riskiest=lambda number: self.riskiest_of(bounded.sums, bounded.sums.per_record.risk * self.alpha, number),
            bounds=result.bounds,
        )

    def bounded_sums(self, data: Microdata, original: Microdata | None) -> BoundedSums:
        """The sums of the records and their intervals, narrowed as far as parameters and limits require, with the summary."""
        sums = self.sums_of(data, original)
        lower, upper = sums.per_record.lower * self.alpha, sums.per_record.upper * self.alpha
        result = self.summarized(sums, lower, upper, len(data))
        levels = [self.threshold] if self.decide else []
        open_limits = self._open_limits({**result.bounds, "undecided": (0, result.fields["undecided"])})
        levels += [level for field, required in open_limits.items() if (level := self._level(field, required)) is not None]
        tolerance = self.tolerance
        if tolerance is None and {"mean", "effective_k_median"} & set(open_limits):
            tolerance = _CLOSE
        notes: tuple[str, ...] = ()
        left_out: tuple[str, ...] = ()
        if tolerance is not None or levels:
            risks = [self._levels(sums, level, len(data)) for level in dict.fromkeys(levels)]
            allowed_seconds = min(self.seconds, self._seconds) if open_limits else self.seconds
            required = Requirements(tolerance, risks, time.monotonic() + allowed_seconds)
            if not sums.tree.is_plain:
                lower, upper, notes = narrow_by_families(
                    data, sums, lower, upper, alpha=self.alpha, epsilon=self.epsilon, required=required, max_sets=self.max_sets,
                    missing=self.missing, original=original, knowledge=self.knowledge,
                )  # fmt: skip
                result = self.summarized(sums, lower, upper, len(data), decided=self.threshold in levels)
                return BoundedSums(sums, lower, upper, result, notes)
            if risks and result.fields["undecided"] and original is None and self._is_large(len(data)):
                lower, upper = bounds_of_larger_families(
                    data, sums, lower, upper, alpha=self.alpha, epsilon=self.epsilon, required=required, max_sets=self.max_sets,
                    missing=self.missing,
                )  # fmt: skip
            if required.tolerance is not None and original is None and self._is_large(len(data)):
                lower, upper, left_out = narrow_where_possible(
                    data, sums, lower, upper, alpha=self.alpha, required=required, max_sets=self.max_sets, missing=self.missing
                )
            lower, upper, notes = narrow_intervals(
                data, sums, lower, upper, alpha=self.alpha, required=required, budget=self.max_sets, missing=self.missing,
                original=original,
            )  # fmt: skip
            result = self.summarized(sums, lower, upper, len(data), decided=self.threshold in levels)
        return BoundedSums(sums, lower, upper, result, (*notes, *left_out) if notes else ())

    def _measure_population(self, data: Microdata, original: Microdata | None) -> Score:
        if original is not None:
            raise DataError(
                f"known_sets: population: {self.population} measures the release alone; an intruder who knows the original "
                "values is measured with population: none"
            )
        if any(data.attribute(name).ranges for name in attributes(data)):
            raise DataError(
                f"known_sets: population: {self.population} takes one number for each guess, but the policy has ranges; give "
                "the upper ends, or measure with population: none"
            )
        if data.policy.scenarios:
            raise DataError(
                f"known_sets: population: {self.population} takes one number for each guess, but the policy has scenarios; give "
                "each its own policy, or measure with population: none"
            )
        from discreet.risks.known_sets.population.score import measure_population  # not needed by most runs, and slow to load

        return measure_population(self, data)

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

    def _open_limits(self, bounds: Mapping[str, tuple[float, float]]) -> dict[str, float]:
        """The limits that the bounds of their fields do not settle."""
        still_open = {}
        for field, required in self._limits.items():
            low, high = bounds.get(field, (0.0, 0.0))
            if low <= required < high if self.better[field] == "low" else low < required <= high:
                still_open[field] = required
        return still_open

    def has_open_limit(self, bounds: Mapping[str, tuple[float, float]]) -> bool:
        """Whether the bounds of some fields leave a limit on one of them open."""
        return any(field in bounds for field in self._open_limits(bounds))

    def _level(self, field: str, required: float) -> float | Among | None:
        """What every record must be decided about for a limit on a field to be settled; none for averages."""
        if field in ("high_risk", "high_risk_share", "undecided"):
            return self.threshold
        if field == "below_5":
            return Among(among=FEW)
        if field == "effective_k_min":
            return Among(among=required) if required > 1 else None
        return required if field == "max" else None

    def summarized(
        self,
        sums: Sums,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        records: int,
        *,
        decided: bool = False,
        sizes: Sizes | None = None,
    ) -> Result:
        """Fields, bounds and notes; where the threshold was ``decided`` over all sets, what is still in doubt is high-risk.

        ``sizes`` are the effective class sizes (default: those that follow from the sums).
        """
        risk = sums.per_record.risk * self.alpha
        sizes = self.sizes_of(sums, lower, upper, records) if sizes is None else sizes
        summary = Summary(self.threshold)
        summary.add(risk, lower, upper, sizes)
        if decided:
            summary.high = summary.possible
        some = sizes.part(sizes.defined)
        middle, low, high = (median_size(one) for one in (some.value, some.lower, some.upper))
        fields = summary.fields(len(sums.tree), records, quantiles(risk, records, QUANTILES), middle)
        medians = None if low is None or high is None else (low, high)
        bounds = summary.bounds(records, middle, medians)
        return Result(fields, bounds, summary.notes(records, bounds))

    def sizes_of(self, sums: Sums, lower: NDArray[np.float64], upper: NDArray[np.float64], records: int) -> Sizes:
        """The effective class sizes that follow from sums and (narrowed) bounds."""
        per_record = sums.per_record
        return effective_sizes(
            per_record.risk,
            lower / self.alpha,
            upper / self.alpha,
            sums.consequence,
            per_record.kept_mass,
            per_record.whole_mass,
            records,
            float(sums.tree.chance[0]),
        )

    def _levels(self, sums: Sums, threshold: float | Among, records: int) -> NDArray[np.float64]:
        empty = float(sums.tree.chance[0])
        return risk_levels(threshold, sums.consequence, sums.per_record.whole_mass, records, self.alpha, empty)

    def _is_large(self, records: int) -> bool:
        """Whether the records are so many that sets are summed on distinct rows."""
        return records >= large.LARGE_TABLE

    def _is_narrowed(self, score: Score, records: int) -> bool:
        """Whether the intervals are still to be narrowed for limits that the bounds leave open."""
        certain, possible = score.bounds["high_risk"]
        open_limits = self._open_limits({**score.bounds, "undecided": (0, possible - certain)})
        return records < large.NOT_NARROWED and bool(open_limits)

    def _measure_large(self, data: Microdata) -> Score | None:
        """The same numbers with little kept per record; none where that cannot be."""
        names = attributes(data)
        tree = family_of(data, names, self.epsilon, self.max_sets, self.knowledge)
        if not can_sum_rows(data, names, self.missing):
            return None
        sums = large.large_sums(data, names, tree)
        if sums is None:
            return None
        summary = sums.summarize(self.threshold, self.alpha)
        middle = sums.median_size()
        bounds = summary.bounds(len(data), middle)
        sums.forget_bounds()
        sums.risk *= self.alpha
        return Score(
            self.name,
            summary.fields(len(tree), len(data), quantiles(sums.risk, len(data), QUANTILES), middle),
            lambda: self._all_records(data),
            notes=summary.notes(len(data), bounds),
            riskiest=lambda number: self._riskiest_of_large(data, sums, names, tree, number),
            bounds=bounds,
        )

    def _all_records(self, data: Microdata) -> pl.DataFrame:
        """One row per record of a large table, of which only the risks were kept."""
        codes = sum(column.codes.nbytes for column in encode(data, attributes(data)))
        need = PROGRAM + codes + self.working_bytes(data, len(data), by_record=True)
        check_memory(need, f"a row of known_sets for each of {len(data):,} records", "ask for the summary alone")
        sums = self.sums_of(data, None, everyone=True)
        return self.records_of(data, sums, sums.per_record.lower * self.alpha, sums.per_record.upper * self.alpha, None)

    def _riskiest_of_large(
        self, data: Microdata, sums: large.LargeSums, names: list[str], tree: Family, number: int
    ) -> pl.DataFrame:
        largest = large.sums_of_rows(data, names, tree, sums.rows(sums.largest(number)))
        return self.riskiest_of(largest, largest.per_record.risk * self.alpha, number)

    def reads(self, data: Microdata) -> list[str] | None:
        return attributes_in_scenarios(data) if self.population == "none" else None

    def examines(self, data: Microdata) -> list[str]:
        """An attribute known with a probability of at most epsilon is in no set that is kept, so only learning it counts."""
        names: dict[str, None] = {}
        for policy in data.policy.in_scenarios().values():
            if not takes_part(policy):
                continue
            in_scenario = data if policy is data.policy else data.with_policy(policy)
            named = attributes(in_scenario)
            if self.knowledge == "independent":
                tree = family_of(in_scenario, named, self.epsilon, self.max_sets, self.knowledge)
                kept = {named[at] for at in tree.order[: tree.width]}
            else:
                kept = {name for name in named if in_scenario.attribute(name).known > self.epsilon}
            names |= dict.fromkeys(name for name in named if name in kept or in_scenario.attribute(name).sensitivity > 0)
        return [name for name in data.columns if name in names]

    def working_bytes(self, sample: Microdata, records: int, *, by_record: bool = False) -> float:
        sample = sample.with_policy(sample.policy.at_largest_known()) if sample.policy.scenarios else sample
        names = attributes(sample)
        tree = family_of(sample, names, self.epsilon, self.max_sets, self.knowledge)
        by_record = by_record or self.knowledge == "independent"  # everyone's probability of being found is counted
        asking = float(find_sensitive_records(sample, weights_of(sample, names)).mean()) if len(sample) else 1.0
        narrows = self.tolerance is not None or self.decide or (bool(self._limits) and records < large.NOT_NARROWED)
        short = self._is_large(records) and not narrows and not by_record
        need = records * large.bytes_per_record(tree, 1.0 if by_record else asking, short=short)
        at_once = records * NARROWING_BYTES if self.tolerance is not None and self._is_large(records) else 0.0
        return need + at_once if PROGRAM + need + at_once <= available_memory() else need  # all at once only where it fits

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

    def records_of(
        self, data: Microdata, sums: Sums, lower: NDArray[np.float64], upper: NDArray[np.float64], original: Microdata | None
    ) -> pl.DataFrame:
        """One row per record; the likelihood of records with nothing to learn is counted only now that somebody asks."""
        everybody = sums if len(sums.slots) == len(data) else self.sums_of(data, original, everyone=True)
        per_record, slots = everybody.per_record, everybody.slots
        names = pl.Series("top_set", [everybody.set_name(node) for node in range(len(everybody.tree))], dtype=pl.String)
        risk = per_record.risk * self.alpha
        share = np.divide(per_record.top * self.alpha, risk, out=np.zeros_like(risk), where=risk > 0)

        def spread(values: NDArray[np.float64], at: NDArray[np.int64] = slots) -> NDArray[np.float64]:
            per_row = np.zeros(len(data))
            per_row[at] = values
            return per_row

        sizes = self.sizes_of(sums, lower, upper, len(data))
        gap = np.full(len(data), np.nan)

        def sized(values: NDArray[np.float64]) -> pl.Series:
            per_row = gap.copy()
            per_row[sums.slots] = values
            return pl.Series(per_row).fill_nan(None)

        top = np.zeros(len(data), dtype=np.int64)
        top[slots] = np.where(
            per_record.top > 0, per_record.top_node, 0
        )  # nothing to learn: every set ties, the smallest is none
        return pl.DataFrame(
            {
                "risk": spread(risk),
                "lower": spread(lower, sums.slots),
                "upper": spread(upper, sums.slots),
                "effective_k": sized(sizes.value),
                "effective_k_lower": sized(sizes.lower),
                "effective_k_upper": sized(sizes.upper),
                "top_set": names[top],
                "top_share": spread(share),
                "likelihood": spread(per_record.likelihood),
                "consequence": spread(everybody.consequence),
            }
        )

    def riskiest_of(self, sums: Sums, risk: NDArray[np.float64], number: int) -> pl.DataFrame:
        """The records with the largest risk; nobody without something to learn is among them, so nothing is counted again."""
        order = np.lexsort((sums.slots, -risk))[:number]
        order = order[risk[order] > 0]
        return pl.DataFrame(
            {
                "record": sums.slots[order],
                "risk": risk[order],
                "top_set": pl.Series([sums.set_name(int(node)) for node in sums.per_record.top_node[order]], dtype=pl.String),
                "top_share": sums.per_record.top[order] * self.alpha / risk[order],
            }
        )
