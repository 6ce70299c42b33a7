"""Forms generated from the fields of a Pydantic model: the parameters of a plug-in, the settings of a plan.

The type of a field decides its widget, its bounds the range, its description the hint. A submitted form is read the same way;
a value that cannot be parsed is passed on as typed, so that the validation error of the model says what is wrong.
"""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from starlette.datastructures import FormData

from discreet.errors import PolicyError
from discreet.model.policy import parse_policy
from discreet.web.errors import InvalidRequest

Widget = Literal["number", "choice", "check", "text", "columns", "several", "numbers", "lines"]
PARAMETER_PREFIX = "p_"
"""Put before the name of every parameter in a form, so that it cannot clash with the page's own fields."""


@dataclass(frozen=True)
class FormField:
    """One parameter as a form field."""

    name: str
    label: str
    widget: Widget
    hint: str
    value: Any
    """The current value: a text, a boolean, or a list of columns."""
    default: str
    required: bool
    options: tuple[str, ...] = ()
    minimum: str = ""
    maximum: str = ""
    step: str = "any"
    range_text: str = ""
    """The allowed range, such as 'at least 2'."""

    @property
    def key(self) -> str:
        """The name of the field in the form."""
        return PARAMETER_PREFIX + self.name


def form_fields(
    model: type[BaseModel], values: Mapping[str, Any], *, defaults: Mapping[str, Any] | None = None, exclude: Sequence[str] = ()
) -> list[FormField]:
    """The form fields of a model with the given values; parameters that name files of the server are left out.

    ``defaults`` says what an empty field means where that is not the model's own default.

    >>> from discreet import registry
    >>> size = form_fields(registry.load("masking", "microaggregation"), {"size": 4})[0]
    >>> size.widget, size.value, size.range_text, size.required
    ('number', '4', 'at least 2', True)
    """
    return [_build_field(name, info, values, defaults or {}) for name, info in _form_parameters(model, exclude).items()]


def read_parameters(
    model: type[BaseModel],
    form: FormData,
    *,
    old: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    exclude: Sequence[str] = (),
) -> dict[str, Any]:
    """The parameters in a form without defaults; parameters that the form does not offer keep their value in ``old``."""
    parameters = _form_parameters(model, exclude)
    offered = {info.alias or name for name, info in parameters.items()}
    values = {name: value for name, value in (old or {}).items() if name not in offered}
    for name, info in parameters.items():
        public_name = info.alias or name
        value = _read_value(public_name, info, form)
        default = _empty_means(public_name, info, defaults or {})
        if value is None or (not info.is_required() and _to_plain(default) == _to_plain(value)):
            continue
        values[public_name] = value
    return values


def file_parameters(model: type[BaseModel]) -> list[str]:
    """Parameters that a form does not offer, because they name files or keys."""
    return [info.alias or name for name, info in model.model_fields.items() if _names_file_or_secret(info)]


def format_value(value: Any) -> str:
    """A parameter's value as one line of text."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {format_value(inner)}" for name, inner in value.items())
    return ", ".join(map(format_value, value)) if isinstance(value, list | tuple) else _format_for_widget(value, "text")


def _form_parameters(model: type[BaseModel], exclude: Sequence[str]) -> dict[str, FieldInfo]:
    return {name: info for name, info in model.model_fields.items() if name not in exclude and not _names_file_or_secret(info)}


def _names_file_or_secret(info: FieldInfo) -> bool:
    """Whether a field holds a secret or a file name, which must not come from a browser."""
    return "SecretStr" in str(info.annotation) or SecretStr is info.annotation or (info.description or "").startswith("file")


def _empty_means(public_name: str, info: FieldInfo, defaults: Mapping[str, Any]) -> Any:
    """The value that an empty field stands for."""
    if public_name in defaults:
        return defaults[public_name]
    return None if info.is_required() else info.get_default(call_default_factory=True)


def _build_field(name: str, info: FieldInfo, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> FormField:
    public_name = info.alias or name
    inner_type, bounds, optional = _unwrap_type(info.annotation, list(info.metadata))
    default = _empty_means(public_name, info, defaults)
    widget = _choose_widget(inner_type, optional)
    current = values.get(public_name, values.get(name))
    if widget == "check":
        value: Any = bool(default if current is None else current)
    elif widget in ("columns", "several"):
        value = [str(item) for item in (current or default or ())]
    else:
        value = "" if current is None else _format_for_widget(current, widget)
    minimum, maximum, range_text = _describe_range(bounds)
    return FormField(
        public_name, public_name.replace("_", " "), widget, info.description or "", value,
        "" if default is None or default in ((), {}) else _format_for_widget(default, widget), info.is_required(),
        options=_list_options(inner_type) if widget in ("choice", "several") else (), minimum=minimum, maximum=maximum,
        step="1" if inner_type is int else "any", range_text=range_text,
    )  # fmt: skip


def _unwrap_type(annotation: Any, metadata: list[Any]) -> tuple[Any, list[Any], bool]:
    """The type inside ``Annotated`` and ``| None``, its constraints, and whether it is optional."""
    optional = False
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            metadata += [
                part
                for constraint in more
                for part in (constraint.metadata if isinstance(constraint, FieldInfo) else [constraint])
            ]
        elif get_origin(annotation) in (Union, types.UnionType) and len(rest := _without_none(annotation)) == 1:
            annotation, optional = rest[0], True
        else:
            return annotation, metadata, optional


def _without_none(annotation: Any) -> list[Any]:
    return [member for member in get_args(annotation) if member is not type(None)]


def _choose_widget(inner_type: Any, optional: bool) -> Widget:
    if inner_type is bool and not optional:
        return "check"
    if get_origin(inner_type) is Literal or (isinstance(inner_type, type) and issubclass(inner_type, Enum)) or inner_type is bool:
        return "choice"
    if inner_type in (int, float):
        return "number"
    if inner_type is str:
        return "text"
    if get_origin(inner_type) is tuple:
        item_type, _, _ = _unwrap_type(get_args(inner_type)[0], [])
        if item_type is str:
            return "columns"
        if get_origin(item_type) is Literal:
            return "several"
        if item_type in (int, float):
            return "numbers"
    return "lines"


def _list_options(inner_type: Any) -> tuple[str, ...]:
    if inner_type is bool:
        return ("true", "false")
    if get_origin(inner_type) is tuple:
        inner_type, _, _ = _unwrap_type(get_args(inner_type)[0], [])
    return tuple(str(option) for option in (get_args(inner_type) if get_origin(inner_type) is Literal else inner_type))


def _describe_range(bounds: Sequence[Any]) -> tuple[str, str, str]:
    """Minimum and maximum of a number, and the range as text."""
    minimum = maximum = ""
    phrases = []
    for constraint in bounds:
        for name, phrase in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than")):
            if isinstance(bound := getattr(constraint, name, None), int | float):
                minimum, maximum = (f"{bound:g}", maximum) if name[0] == "g" else (minimum, f"{bound:g}")
                phrases.append(f"{phrase} {bound:g}")
    return minimum, maximum, ", ".join(phrases)


def _format_for_widget(value: Any, widget: Widget) -> str:
    if widget == "lines" and isinstance(value, Mapping | list | tuple):
        return yaml.safe_dump(_to_plain(value), sort_keys=False, allow_unicode=True, width=100).strip()
    if isinstance(value, list | tuple):
        return ", ".join(_format_for_widget(item, "text") for item in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.12g}"
    return str(value)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _to_plain(inner) for key, inner in value.items()}
    return [_to_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _read_value(name: str, info: FieldInfo, form: FormData) -> Any:
    """The submitted value, converted to the field's type where possible."""
    key = PARAMETER_PREFIX + name
    inner_type, _, optional = _unwrap_type(info.annotation, [])
    widget = _choose_widget(inner_type, optional)
    if widget == "check":
        return key in form
    if widget in ("columns", "several"):
        return [str(item) for item in form.getlist(key)] or None
    typed = str(form.get(key, "")).strip()
    if not typed:
        return None
    if widget == "number":
        return _parse_number(typed, inner_type)
    if widget == "numbers":
        return [_parse_number(item, float) for item in typed.replace(";", " ").replace(",", " ").split()]
    if widget == "choice":
        members = (
            (True, False)
            if inner_type is bool
            else get_args(inner_type)
            if get_origin(inner_type) is Literal
            else tuple(inner_type)
        )
        return next((member for member in members if str(member).lower() == typed.lower()), typed)
    return _parse_lines(name, typed) if widget == "lines" else typed


def _parse_number(typed: str, number_type: type) -> Any:
    try:
        number = float(typed)
    except ValueError:
        return typed
    return int(number) if number_type is int and number.is_integer() else number


def _parse_lines(name: str, typed: str) -> Any:
    """Parse lines in the syntax of a policy file: ``name: value``, or a list."""
    inner = "\n".join(f"    {line}" for line in typed.splitlines())
    try:
        return parse_policy(f"select:\n  value:\n{inner}\n").select["value"]
    except (PolicyError, KeyError):
        raise InvalidRequest(f"{name} cannot be read; write one 'name: value' per line, as in a policy file") from None
