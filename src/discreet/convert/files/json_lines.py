"""JSON lines: one object per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from discreet.convert.files.byte_scan import read_chunks
from discreet.convert.files.normalise import Compression, durations_as_text
from discreet.convert.files.text_file import as_utf8
from discreet.convert.files.value_types import TEXT, Candidates
from discreet.errors import SourceError
from discreet.model.policy import Policy

_BOM = b"\xef\xbb\xbf"


def scan(path: Path, policy: Policy) -> Iterator[pl.LazyFrame]:
    """Scan the file as a lazy table; JSON has no dates, so a column in which every text is an ISO date becomes a date."""
    content = as_utf8(path, policy.read.encoding)
    if isinstance(content, Path):
        with content.open("rb") as file:
            if file.read(3) == _BOM:
                content = content.read_bytes()
    if isinstance(content, bytes):
        content = content.removeprefix(_BOM)
    if not (content.strip() if isinstance(content, bytes) else content.stat().st_size):
        raise SourceError(f"{path}: is empty: there is no line to take column names from")
    lazy = pl.scan_ndjson(content, infer_schema_length=None)
    schema = lazy.collect_schema()
    if not schema:
        raise SourceError(f"{path}: its objects have no fields")
    forced_text = set(policy.read.text)
    for name in sorted(forced_text.difference(schema)):
        raise SourceError(f"{path}: the policy's read.text names '{name}', which is not a column")
    text_columns = [name for name, dtype in schema.items() if dtype == pl.String and name not in forced_text]
    candidates = Candidates.of(text_columns)
    if text_columns:
        for batch in lazy.select(text_columns).collect_batches():
            candidates.narrow(batch)
    parsed = [candidates.narrowest(name).parse_column(name) for name in text_columns if candidates.narrowest(name) != TEXT]
    as_text = [pl.col(name).cast(pl.String) for name in forced_text if schema[name].is_numeric() or schema[name] == pl.Boolean]
    yield lazy.with_columns(*parsed, *as_text)


def sink(lazy: pl.LazyFrame, path: Path, compression: Compression = "uncompressed") -> None:
    """Write JSON lines; infinity is an error, because JSON cannot represent it and null would mean a missing value."""
    schema = lazy.collect_schema()
    floats = [name for name, dtype in schema.items() if dtype.is_float()]
    checked_floats = [
        pl.col(name).map_batches(_require_finite, is_elementwise=True, return_dtype=schema[name]) for name in floats
    ]
    datetimes = [pl.col(name).dt.to_string("iso:strict") for name, dtype in schema.items() if isinstance(dtype, pl.Datetime)]
    lazy.with_columns(*checked_floats, *datetimes, *durations_as_text(schema)).sink_ndjson(
        path,
        compression=compression,
        check_extension=False,
    )


def _require_finite(series: pl.Series) -> pl.Series:
    if series.is_infinite().any():
        raise ValueError(f"the column '{series.name}' holds infinity, which JSON cannot represent")
    return series


def count(path: Path) -> int:
    """Number of records in a file that ``sink`` wrote: its lines, since a line break inside a text is escaped."""
    return sum(chunk.count(b"\n") for chunk in read_chunks(as_utf8(path, None)))
