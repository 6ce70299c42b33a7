"""Forms made from a model's own fields: a plug-in's parameters, a plan's settings, the wizard's options.

The type of a field says its widget, its bounds the range, its description the hint. What comes back is read the same way; what
cannot be read is handed on as it was typed, so that the model's own sentence says what is wrong with it.
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
from discreet.web.errors import Invalid

Widget = Literal["number", "choice", "check", "text", "columns", "several", "numbers", "lines"]
PREFIX = "p_"
"""Before every parameter's name in a form, so that none can be taken for a field of the page's own."""


@dataclass(frozen=True)
class Field:
    """One parameter as a form shows it."""

    name: str
    label: str
    widget: Widget
    hint: str
    value: Any
    """What stands in it: a text, a truth, or a list of columns."""
    default: str
    required: bool
    options: tuple[str, ...] = ()
    least: str = ""
    most: str = ""
    step: str = "any"
    words: str = ""
    """What range is allowed, in words."""

    @property
    def key(self) -> str:
        """Its name in the form."""
        return PREFIX + self.name


def fields(
    model: type[BaseModel], values: Mapping[str, Any], *, defaults: Mapping[str, Any] | None = None, leave: Sequence[str] = ()
) -> list[Field]:
    """The form of a model that holds ``values``; fields that name files of the server are not in it.

    ``defaults`` are what a field left empty means, where that is not the model's own default.

    >>> from discreet import registry
    >>> size = fields(registry.load("masking", "microaggregation"), {"size": 4})[0]
    >>> size.widget, size.value, size.words, size.required
    ('number', '4', 'at least 2', True)
    """
    return [_field(name, info, values, defaults or {}) for name, info in _shown(model, leave).items()]


def read(
    model: type[BaseModel],
    form: FormData,
    *,
    old: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    leave: Sequence[str] = (),
) -> dict[str, Any]:
    """What a form says, defaults left out; what is not in the form stays as it was in ``old``."""
    shown = _shown(model, leave)
    inside = {info.alias or name for name, info in shown.items()}
    made = {name: value for name, value in (old or {}).items() if name not in inside}
    for name, info in shown.items():
        called = info.alias or name
        value = _value(called, info, form)
        default = _default(called, info, defaults or {})
        if value is None or (not info.is_required() and _plain(default) == _plain(value)):
            continue
        made[called] = value
    return made


def outside(model: type[BaseModel]) -> list[str]:
    """Parameters that a form does not offer, because they name files or keys."""
    return [info.alias or name for name, info in model.model_fields.items() if _file(info)]


def text(value: Any) -> str:
    """A parameter's value in a line of text."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {text(inner)}" for name, inner in value.items())
    return ", ".join(map(text, value)) if isinstance(value, list | tuple) else _text(value, "text")


def _shown(model: type[BaseModel], leave: Sequence[str]) -> dict[str, FieldInfo]:
    return {name: info for name, info in model.model_fields.items() if name not in leave and not _file(info)}


def _file(info: FieldInfo) -> bool:
    """Whether a field holds a secret or the name of a file, which a browser has no business to say."""
    return "SecretStr" in str(info.annotation) or SecretStr is info.annotation or (info.description or "").startswith("file")


def _default(called: str, info: FieldInfo, defaults: Mapping[str, Any]) -> Any:
    """What a field that is left empty means."""
    if called in defaults:
        return defaults[called]
    return None if info.is_required() else info.get_default(call_default_factory=True)


def _field(name: str, info: FieldInfo, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> Field:
    called = info.alias or name
    core, bounds, optional = _core(info.annotation, list(info.metadata))
    default = _default(called, info, defaults)
    widget = _widget(core, optional)
    held = values.get(called, values.get(name))
    if widget == "check":
        value: Any = bool(default if held is None else held)
    elif widget in ("columns", "several"):
        value = [str(one) for one in (held or default or ())]
    else:
        value = "" if held is None else _text(held, widget)
    least, most, words = _range(bounds)
    return Field(
        called, called.replace("_", " "), widget, info.description or "", value,
        "" if default is None or default in ((), {}) else _text(default, widget), info.is_required(),
        options=_options(core) if widget in ("choice", "several") else (), least=least, most=most,
        step="1" if core is int else "any", words=words,
    )  # fmt: skip


def _core(annotation: Any, metadata: list[Any]) -> tuple[Any, list[Any], bool]:
    """The type inside ``Annotated`` and ``| None``, with all that bounds it."""
    optional = False
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            metadata += [part for one in more for part in (one.metadata if isinstance(one, FieldInfo) else [one])]
        elif get_origin(annotation) in (Union, types.UnionType) and len(rest := _without_none(annotation)) == 1:
            annotation, optional = rest[0], True
        else:
            return annotation, metadata, optional


def _without_none(annotation: Any) -> list[Any]:
    return [one for one in get_args(annotation) if one is not type(None)]


def _widget(core: Any, optional: bool) -> Widget:
    if core is bool and not optional:
        return "check"
    if get_origin(core) is Literal or (isinstance(core, type) and issubclass(core, Enum)) or core is bool:
        return "choice"
    if core in (int, float):
        return "number"
    if core is str:
        return "text"
    if get_origin(core) is tuple:
        inner, _, _ = _core(get_args(core)[0], [])
        if inner is str:
            return "columns"
        if get_origin(inner) is Literal:
            return "several"
        if inner in (int, float):
            return "numbers"
    return "lines"


def _options(core: Any) -> tuple[str, ...]:
    if core is bool:
        return ("true", "false")
    if get_origin(core) is tuple:
        core, _, _ = _core(get_args(core)[0], [])
    return tuple(str(one) for one in (get_args(core) if get_origin(core) is Literal else core))


def _range(bounds: Sequence[Any]) -> tuple[str, str, str]:
    """The least and most that a number may be, and the same in words."""
    least = most = ""
    words = []
    for one in bounds:
        for name, word in (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than")):
            if isinstance(bound := getattr(one, name, None), int | float):
                least, most = (f"{bound:g}", most) if name[0] == "g" else (least, f"{bound:g}")
                words.append(f"{word} {bound:g}")
    return least, most, ", ".join(words)


def _text(value: Any, widget: Widget) -> str:
    if widget == "lines" and isinstance(value, Mapping | list | tuple):
        return yaml.safe_dump(_plain(value), sort_keys=False, allow_unicode=True, width=100).strip()
    if isinstance(value, list | tuple):
        return ", ".join(_text(one, "text") for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.12g}"
    return str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _value(name: str, info: FieldInfo, form: FormData) -> Any:
    """What was typed, as the field's type where it can be read as one."""
    key = PREFIX + name
    core, _, optional = _core(info.annotation, [])
    widget = _widget(core, optional)
    if widget == "check":
        return key in form
    if widget in ("columns", "several"):
        return [str(one) for one in form.getlist(key)] or None
    typed = str(form.get(key, "")).strip()
    if not typed:
        return None
    if widget == "number":
        return _number(typed, core)
    if widget == "numbers":
        return [_number(one, float) for one in typed.replace(";", " ").replace(",", " ").split()]
    if widget == "choice":
        members = (True, False) if core is bool else get_args(core) if get_origin(core) is Literal else tuple(core)
        return next((one for one in members if str(one).lower() == typed.lower()), typed)
    return _lines(name, typed) if widget == "lines" else typed


def _number(typed: str, core: type) -> Any:
    try:
        number = float(typed)
    except ValueError:
        return typed
    return int(number) if core is int and number.is_integer() else number


def _lines(name: str, typed: str) -> Any:
    """Lines as a policy file has them: ``name: value``, or a list."""
    inner = "\n".join(f"    {line}" for line in typed.splitlines())
    try:
        return parse_policy(f"select:\n  value:\n{inner}\n").select["value"]
    except (PolicyError, KeyError):
        raise Invalid(f"{name} cannot be read; write one 'name: value' a line, as in a policy file") from None
