"""The probability that a masked record belongs to a target: Truta et al., eq. 4.10."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field, field_validator, model_validator

from discreet.engine.spark.gaps import COARSE, PATTERNS
from discreet.errors import DataError
from discreet.model.attribute import Role
from discreet.model.contracts import Direction, RiskMeasure
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.model.sensitivity import Sensitivity
from discreet.risks.target_linkage.attack import Attack, AttackerModel, LinkageResult, link_targets
from discreet.risks.target_linkage.summary import LinkageStatistics, summarize
from discreet.risks.target_linkage.targets import Targets, compare_attributes, find_targets

Rate = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

INEXACT_AGREEMENT = Gap(
    "tolerance, similarity, edits or errors",
    "only exact agreement is counted without comparing pairs",
    lambda plugin: bool(plugin.tolerance or plugin.similarity or plugin.edits or plugin.errors is not None),
)


class TargetLinkage(RiskMeasure):
    """Record linkage by an intruder with a list of targets, each of which is linked to the masked file.

    With pi the probability that the target is in the file, t the number of records and r the likelihood ratio (4.11),

        P(record j is target i's) = (pi/t) r_ij / ((pi/t) sum_k r_ik + 1 - pi)        (4.10)

    Without measurement errors r is 1/P(known attributes of the target) for a record that agrees on all of them and 0 for others;
    with errors it is the product of m/u and (1-m)/(1-u) of Fellegi and Sunter. A field that the intruder does not know, and a
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
    worst: ClassVar[Mapping[str, float]] = {"mean": 1.0, "max": 1.0, "over_threshold": 1.0, "marketer": 1.0, "gain": 1.0}
    at_risk: ClassVar[tuple[str, str] | None] = (
        "over_threshold",
        "{percent} % of the targets with a link probability above its threshold",
    )
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
        "expected_links": "expected number of targets linked to their own record; exact where the truth is known",
        "mean": "mean probability of the best link",
        "max": "largest probability of a link",
        "over_threshold": "share of targets with a link probability above the threshold",
        "marketer": "marketer risk: expected share of targets re-identified",
        "claimed_links": "expected number of correct links by the intruder's own model",
        "guessing": "baseline: probability of a correct link by guessing",
        "gain": "marketer risk in excess of guessing, 0 to 1",
        "linked_targets": "targets with at least one candidate",
        "mean_candidates": "mean number of candidate records per target",
        "pairs_left_out": "pairs that blocking did not compare",
    }
    limit_sentences: ClassVar[Mapping[str, str]] = {
        "max": "nobody on the intruder's list is linked with a probability above {percent} %",
        "marketer": "at most {percent} % of the intruder's list is expected to be linked correctly",
    }
    record_meaning: ClassVar[Mapping[str, str]] = {
        "probability": "probability of the best link of the target",
        "best": "row of the best link, counted from 0",
        "candidates": "candidate records of the target",
        "runner_up": "probability of the second best link",
        "correct": "probability that the best link is correct, where the truth is known",
    }

    population: Positive | None = Field(default=None, description="size of the population from which the file was sampled")
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
    targets: str | None = Field(
        default=None, description="file or table with the intruder's list; default: every record is a target"
    )
    attributes: tuple[str, ...] = Field(
        default=(), description="attributes that the intruder knows; default: the columns of the list, or role key"
    )
    tolerance: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict, description="largest difference of numbers (or dates, in days) that agree, by attribute"
    )
    similarity: dict[str, Annotated[float, Field(gt=0, le=1)]] = Field(
        default_factory=dict, description="smallest Jaro-Winkler similarity of texts that agree, by attribute"
    )
    edits: dict[str, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict, description="largest edit distance of texts that agree, by attribute"
    )
    errors: Literal["estimate"] | dict[str, Rate] | None = Field(
        default=None, description="error rate by attribute, or estimate; default: no measurement errors"
    )
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.05, description="link probability above which a target counts as at risk"
    )

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
    def _parameters_do_not_conflict(self) -> TargetLinkage:
        if self.population is not None and self.sampling_fraction is not None:
            raise ValueError("give population or sampling_fraction, not both")
        attribute_sets = [set(names_of_parameter) for names_of_parameter in (self.tolerance, self.similarity, self.edits)]
        for name in sorted(
            (attribute_sets[0] & attribute_sets[1])
            | (attribute_sets[0] & attribute_sets[2])
            | (attribute_sets[1] & attribute_sets[2])
        ):
            raise ValueError(f"'{name}' has more than one of tolerance, similarity and edits; keep one")
        for name in sorted(set(self.domain) & set(self.density)):
            raise ValueError(f"'{name}' has a domain and a density; keep one")
        return self

    def examines(self, data: Microdata) -> Sequence[str]:
        """The attributes that are compared: the columns of a list are known only when it is read."""
        if self.attributes or self.targets is not None:
            return super().examines(data)
        return data.named(Role.KEY)

    def measure(self, data: Microdata, *, original: Microdata | None = None) -> Score:
        if self.population is not None and (data.records >= 0).sum() > self.population:
            raise DataError(
                f"target_linkage: the population {self.population:,.0f} is less than the {len(data):,} records of {data.source}"
            )
        targets = find_targets(data, original, self.targets, self.attributes, self.population, self.sampling_fraction)
        comparisons = compare_attributes(data, targets, self.tolerance, self.similarity, self.edits)
        self._check_names(targets)
        model = AttackerModel(self.model, self.domain, self.density, self.errors)
        result = link_targets(Attack(comparisons, len(targets.frame), len(data), targets.inclusion, targets.truth), model)
        return self._score(targets, result, len(data))

    def examine_guesses(
        self, data: Microdata, limits: Mapping[str, float], *, original: Microdata | None = None, alone: bool = True,
        seconds: float = 60.0, one_by_one: bool = True,
    ) -> Sensitivity | None:  # fmt: skip
        from discreet.risks.target_linkage.sensitivity import examine_linkage  # not needed by most runs

        intruders = [*([None] if alone or original is None else []), *([] if original is None else [original])]
        targets = [
            find_targets(data, known, self.targets, self.attributes, self.population, self.sampling_fraction)
            for known in intruders
        ]
        shares = {float(share) for target in targets for share in target.inclusion}
        notes = [] if len(shares) == 1 else ["targets have different sampling fractions, so a common one is not searched"]

        def numbers_at(fraction: float | None, errors: Mapping[str, float] | None) -> list[Mapping[str, float | None]]:
            changes: dict[str, Any] = {} if errors is None else {"errors": dict(errors)}
            changes |= {} if fraction is None else {"sampling_fraction": fraction, "population": None}
            moved = self.model_copy(update=changes)
            return [dict(moved.measure(data, original=known).summary) for known in intruders]  # type: ignore[arg-type]

        return examine_linkage(
            numbers_at, shares.pop() if len(shares) == 1 else None, self.errors if isinstance(self.errors, dict) else {}, limits,
            self.better, len(data), seconds, one_by_one=one_by_one, notes=notes,
        )  # fmt: skip

    def _check_names(self, targets: Targets) -> None:
        parameter_of_name = dict.fromkeys(self.errors, "errors") if isinstance(self.errors, dict) else {}
        for parameter in ("domain", "density", "tolerance", "similarity", "edits"):
            parameter_of_name |= dict.fromkeys(getattr(self, parameter), parameter)
        for name, parameter in parameter_of_name.items():
            if name not in targets.attributes:
                raise DataError(
                    f"target_linkage: {parameter} names '{name}', which the intruder does not use; "
                    f"attributes used: {', '.join(targets.attributes)}"
                )

    def _score(self, targets: Targets, result: LinkageResult, records: int) -> Score:
        probability, size = result.probability, len(targets.frame)
        statistics = LinkageStatistics(
            targets=size,
            records=records,
            claimed=float(probability.sum()),
            correct=None if result.correct is None else float(result.correct.sum()),
            largest=float(probability.max(initial=0.0)),
            over_threshold=int((probability > self.threshold).sum()),
            inclusion=float(targets.inclusion.mean()) if size else 0.0,
            linked_targets=int((result.candidates > 0).sum()),
            candidates=int(result.candidates.sum()),
            left_out=result.left_out,
        )
        per_record = pl.DataFrame(
            {
                "probability": probability,
                "best": pl.Series(result.best, dtype=pl.Int64).replace(-1, None),
                "candidates": result.candidates,
                "runner_up": result.runner_up,
            }
        )
        if result.correct is not None:
            per_record = per_record.with_columns(pl.Series("correct", result.correct))
        return Score(self.name, summarize(statistics), per_record, result.per_attribute, notes=(*targets.notes, *result.notes))
