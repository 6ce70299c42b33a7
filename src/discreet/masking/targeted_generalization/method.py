"""targeted_generalization: values of high-risk records become the narrowest intervals and groups that make them safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from discreet.engine.targeting.readings import attribute_in_worst_scenario, check_reading, in_worst_scenario
from discreet.errors import DataError, ParameterError, nearest
from discreet.masking.step_words import describe_target
from discreet.model.attribute import Role
from discreet.model.cells import EVERYTHING
from discreet.model.contracts import Draw, MaskingMethod, Scope
from discreet.model.microdata import Microdata
from discreet.model.notes import Note
from discreet.model.threshold import Among, Threshold

if TYPE_CHECKING:
    from discreet.engine.targeting.rule import TargetingOutcome

_MAX_LISTED = 10


class TargetedGeneralization(MaskingMethod):
    """Generalizes values of the records whose known_sets risk is above a threshold, until no record is above it.

    A cell agrees with every cell that it overlaps, so generalizing a cell never raises a risk. Values are suppressed as the last
    resort: by a null with ``missing: wildcard``, by ``*`` with ``category``, where a null is a value of its own. Orooji & Knapp
    (2018b), section 5, propose generalization as future work.

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
    default_columns: ClassVar[str] = "the attributes"
    preserves: ClassVar[str] = (
        "Truthfulness: every original value is contained in its released cell; all values of records that are not high-risk."
    )
    inherits: ClassVar[Mapping[str, tuple[str, ...]]] = {
        name: (f"known_sets.{name}",) for name in ("threshold", "alpha", "epsilon", "max_sets", "missing")
    }

    threshold: Threshold = Field(
        default=0.01,
        description="a record is high-risk if its risk is greater; {among: 20}: if its effective class size is below 20",
    )
    alpha: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=100.0, description="consequence coefficient of known_sets"
    )
    epsilon: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.01, description="only known sets with a probability greater than this are taken into account"
    )
    protect: tuple[str, ...] = Field(default=(), description="attributes whose values are never changed")
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="cost of losing a value of an attribute (as in ncp); default: 1"
    )
    max_sets: Annotated[int, Field(ge=1)] = Field(default=1_000_000, description="largest number of known sets")
    missing: Literal["category", "wildcard"] = Field(
        default="wildcard", description="category: a null is a value of its own; wildcard: it agrees with any value"
    )

    @classmethod
    def describe_step(cls, columns: str, parameters: Mapping[str, Any]) -> str:
        return describe_target("generalize", columns, parameters)

    def choose(self, data: Microdata) -> list[str]:
        return [name for name in data.columns if name not in self.protect and self._can_generalize(data, name)]

    def _can_generalize(self, data: Microdata, name: str) -> bool:
        attribute = attribute_in_worst_scenario(data, name)
        return attribute.role not in (Role.IDENTIFIER, Role.PERSON) and attribute.known > self.epsilon

    def check(self, data: Microdata, columns: Sequence[str]) -> None:
        for parameter, names in (("protect", self.protect), ("weights", self.weights)):
            for name in names:
                if name not in data.columns:
                    raise ParameterError(
                        f"targeted_generalization.{parameter} names '{name}', which is not a column; "
                        f"{nearest(name, data.columns)}"
                    )
        check_reading(self.name, data)
        if not any(self._can_generalize(data, name) for name in columns if name not in self.protect):
            raise DataError("targeted_generalization needs a column with known > epsilon that is not protected")

    def mask(self, data: Microdata, columns: Sequence[str], draw: Draw) -> Microdata:
        from discreet.engine.known_sets.excess import level_of, share_of
        from discreet.engine.targeting.state import TargetingState
        from discreet.masking.targeted_generalization.coarsening import CoarseningState

        self.check(data, columns)
        if not len(data):
            return data
        share = share_of(self.threshold)
        table = TargetingState.of(
            in_worst_scenario(data), epsilon=self.epsilon, max_sets=self.max_sets, missing=self.missing, share=share
        )
        state = CoarseningState(table, [name for name in columns if name not in self.protect], self.weights)
        outcome = state.generalize_until_safe(level_of(self.threshold, self.alpha))
        released = state.released_columns()
        masked = data.with_columns(released, state.describe_columns(released))
        masked.cache[self.name] = outcome
        return masked

    def notes(self, before: Microdata, after: Microdata, columns: Sequence[str]) -> list[str]:
        outcome: TargetingOutcome | None = after.cache.get(self.name)
        if outcome is None:
            return []
        suppressed_count = sum(_count_suppressed(after, name) - _count_suppressed(before, name) for name in columns)
        records = sum(record_count for record_count, _ in outcome.passes)
        generalized_count = outcome.values_changed - suppressed_count
        notes = [f"{generalized_count:,} values of {records:,} records generalized, {suppressed_count:,} more suppressed"]
        if len(outcome.remaining):
            numbers = np.sort(before.records[outcome.remaining]) + 1
            more = f" and {len(numbers) - _MAX_LISTED:,} more" if len(numbers) > _MAX_LISTED else ""
            if isinstance(self.threshold, Among):
                public = f"{len(numbers):,} records still have an effective class size below {self.threshold.among:g}"
                detail = " with everything suppressed that could help"
            else:
                lowest, highest = outcome.remaining_risk.min() * self.alpha, outcome.remaining_risk.max() * self.alpha
                public = f"{len(numbers):,} records cannot be brought below {self.threshold:g}"
                detail = f"; with everything suppressed that could help, their risk is {lowest:.4g} to {highest:.4g}"
            listed = ", ".join(str(number) for number in numbers[:_MAX_LISTED])
            notes.append(Note(f"{public}{detail}: source records {listed}{more}", public))
        return notes

    def broken(self, before: Microdata, after: Microdata, final: Microdata, columns: Sequence[str]) -> list[str]:
        shared = [name for name in columns if name in final.columns]
        is_unchanged = len(final) == len(after) and final.frame.select(shared).equals(after.frame.select(shared))
        if is_unchanged:
            return []
        return ["keys or records were changed by a later step, so the risks may be above the threshold again"]


def _count_suppressed(data: Microdata, name: str) -> int:
    """The number of cells of a column that are null or ``*``."""
    series = data.frame[name]
    return series.null_count() + (int((series == EVERYTHING).sum()) if series.dtype == pl.String else 0)
