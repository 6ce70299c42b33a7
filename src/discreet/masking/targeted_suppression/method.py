"""targeted_suppression: blanking in high-risk records what puts them at risk, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from discreet.engine.spark.gaps import OVERLAPPING, WILDCARD
from discreet.errors import DataError, ParameterError, nearest
from discreet.model.attribute import Role
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.engine_work import EngineWork, Gap
from discreet.model.microdata import Microdata
from discreet.model.notes import Note
from discreet.model.threshold import Among, Threshold

if TYPE_CHECKING:
    from discreet.engine.targeting.rule import Rule, Story

_MOST_NAMED = 10

MOST_COUNTS = 1 << 29
MANY_ABOVE = Gap(
    "more than 500 million known sets times records above the threshold",
    "the effect of each suppression on them is computed on one machine",
)


class TargetedSuppression(MaskingMethod):
    """Blanks values of the records whose known_sets risk is above a threshold, until no record's is.

    Under ``missing: wildcard`` a blank agrees with anything, so that blanking never raises a risk; under ``category`` it can, and
    some thresholds cannot be reached.

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
        "discreet.masking.targeted_suppression.spark:targeted_suppression", (WILDCARD, MANY_ABOVE, OVERLAPPING)
    )
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = "Every value of the records that are not at high risk, and every value that is not blanked."
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: (f"known_sets.{name}",) for name in ("threshold", "alpha", "epsilon", "missing", "max_sets")
    }

    model_config = ConfigDict(
        populate_by_name=True
    )  # 'choose' is a method of every masking method, so the field has another name

    threshold: Threshold = Field(
        default=0.01,
        description="a record is high-risk where its risk is greater; {among: 20}: where its effective class size is below 20",
    )
    alpha: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=100.0, description="consequence coefficient of known_sets"
    )
    epsilon: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01, description="known sets count where their probability is greater"
    )
    missing: Literal["category", "wildcard"] = Field(
        default="wildcard", description="a blank is one more value, or agrees with anything on either side"
    )
    passes: Literal[1, "until_safe"] = Field(default="until_safe", description="once, or until no record is above the threshold")
    choice: Literal["set", "fewest"] = Field(
        default="set", alias="choose", description="the whole top set, or the fewest (cheapest) values that suffice"
    )
    side: Literal["known", "sensitive", "cheapest"] = Field(
        default="known", description="take what finds the record, what would be learnt, or whichever costs less"
    )
    protect: tuple[str, ...] = Field(default=(), description="attributes that never lose a value")
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="what blanking a value of an attribute costs (as in ncp); 1 where not named"
    )
    limit: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="largest share of the columns' values it may take"
    )
    max_sets: Annotated[int, Field(ge=1)] = Field(default=1_000_000, description="most known sets to keep")

    @model_validator(mode="after")
    def _what_a_category_allows(self) -> Self:
        if self.missing == "category" and (self.choice == "fewest" or self.side == "cheapest"):
            word = "choose: fewest" if self.choice == "fewest" else "side: cheapest"
            raise ValueError(
                f"{word} needs missing: wildcard; under category what a blank brings depends on who else gets one, "
                "so choices cannot be compared"
            )
        return self

    def choose(self, data: Microdata) -> list[str]:
        return [name for name in data.columns if name not in self.protect and self._takes(data, name)]

    def _takes(self, data: Microdata, name: str) -> bool:
        """Whether the side takes values of this attribute."""
        attribute = data.attribute(name)
        if attribute.role in (Role.IDENTIFIER, Role.PERSON):
            return False
        return (attribute.known > self.epsilon and self.side != "sensitive") or (
            attribute.sensitivity > 0 and self.side != "known"
        )

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        for field, names in (("protect", self.protect), ("weights", self.weights)):
            for name in names:
                if name not in data.columns:
                    raise ParameterError(
                        f"targeted_suppression.{field} names '{name}', which is no column; {nearest(name, data.columns)}"
                    )
        if not any(self._takes(data, name) for name in columns if name not in self.protect):
            words = {"known": "known > epsilon", "sensitive": "a sensitivity", "cheapest": "known > epsilon or a sensitivity"}
            raise DataError(
                f"targeted_suppression with side: {self.side} needs a column with {words[self.side]} that is not protected"
            )

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        from discreet.engine.known_sets.excess import share_of
        from discreet.engine.targeting.state import Targets
        from discreet.masking.targeted_suppression.cascades import with_cascades
        from discreet.masking.targeted_suppression.passes import suppress_once, until_safe

        self.check(data, columns)
        if not len(data):
            return data
        table = Targets.of(
            data, epsilon=self.epsilon, max_sets=self.max_sets, missing=self.missing, share=share_of(self.threshold)
        )
        rule = self.rule(table.names, data, columns)
        if self.passes == 1:
            story = suppress_once(table, rule)
        else:
            table, story = (until_safe if self.missing == "wildcard" else with_cascades)(table, rule)
        masked = data.with_columns(table.released())
        masked.cache[self.name] = story
        return masked

    def rule(self, names: Sequence[str], data: Microdata, columns: Sequence[str]) -> Rule:
        """What may be taken of which attributes, at what cost and up to what limit."""
        from discreet.engine.known_sets.excess import level_of, share_of
        from discreet.engine.targeting.rule import Rule

        cells = len(data) * sum(name not in self.protect for name in columns)

        def spend(taken: int, above: int) -> None:
            self.spend(taken, above, cells)

        may = np.array([name in columns and name not in self.protect for name in names], dtype=np.bool_)
        costs = np.array([self.weights.get(name, 1.0) for name in names])
        level, share = level_of(self.threshold, self.alpha), share_of(self.threshold)
        return Rule(level, self.choice, self.side, may, costs, spend, share)

    def spend(self, taken: int, above: int, cells: int) -> None:
        """Raise where a pass would take more of so many values than the limit allows."""
        if taken > self.limit * cells * (1 + 1e-12):
            raise DataError(
                f"{above:,} records are still above the threshold {self.threshold:g}, and the next pass would bring what is "
                f"taken to {taken:,} of {cells:,} values, more than the limit {self.limit:g} allows; "
                "raise limit or threshold, or protect less"
            )

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        story: Story | None = after.cache.get(self.name)
        if story is None:
            return []
        first = story.passes[0][0] if story.passes else 0
        passes = (
            f"one pass, of {first:,} records"
            if len(story.passes) == 1
            else f"{len(story.passes)} passes; {first:,} records in the first"
        )
        notes = [f"{story.taken:,} values blanked in {passes}"]
        if story.least is not None:
            notes.append(f"they cost {story.cost:,.6g}, and no choice of values could cost less than {story.least:,.6g}")
        if len(story.cascade):
            public = f"{len(story.cascade):,} records became high-risk by others' blanks"
            notes.append(Note(f"{public}: {_named(before, story, story.cascade)}", public))
        if len(story.remaining):
            public, detail = self._remaining(story)
            notes.append(Note(f"{public}{detail}: {_named(before, story, story.remaining)}", public))
        if story.hopeless:
            enough = (
                f"at least {story.needed:,} records with blanks"
                if story.needed
                else f"more blanks than the {story.elsewhere or len(before):,} records can have"
            )
            notes.append(
                f"no blanking can help {story.hopeless:,} of them while a blank is one more value: the nearest to it would need "
                f"{enough} to be hidden among; missing: wildcard, side: sensitive or a higher threshold would work"
            )
        return notes

    def _remaining(self, story: Story) -> tuple[str, str]:
        """How many records stay at high risk, which anybody may read, and how far from the threshold they are."""
        number = len(story.remaining)
        if isinstance(self.threshold, Among):
            done = " with all blanked that could help" if self.missing == "wildcard" else ""
            return f"{number:,} records stay hidden among fewer than {self.threshold.among:g}", done
        least, most = story.risk.min() * self.alpha, story.risk.max() * self.alpha
        if self.missing == "wildcard":
            done = f"; with all blanked that could help, their risk is {least:.4g} to {most:.4g}"
            return f"{number:,} records cannot be brought under {self.threshold:g}", done
        return f"{number:,} records stay above {self.threshold:g}", f", with risks of {least:.4g} to {most:.4g}"

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        from discreet.engine.known_sets.excess import excess_over, level_of, share_of
        from discreet.engine.known_sets.sums import attributes, known_sets

        try:
            names = attributes(after)
        except DataError:
            return []
        if self.passes == 1 or not set(names) <= set(final.columns) or not len(final):
            return []
        if len(final) == len(after) and all(final.frame[name].equals(after.frame[name]) for name in names):
            return []
        level = level_of(self.threshold, self.alpha)
        sums = known_sets(final, epsilon=self.epsilon, max_sets=self.max_sets, missing=self.missing)
        now = excess_over(share_of(self.threshold), sums.per_record, sums.consequence, len(final)).risk
        story: Story | None = after.cache.get(self.name)
        high, was = int((now > level).sum()), len(story.remaining) if story is not None else 0
        return (
            [f"{high:,} records are above the threshold {self.threshold:g} in the end, {was:,} were after this step"]
            if high > was
            else []
        )


def _named(data: Microdata, story: Story, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    """The first records by their numbers in the initial table, from 1 as a person counts."""
    numbers = np.sort(rows if story.elsewhere else data.records[rows]) + 1
    more = f" and {len(numbers) - _MOST_NAMED:,} more" if len(numbers) > _MOST_NAMED else ""
    return "source records " + ", ".join(str(number) for number in numbers[:_MOST_NAMED]) + more
