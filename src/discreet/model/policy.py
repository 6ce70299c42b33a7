"""The policy: one file with all decisions of the data controller.

It holds the attributes, the risks to measure, the limits to meet and the plan of masking steps. The text is YAML; see
:func:`parse_policy`. The parameters of measures and methods are defined by the plug-ins, so the registry checks them, not this
module.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from discreet.errors import PolicyError
from discreet.model.attribute import Attribute, Role
from discreet.model.cells import ColumnCells
from discreet.model.display import SECRET_NAME, facts_as_html, format_parameter, list_names, table_as_html
from discreet.model.environment import DataEnvironment
from discreet.model.knowledge import (
    AS_ATTRIBUTES,
    Scenarios,
    check_groups,
    check_scenarios,
    join_groups,
    largest,
    put_scenario,
)
from discreet.model.presets.catalogue import PRESETS, expand_limits, find_preset
from discreet.model.sampling import SamplingDesign
from discreet.model.sections.reading import Reading
from discreet.model.validation_errors import explain_validation_error
from discreet.model.yaml_text import dump_yaml, load_yaml

__all__ = ["Plan", "Policy", "Reading", "Step", "explain_validation_error", "parse_policy"]


class Step(BaseModel):
    """One masking step: a method, the columns it works on, and the method's own parameters."""

    model_config = ConfigDict(frozen=True, extra="allow")

    method: str
    columns: tuple[str, ...] | None = None
    enabled: bool = True

    @field_validator("columns")
    @classmethod
    def _each_column_once(cls, columns: tuple[str, ...] | None) -> tuple[str, ...] | None:
        twice = [name for name in dict.fromkeys(columns or ()) if (columns or ()).count(name) > 1]
        if twice:
            raise ValueError(f"{list_names(twice)} named more than once in columns; name each column once")
        return columns

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The fields in every Pydantic representation: no parameter that may be a key."""
        yield "method", self.method
        if self.columns is not None:
            yield "columns", list_names(self.columns)
        if not self.enabled:
            yield "enabled", False
        if self.parameters:
            yield "parameters", ", ".join(format_parameter(name, value) for name, value in self.parameters.items())


class Plan(BaseModel):
    """An ordered list of steps (zero, one or more), and the secret key of their random draws.

    ``key`` is the public id of a key in the key ring (see :mod:`discreet.keys.ring`); default: each run draws a new key. The key
    itself is never part of a policy. ``release`` numbers the releases made with the same key and plan: another number gives other
    draws. A numeric ``seed`` stands for a key that anybody can guess by trying numbers: only for teaching and tests. ``order``
    and ``identifiers`` concern what is written: rows shuffled by the key, and without identifiers and person ids that no step
    masked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="unsafe, for teaching and tests: a number in place of the key; anybody can guess it by trying numbers",
    )
    key: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")] | None = Field(
        default=None, description="id of a key in the key ring, to repeat a release; default: a new key is drawn"
    )
    release: Annotated[int, Field(ge=1)] = Field(
        default=1, description="number of the release: another number gives other draws with the same key and plan"
    )
    order: Literal["shuffled", "kept"] = Field(default="shuffled", description="rows as written: shuffled by the key, or kept")
    identifiers: Literal["removed", "kept"] = Field(
        default="removed", description="identifiers and person ids that no step masked: removed from what is written, or kept"
    )
    holdout: Annotated[float, Field(ge=0, le=0.5)] = Field(
        default=0.0,
        description="share of the records that is held out before masking and not released, as the control of attacks",
    )
    steps: tuple[Step, ...] = ()

    @model_validator(mode="after")
    def _one_source_of_randomness(self) -> Self:
        if self.seed is not None and self.key is not None:
            raise ValueError(f"a plan has a key or a seed, not both; got a seed beside the key {self.key}")
        return self

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The fields in every Pydantic representation: the steps and the public id of the key, never the seed."""
        yield "steps", [step.method for step in self.steps]
        if self.key is not None:
            yield "key", self.key
        yield from ((name, getattr(self, name)) for name in ("order", "identifiers"))

    def _repr_html_(self) -> str:
        title = f"{len(self.steps)} step{'' if len(self.steps) == 1 else 's'}" + (f", key {self.key}" if self.key else "")
        rows = [
            (
                str(number),
                step.method + ("" if step.enabled else " (off)"),
                list_names(step.columns or ()),
                ", ".join(format_parameter(name, value) for name, value in step.parameters.items()),
            )
            for number, step in enumerate(self.steps, 1)
        ]
        return facts_as_html("Plan", title, {}) + table_as_html(("step", "method", "columns", "parameters"), rows)

    def insert(self, number: int, step: Step) -> Self:
        """The plan with a step inserted as number ``number`` (1 is the first; the number after the last appends)."""
        if not 1 <= number <= len(self.steps) + 1:
            raise PolicyError(f"a step can be inserted as number 1 to {len(self.steps) + 1}; got {number}")
        return self._with((*self.steps[: number - 1], step, *self.steps[number - 1 :]))

    def update(self, number: int, **changes: Any) -> Self:
        """The plan with other columns or parameters in step ``number``; a parameter set to None is removed."""
        old = self._step(number)
        content = {"method": old.method, "columns": old.columns, "enabled": old.enabled, **old.parameters, **changes}
        fields = {name: value for name, value in content.items() if value is not None or name in Step.model_fields}
        return self._with((*self.steps[: number - 1], Step.model_validate(fields), *self.steps[number:]))

    def move(self, number: int, to: int) -> Self:
        """The plan with step ``number`` moved to number ``to``."""
        step = self._step(number)
        self._step(to)
        return self.delete(number).insert(to, step)

    def delete(self, number: int) -> Self:
        """The plan without step ``number``."""
        self._step(number)
        return self._with((*self.steps[: number - 1], *self.steps[number:]))

    def disable(self, number: int) -> Self:
        """The plan with step ``number`` disabled: it stays in the plan but is not run."""
        return self.update(number, enabled=False)

    def enable(self, number: int) -> Self:
        """The plan with step ``number`` enabled."""
        return self.update(number, enabled=True)

    def _step(self, number: int) -> Step:
        if not 1 <= number <= len(self.steps):
            raise PolicyError(
                f"the plan has the steps 1 to {len(self.steps)}; there is no step {number}"
                if self.steps
                else "the plan has no steps"
            )
        return self.steps[number - 1]

    def _with(self, steps: tuple[Step, ...]) -> Self:
        return self.model_copy(update={"steps": steps})


class Policy(BaseModel):
    """The decisions of the data controller; see the module docstring."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attributes: dict[str, Attribute] = Field(default_factory=dict)
    known_together: tuple[tuple[str, ...], ...] = Field(
        default=(),
        description="groups of attributes that an intruder knows together, with the largest probability of each group",
    )
    scenarios: Scenarios = Field(
        default_factory=dict,
        description="probabilities of being known, by scenario and attribute; all are assessed, and the worst one counts",
    )
    missing: tuple[str, ...] = Field(default=(), description="texts that mean 'missing' in every attribute")
    read: Reading = Field(default_factory=Reading)
    risk: dict[str, dict[str, Any]] = Field(default_factory=dict)
    loss: dict[str, dict[str, Any]] = Field(default_factory=dict)
    limits: dict[str, float] = Field(
        default_factory=dict,
        description="MEASURE.FIELD: number; 'preset: NAME' stands for the limits of a preset",
        json_schema_extra={"properties": {"preset": {"enum": list(PRESETS)}}},
    )
    presets: tuple[str, ...] = Field(
        default=(), description="presets that the limits come from; filled in by 'limits: {preset: NAME}'"
    )
    judge: Literal["both", "release"] = Field(
        default="both",
        description="limits on risk are judged on the worse of two intruders (both), or on the release alone (release)",
    )
    plan: Plan = Field(default_factory=Plan)
    cells: dict[str, ColumnCells] = Field(
        default_factory=dict,
        description="meaning of the labels of the masked table's columns; default: from the .cells.yaml file beside it",
    )
    sampling: SamplingDesign = Field(
        default_factory=SamplingDesign, description="what share of the population the file is, as a whole or by stratum"
    )
    environment: DataEnvironment = Field(
        default_factory=DataEnvironment, description="who receives the release and under what controls, as the owner states it"
    )
    select: dict[str, Any] = Field(default_factory=dict, description="the wizard's budget, seed and cost")
    engine: Literal["local", "spark"] = Field(default="local", description="engine that processes the rows: local or spark")

    _folder: str | None = PrivateAttr(default=None)
    _confined: bool = PrivateAttr(default=False)
    _origin: str = PrivateAttr(default="the policy")

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """The fields in every Pydantic representation: roles, measures, limits and steps, no seed and no key."""
        title, facts = self.describe()
        yield None, title
        yield from facts.items()

    def describe(self) -> tuple[str, dict[str, str]]:
        """The number of attributes, their roles, the measures and the steps; see :mod:`discreet.model.display`."""
        facts = {str(role): list_names(names) for role in Role if (names := self.named(role))}
        for name, section in (("risk", self.risk), ("loss", self.loss)):
            if section:
                facts[name] = list_names(section)
        if self.limits:
            facts["limits"] = list_names(f"{limit} {value:g}" for limit, value in self.limits.items())
        facts["steps"] = list_names(step.method for step in self.plan.steps) or "none"
        facts["digest"] = self.digest()
        return f"{len(self.attributes):,} attribute{'' if len(self.attributes) == 1 else 's'}", facts

    def digest(self) -> str:
        """Twelve hexadecimal digits that identify a policy; independent of the seed, so that guesses of it cannot be tested."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        for section in ("plan", "select"):
            content.get(section, {}).pop("seed", None)
        for step in content.get("plan", {}).get("steps", ()):
            for name in [name for name in step if SECRET_NAME.search(name)]:
                step.pop(name)
        return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:12]

    def _repr_html_(self) -> str:
        return facts_as_html("Policy", *self.describe())

    @model_validator(mode="before")
    @classmethod
    def _expand_presets(cls, content: Any) -> Any:
        """Replace 'limits: {preset: NAME}' by the preset's limits, so that everything that reads limits sees numbers."""
        limits = content.get("limits") if isinstance(content, dict) else None
        if not isinstance(limits, dict) or "preset" not in limits:
            return content
        expanded, names = expand_limits(limits)
        return {**content, "limits": expanded, "presets": tuple(dict.fromkeys([*content.get("presets", ()), *names]))}

    @field_validator("presets")
    @classmethod
    def _presets_exist(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            find_preset(name)
        return names

    @field_validator("risk", "loss", mode="before")
    @classmethod
    def _no_parameters_is_none(cls, value: Any) -> Any:
        return {name: parameters or {} for name, parameters in value.items()} if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _knowledge_names_attributes(self) -> Self:
        check_groups(self.known_together, self.attributes)
        check_scenarios(self.scenarios, self.attributes)
        # one probability per group, wherever somebody looks
        self.__dict__["attributes"] = join_groups(self.attributes, self.known_together)
        return self

    @field_validator("limits", mode="before")
    @classmethod
    def _limits_are_no_truths(cls, limits: Any) -> Any:
        if isinstance(limits, dict):
            for name, value in limits.items():
                if isinstance(value, bool):
                    raise ValueError(f"the limit '{name}' is a number; got {str(value).lower()}")
        return limits

    @field_validator("limits")
    @classmethod
    def _limits_name_a_measure_and_a_field(cls, limits: dict[str, float]) -> dict[str, float]:
        for name, value in limits.items():
            if name.count(".") != 1 or not all(name.split(".")):
                raise ValueError(f"a limit is named MEASURE.FIELD, such as k_anonymity.k; got '{name}'")
            if not math.isfinite(value):
                raise ValueError(f"the limit '{name}' is not a finite number")
        return limits

    @classmethod
    def from_dict(cls, content: Any, *, origin: str = "the policy", folder: str | None = None, confined: bool = False) -> Self:
        """Build a policy from a parsed mapping; errors name the field. See :attr:`confined`."""
        if not isinstance(content, dict):
            raise PolicyError(
                f"{origin}: a policy is a mapping of attributes, risk, limits and plan; got {type(content).__name__}"
            )
        try:
            policy = cls.model_validate(content)
        except ValidationError as error:
            raise PolicyError(f"{origin}: {explain_validation_error(error, cls)}") from None
        except PolicyError as error:  # a preset that does not exist
            raise PolicyError(f"{origin}: {error}") from None
        policy._folder, policy._origin, policy._confined = folder, origin, confined
        return policy

    @property
    def folder(self) -> str | None:
        """The folder of relative file names in the policy."""
        return self._folder

    @property
    def confined(self) -> bool:
        """Whether the policy may name only files in its own folder, because its author is not trusted."""
        return self._confined

    @property
    def origin(self) -> str:
        """The source of the policy, for error messages."""
        return self._origin

    def with_(self, **changes: Any) -> Self:
        """A copy with some fields replaced."""
        policy = self.model_copy(update=changes)
        policy._folder, policy._origin, policy._confined = self._folder, self._origin, self._confined
        return policy

    @property
    def ranges(self) -> int:
        """How many probabilities and sensitivities are ranges."""
        return sum(attribute.ranges for attribute in self.attributes.values())

    def at_low_ends(self) -> Self:
        """The policy with the lower end of every range; the policy itself has the upper ends, the worst case."""
        return self.with_(attributes={name: attribute.at_low_end() for name, attribute in self.attributes.items()})

    def corners(self) -> Iterator[Self]:
        """The policy with every choice of an end for every range: all lower ends first, all upper ends last."""
        for attributes in itertools.product(*(attribute.corners() for attribute in self.attributes.values())):
            yield self.with_(attributes=dict(zip(self.attributes, attributes, strict=True)))

    def with_known(self, known: Mapping[str, float]) -> Self:
        """The policy with other probabilities of some attributes and without scenarios, which have their own."""
        return self.with_(scenarios={}, attributes=put_scenario(self.attributes, known, self.known_together))

    def in_scenarios(self) -> dict[str, Self]:
        """The policy in each of its scenarios, without others: the attribute table as it is, and every named one."""
        policies = {AS_ATTRIBUTES: self.with_(scenarios={})}
        for name, known in self.scenarios.items():
            attributes = put_scenario(self.attributes, known, self.known_together)
            policies[name] = self.with_(scenarios={}, attributes=attributes)
        return policies

    def at_largest_known(self) -> Self:
        """The policy without scenarios, every attribute with the largest probability that it has in any of them.

        The paper's risk rises in each probability, so no scenario has a larger one than this policy.
        """
        if not self.scenarios:
            return self
        policies = list(self.in_scenarios().values())
        attributes = dict(self.attributes)
        for name in {name for known in self.scenarios.values() for name in known} | {*itertools.chain(*self.known_together)}:
            known = largest([policy.attributes[name].known for policy in policies])
            attributes[name] = attributes[name].model_copy(update={"known": known})
        return self.with_(scenarios={}, attributes=attributes)

    def named(self, *roles: Role) -> list[str]:
        """The attributes that have one of these roles, in the policy's order."""
        return [name for name, attribute in self.attributes.items() if attribute.role in roles]

    def to_yaml(self) -> str:
        """The policy as YAML, without defaults."""
        content = self.model_dump(mode="json", exclude_defaults=True)
        return dump_yaml(content)


def parse_policy(text: str, *, origin: str = "the policy", folder: str | None = None, seconds: float | None = None) -> Policy:
    """Read a policy from YAML text; reading is stopped after ``seconds`` (default: no limit)."""
    content = load_yaml(text, origin=origin, seconds=seconds)
    return Policy.from_dict({} if content is None else content, origin=origin, folder=folder)
