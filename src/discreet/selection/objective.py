"""The default objective of the search: one number for what a plan costs the users of the data.

    objective = (w_i I + w_f F + w_a A) / (w_i + w_f + w_a)

    I = (ncp.loss + ncp.worst) / 2                information loss, of all released attributes and of the worst one
    F = (falsehood.loss + falsehood.worst) / 2    values that are not true, of all attributes and of the worst one
    A = associations.loss                         mean change of the association of two attributes, or, with analyses,
        (associations.loss + min(1, associations.effect)) / 2

Each part lies between 0 and 1. The worst attribute counts as much as all attributes together, so that one ruined attribute does
not vanish among a hundred that are left alone. A removed record has lost all its information: of a plan that removes a share r of
the records, I is r + (1 - r) I.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discreet.model.score import Score

OBJECTIVE = "objective"
"""The name of the default objective, where an option or an axis of the map names a loss."""
PARTS = ("information", "falsehood", "associations")
FIELDS = (
    "ncp.loss", "ncp.worst", "falsehood.loss", "falsehood.worst", "associations.loss", "associations.effect",
)  # fmt: skip
"""The losses that the objective is computed from."""
MOST_ATTRIBUTES, MOST_RECORDS = 20, 10_000
"""Attributes and records that the search compares the associations of, unless the policy says otherwise."""

_Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ObjectiveWeights(BaseModel):
    """The weights of the three parts; only their proportions matter."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    information: _Weight = Field(default=1.0, description="weight of the information loss (ncp, mean and worst attribute)")
    falsehood: _Weight = Field(
        default=1.0, description="weight of values that are not true (falsehood, mean and worst attribute)"
    )
    associations: _Weight = Field(default=1.0, description="weight of changed associations and regression effects")

    @model_validator(mode="after")
    def _some_weight(self) -> ObjectiveWeights:
        if not any(getattr(self, part) for part in PARTS):
            raise ValueError("the weights of the objective are all 0; at least one part must have a weight")
        return self

    def combine(self, parts: Mapping[str, float]) -> float:
        """The weighted mean of the parts.

        >>> ObjectiveWeights(associations=0).combine({"information": 0.2, "falsehood": 0.0, "associations": 0.9})
        0.1
        """
        weights = {part: float(getattr(self, part)) for part in PARTS}
        return sum(weights[part] * parts[part] for part in PARTS) / sum(weights.values())

    def formula(self) -> str:
        """The objective in words, with its weights."""
        weights = [(float(getattr(self, part)), part) for part in PARTS if getattr(self, part)]
        if len({weight for weight, _ in weights}) == 1:
            names = [part for _, part in weights]
            return "the mean of " + " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
        return "the weighted mean of " + ", ".join(f"{part} ({weight:g})" for weight, part in weights)


def objective_parts(losses: Mapping[str, Score], removed: float) -> dict[str, float]:
    """The three parts from the scores of ncp, falsehood and associations; ``removed`` is the share of records removed."""
    numbers = {name: losses[name.split(".")[0]].summary.get(name.split(".")[1]) for name in FIELDS}
    value = {name: float(number) if isinstance(number, int | float) else None for name, number in numbers.items()}
    information = ((value["ncp.loss"] or 0.0) + (value["ncp.worst"] or 0.0)) / 2
    association, effect = value["associations.loss"] or 0.0, value["associations.effect"]
    return {
        "information": removed + (1 - removed) * information,
        "falsehood": ((value["falsehood.loss"] or 0.0) + (value["falsehood.worst"] or 0.0)) / 2,
        "associations": association if effect is None else (association + min(1.0, effect)) / 2,
    }
