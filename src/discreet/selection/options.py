"""The options of the search: its budget, its seed, its sample, and the weights of risk and loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypedDict

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from discreet import registry
from discreet.errors import DiscreetError, PolicyError, nearest
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, explain_validation_error
from discreet.selection.objective import OBJECTIVE, ObjectiveWeights

_DEFAULT_TRIALS = 100
PERTURBATIVE = ("microaggregation", "noise", "pram", "rounding", "shuffling", "swapping")
"""Methods that release values which are not the original ones; of these the search itself composes microaggregation."""


def _check_formula(text: str) -> str:
    try:
        registry.create("loss", "associations", {"analyses": [text]}, origin="select")
    except DiscreetError as error:
        raise ValueError(str(error).rpartition("associations.analyses: ")[2]) from None
    return text


Formula = Annotated[str, Field(max_length=4000), AfterValidator(_check_formula)]
"""A regression such as ``visits ~ sex + age``."""
Preference = Literal["least loss", "most truthful", "safest"]


class Cost(BaseModel):
    """Weights of a single objective: risk x (remaining risk as a share of the risk before) + loss x (information loss)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    risk: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(default=1.0, description="weight of the remaining risk")
    loss: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(default=1.0, description="weight of the information loss")


class SelectArguments(TypedDict, total=False):
    """The keyword arguments of ``select``: the fields of :class:`SelectOptions`; None leaves the policy's value."""

    seconds: float | None
    trials: int | None
    seed: int | None
    sample: int | None
    risk: str | None
    loss: str | None
    objective: ObjectiveWeights | Mapping[str, float] | None
    analyses: Sequence[str] | None
    prefer: Preference | None
    truthful: bool | None
    allow: Sequence[str] | None
    protect: Sequence[str] | None
    keep: Mapping[str, float] | None
    cost: Cost | Mapping[str, float] | None


class SelectOptions(BaseModel):
    """The policy's ``select`` section."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: Annotated[float, Field(gt=0)] | None = Field(default=None, description="time limit of the search, in seconds")
    trials: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description=f"number of plans to try; default: {_DEFAULT_TRIALS} if seconds is not set either"
    )
    seed: Annotated[int, Field(ge=0)] = Field(
        default=0, description="seed of the search; the same seed and trials find the same plan"
    )
    sample: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="records of the sample that is searched first; default: 20,000, or more if a limit on k needs it",
    )
    risk: str | None = Field(
        default=None, description="risk axis of the map, MEASURE.FIELD; default: known_sets.mean, or the first risk with a limit"
    )
    loss: str = Field(
        default=OBJECTIVE,
        description="loss to minimise: the objective (information loss, falsehood and associations), or one MEASURE.FIELD",
    )
    objective: ObjectiveWeights = Field(
        default_factory=ObjectiveWeights,
        description="weights of information, falsehood and associations; default: 1 each",
    )
    analyses: tuple[Formula, ...] = Field(
        default=(), description="regressions whose effects should survive, such as visits ~ sex + age: part of the objective"
    )
    prefer: Preference = Field(
        default="least loss", description="which of the three plans to take: least loss, most truthful or safest"
    )
    truthful: bool = Field(
        default=True, description="categories of the release are true or coarser; false: perturbative methods may change them"
    )
    allow: tuple[str, ...] = Field(
        default=(), description="perturbative methods that may change categories although truthful is true"
    )
    protect: tuple[str, ...] = Field(default=(), description="columns that no step may change")
    keep: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict, description="least share of a column's values that must not be suppressed, by column"
    )
    cost: Cost | None = Field(default=None, description="choose by a weighted sum of risk and loss; default: by loss alone")

    @classmethod
    def from_policy(cls, policy: Policy, **overrides: Any) -> Self:
        """The options of the policy's ``select`` section, replaced by those of the call that are not None.

        A time limit in the call replaces the policy's number of plans as well.
        """
        content = policy.select | {name: value for name, value in overrides.items() if value is not None}
        if overrides.get("seconds") is not None and overrides.get("trials") is None:
            content.pop("trials", None)
        try:
            options = cls.model_validate(content)
        except ValidationError as error:
            wrong = {str(item["loc"][0]) for item in error.errors() if item["loc"]}
            of_call = wrong & {name for name, value in overrides.items() if value is not None}
            origin = "the options of this call" if of_call else policy.origin
            raise PolicyError(f"{origin}: {explain_validation_error(error, cls, 'select')}") from None
        if options.seconds is None and options.trials is None:
            options = options.model_copy(update={"trials": _DEFAULT_TRIALS})
        return options

    @property
    def analysed_attributes(self) -> set[str]:
        """The attributes of the regressions that the owner names."""
        measure: Any = registry.create("loss", "associations", {"analyses": self.analyses}, origin="select")
        return set(measure.analysed_attributes)

    def check(self, data: Microdata) -> None:
        """Raise PolicyError where an option names no column or method, or a limit more records than there are."""
        for limit in ("k_anonymity.k", "known_sets.effective_k_min"):
            if data.policy.limits.get(limit, 0.0) > len(data):
                raise PolicyError(
                    f"{data.policy.origin}: limits.{limit} asks for {data.policy.limits[limit]:g}, but {data.source} has "
                    f"{len(data):,} records; at most {len(data)} can be met"
                )
        for option, names in (("protect", self.protect), ("keep", tuple(self.keep))):
            for name in names:
                if name not in data.columns:
                    raise PolicyError(
                        f"{data.policy.origin}: select.{option} names '{name}', which is no column; {nearest(name, data.columns)}"
                    )
        for name in self.allow:
            if name not in PERTURBATIVE:
                raise PolicyError(
                    f"{data.policy.origin}: select.allow names '{name}', which is not a perturbative method of the search; "
                    f"{nearest(name, PERTURBATIVE)}"
                )

    def may_perturb(self, method: str) -> bool:
        """Whether a perturbative method may change categories."""
        return not self.truthful or method in self.allow
