"""Column types of the systems behind ODBC drivers, and what arrow-odbc must be told to read them without loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from discreet.convert.databases.rows import parse_text_columns
from discreet.convert.files.column_names import unique_names
from discreet.convert.files.normalise import durations_as_text
from discreet.errors import SourceError

# boolean, integer, float, date, moment, time of day, text
_TYPES: dict[str, tuple[str, str, str, str, str, str, str]] = {
    "postgresql": ("boolean", "bigint", "double precision", "date", "timestamp(6)", "time(6)", "text"),
    "mysql": ("BOOLEAN", "BIGINT", "DOUBLE", "DATE", "DATETIME(6)", "TIME(6)", "LONGTEXT CHARACTER SET utf8mb4"),
    "sqlite": ("BOOLEAN", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "TIME", "TEXT"),
    "microsoft": ("bit", "bigint", "float(53)", "date", "datetime2(6)", "time(6)", "nvarchar(max)"),
    "oracle": ("NUMBER(1)", "NUMBER(19)", "BINARY_DOUBLE", "DATE", "TIMESTAMP(6)", "VARCHAR2(20)", "NCLOB"),
}
_STANDARD = ("BOOLEAN", "BIGINT", "DOUBLE PRECISION", "DATE", "TIMESTAMP(6)", "TIME(6)", "VARCHAR({length})")
_MAX_INTEGER = 2**63 - 1


def system_of(product: str) -> str:
    """The family of a database product by its name: ``MariaDB`` is ``mysql``; an unknown one has the types of standard SQL."""
    name = product.lower()
    if "mariadb" in name:
        return "mysql"
    return next((system for system in _TYPES if system in name), "")


def column_types(frame: pl.DataFrame, product: str) -> list[str]:
    """The type of each column in CREATE TABLE."""
    boolean, integer, real, date, moment, time, text = _TYPES.get(system_of(product), _STANDARD)
    types = []
    for name, dtype in frame.schema.items():
        if dtype == pl.String:
            lengths = frame[name].str.len_chars().drop_nulls().to_list()
            types.append(text.format(length=max(1, 2 * max(lengths, default=0))))
        elif dtype.is_integer():
            types.append(integer)
        else:
            known = {pl.Boolean: boolean, pl.Date: date, pl.Time: time}
            types.append(moment if isinstance(dtype, pl.Datetime) else known.get(type(dtype), real))
    return types


def to_storable_types(frame: pl.DataFrame, name: str, product: str) -> pl.DataFrame:
    """Convert to the few types that every driver takes; a moment with a time zone is stored in UTC."""
    conversions: list[pl.Expr] = durations_as_text(frame.schema)
    for column, dtype in frame.schema.items():
        if dtype.is_float():
            if bool(frame[column].is_infinite().any()) and system_of(product) != "postgresql":
                raise SourceError(f"{name}: the column '{column}' holds infinity, which {product} cannot represent")
            conversions.append(pl.col(column).cast(pl.Float64))
        elif dtype.is_integer():
            largest = frame[column].max()
            beyond = isinstance(largest, int) and largest > _MAX_INTEGER
            conversions.append(pl.col(column).cast(pl.String if beyond else pl.Int64))
        elif isinstance(dtype, pl.Datetime):
            utc = pl.col(column).dt.convert_time_zone("UTC").dt.replace_time_zone(None) if dtype.time_zone else pl.col(column)
            conversions.append(utc.dt.cast_time_unit("us"))
        elif dtype == pl.Time and system_of(product) == "oracle":
            conversions.append(pl.col(column).cast(pl.String))
    return frame.with_columns(conversions)


def arrow_batch(frame: pl.DataFrame, names: list[str]) -> pa.Table:
    """A slice of a frame as Arrow, with the types that arrow-odbc binds and the names that stand in the INSERT."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    types = [
        pa.string() if pa.types.is_large_string(field.type) else pa.time64("us") if pa.types.is_time(field.type) else field.type
        for field in table.schema
    ]
    schema = pa.schema([pa.field(name, kind) for name, kind in zip(names, types, strict=True)])
    return table.rename_columns(names).cast(schema, safe=False)


def widen_schema(schema: pa.Schema) -> pa.Schema:
    """The types to fetch: drivers describe a double as single precision and a moment without its fraction.

    Decimals are fetched as text, so that no digit is lost, and so are truth values, which drivers deliver as bits, numbers or
    letters.
    """

    def widen(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_floating(kind):
            return pa.float64()
        if pa.types.is_timestamp(kind):
            return pa.timestamp("us", kind.tz)
        return pa.string() if pa.types.is_decimal(kind) or pa.types.is_boolean(kind) else kind

    return pa.schema([pa.field(field.name, widen(field.type), field.nullable) for field in schema])


def restore_types(frame: pl.DataFrame, described: pa.Schema, declared: Mapping[str, str]) -> pl.DataFrame:
    """Truth values and decimals that were fetched as text, and text that a driver delivers as bytes.

    ``described`` is the schema by the driver, ``declared`` the name of each column's type in the database.
    """
    conversions: list[pl.Expr] = []
    numbers = []
    for name, field in zip(frame.columns, described, strict=True):
        declaration = declared.get(field.name, "").lower().partition("(")[0]
        if pa.types.is_boolean(field.type) or declaration in ("bool", "boolean", "bit"):
            conversions += [_as_boolean(frame[name])]
        elif pa.types.is_decimal(field.type) or declaration in ("numeric", "decimal", "number", "money"):
            numbers.append(name)
        elif frame.schema[name] == pl.Binary:
            conversions.append(pl.col(name).map_elements(_decode, return_dtype=pl.String))
    return parse_text_columns(frame.with_columns(conversions), numbers)


def _as_boolean(column: pl.Series) -> Any:
    if column.dtype == pl.Boolean:
        return pl.col(column.name)
    text = column.cast(pl.String).str.to_lowercase()
    known = {"1": True, "0": False, "t": True, "f": False, "true": True, "false": False, "y": True, "n": False,
             "\x01": True, "\x00": False, "": False, "-1": True}  # fmt: skip
    if not text.drop_nulls().is_in(list(known)).all():
        return pl.col(column.name)
    return pl.Series(column.name, [None if value is None else known[value] for value in text], dtype=pl.Boolean)


def _decode(value: bytes) -> str:
    return value.decode("utf-8", errors="backslashreplace")


def named_frame(table: pa.Table) -> pl.DataFrame:
    """An Arrow table as a frame, with names that are unique."""
    frame = pl.from_arrow(table.rename_columns(unique_names(table.schema.names)))
    assert isinstance(frame, pl.DataFrame)
    return frame
