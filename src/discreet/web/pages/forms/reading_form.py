"""The form of the reading options: how a file or table is read, option by option and column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from pydantic import ValidationError
from starlette.datastructures import FormData

from discreet.model.policy import Reading, explain_validation_error
from discreet.web.errors import InvalidRequest

SEPARATORS = {"": "as recognised", ",": "comma ,", ";": "semicolon ;", "tab": "tab", "|": "bar |", "space": "space"}
DECIMALS = {"": "as recognised", ".": "point .", ",": "comma ,"}
THOUSANDS = {"": "as recognised", ",": "comma ,", ".": "point .", "'": "apostrophe '", "space": "space"}
ENCODINGS = ("utf-8", "windows-1252", "latin-1", "iso-8859-15", "windows-1250", "utf-16", "mac-roman", "cp437")
DATE_FORMATS = {
    "%d/%m/%Y": "31/12/1980", "%m/%d/%Y": "12/31/1980", "%d.%m.%Y": "31.12.1980", "%Y-%m-%d": "1980-12-31",
    "%Y/%m/%d": "1980/12/31", "%Y%m%d": "19801231", "%d-%m-%Y": "31-12-1980", "%d %b %Y": "31 Dec 1980", "%d%b%Y": "31DEC1980",
    "%d/%m/%y": "31/12/80", "%m/%d/%y": "12/31/80", "%d.%m.%y": "31.12.80", "%d/%m/%Y %H:%M": "31/12/1980 23:59",
    "%Y-%m-%d %H:%M": "1980-12-31 23:59",
}  # fmt: skip
TEXT = "text"
"""What is entered for a column that is to be read as text."""
_NAMED_CHARACTERS = {"tab": "\t", "space": " "}
_NAMES = {character: name for name, character in _NAMED_CHARACTERS.items()}
_FIELDS = ("separator", "decimal", "thousands", "encoding", "sheet", "skip", "header", "pivot")


@dataclass(frozen=True)
class ReadingForm:
    """What the form holds, as text."""

    values: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""
    """One text per line."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """By column, ``text`` or the format of its dates."""

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    @classmethod
    def from_options(cls, read: Mapping[str, Any]) -> Self:
        """The form that shows reading options."""
        values = {name: str(read[name]) for name in _FIELDS if read.get(name) is not None}
        for name in ("separator", "thousands"):
            if name in values:
                values[name] = _NAMES.get(values[name], values[name])
        columns = dict.fromkeys(read.get("text") or (), TEXT) | dict(read.get("dates") or {})
        return cls(values, "\n".join(read.get("missing") or ()), columns)

    @classmethod
    def from_form(cls, form: FormData) -> Self:
        """The form as it was sent."""
        values = {name: text for name in _FIELDS if (text := str(form.get(name, "")).strip())}
        columns = {}
        for key, name in form.multi_items():
            number = key.removeprefix("column.")
            if number != key and isinstance(name, str) and (way := str(form.get(f"as.{number}", "")).strip()):
                columns[name] = way
        return cls(values, str(form.get("missing", "")).replace("\r\n", "\n"), columns)

    def to_options(self, applicable: Sequence[str]) -> dict[str, Any]:
        """The reading options, checked; those that do not apply to the format are left out."""
        content: dict[str, Any] = {name: text for name, text in self.values.items() if name in applicable}
        for name in ("separator", "thousands"):
            if name in content:
                content[name] = _NAMED_CHARACTERS.get(content[name], content[name])
        for name, way in self.columns.items():
            if way == TEXT:
                content.setdefault("text", []).append(name)
            elif "%" in way:
                content.setdefault("dates", {})[name] = way
            else:
                raise InvalidRequest(
                    f"the column '{name[:80]}' is read as text or as dates: enter {TEXT} or a format such as %d/%m/%Y, "
                    f"not '{way[:40]}'"
                )
        if markers := [line.strip() for line in self.missing.split("\n") if line.strip()]:
            content["missing"] = markers
        try:
            return Reading.model_validate(content).model_dump(mode="json", exclude_defaults=True)
        except ValidationError as error:
            raise InvalidRequest(explain_validation_error(error, Reading, "read")) from None
