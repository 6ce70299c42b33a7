"""JSON lines: an object a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from discreet.convert.files.byte_scan import chunks
from discreet.convert.files.normalise import Packing, printable
from discreet.convert.files.text_file import in_utf8
from discreet.convert.files.value_types import TEXT, Candidates
from discreet.errors import SourceError
from discreet.model.policy import Policy

_BOM = b"\xef\xbb\xbf"


def scan(path: Path, policy: Policy) -> Iterator[pl.LazyFrame]:
    """The file as a lazy table; JSON has no dates, so text that is a date in every line becomes one."""
    content = in_utf8(path, policy.read.encoding)
    if isinstance(content, Path):
        with content.open("rb") as file:
            if file.read(3) == _BOM:
                content = content.read_bytes()
    if isinstance(content, bytes):
        content = content.removeprefix(_BOM)
    if not (content.strip() if isinstance(content, bytes) else content.stat().st_size):
        raise SourceError(f"{path}: is empty: JSON lines without a line have no columns")
    lazy = pl.scan_ndjson(content, infer_schema_length=None)
    schema = lazy.collect_schema()
    if not schema:
        raise SourceError(f"{path}: its objects have no fields")
    kept = set(policy.read.text)
    for name in sorted(kept.difference(schema)):
        raise SourceError(f"{path}: the policy's read.text names '{name}', which is not a column")
    texts = [name for name, dtype in schema.items() if dtype == pl.String and name not in kept]
    dates = Candidates.of(texts)
    if texts:
        for batch in lazy.select(texts).collect_batches():
            dates.narrow(batch)
    found = [dates.first(name).read(name) for name in texts if dates.first(name) != TEXT]
    as_text = [pl.col(name).cast(pl.String) for name in kept if schema[name].is_numeric() or schema[name] == pl.Boolean]
    yield lazy.with_columns(*found, *as_text)


def sink(lazy: pl.LazyFrame, path: Path, compression: Packing = "uncompressed") -> None:
    """Write as JSON lines; infinity has no word in JSON, and to drop it silently would be a lie."""
    schema = lazy.collect_schema()
    floats = [name for name, dtype in schema.items() if dtype.is_float()]
    guards = [pl.col(name).map_batches(_finite, is_elementwise=True, return_dtype=schema[name]) for name in floats]
    moments = [pl.col(name).dt.to_string("iso:strict") for name, dtype in schema.items() if isinstance(dtype, pl.Datetime)]
    lazy.with_columns(*guards, *moments, *printable(schema)).sink_ndjson(
        path,
        compression=compression,
        check_extension=False,
    )


def _finite(series: pl.Series) -> pl.Series:
    if series.is_infinite().any():
        raise ValueError(f"the column '{series.name}' holds infinity, which JSON cannot say")
    return series


def count(path: Path) -> int:
    """The records in a file that ``sink`` wrote: its lines, for a line break inside a text is written as two letters."""
    return sum(chunk.count(b"\n") for chunk in chunks(in_utf8(path, None)))
