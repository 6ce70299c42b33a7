"""A table of the population as a parameter: a file name or URL in a policy, and in Python any frame as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidatorFunctionWrapHandler, field_serializer, field_validator

from discreet.model.microdata import Microdata

_INTERFACES = ("__arrow_c_stream__", "__dataframe__")
"""The Arrow PyCapsule interface, and the older one of pandas."""


def accept_table(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """A table as it is, a path as text; all else is validated as the text that the parameter is declared as."""
    if isinstance(value, Microdata):
        return value.frame
    if isinstance(value, Path):
        value = str(value)
    return value if any(hasattr(value, name) for name in _INTERFACES) else validate(value)


def describe_table(value: Any) -> str | None:
    """What is shown of the parameter: the name of a file, or that it is a table, never what it holds."""
    return value if value is None or isinstance(value, str) else f"a table in memory ({type(value).__name__})"


def table_validator(field: str) -> Callable[..., Any]:
    """For the body of a plug-in: lets a parameter that is declared as text hold a table too."""
    return field_validator(field, mode="wrap")(accept_table)


def table_serializer(field: str) -> Callable[..., Any]:
    return field_serializer(field)(describe_table)
