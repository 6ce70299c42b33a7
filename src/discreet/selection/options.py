"""What the owner may tell the wizard: its budget, its seed, its sample, and what risk and loss are worth."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from discreet.errors import PolicyError
from discreet.model.policy import Policy, explain

_TRIALS = 100


class Cost(BaseModel):
    """One number for owners who think in one: risk x (its share of the risk before) + loss x (its loss)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    risk: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(default=1.0, description="weight of the remaining risk")
    loss: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(default=1.0, description="weight of the loss")


class SelectOptions(BaseModel):
    """The policy's ``select`` section."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: Annotated[float, Field(gt=0)] | None = Field(default=None, description="how long to search")
    trials: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description=f"how many plans to try; {_TRIALS} where neither it nor seconds is said"
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=0, description="of the search; the same seed and trials find the same plan")
    sample: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="records to start on; 20,000 or more by the limits where absent"
    )
    risk: str | None = Field(default=None, description="the risk of the map, MEASURE.FIELD; known_sets.mean or the first limited")
    loss: str = Field(default="ncp.loss", description="the loss to make least, MEASURE.FIELD")
    cost: Cost | None = Field(default=None, description="choose by weighed risk and loss instead of by loss alone")

    @classmethod
    def of(cls, policy: Policy, **said: Any) -> Self:
        """The policy's options, and over them those of the call that are not None."""
        content = policy.select | {name: value for name, value in said.items() if value is not None}
        if "seconds" in said and said["seconds"] is not None and said.get("trials") is None:
            content.pop("trials", None)
        try:
            made = cls.model_validate(content)
        except ValidationError as error:
            raise PolicyError(f"{policy.origin}: {explain(error, cls, 'select')}") from None
        if made.seconds is None and made.trials is None:
            made = made.model_copy(update={"trials": _TRIALS})
        return made
