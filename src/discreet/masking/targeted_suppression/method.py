"""targeted_suppression: local suppression in high-risk records of the values that put them at risk (Orooji & Knapp 2018b)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from discreet.engine.classes.key_sets import Missing
from discreet.engine.spark.gaps import OVERLAPPING, SCENARIOS, WILDCARD
from discreet.engine.special_uniques.scores import Scores
from discreet.engine.targeting.readings import attribute_in_worst_scenario, check_reading, in_worst_scenario
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.step_words import describe_target
from discreet.masking.targeted_suppression.score_step import check_columns, check_parameters, count_above, keys_of, mask_by_score
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.threshold import Threshold

if TYPE_CHECKING:
    from discreet.engine.targeting.rule import SuppressionRule, TargetingOutcome

MAX_COUNTS = 1 << 29
MANY_ABOVE = Gap(
    "more than 500 million known sets times records above the threshold",
    "the effect of each suppression on them is computed on one machine",
)


SPECIAL_UNIQUES = Gap(
    "risk: special_uniques",
    "each pass searches the minimal sample uniques of the whole table again, on one machine",
    lambda step: step.risk == "special_uniques",
)


class TargetedSuppression(MaskingMethod):
    """Suppresses values of the records whose risk (known_sets, special_uniques) is above a threshold, until none is above it.

    With ``missing: wildcard`` a null agrees with any value, so suppression never raises a risk; with ``category`` it can, and
    some thresholds cannot be reached. ``passes: 1`` is the algorithm of Orooji & Knapp (2018b), Figure 1.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet.testing import table
    >>> data = table({"sex": ["f", "f", "m", "m"], "town": ["A", "A", "A", "B"], "ill": ["y"] * 4},
    ...              known={"sex": 0.5, "town": 0.5}, sensitivity={"ill": 1.0})
    >>> TargetedSuppression(alpha=1, threshold=1).mask(data, ["sex", "town"], KeyedDraw(7)).frame["town"].to_list()
    ['A', 'A', 'A', None]
    """

    name: ClassVar[str] = "targeted_suppression"
    citation: ClassVar[str] = (
        "Orooji, M. & Knapp, G. M. (2018). Improving suppression to reduce disclosure risk and enhance data utility. "
        "Proc. IISE Annual Conference."
    )
    spark: ClassVar[EngineWork | None] = EngineWork(
        "discreet.masking.targeted_suppression.spark:targeted_suppression",
        (WILDCARD, MANY_ABOVE, OVERLAPPING, SPECIAL_UNIQUES, SCENARIOS),
    )
    scope: ClassVar[Scope] = Scope.TABLE
    default_columns: ClassVar[str] = "the attributes"
    preserves: ClassVar[str] = "Every value of the records that are not high-risk, and every value that is not suppressed."
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: (f"known_sets.{name}",) for name in ("threshold", "alpha", "epsilon", "missing", "max_sets")
    }

    inherits_by_score: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: (f"special_uniques.{name}",) for name in ("threshold", "keys", "max_size", "scores", "missing")
    }

    # the parameter 'choose' has another name in Python, because every masking method has a method 'choose'
    model_config = ConfigDict(populate_by_name=True)

    risk: Literal["known_sets", "special_uniques"] = Field(
        default="known_sets", description="the measure whose high-risk records are targeted"
    )
    threshold: Threshold = Field(
        default=0.01,
        description="a record is high-risk if its risk is greater; {among: 20}: if its effective class size is below 20; "
        "with special_uniques its score, default: 0",
    )
    alpha: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=100.0, description="consequence coefficient of known_sets"
    )
    epsilon: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01, description="only known sets with a probability greater than this are taken into account"
    )
    missing: Missing = Field(
        default="wildcard",
        description="category: a null is a value of its own (default of special_uniques); wildcard: it agrees with any value; "
        "ignore: it agrees with nothing (special_uniques only)",
    )
    passes: Literal[1, "until_safe"] = Field(
        default="until_safe", description="one pass, or until no record is above the threshold"
    )
    choice: Literal["set", "fewest"] = Field(
        default="set", alias="choose", description="suppress the whole top set, or the fewest (cheapest) values that are enough"
    )
    side: Literal["known", "sensitive", "cheapest"] = Field(
        default="known", description="suppress quasi-identifiers (known), sensitive values, or whichever is cheaper"
    )
    protect: tuple[str, ...] = Field(default=(), description="attributes whose values are never suppressed")
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="cost of suppressing a value of an attribute (as in ncp); default: 1"
    )
    limit: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="largest share of the columns' values that may be suppressed"
    )
    keys: tuple[str, ...] = Field(default=(), description="with special_uniques: keys that are searched; default: role key")
    max_size: Annotated[int, Field(ge=1)] = Field(
        default=3, description="with special_uniques: largest number of keys of a minimal sample unique"
    )
    scores: Scores = Field(default="elliot", description="with special_uniques: the score of a set of k of m keys")
    max_sets: Annotated[int, Field(ge=1)] = Field(default=1_000_000, description="largest number of known sets")

    @model_validator(mode="before")
    @classmethod
    def _take_defaults_of_risk(cls, values: Any) -> Any:
        """The defaults of special_uniques, where a step targets it."""
        if isinstance(values, Mapping) and values.get("risk") == "special_uniques":
            return {"threshold": 0.0, "missing": "category", **values}
        return values

    @classmethod
    def inherited_by(cls, parameters: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
        return cls.inherits_by_score if parameters.get("risk") == "special_uniques" else cls.inherits

    @model_validator(mode="after")
    def _check_missing(self) -> Self:
        check_parameters(self)
        if self.missing == "category" and (self.choice == "fewest" or self.side == "cheapest"):
            option = "choose: fewest" if self.choice == "fewest" else "side: cheapest"
            raise ValueError(
                f"{option} needs missing: wildcard; with category the effect of suppressing a value depends on the other "
                "records with nulls, so choices cannot be compared"
            )
        return self

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        return describe_target("suppress", columns, parameters)

    def choose(self, data: Microdata) -> list[str]:
        if self.risk == "special_uniques":
            return [name for name in keys_of(self, data) if name not in self.protect]
        return [name for name in data.columns if name not in self.protect and self._can_suppress(data, name)]

    def _can_suppress(self, data: Microdata, name: str) -> bool:
        """Whether values of this attribute may be suppressed according to ``side``."""
        attribute = attribute_in_worst_scenario(data, name)
        if attribute.role in (Role.IDENTIFIER, Role.PERSON):
            return False
        return (attribute.known > self.epsilon and self.side != "sensitive") or (
            attribute.sensitivity > 0 and self.side != "known"
        )

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        for parameter, names in (("protect", self.protect), ("weights", self.weights)):
            for name in names:
                if name not in data.columns:
                    raise ParameterError(
                        f"targeted_suppression.{parameter} names '{name}', which is not a column; {nearest(name, data.columns)}"
                    )
        if self.risk == "special_uniques":
            check_columns(self, data, columns)
            return
        check_reading(self.name, data)
        if not any(self._can_suppress(data, name) for name in columns if name not in self.protect):
            requirements = {
                "known": "known > epsilon", "sensitive": "a sensitivity", "cheapest": "known > epsilon or a sensitivity",
            }  # fmt: skip
            raise DataError(
                f"targeted_suppression with side: {self.side} needs a column with {requirements[self.side]} that is not protected"
            )

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        from discreet.engine.encoding.columns import encode
        from discreet.engine.known_sets.excess import share_of
        from discreet.engine.overlap.columns import recognised_cells
        from discreet.engine.targeting.state import TargetingState
        from discreet.masking.targeted_suppression.cascades import suppress_with_cascades
        from discreet.masking.targeted_suppression.passes import suppress_once, suppress_until_safe

        self.check(data, columns)
        if not len(data):
            return data
        if self.risk == "special_uniques":
            masked, outcome = mask_by_score(self, data, columns)
            masked.cache[self.name] = outcome
            return masked
        table = TargetingState.of(
            in_worst_scenario(data),
            epsilon=self.epsilon,
            max_sets=self.max_sets,
            missing=self._missing,
            share=share_of(self.threshold),
        )
        rule = self.rule(table.names, data, columns)
        if self.passes == 1:
            outcome = suppress_once(table, rule)
        else:
            table, outcome = (suppress_until_safe if self.missing == "wildcard" else suppress_with_cascades)(table, rule)
        suppressed = table.suppressed_columns()
        cells = {name: meaning for name in suppressed if (meaning := recognised_cells(data, encode(data, [name])[0])) is not None}
        masked = data.with_columns(suppressed, cells)
        masked.cache[self.name] = outcome
        return masked

    def rule(self, names: Sequence[str], data: Microdata, columns: Sequence[str]) -> SuppressionRule:
        """Which values may be suppressed, at what cost and up to what limit; ``names`` are in the family's order."""
        from discreet.engine.known_sets.excess import level_of, share_of
        from discreet.engine.targeting.rule import SuppressionRule

        cells = len(data) * sum(name not in self.protect for name in columns)

        def check_budget(suppressed_count: int, above: int) -> None:
            self.check_budget(suppressed_count, above, cells)

        allowed = np.array([name in columns and name not in self.protect for name in names], dtype=np.bool_)
        costs = np.array([self.weights.get(name, 1.0) for name in names])
        level, share = level_of(self.threshold, self.alpha), share_of(self.threshold)
        return SuppressionRule(level, self.choice, self.side, allowed, costs, check_budget, share)

    def check_budget(self, suppressed_count: int, above: int, cells: int) -> None:
        """Raise DataError if a pass would suppress a larger share of the ``cells`` values than ``limit`` allows."""
        if suppressed_count > self.limit * cells * (1 + 1e-12):
            raise DataError(
                f"{above:,} records are still above the threshold {self.threshold:g}, and the next pass would raise the number "
                f"of suppressed values to {suppressed_count:,} of {cells:,}, more than the limit {self.limit:g} allows; "
                "raise limit or threshold, or protect fewer attributes"
            )

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        from discreet.masking.targeted_suppression.notes import describe_outcome

        outcome: TargetingOutcome | None = after.cache.get(self.name)
        return [] if outcome is None else describe_outcome(self, before, outcome)

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        from discreet.engine.known_sets.excess import excess_over, level_of, share_of
        from discreet.engine.known_sets.sums import attributes, known_sets

        if self.risk == "special_uniques":
            return self._broken_by_score(before, after, final, columns)
        try:
            names = attributes(in_worst_scenario(after))
        except DataError:
            return []
        if self.passes == 1 or not set(names) <= set(final.columns) or not len(final):
            return []
        if len(final) == len(after) and all(final.frame[name].equals(after.frame[name]) for name in names):
            return []
        level = level_of(self.threshold, self.alpha)
        sums = known_sets(in_worst_scenario(final), epsilon=self.epsilon, max_sets=self.max_sets, missing=self._missing)
        risk = excess_over(share_of(self.threshold), sums.per_record, sums.consequence, len(final)).risk
        outcome: TargetingOutcome | None = after.cache.get(self.name)
        final_count, step_count = int((risk > level).sum()), len(outcome.remaining) if outcome is not None else 0
        if final_count <= step_count:
            return []
        threshold = f"{self.threshold:g}"
        return [f"{final_count:,} records are above the threshold {threshold} in the final table, {step_count:,} after this step"]

    def _broken_by_score(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        outcome: TargetingOutcome | None = after.cache.get(self.name)
        above = count_above(self, final, columns) if self.passes != 1 else None
        remaining = len(outcome.remaining) if outcome is not None else 0
        if above is None or above <= remaining:
            return []
        return [f"{above:,} records are above the score {self.threshold:g} in the final table, {remaining:,} after this step"]

    @property
    def _missing(self) -> Literal["category", "wildcard"]:
        """The reading of known_sets, which has no third one."""
        return "category" if self.missing == "category" else "wildcard"
