"""The probability that a masked record is a target's: seed 002, equation (4.10)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field, field_validator, model_validator

from discreet.engine.spark.gaps import COARSE, PATTERNS
from discreet.errors import DataError
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.risks.target_linkage.attack import Attack, Beliefs, Found, attack
from discreet.risks.target_linkage.summary import LinkageStatistics, summarize
from discreet.risks.target_linkage.targets import Targets, agreed_attributes, target_units

Rate = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

INEXACT_AGREEMENT = Gap(
    "tolerance, similarity, edits or errors",
    "only exact agreement is counted without comparing pairs",
    lambda plugin: bool(plugin.tolerance or plugin.similarity or plugin.edits or plugin.errors is not None),
)


class TargetLinkage(RiskMeasure):
    """An intruder with a list of target units links each of them to the masked file.

    With pi the probability that the target is in the file, t its number of records and r the probability ratio (4.11),

        P(record j is target i's) = (pi/t) r_ij / ((pi/t) sum_k r_ik + 1 - pi)        (4.10)

    Without measurement errors r is 1/P(what is known of the target) for a record that agrees with all of it and 0 for
    others; with errors it is Fellegi and Sunter's product of m/u and (1-m)/(1-u). A field unknown to the intruder, and a
    blank cell of the file, agree with anything.

    >>> from discreet.testing import table
    >>> data = table({"age": [44, 44, 55], "state": ["MI", "MI", "IN"]}, key=["age", "state"])
    >>> TargetLinkage().measure(data).per_record["probability"].to_list()
    [0.5, 0.5, 1.0]
    """

    name: ClassVar[str] = "target_linkage"
    citation: ClassVar[str] = (
        "Truta, T. M., Fotouhi, F. & Barth-Jones, D. (2003). Automatic generation of masked microdata, section 4; after "
        "Willenborg, L. & de Waal, T. (2001). Elements of Statistical Disclosure Control. Springer."
    )
    spark: ClassVar[EngineWork | None] = EngineWork(
        "discreet.risks.target_linkage.spark:target_linkage", (INEXACT_AGREEMENT, COARSE, PATTERNS)
    )
    better: ClassVar[Mapping[str, Direction]] = {
        "expected_links": "low", "mean": "low", "max": "low", "over_threshold": "low", "marketer": "low", "gain": "low",
    }  # fmt: skip
    original_use: ClassVar[Literal["none", "optional", "required"]] = "optional"
    neutral: ClassVar[Collection[str]] = (
        "targets",
        "claimed_links",
        "guessing",
        "linked_targets",
        "mean_candidates",
        "pairs_left_out",
    )
    meaning: ClassVar[Mapping[str, str]] = {
        "targets": "targets on the intruder's list",
        "expected_links": "targets linked to their own record, in expectation; exact where the truth is known",
        "mean": "mean probability of the best link",
        "max": "largest probability of a link",
        "over_threshold": "share of targets above the threshold",
        "marketer": "share of targets linked correctly by one who links all",
        "claimed_links": "correct links as the intruder believes them",
        "guessing": "probability of a correct link by guessing",
        "gain": "what linking gains beyond guessing, 0 to 1",
        "linked_targets": "targets with at least one candidate",
        "mean_candidates": "candidates of a target on average",
        "pairs_left_out": "pairs that blocking did not compare",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "probability": "probability of the best link of the target",
        "best": "row of the best link, counted from 0",
        "candidates": "records that may be the target's",
        "runner_up": "probability of the second best link",
        "correct": "probability that the best link is right, where the truth is known",
    }

    population: Positive | None = Field(default=None, description="persons in the population the file was drawn from")
    sampling_fraction: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="probability that a target is in the file"
    )
    model: Literal["uniform", "independent", "empirical"] = Field(
        default="independent", description="P(ext): equal values, margins of the masked file, or its joint frequencies"
    )
    domain: dict[str, Positive] = Field(default_factory=dict, description="number of equally likely values, by attribute")
    density: dict[str, dict[str, Annotated[float, Field(ge=0, le=1)]]] = Field(
        default_factory=dict, description="probability of single values or intervals of values, by attribute"
    )
    targets: str | None = Field(default=None, description="file or table with the intruder's list; every record where absent")
    attributes: tuple[str, ...] = Field(
        default=(), description="what the intruder knows: the list's columns, or the key attributes, where empty"
    )
    tolerance: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict, description="numbers (or days) that still agree, by attribute"
    )
    similarity: dict[str, Annotated[float, Field(gt=0, le=1)]] = Field(
        default_factory=dict, description="least Jaro-Winkler similarity of texts that agree, by attribute"
    )
    edits: dict[str, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict, description="most edits between texts that agree, by attribute"
    )
    errors: Literal["estimate"] | dict[str, Rate] | None = Field(
        default=None, description="error rate by attribute, or estimate; no measurement error where absent"
    )
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(default=0.05, description="a target above it counts as at risk")

    @field_validator("density", mode="before")
    @classmethod
    def _keys_as_text(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            name: {str(key): chance for key, chance in inner.items()} if isinstance(inner, dict) else inner
            for name, inner in value.items()
        }

    @model_validator(mode="after")
    def _one_way_of_saying(self) -> TargetLinkage:
        if self.population is not None and self.sampling_fraction is not None:
            raise ValueError("say either population or sampling_fraction, not both")
        ways = [set(one) for one in (self.tolerance, self.similarity, self.edits)]
        for twice in sorted((ways[0] & ways[1]) | (ways[0] & ways[2]) | (ways[1] & ways[2])):
            raise ValueError(f"'{twice}' has more than one of tolerance, similarity and edits; keep one")
        for twice in sorted(set(self.domain) & set(self.density)):
            raise ValueError(f"'{twice}' has a domain and a density; keep one")
        return self

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        if self.population is not None and (data.records >= 0).sum() > self.population:
            raise DataError(
                f"target_linkage: the population {self.population:,.0f} is less than the {len(data):,} records of {data.source}"
            )
        units = target_units(data, original, self.targets, self.attributes, self.population, self.sampling_fraction)
        comparisons = agreed_attributes(data, units, self.tolerance, self.similarity, self.edits)
        self._check_names(units)
        beliefs = Beliefs(self.model, self.domain, self.density, self.errors)
        found = attack(Attack(comparisons, len(units.frame), len(data), units.inclusion, units.truth), beliefs)
        return self._score(units, found, len(data))

    def _check_names(self, units: Targets) -> None:
        spoken = dict.fromkeys(self.errors, "errors") if isinstance(self.errors, dict) else {}
        for parameter in ("domain", "density", "tolerance", "similarity", "edits"):
            spoken |= dict.fromkeys(getattr(self, parameter), parameter)
        for name, parameter in spoken.items():
            if name not in units.attributes:
                raise DataError(
                    f"target_linkage: {parameter} names '{name}', which the intruder does not use; "
                    f"he uses {', '.join(units.attributes)}"
                )

    def _score(self, units: Targets, found: Found, records: int) -> Score:
        probability, size = found.probability, len(units.frame)
        statistics = LinkageStatistics(
            targets=size,
            records=records,
            claimed=float(probability.sum()),
            correct=None if found.correct is None else float(found.correct.sum()),
            largest=float(probability.max(initial=0.0)),
            over_threshold=int((probability > self.threshold).sum()),
            inclusion=float(units.inclusion.mean()) if size else 0.0,
            linked_targets=int((found.candidates > 0).sum()),
            candidates=int(found.candidates.sum()),
            left_out=found.left_out,
        )
        per_record = pl.DataFrame(
            {
                "probability": probability,
                "best": pl.Series(found.best, dtype=pl.Int64).replace(-1, None),
                "candidates": found.candidates,
                "runner_up": found.runner_up,
            }
        )
        if found.correct is not None:
            per_record = per_record.with_columns(pl.Series("correct", found.correct))
        return Score(self.name, summarize(statistics), per_record, found.per_attribute, notes=(*units.notes, *found.notes))
