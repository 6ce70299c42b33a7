"""Dictionary-encoded columns: each attribute as dense integer codes, on which all counting is done.

Codes run from 0 in the order of the values (the policy's order where it gives one); null has the code after the last value. Codes
have the narrowest integer type that fits. A column is encoded once per Microdata and cached there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.encoding.fixed_width import fixed_width_keys
from discreet.engine.encoding.text_numbers import GrowingTexts, has_many_texts
from discreet.engine.runtime.worker_threads import WorkerThreads
from discreet.errors import DataError
from discreet.model.attribute import Attribute, text_forms
from discreet.model.cells import is_coarse
from discreet.model.microdata import Microdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

# a lookup table is used instead of sorting up to this many entries per record, and always up to _TABLE_LEAST entries
_TABLE_PER_RECORD = 4
_TABLE_LEAST = 1 << 16


@dataclass(frozen=True)
class Column:
    """One attribute as codes: ``values[codes[i]]`` is the value of record i; the code ``len(values)`` is null."""

    name: str
    codes: NDArray[Any]
    values: pl.Series
    has_null: bool
    cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was derived from this column alone."""

    @property
    def null_code(self) -> int | None:
        return len(self.values) if self.has_null else None

    @property
    def cardinality(self) -> int:
        """The number of codes, including that of null where the column has one."""
        return len(self.values) + self.has_null

    @property
    def is_null(self) -> NDArray[np.bool_]:
        if not self.has_null:
            return np.zeros(len(self.codes), dtype=np.bool_)
        return np.asarray(self.codes == len(self.values))


def thread_count() -> int:
    """The number of threads to use: DISCREET_THREADS, default: the cores that this process may use."""
    setting = os.environ.get("DISCREET_THREADS", "")
    return max(1, int(setting)) if setting.isdigit() else max(1, len(os.sched_getaffinity(0)))


def encode(data: Microdata, names: Iterable[str]) -> list[Column]:
    """The named columns as codes, in the order of the names."""
    requested = list(names)
    cached: dict[str, Column] = data.cache.setdefault("columns", {})
    derived: dict[str, dict[Any, Any]] = data.cache.get("derived", {})
    cached.update({name: derived[name]["codes"] for name in requested if name not in cached and "codes" in derived.get(name, ())})
    missing = [name for name in dict.fromkeys(requested) if name not in cached]
    attributes = {name: data.attribute(name) for name in missing}
    if len(missing) > 1 and len(data) > 50_000:
        with WorkerThreads(thread_count()) as pool:
            encoded = list(pool.map(lambda name: encode_series(data.frame[name], attributes[name], name in data.cells), missing))
    else:
        encoded = [encode_series(data.frame[name], attributes[name], name in data.cells) for name in missing]
    cached.update(zip(missing, encoded, strict=True))
    for name in missing:
        if name in derived:
            derived[name]["codes"] = cached[name]
    return [cached[name] for name in requested]


def encode_series(series: pl.Series, attribute: Attribute | None = None, labelled: bool = False) -> Column:
    """A series as codes in the attribute's order; a ``labelled`` column may hold labels that are not in that order."""
    column = _encode(series)
    if attribute is not None and attribute.order is not None:
        column = reorder_codes(column, attribute, labelled)
    return column


def _encode(series: pl.Series) -> Column:
    dtype = series.dtype
    if dtype == pl.Null:
        return Column(series.name, np.zeros(len(series), np.uint8), series.cast(pl.String).head(0), len(series) > 0)
    if dtype == pl.Boolean:
        return _encode_integers(series.cast(pl.UInt8), series)
    if dtype.is_integer() and dtype not in (pl.Int128, pl.UInt128):
        return _encode_integers(series, series)
    if dtype in (pl.Date, pl.Time, pl.Duration) or isinstance(dtype, pl.Datetime):
        return _encode_integers(series.to_physical(), series)
    if dtype == pl.String:
        if (column := _encode_fixed_width(series)) is not None:
            return column
        if has_many_texts(series):
            texts = GrowingTexts(len(series), thread_count())
            texts.append(series)
            return column_of_texts(series.name, texts)
        values = series.unique().drop_nulls().sort()
        codes = series.cast(pl.Enum(values)).to_physical()
        return _column_from_codes(series.name, codes, values)
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return _encode(series.cast(pl.String))
    if dtype.is_float():
        series = series.fill_nan(None) + 0.0  # minus zero is zero
    return _encode_by_rank(series)


def _encode_integers(physical: pl.Series, series: pl.Series) -> Column:
    """Encode integers of a small range with a lookup table of the values that occur, and others by rank."""
    low, high = physical.min(), physical.max()
    if low is None:
        return Column(series.name, np.zeros(len(series), np.uint8), series.head(0), len(series) > 0)
    least: Any = low
    span = int(high) - int(least) + 1  # type: ignore[arg-type]
    if span > max(_TABLE_LEAST, _TABLE_PER_RECORD * len(physical)):
        return _encode_by_rank(series)
    has_null = physical.null_count() > 0
    raw = (physical.fill_null(low) if has_null else physical).to_numpy()
    small = code_type(span - 1)
    offsets = np.empty(len(raw), dtype=small)
    np.subtract(raw, least, out=offsets, casting="unsafe")
    present = np.zeros(span, dtype=np.bool_)
    block = max(_TABLE_LEAST, span)
    for begin in range(0, len(offsets), block):
        present[offsets[begin : begin + block]] = True
        if present.all():  # most columns of codes have no gaps, which shows after a few blocks
            break
    occurring = np.flatnonzero(present)
    if has_null and not _occurs(offsets, physical, 0):
        occurring = occurring[1:]
    size = len(occurring)
    width = code_type(size)
    if size == span and not has_null and width == small:
        codes = offsets
    else:
        table = np.zeros(span, dtype=width)
        table[occurring] = np.arange(size, dtype=width)
        codes = table[offsets]
    if has_null:
        codes[physical.is_null().to_numpy()] = size
    shifted = occurring.astype(np.uint64) + np.uint64(least) if physical.dtype == pl.UInt64 else occurring + int(least)
    values = pl.Series(series.name, shifted, dtype=physical.dtype)
    return Column(series.name, codes, values.cast(series.dtype), has_null)


def _occurs(offsets: NDArray[Any], physical: pl.Series, offset: int) -> bool:
    """Whether a record that is not null has this offset, with which the nulls were filled."""
    return bool(((offsets == offset) & physical.is_not_null().to_numpy()).any())


def _encode_fixed_width(series: pl.Series) -> Column | None:
    """Encode many texts of one width with a table of their integer keys; None where the texts do not have that form."""
    size = len(series) - series.null_count()
    most = min(max(_TABLE_LEAST, _TABLE_PER_RECORD * size), 1 << 31)
    if size < _TABLE_LEAST or (keys_and_span := fixed_width_keys(series.drop_nulls(), most)) is None:
        return None
    keys = _encode_integers(pl.Series(keys_and_span[0]), pl.Series(keys_and_span[0]))
    rows = np.empty(len(keys.values), dtype=np.uint32)
    has_null = size < len(series)
    if not has_null:
        rows[keys.codes] = np.arange(size, dtype=np.uint32)
        return Column(series.name, keys.codes, series.gather(pl.Series(rows)), has_null)
    present = np.flatnonzero(series.is_not_null().to_numpy())
    codes = np.full(len(series), len(rows), dtype=keys.codes.dtype)
    codes[present] = keys.codes
    rows[keys.codes] = present
    return Column(series.name, codes, series.gather(pl.Series(rows)), has_null)


def column_of_texts(name: str, texts: GrowingTexts) -> Column:
    codes, values, has_null = texts.finish(name)
    return Column(name, codes.astype(code_type(len(values)), copy=False), values, has_null)


def _encode_by_rank(series: pl.Series) -> Column:
    values = series.unique().drop_nulls().sort()
    return _column_from_codes(series.name, series.rank("dense") - 1, values)


def _column_from_codes(name: str, codes: pl.Series, values: pl.Series) -> Column:
    has_null = codes.null_count() > 0
    size = len(values)
    filled = codes.fill_null(size) if has_null else codes
    if has_null and filled.null_count():  # the integer type of an empty dictionary cannot hold the fill value
        filled = pl.Series(name, np.full(len(codes), size))
    return Column(name, filled.to_numpy().astype(code_type(size)), values, has_null)


def code_type(largest: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest unsigned integer type that holds a number."""
    if largest < 1 << 8:
        return np.uint8
    return np.uint16 if largest < 1 << 16 else np.uint32


def reorder_codes(column: Column, attribute: Attribute, labelled: bool = False) -> Column:
    """The column with its codes in the order that the policy gives; the coarser cells of a release come after the ordered values.

    ``labelled``: the labels of the column are declared, so that a text that is not in the order is a label.
    """
    order = attribute.order or ()
    rank_of_text = {text: index for index, text in enumerate(order)}
    ranks = []
    for value in column.values.to_list():
        rank = next((rank_of_text[text] for text in text_forms(value) if text in rank_of_text), None)
        if rank is None and (labelled or attribute.hierarchy is not None or is_coarse(str(value))):
            rank = len(order)
        if rank is None:
            raise DataError(f"the value '{value}' of '{column.name}' is not in its order: {', '.join(order)}")
        ranks.append(rank)
    permutation = np.argsort(np.array(ranks, dtype=np.int64), kind="stable")
    table = np.empty(column.cardinality, dtype=column.codes.dtype)
    table[permutation] = np.arange(len(ranks))
    if column.has_null:
        table[len(ranks)] = len(ranks)
    return Column(column.name, table[column.codes], column.values[permutation], column.has_null)


def value_weights(column: Column, attribute: Attribute) -> NDArray[np.float64]:
    """W(A) x W(value) for every code of the column (Orooji & Knapp 2018a, eq. 4), null last."""
    weights = (
        [attribute.value_weight(value) for value in column.values.to_list()]
        if attribute.values
        else [attribute.unlisted] * len(column.values)
    )
    if column.has_null:
        weights.append(attribute.unlisted)
    return attribute.sensitivity * np.array(weights, dtype=np.float64)
