"""Reading on Spark: a table of a catalog, a file that Spark reads itself, or a frame that a program holds.

``spark://host:port#catalog.table`` and ``sc://host:port#table`` name a table; ``?record=column`` in front of ``#`` names the
column that numbers its records. A file is read with Spark's own rules: Parquet as it is, CSV with a line of names, the policy's
separator (or a comma) and types from the values.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from discreet.engine.spark.caching import forget_path
from discreet.engine.spark.errors import translate_errors
from discreet.engine.spark.joins import col
from discreet.engine.spark.microdata import SparkMicrodata
from discreet.engine.spark.session import session
from discreet.engine.spark.source_types import is_address, is_frame
from discreet.errors import DataError, SourceError, nearest, redact_credentials
from discreet.model.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_READERS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
}


def read_spark(source: Any, policy: Policy, *, record: str | None = None) -> SparkMicrodata:
    """A distributed table from an address, a file or folder, or a Spark frame."""
    if isinstance(source, SparkMicrodata):
        return source.with_policy(policy)
    if is_frame(source):
        from discreet.engine.spark.session import without_remarks

        without_remarks()
        return _table(source, policy, "the Spark frame", record)
    if is_address(source):
        base, table, record = _parts(str(source))
        spark = session(base)
        shown = redact_credentials(f"{base}#{table}")  # Spark Connect takes a token in its address
        return _table(_catalog(spark, table, shown), policy, shown, record)
    if not isinstance(source, str | Path):
        raise SourceError(f"a {type(source).__name__} cannot be read on Spark; give a file, an address or a Spark frame")
    path = Path(source).expanduser()
    form = _format(path)
    if not path.exists() and "://" not in str(source):
        raise SourceError(f"{path}: there is no such file")
    place = str(source) if "://" in str(source) else str(path.resolve())
    return _table(_file(session(), place, form, path.suffix.lower(), policy, str(path)), policy, str(path), record)


def _parts(address: str) -> tuple[str, str, str | None]:
    base, _, table = address.rpartition("#") if "#" in address else (address, "", "")
    base, _, query = base.partition("?")
    if not table:
        raise SourceError(f"{base}: names no table; put it behind #, such as {base}#patients")
    if not base.partition("://")[2]:
        raise SourceError(
            f"{address}: names no host; the form is spark://host:7077#table, sc://host#table or spark://local[2]#table"
        )
    return base, unquote(table), next(iter(parse_qs(query).get("record", [])), None)


def _catalog(spark: SparkSession, table: str, source: str) -> DataFrame:
    from pyspark.errors import AnalysisException

    with translate_errors(source, "cannot be read"):
        try:
            frame = spark.table(table)
            frame.schema  # noqa: B018 - a server resolves the table only now
        except AnalysisException as error:
            if "TABLE_OR_VIEW_NOT_FOUND" not in str(error):
                raise
            known = [entry.name for entry in spark.catalog.listTables()]
            raise SourceError(
                f"{source}: there is no such table or view in this Spark catalog; {nearest(table, known)}"
            ) from None
        return frame


def _format(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in _READERS:
        return _READERS[suffix]
    if path.is_dir():
        inside = {_READERS[entry.suffix.lower()] for entry in path.rglob("*") if entry.suffix.lower() in _READERS}
        if len(inside) == 1:
            return inside.pop()
    known = ", ".join(_READERS)
    raise SourceError(f"{path}: '{suffix}' is not a format that Spark reads; convert it to one of {known} first")


def _file(spark: SparkSession, place: str, form: str, suffix: str, policy: Policy, source: str) -> DataFrame:
    with translate_errors(source, f"cannot be read as {form}"):
        forget_path(spark, place)
        if form != "csv":
            return spark.read.format(form).load(place)
        separator = policy.read.separator or ("\t" if suffix == ".tsv" else ",")
        blank = policy.missing[0] if len(policy.missing) == 1 else ""
        how: dict[str, Any] = {"header": True, "sep": separator, "encoding": policy.read.encoding or "UTF-8", "nullValue": blank}
        inferred = spark.read.csv(place, inferSchema=True, **how)
        text_columns = set(policy.read.text)
        if not text_columns.intersection(inferred.columns):
            return inferred
        from pyspark.sql.types import StringType, StructField, StructType

        fields = [
            StructField(entry.name, StringType() if entry.name in text_columns else entry.dataType)
            for entry in inferred.schema.fields
        ]
        return spark.read.csv(place, schema=StructType(fields), **how)


def _table(frame: DataFrame, policy: Policy, source: str, record: str | None) -> SparkMicrodata:
    from discreet.engine.spark.hidden_columns import HIDDEN

    for name in frame.columns:
        if name.startswith(HIDDEN):
            raise DataError(
                f"{source}: a column is called '{name}', but names that begin so are reserved for the engine; rename it"
            )
    raw = SparkMicrodata(frame, policy, source, record)
    changes = _without_markers(raw, policy)
    return raw.with_columns(changes) if changes else raw


def _without_markers(data: SparkMicrodata, policy: Policy) -> dict[str, Any]:
    """Floats that are no number, and the texts and numbers that the policy says mean 'missing', as nulls."""
    from pyspark.sql import functions as f

    changes: dict[str, Any] = {}
    for name, dtype in data.shape.frame.schema.items():
        column = col(name)
        if dtype.is_float():
            column = f.when(~f.isnan(column), column)
            changes[name] = column
        texts = tuple(dict.fromkeys((*policy.missing, *data.attribute(name).missing)))
        if not texts:
            continue
        if dtype.is_numeric():
            numbers = [number for text in texts if (number := _number(text)) is not None]
            if numbers:
                changes[name] = f.when(~column.isin(numbers) | column.isNull(), column)
        else:
            changes[name] = f.when(~column.cast("string").isin(list(texts)) | column.isNull(), column)
    return changes


def _number(text: str) -> float | int | None:
    """The number that a marker is; '01' is none, for it is no number's usual spelling."""
    if re.fullmatch(r"-?(?:0|[1-9][0-9]*)", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?(?:0|[1-9][0-9]*)\.[0-9]+", text) else None
