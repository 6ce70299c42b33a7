"""The only reader of the entry points: loads measures and methods by name, and creates them from a policy's parameters.

Built-in plug-ins are registered in the same groups as third-party plug-ins: ``discreet.risk``, ``discreet.masking``,
``discreet.loss``.
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
from discreet.model.policy import Policy, Step
from discreet.model.validation_errors import explain_validation_error

Kind = Literal["risk", "masking", "loss"]
PLUGIN_TYPES: Mapping[str, type[Plugin]] = {"risk": RiskMeasure, "masking": MaskingMethod, "loss": LossMeasure}
KIND_LABELS = {"risk": "risk measure", "masking": "masking method", "loss": "loss measure"}

P = TypeVar("P", bound=Plugin)


@cache
def _installed_points() -> Any:
    """The entry points of all distributions, read once, because each reading opens a file per distribution."""
    return entry_points()


@cache
def _points(kind: Kind) -> dict[str, EntryPoint]:
    points: dict[str, EntryPoint] = {}
    for point in sorted(_installed_points().select(group=f"discreet.{kind}"), key=lambda point: (point.name, point.value)):
        if point.name in points and points[point.name].value != point.value:
            raise PluginError(f"two {KIND_LABELS[kind]}s are named '{point.name}': {points[point.name].value} and {point.value}")
        points[point.name] = point
    return points


def installed_names(kind: Kind) -> list[str]:
    """The names of the installed plug-ins of a kind, in alphabetical order."""
    return sorted(_points(kind))


@overload
def load(kind: Literal["risk"], name: str) -> type[RiskMeasure]: ...
@overload
def load(kind: Literal["masking"], name: str) -> type[MaskingMethod]: ...
@overload
def load(kind: Literal["loss"], name: str) -> type[LossMeasure]: ...
def load(kind: Kind, name: str) -> type[Any]:
    """The class of a plug-in; raises PolicyError where the name is not installed, PluginError where it cannot be loaded."""
    points = _points(kind)
    if name not in points:
        raise PolicyError(f"there is no {KIND_LABELS[kind]} '{name}'; {nearest(name, points)}")
    try:
        plugin = points[name].load()
    except Exception as error:
        raise PluginError(f"the {KIND_LABELS[kind]} '{name}' ({points[name].value}) cannot be loaded: {error}") from error
    if not (isinstance(plugin, type) and issubclass(plugin, PLUGIN_TYPES[kind])):
        raise PluginError(
            f"{points[name].value} is registered as {KIND_LABELS[kind]} '{name}' but is not a {PLUGIN_TYPES[kind].__name__}"
        )
    return plugin


@overload
def create(
    kind: Literal["risk"], name: str, parameters: Mapping[str, Any] | None = None, *, origin: str = ...
) -> RiskMeasure: ...
@overload
def create(
    kind: Literal["masking"], name: str, parameters: Mapping[str, Any] | None = None, *, origin: str = ...
) -> MaskingMethod: ...
@overload
def create(
    kind: Literal["loss"], name: str, parameters: Mapping[str, Any] | None = None, *, origin: str = ...
) -> LossMeasure: ...
def create(kind: Kind, name: str, parameters: Mapping[str, Any] | None = None, *, origin: str = "the policy") -> Any:
    """Create a measure or method with its parameters; errors name the parameter, the rule and the value."""
    try:
        plugin = load(kind, name)
        return plugin.model_validate(dict(parameters or {}))
    except ValidationError as error:
        raise ParameterError(f"{origin}: {explain_validation_error(error, plugin, name)}") from None
    except PolicyError as error:
        raise PolicyError(f"{origin}: {error}") from None


@dataclass(frozen=True)
class Inherited:
    """A step's parameter from the policy's risk section: the measure's field, its value, and whether the policy names it."""

    source: str
    value: Any
    named: bool


def inherited_parameters(step: Step, policy: Policy) -> dict[str, Inherited]:
    """The parameters that a step inherits from the risk measures that the policy uses.

    A measure is used where the ``risk`` section or a limit names it. All its parameters apply then, including those at their
    defaults, so a step inherits these too.
    """
    limited = {limit.split(".")[0] for limit in policy.limits}
    inherited: dict[str, Inherited] = {}
    for parameter, sources in load("masking", step.method).inherited_by(step.parameters).items():
        candidates: list[Inherited] = []
        for source in sources:
            name, field = source.split(".")
            if name in policy.risk or name in limited:
                parameters = policy.risk.get(name, {})
                values = create("risk", name, parameters, origin=policy.origin).model_dump(by_alias=True)
                candidates.append(Inherited(source, values[field], field in parameters))
        if candidates:
            inherited[parameter] = next((candidate for candidate in candidates if candidate.named), candidates[0])
    return inherited


def resolve_step(step: Step, policy: Policy, *, origin: str = "the policy") -> tuple[Step, MaskingMethod]:
    """A step with the parameters that it inherits from the policy's risk section, and its method; the step's own values win.

    A default that the policy does not name is dropped where the method does not accept it together with the step's own
    parameters.
    """
    inherited = inherited_parameters(step, policy) if step.method in _points("masking") else {}
    columns = inherited.pop("columns", None)
    named = {name: parameter.value for name, parameter in inherited.items() if parameter.named} | step.parameters
    with_defaults = {name: parameter.value for name, parameter in inherited.items()} | step.parameters
    try:
        parameters, method = with_defaults, create("masking", step.method, with_defaults, origin=origin)
    except ParameterError:
        parameters, method = named, create("masking", step.method, named, origin=origin)
    chosen = step.columns
    if chosen is None and columns is not None and columns.value:
        chosen = tuple(columns.value)
    return Step(method=step.method, columns=chosen, enabled=step.enabled, **parameters), method


def conflicting_parameters(step: Step, policy: Policy) -> list[str]:
    """Sentences on parameters of a step that differ from those of the risk measure in the policy's risk section."""
    _, method = resolve_step(step, policy)
    used = method.model_dump(by_alias=True)
    return [
        f"it uses {name} {_format_value(used[name])}, but risk.{inherited.source.split('.')[0]} "
        f"{'says' if inherited.named else 'has the default'} {_format_value(inherited.value)}"
        for name, inherited in inherited_parameters(step, policy).items()
        if name in used and used[name] != inherited.value
    ]


def _format_value(value: Any) -> str:
    """A parameter's value in the notation of a policy."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_format_value(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_format_value(item) for item in value) + "]"
    return "none" if value is None else str(value)


def check_policy(policy: Policy) -> None:
    """Raise PolicyError where the policy names a measure, method, parameter or limit that does not exist."""
    for name, parameters in policy.risk.items():
        create("risk", name, parameters, origin=policy.origin)
    for name, parameters in policy.loss.items():
        create("loss", name, parameters, origin=policy.origin)
    for number, step in enumerate(policy.plan.steps, 1):
        resolve_step(step, policy, origin=f"{policy.origin}, step {number}")
    for limit in policy.limits:
        resolve_limit(limit, origin=policy.origin)


def resolve_limit(limit: str, *, origin: str = "the policy") -> tuple[Kind, str, str, Direction]:
    """The kind, measure and field that a limit such as ``k_anonymity.k`` refers to, and whether low or high is better."""
    name, field = limit.split(".")
    for kind in ("risk", "loss"):
        if name in _points(kind):
            better = load(kind, name).better
            if field not in better:
                raise PolicyError(
                    f"{origin}: the limit '{limit}' names no field of '{name}' that can be limited; {nearest(field, better)}"
                )
            return kind, name, field, better[field]
    raise PolicyError(
        f"{origin}: the limit '{limit}' names no measure; {nearest(name, installed_names('risk') + installed_names('loss'))}"
    )


def judges_disclosure(limit: str) -> bool:
    """Whether a limit is on disclosure risk, and not on information loss or on the computation.

    >>> judges_disclosure("k_anonymity.k"), judges_disclosure("k_anonymity.classes"), judges_disclosure("ncp.loss")
    (True, False, False)
    """
    kind, measure, field, _ = resolve_limit(limit)
    return kind == "risk" and field not in load("risk", measure).descriptive


def slack_of_limit(limit: str, required: float) -> float | None:
    """How far a limit lies beyond the worst number of its field: negative where a table can miss it, None without a worst number.

    >>> slack_of_limit("k_anonymity.k", 3), slack_of_limit("k_anonymity.k", 1), slack_of_limit("known_sets.high_risk_share", 5)
    (-2.0, 0.0, 4.0)
    """
    kind, measure, field, better = resolve_limit(limit)
    worst = load("risk", measure).worst.get(field) if kind == "risk" else None
    if worst is None:
        return None
    return required - worst if better == "low" else worst - required


def names_on_engine(kind: Kind, engine: str) -> list[str]:
    """The installed plug-ins of a kind that declare work on an engine; those that cannot be loaded are left out."""
    available = []
    for name in installed_names(kind):
        with suppress(PluginError):
            if dispatch.declared_work(load(kind, name), engine) is not None:
                available.append(name)
    return available


def load_engine_function(kind: Kind, plugin: Plugin, engine: str) -> Callable[..., Any]:
    """The function that does a plug-in's work on an engine, as its class declares it."""
    return dispatch.load_engine_function(plugin, engine, lambda: names_on_engine(kind, engine))


def bind_to_engine(kind: Kind, plugins: Iterable[Plugin], *tables: Any) -> list[Any]:
    """The measures, bound to the engine that holds these tables."""
    engine = dispatch.engine_of(*tables)
    if engine == dispatch.LOCAL:
        return list(plugins)
    return [dispatch.RemoteMeasure(plugin, engine, lambda: names_on_engine(kind, engine)) for plugin in plugins]


def describe(kind: Kind) -> list[dict[str, Any]]:
    """A description of every installed plug-in of a kind in plain values, taken from the classes."""
    return [_description(kind, load(kind, name)) for name in installed_names(kind)]


def _description(kind: Kind, plugin: type[Plugin]) -> dict[str, Any]:
    better: Mapping[str, str] = getattr(plugin, "better", {})
    meaning: Mapping[str, str] = getattr(plugin, "meaning", {})
    record_meaning: Mapping[str, str] = getattr(plugin, "record_meaning", {})
    return {
        "name": plugin.name,
        "kind": kind,
        "summary": (plugin.__doc__ or "").strip().split("\n", 1)[0],
        "parameters": [
            {
                "name": field.alias or name,
                "type": _type_text(field.annotation),
                "required": field.is_required(),
                "default": None if field.is_required() else _default_text(field.get_default(call_default_factory=True)),
                "description": field.description or "",
            }
            for name, field in plugin.model_fields.items()
        ],
        "fields": [
            {"name": f, "better": better.get(f, ""), "meaning": meaning.get(f, "")} for f in dict.fromkeys([*meaning, *better])
        ],
        "record_fields": [{"name": name, "meaning": meaning_text} for name, meaning_text in record_meaning.items()],
        "engines": dispatch.describe_engines(plugin),
        "scope": str(getattr(plugin, "scope", "")),
        "preserves": getattr(plugin, "preserves", ""),
        "citation": plugin.citation,
    }


def _type_text(annotation: Any) -> str:
    """A type as text, for the author of a policy."""
    text = str(annotation) if not isinstance(annotation, type) or hasattr(annotation, "__args__") else annotation.__name__
    return text.replace("typing.", "").replace("NoneType", "none").replace("None", "none")


def _default_text(value: Any) -> Any:
    """A default value that JSON can represent."""
    if isinstance(value, tuple | list):
        return [_default_text(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str | dict) else str(value)
