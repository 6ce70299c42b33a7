"""The section ``read`` of a policy: how its tables are written."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Reading(BaseModel):
    """Reading options for a text file, where the converter does not detect them correctly."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    separator: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(default=None, description="field separator")
    decimal: Annotated[str, Field(pattern=r"^[.,]$")] | None = Field(default=None, description="decimal mark: . or ,")
    thousands: Annotated[str, Field(pattern=r"^[.,'  _]$")] | None = Field(default=None, description="thousands mark")
    encoding: str | None = Field(default=None, description="utf-8, latin-1, …")
    sheet: str | None = Field(default=None, description="the sheet of an Excel file")
    text: tuple[str, ...] = Field(default=(), description="attributes that are read as text even if they look like numbers")
    dates: dict[str, Annotated[str, Field(pattern=r"%")]] = Field(
        default_factory=dict, description="how dates are written, by attribute: {dob: '%d/%m/%Y'}"
    )
    pivot: Annotated[int, Field(ge=0, le=100)] = Field(
        default=30, description="years of two digits below this number are 20.., the others 19..; default: 30"
    )
    header: Annotated[int, Field(ge=1, le=20)] | None = Field(
        default=None, description="number of rows that hold the column names, joined by a space; default: from the rows"
    )
    skip: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="number of rows above the column names, such as a title; default: from the rows"
    )
    missing: tuple[str, ...] = Field(default=(), description="texts that mean 'missing' in all attributes")

    @field_validator("missing", mode="before")
    @classmethod
    def _markers_as_text(cls, markers: Any) -> Any:
        return [str(marker) for marker in markers] if isinstance(markers, list | tuple) else markers
