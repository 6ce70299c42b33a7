"""Errors of Pydantic as sentences that name the field of a policy, the rule and the value."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from discreet.errors import nearest


def explain_validation_error(error: ValidationError, model: type[BaseModel], subject: str = "") -> str:
    """Pydantic's first error as a sentence that names the field, the rule and the value."""
    findings = error.errors()
    first = next((finding for finding in findings if finding["type"] == "extra_forbidden"), findings[0])
    if _is_branch(first["loc"][-1:]):  # of several forms that a field can have, the one that was meant goes deepest
        first = max((finding for finding in findings if finding["loc"][: len(first["loc"]) - 1] == first["loc"][:-1]), key=_depth)
    path = [str(part) for part in first["loc"] if not _is_branch((part,))]
    where = ".".join(path) or subject or "it"
    if subject and path:
        where = f"{subject}.{where}"
    if first["type"] == "extra_forbidden":
        fields = _fields_at(model, path[:-1])
        return f"'{path[-1]}' is not a field of {'.'.join(path[:-1]) or subject or 'a policy'}; {nearest(path[-1], fields)}"
    message = first["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    value = first.get("input")
    if first["type"] in ("tuple_type", "list_type") and isinstance(value, str | int | float):
        return f"'{where}': a list is needed, such as [{value}]; got {value!r}"
    shown = "" if isinstance(value, dict | list) or first["type"] in ("missing", "value_error") else f"; got {value!r}"
    return f"'{where}': {message}{shown}"


def _is_branch(part: tuple[int | str, ...]) -> bool:
    """Whether this part of a location is Pydantic's name of a form that a field can have, which no policy file shows."""
    return any(isinstance(element, str) and element.startswith(("constrained-", "dict[", "list[", "tuple[")) for element in part)


def _depth(finding: Any) -> int:
    return len(finding["loc"])


def _fields_at(model: type[BaseModel], path: list[str]) -> list[str]:
    """The valid field names at the end of a path."""
    current: Any = model
    for part in path:
        fields = getattr(current, "model_fields", None)
        if fields is None or part not in fields:
            continue
        current = _model_in(fields[part].annotation)
    return [field.alias or name for name, field in getattr(current, "model_fields", {}).items()]


def _model_in(annotation: Any) -> Any:
    """The first model class inside an annotation such as ``dict[str, Attribute] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if (model := _model_in(inner)) is not None:
            return model
    return None
