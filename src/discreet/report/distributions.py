"""The distribution of each attribute before and after: counts of categories or of bins."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.midpoints import as_numbers, is_number, released_numbers
from discreet.engine.encoding.columns import encode
from discreet.engine.encoding.shared_codes import as_text
from discreet.model.attribute import Role
from discreet.model.cells import parse_group
from discreet.model.microdata import Microdata
from discreet.report.redaction import Discretion
from discreet.report.small_counts import LEAST

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST = 12
_BINS = 10
_YEAR = 365.2425
_LEFT_OUT = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)


def distributions(original: Microdata, masked: Microdata, discretion: Discretion) -> list[dict[str, Any]]:
    """One entry an attribute that is no identifier: labels with exact counts before and after.

    Labels follow ``discretion``: a value that fewer than five records hold has no label of its own unless the report is internal.
    """
    return [
        _one(original, masked, name, discretion) for name in original.columns if original.attribute(name).role not in _LEFT_OUT
    ]


def _one(original: Microdata, masked: Microdata, name: str, discretion: Discretion) -> dict[str, Any]:
    before = original.frame[name]
    after = masked.frame[name] if name in masked.columns else None
    column = encode(original, [name])[0]
    few = len(column.values) <= _MOST
    same_kind = after is None or is_number(before) == is_number(after)
    numeric = is_number(before) and before.dtype != pl.Boolean
    rows = (
        _categories(original, masked, name, discretion) if not numeric or (few and same_kind) else _bins(original, masked, name)
    )
    return {
        "attribute": name,
        "removed": after is None,
        "rows": [
            {
                "label": label,
                "before": one,
                "after": None if after is None else other,
            }
            for label, one, other in rows
            if one or other
        ],
        "missing": {
            "before": before.null_count(),
            "after": None if after is None else after.null_count(),
        },
    }


def _categories(original: Microdata, masked: Microdata, name: str, discretion: Discretion) -> list[tuple[str, int, int]]:
    """The commonest values, the others together; a value that few records hold is among the others, without its name."""
    before = _counts(original, name)
    after = _counts(masked, name) if name in masked.columns else {}
    least = 0 if discretion.internal else LEAST
    shown = [text for text in {**before, **after} if max(before.get(text, 0), after.get(text, 0)) >= max(least, 1)]
    shown.sort(key=lambda text: -max(before.get(text, 0), after.get(text, 0)))
    shown = shown[:_MOST]
    # a rare value that became common in the release is not named either
    shown = [text for text in shown if discretion.internal or not 0 < before.get(text, 0) < LEAST]
    rows = [(text if discretion.internal else _label(text, before), before.get(text, 0), after.get(text, 0)) for text in shown]
    rest = [text for text in {**before, **after} if text not in shown]
    if rest:
        label = f"{len(rest):,} other values" if len(rest) > 1 else "another value"
        rows.append((label, sum(before.get(text, 0) for text in rest), sum(after.get(text, 0) for text in rest)))
    return rows


def _label(text: str, before: dict[str, int]) -> str:
    """A released value as a label; a group that names a rare value of the original is told without its members."""
    group = parse_group(text)
    if group is None or not any(0 < before.get(member, 0) < LEAST for member in group.members):
        return text
    return f"a group of {len(group.members)} values"


def _counts(data: Microdata, name: str) -> dict[str, int]:
    column = encode(data, [name])[0]
    counts = np.bincount(column.codes, minlength=column.cardinality)
    texts = as_text(column.values).to_list()
    return {text: int(count) for text, count in zip(texts, counts[: len(texts)], strict=True)}


def _bins(original: Microdata, masked: Microdata, name: str) -> list[tuple[str, int, int]]:
    """Ten bins or so with round ends; the outermost are open, so that no end is anybody's value."""
    before = original.frame[name]
    old, new = released_numbers(original, masked, name) if name in masked.columns else (as_numbers(before), np.zeros(0))
    known = np.sort(old[~np.isnan(old)])
    if not len(known):
        return []
    aside = min(max(LEAST, len(known) // 100), (len(known) - 1) // 2)
    low, high = float(known[aside]), float(known[-1 - aside])
    edges = _years(low, high) if _is_date(before.dtype) and high - low > 4 * _YEAR else _edges(low, high)
    edges = edges[_joined(_fill(old, edges), _fill(new, edges))]
    labels = _labels(edges, before.dtype)
    one, other = _fill(old, edges), _fill(new, edges)
    return [(label, int(a), int(b)) for label, a, b in zip(labels, one, other, strict=True)]


def _joined(before: NDArray[np.int64], after: NDArray[np.int64]) -> list[int]:
    """The edges that stay where bins with few records join the next, so that no small count follows from the others."""
    kept: list[int] = []
    one = other = 0
    for at, (a, b) in enumerate(zip(before[:-1], after[:-1], strict=True)):
        one, other = one + int(a), other + int(b)
        if not 0 < one < LEAST and not 0 < other < LEAST and (one or other or not kept):
            kept.append(at)
            one = other = 0
    one, other = one + int(before[-1]), other + int(after[-1])
    if kept and (0 < one < LEAST or 0 < other < LEAST):
        kept.pop()
    return kept or [0]


def _edges(low: float, high: float) -> NDArray[np.float64]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    width = (high - low) / _BINS or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= width * (1 - 1e-9))
    first, last = math.floor(low / step), math.ceil(high / step)
    return np.asarray(np.arange(first, last + 1) * step, dtype=np.float64)


def _years(low: float, high: float) -> NDArray[np.float64]:
    """First days of years, as days since 1970."""
    years = _edges(1970 + low / _YEAR, 1970 + high / _YEAR)
    whole = np.unique(np.round(years)).astype(int)
    return np.array([f"{year:04d}-01-01" for year in whole], dtype="datetime64[D]").astype(np.float64)


def _is_date(dtype: pl.DataType) -> bool:
    return dtype == pl.Date or isinstance(dtype, pl.Datetime)


def _fill(numbers: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    known = numbers[~np.isnan(numbers)]
    return np.bincount(np.searchsorted(edges, known, side="right"), minlength=len(edges) + 1)


def _labels(edges: NDArray[np.float64], dtype: pl.DataType) -> list[str]:
    def told(edge: float) -> str:
        if _is_date(dtype):
            return str(np.datetime64(0, "D") + np.timedelta64(round(edge), "D")).removesuffix("-01-01")
        return f"{edge:.12g}"

    inner = [f"{told(a)} to {told(b)}" for a, b in pairwise(edges)]
    return [f"below {told(edges[0])}", *inner, f"{told(edges[-1])} and more"]
