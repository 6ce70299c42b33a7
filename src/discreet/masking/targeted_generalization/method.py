"""targeted_generalization: in high-risk records, the narrowest intervals and groups that bring them under the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.errors import DataError, ParameterError, nearest
from discreet.model.attribute import Role
from discreet.model.cells import EVERYTHING
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata
from discreet.model.notes import Note
from discreet.model.threshold import Among, Threshold

if TYPE_CHECKING:
    from discreet.engine.targeting.rule import Story

_MOST_NAMED = 10


class TargetedGeneralization(MaskingMethod):
    """Makes values of records with a known_sets risk above a threshold coarser, until no record's is; blanks as the last resort.

    A cell agrees with every cell it overlaps, so that a coarser cell never raises a risk. The last resort is a null under
    ``missing: wildcard``, and ``*`` under ``category``, where a null is a value of its own.

    >>> from discreet.engine.draws.draw import KeyedDraw
    >>> from discreet import Policy
    >>> import polars as pl
    >>> zips = {"known": 0.5, "hierarchy": {"prefixes": [4, 3]}}
    >>> policy = Policy.from_dict({"attributes": {"zip": zips, "ill": {"sensitivity": 1}}})
    >>> data = Microdata(pl.DataFrame({"zip": ["48201", "48201", "48202", "48901"], "ill": ["y"] * 4}), policy)
    >>> TargetedGeneralization(alpha=1, threshold=0.55).mask(data, ["zip"], KeyedDraw(7)).frame["zip"].to_list()
    ['48201', '48201', '4820*', None]
    """

    name: ClassVar[str] = "targeted_generalization"
    citation: ClassVar[str] = (
        "Orooji, M. & Knapp, G. M. (2018). Improving suppression to reduce disclosure risk and enhance data utility, section 5. "
        "Proc. IISE Annual Conference."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    preserves: ClassVar[str] = (
        "The truth: every true value lies in what is released for it; all values of records not at high risk."
    )
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: (f"known_sets.{name}",) for name in ("threshold", "alpha", "epsilon", "max_sets", "missing")
    }

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
    protect: tuple[str, ...] = Field(default=(), description="attributes whose values are never changed")
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="what losing a value of an attribute costs (as in ncp); 1 where not named"
    )
    max_sets: Annotated[int, Field(ge=1)] = Field(default=1_000_000, description="most known sets to keep")
    missing: Literal["category", "wildcard"] = Field(
        default="wildcard", description="a null is one more value, or agrees with anything on either side"
    )

    def choose(self, data: Microdata) -> list[str]:
        return [name for name in data.columns if name not in self.protect and self._takes(data, name)]

    def _takes(self, data: Microdata, name: str) -> bool:
        attribute = data.attribute(name)
        return attribute.role not in (Role.IDENTIFIER, Role.PERSON) and attribute.known > self.epsilon

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        for field, names in (("protect", self.protect), ("weights", self.weights)):
            for name in names:
                if name not in data.columns:
                    raise ParameterError(
                        f"targeted_generalization.{field} names '{name}', which is no column; {nearest(name, data.columns)}"
                    )
        if not any(self._takes(data, name) for name in columns if name not in self.protect):
            raise DataError("targeted_generalization needs a column with known > epsilon that is not protected")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        from discreet.engine.known_sets.excess import level_of, share_of
        from discreet.engine.targeting.state import Targets
        from discreet.masking.targeted_generalization.coarsening import Coarsened

        self.check(data, columns)
        if not len(data):
            return data
        share = share_of(self.threshold)
        table = Targets.of(data, epsilon=self.epsilon, max_sets=self.max_sets, missing=self.missing, share=share)
        state = Coarsened(table, [name for name in columns if name not in self.protect], self.weights)
        story = state.settle(level_of(self.threshold, self.alpha))
        released = state.released()
        masked = data.with_columns(released, state.described(released))
        masked.cache[self.name] = story
        return masked

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        story: Story | None = after.cache.get(self.name)
        if story is None:
            return []
        blanked = sum(_blanks(after, name) - _blanks(before, name) for name in columns)
        records = sum(number for number, _ in story.passes)
        notes = [f"{story.taken - blanked:,} values of {records:,} records made coarser, {blanked:,} more blanked"]
        if len(story.remaining):
            numbers = np.sort(before.records[story.remaining]) + 1
            more = f" and {len(numbers) - _MOST_NAMED:,} more" if len(numbers) > _MOST_NAMED else ""
            if isinstance(self.threshold, Among):
                public = f"{len(numbers):,} records stay hidden among fewer than {self.threshold.among:g}"
                detail = " with all done that could help"
            else:
                least, most = story.risk.min() * self.alpha, story.risk.max() * self.alpha
                public = f"{len(numbers):,} records cannot be brought under {self.threshold:g}"
                detail = f"; with all done that could help, their risk is {least:.4g} to {most:.4g}"
            names = ", ".join(str(number) for number in numbers[:_MOST_NAMED])
            notes.append(Note(f"{public}{detail}: source records {names}{more}", public))
        return notes

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        kept = [name for name in columns if name in final.columns]
        same = len(final) == len(after) and final.frame.select(kept).equals(after.frame.select(kept))
        return (
            []
            if same
            else ["keys or records were changed by a later step, so that no record's risk is known to be under the threshold"]
        )


def _blanks(data: Microdata, name: str) -> int:
    """How many cells of a column say nothing."""
    series = data.frame[name]
    return series.null_count() + (int((series == EVERYTHING).sum()) if series.dtype == pl.String else 0)
