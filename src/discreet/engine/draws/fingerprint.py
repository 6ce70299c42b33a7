"""The fingerprint of a table, which changes if any value, record number, column name or kind of column changes.

The draws of a release depend on it, so that two tables never share a draw. It is the same on every engine: for each column, a
keyed mix of (record number, value) is summed over the records modulo 2^64, which does not depend on the order of the rows, the
partitioning or the width of a type; names, kinds and sums are then hashed. The mix is not a cryptographic hash and need not be:
it is keyed with the secret of the release, and neither it nor the fingerprint is ever published.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.draws.mixing import sum_mixed_texts, sum_mixed_words
from discreet.engine.encoding.columns import thread_count
from discreet.engine.runtime.worker_threads import WorkerThreads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.model.microdata import Microdata

_NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000}
_TEXT = "text"


def table_fingerprint(data: Microdata, secret: bytes) -> bytes:
    """The fingerprint of a table on the local engine, cached with the table."""
    fingerprints = data.cache.setdefault("fingerprint", {})
    secret_id = hashlib.blake2b(secret, digest_size=16).digest()
    if secret_id not in fingerprints:
        sums = column_sums(data.frame, data.records, secret)
        fingerprints[secret_id] = combine_sums(column_kinds(data.frame.schema), sums, len(data), secret)
    fingerprint: bytes = fingerprints[secret_id]
    return fingerprint


def combine_sums(kinds: Mapping[str, str], sums: Sequence[int], records: int, secret: bytes) -> bytes:
    """The fingerprint from the kinds and sums of the columns, in their order in the table."""
    hasher = hashlib.blake2b(digest_size=32, key=secret, person=b"discreet table")
    hasher.update(str(records).encode())
    for (name, kind), total in zip(kinds.items(), sums, strict=True):
        hasher.update(f"\0{len(name)}:{name}\0{kind}\0{total}".encode())
    return hasher.digest()


def column_sums(frame: pl.DataFrame, records: NDArray[np.int64], secret: bytes) -> list[int]:
    """For each column the sum of its mixed values over these records; sums of parts of a table add up modulo 2^64."""
    kinds = column_kinds(frame.schema)
    record_numbers = np.ascontiguousarray(records, dtype=np.int64)

    def sum_column(name: str) -> int:
        return _sum_column(frame[name], kinds[name], record_numbers, _column_key(secret, name))

    if len(records) < 1 << 16:
        return [sum_column(name) for name in frame.columns]
    with WorkerThreads(thread_count()) as pool:
        return list(pool.map(sum_column, frame.columns))


def column_kinds(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """The kind of values of each column without the width of its type, because engines read a file with different widths."""
    return {name: _kind_of_type(dtype) for name, dtype in schema.items()}


def _kind_of_type(dtype: pl.DataType) -> str:
    if dtype == pl.Boolean:
        return "boolean"
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "float"
    if dtype == pl.Date:
        return "date"
    if isinstance(dtype, pl.Datetime):
        return "datetime"
    if isinstance(dtype, pl.Duration):
        return "duration"
    return "time" if dtype == pl.Time else _TEXT


def _column_key(secret: bytes, name: str) -> NDArray[np.uint64]:
    hasher = hashlib.blake2b(name.encode(), digest_size=32, key=secret, person=b"discreet column")
    return np.frombuffer(hasher.digest(), dtype="<u8").astype(np.uint64)


def _sum_column(series: pl.Series, kind: str, records: NDArray[np.int64], key: NDArray[np.uint64]) -> int:
    nulls = series.is_null().to_numpy() if series.null_count() else np.zeros(0, dtype=np.bool_)
    if kind == _TEXT:
        texts = series if series.dtype in (pl.String, pl.Binary) else series.cast(pl.String)
        array = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
        _, offsets, content = array.buffers()
        text_offsets = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
        text_bytes = np.frombuffer(content, dtype=np.uint8) if content is not None else np.zeros(0, dtype=np.uint8)
        return sum_mixed_texts(text_offsets, text_bytes, nulls, records, key)
    return sum_mixed_words(_values_as_words(series, kind), nulls, records, key)


def _values_as_words(series: pl.Series, kind: str) -> NDArray[np.uint64]:
    """The values as 64-bit words: integers, the bits of a float, or nanoseconds (modulo 2^64); 0 for a null."""
    if kind == "float":
        numbers = series.cast(pl.Float64).fill_null(0.0).to_numpy() + 0.0  # -0.0 is the same number as 0.0
        return np.ascontiguousarray(numbers).view(np.uint64)
    if kind == "integer" and series.dtype in (pl.UInt64, pl.Int128):
        numbers = series.fill_null(0).to_numpy()
        return np.ascontiguousarray(numbers.astype(np.uint64))
    physical = series.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    if kind in ("datetime", "duration"):
        unit = _NANOSECONDS[series.dtype.time_unit]  # type: ignore[attr-defined]
        physical = np.multiply(physical, np.int64(unit))
    return np.ascontiguousarray(physical).view(np.uint64)
