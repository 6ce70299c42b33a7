"""The only reader of the entry points: finds measures and methods by name, and makes them from a policy's words.

Built-ins come through the same groups as a stranger's plug-in: ``discreet.risk``, ``discreet.masking``, ``discreet.loss``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, TypeVar, overload

from pydantic import ValidationError

from discreet.engine.runtime import dispatch
from discreet.errors import ParameterError, PluginError, PolicyError, nearest
from discreet.model.contracts import Direction, LossMeasure, MaskingMethod, Plugin, RiskMeasure
from discreet.model.policy import Policy, Step, explain

Kind = Literal["risk", "masking", "loss"]
KINDS: Mapping[str, type[Plugin]] = {"risk": RiskMeasure, "masking": MaskingMethod, "loss": LossMeasure}
WORDS = {"risk": "risk measure", "masking": "masking method", "loss": "loss measure"}

P = TypeVar("P", bound=Plugin)


@cache
def _points(kind: Kind) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=f"discreet.{kind}"), key=lambda point: (point.name, point.value)):
        if point.name in found and found[point.name].value != point.value:
            raise PluginError(f"two {WORDS[kind]}s are named '{point.name}': {found[point.name].value} and {point.value}")
        found[point.name] = point
    return found


def names(kind: Kind) -> list[str]:
    """The names that are installed, in alphabetical order."""
    return sorted(_points(kind))


@overload
def load(kind: Literal["risk"], name: str) -> type[RiskMeasure]: ...
@overload
def load(kind: Literal["masking"], name: str) -> type[MaskingMethod]: ...
@overload
def load(kind: Literal["loss"], name: str) -> type[LossMeasure]: ...
def load(kind: Kind, name: str) -> type[Any]:
    """The class behind a name."""
    points = _points(kind)
    if name not in points:
        raise PolicyError(f"there is no {WORDS[kind]} '{name}'; {nearest(name, points)}")
    try:
        found = points[name].load()
    except Exception as error:
        raise PluginError(f"the {WORDS[kind]} '{name}' ({points[name].value}) cannot be loaded: {error}") from error
    if not (isinstance(found, type) and issubclass(found, KINDS[kind])):
        raise PluginError(f"{points[name].value} is registered as {WORDS[kind]} '{name}' but is not a {KINDS[kind].__name__}")
    return found


@overload
def make(kind: Literal["risk"], name: str, parameters: Mapping[str, Any] | None = None, *, origin: str = ...) -> RiskMeasure: ...
@overload
def make(
    kind: Literal["masking"], name: str, parameters: Mapping[str, Any] | None = None, *, origin: str = ...
) -> MaskingMethod: ...
@overload
def make(kind: Literal["loss"], name: str, parameters: Mapping[str, Any] | None = None, *, origin: str = ...) -> LossMeasure: ...
def make(kind: Kind, name: str, parameters: Mapping[str, Any] | None = None, *, origin: str = "the policy") -> Any:
    """A measure or method with its parameters; errors name parameter, rule and value."""
    try:
        found = load(kind, name)
        return found.model_validate(dict(parameters or {}))
    except ValidationError as error:
        raise ParameterError(f"{origin}: {explain(error, found, name)}") from None
    except PolicyError as error:
        raise PolicyError(f"{origin}: {error}") from None


@dataclass(frozen=True)
class Inherited:
    """A step's parameter as the policy's risk section has it: the measure's field, its value, and whether the policy names it."""

    source: str
    value: Any
    named: bool


def inherited_parameters(method: str, policy: Policy) -> dict[str, Inherited]:
    """What a step of this method takes from the risk measures that the policy uses, parameter by parameter.

    A measure is used where the ``risk`` section or a limit names it. It is then judged by all of its parameters, those at
    their defaults too, so these are what a step takes.
    """
    limited = {limit.split(".")[0] for limit in policy.limits}
    made: dict[str, Inherited] = {}
    for parameter, sources in load("masking", method).inherits.items():
        found: list[Inherited] = []
        for source in sources:
            name, field = source.split(".")
            if name in policy.risk or name in limited:
                said = policy.risk.get(name, {})
                values = make("risk", name, said, origin=policy.origin).model_dump(by_alias=True)
                found.append(Inherited(source, values[field], field in said))
        if found:
            made[parameter] = next((one for one in found if one.named), found[0])
    return made


def resolve_step(step: Step, policy: Policy, *, origin: str = "the policy") -> tuple[Step, MaskingMethod]:
    """A step with all that it takes from the policy's risk section, and its method: what the step itself names wins.

    A default that the policy does not name gives way where the method cannot work with it beside the step's own parameters.
    """
    taken = inherited_parameters(step.method, policy) if step.method in _points("masking") else {}
    columns = taken.pop("columns", None)
    named = {name: one.value for name, one in taken.items() if one.named} | step.parameters
    every = {name: one.value for name, one in taken.items()} | step.parameters
    try:
        parameters, method = every, make("masking", step.method, every, origin=origin)
    except ParameterError:
        parameters, method = named, make("masking", step.method, named, origin=origin)
    chosen = step.columns
    if chosen is None and columns is not None and columns.value:
        chosen = tuple(columns.value)
    return Step(method=step.method, columns=chosen, enabled=step.enabled, **parameters), method


def conflicting_parameters(step: Step, policy: Policy) -> list[str]:
    """Sentences on parameters with which a step measures a risk otherwise than the policy's risk section does."""
    _, method = resolve_step(step, policy)
    used = method.model_dump(by_alias=True)
    return [
        f"it uses {name} {_words(used[name])}, but risk.{one.source.split('.')[0]} "
        f"{'says' if one.named else 'has the default'} {_words(one.value)}"
        for name, one in inherited_parameters(step.method, policy).items()
        if name in used and used[name] != one.value
    ]


def _words(value: Any) -> str:
    """A parameter's value as a policy would have it."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_words(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_words(one) for one in value) + "]"
    return "none" if value is None else str(value)


def check_policy(policy: Policy) -> None:
    """Raise where the policy names a measure, method, parameter or limit that does not exist."""
    for name, parameters in policy.risk.items():
        make("risk", name, parameters, origin=policy.origin)
    for name, parameters in policy.loss.items():
        make("loss", name, parameters, origin=policy.origin)
    for number, step in enumerate(policy.plan.steps, 1):
        resolve_step(step, policy, origin=f"{policy.origin}, step {number}")
    for limit in policy.limits:
        direction(limit, origin=policy.origin)


def direction(limit: str, *, origin: str = "the policy") -> tuple[Kind, str, str, Direction]:
    """What a limit such as ``k_anonymity.k`` speaks of: kind, measure, field, and whether low or high is better."""
    name, field = limit.split(".")
    for kind in ("risk", "loss"):
        if name in _points(kind):
            better = load(kind, name).better
            if field not in better:
                raise PolicyError(
                    f"{origin}: the limit '{limit}' names no field of '{name}' that can be limited; {nearest(field, better)}"
                )
            return kind, name, field, better[field]
    raise PolicyError(f"{origin}: the limit '{limit}' names no measure; {nearest(name, names('risk') + names('loss'))}")


def names_on_engine(kind: Kind, engine: str) -> list[str]:
    """The installed plug-ins of a kind that declare work on an engine; those that cannot be loaded are left out."""
    able = []
    for name in names(kind):
        with suppress(PluginError):
            if dispatch.declared_work(load(kind, name), engine) is not None:
                able.append(name)
    return able


def load_engine_function(kind: Kind, plugin: Plugin, engine: str) -> Callable[..., Any]:
    """The function that does a plug-in's work on an engine, as its class declares it."""
    return dispatch.load_engine_function(plugin, engine, lambda: names_on_engine(kind, engine))


def bind_to_engine(kind: Kind, plugins: Iterable[Plugin], *tables: Any) -> list[Any]:
    """Measures as they work on the engine that these tables live on."""
    engine = dispatch.engine_of(*tables)
    if engine == dispatch.LOCAL:
        return list(plugins)
    return [dispatch.RemoteMeasure(plugin, engine, lambda: names_on_engine(kind, engine)) for plugin in plugins]


def describe(kind: Kind) -> list[dict[str, Any]]:
    """Every installed plug-in of a kind as plain values, made from the classes themselves."""
    return [_description(kind, load(kind, name)) for name in names(kind)]


def _description(kind: Kind, found: type[Plugin]) -> dict[str, Any]:
    better: Mapping[str, str] = getattr(found, "better", {})
    meaning: Mapping[str, str] = getattr(found, "meaning", {})
    record_meaning: Mapping[str, str] = getattr(found, "record_meaning", {})
    return {
        "name": found.name,
        "kind": kind,
        "summary": (found.__doc__ or "").strip().split("\n", 1)[0],
        "parameters": [
            {
                "name": field.alias or name,
                "type": _type_text(field.annotation),
                "required": field.is_required(),
                "default": None if field.is_required() else _default_text(field.get_default(call_default_factory=True)),
                "description": field.description or "",
            }
            for name, field in found.model_fields.items()
        ],
        "fields": [
            {"name": f, "better": better.get(f, ""), "meaning": meaning.get(f, "")} for f in dict.fromkeys([*meaning, *better])
        ],
        "record_fields": [{"name": name, "meaning": words} for name, words in record_meaning.items()],
        "engines": dispatch.describe_engines(found),
        "scope": str(getattr(found, "scope", "")),
        "preserves": getattr(found, "preserves", ""),
        "citation": found.citation,
    }


def _type_text(annotation: Any) -> str:
    """A type as a policy's author would say it."""
    text = str(annotation) if not isinstance(annotation, type) or hasattr(annotation, "__args__") else annotation.__name__
    return text.replace("typing.", "").replace("NoneType", "none").replace("None", "none")


def _default_text(value: Any) -> Any:
    """A default as JSON can hold it."""
    if isinstance(value, tuple | list):
        return [_default_text(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str | dict) else str(value)
