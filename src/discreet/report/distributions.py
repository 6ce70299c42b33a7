"""The distribution of each attribute before and after masking: counts of categories or of bins."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.engine.cells.midpoints import as_numbers, is_number
from discreet.engine.encoding.columns import encode
from discreet.engine.encoding.shared_codes import as_text
from discreet.model.attribute import Role
from discreet.model.cells import parse_group
from discreet.model.microdata import Microdata
from discreet.report.redaction import Redactor
from discreet.report.small_counts import MIN_SHOWN_COUNT, is_small
from discreet.report.spans import Spans, released_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_CATEGORIES = 12
_BINS = 10
_YEAR = 365.2425
_EXCLUDED_ROLES = (Role.IDENTIFIER, Role.PERSON, Role.WEIGHT)


def distributions(original: Microdata, masked: Microdata, redactor: Redactor) -> list[dict[str, Any]]:
    """One entry per attribute that is not an identifier: labels with exact counts before and after.

    A value that fewer than five records have gets no label of its own, unless ``redactor`` is for an internal report.
    """
    return [
        _distribution(original, masked, name, redactor)
        for name in original.columns
        if original.attribute(name).role not in _EXCLUDED_ROLES
    ]


def _distribution(original: Microdata, masked: Microdata, name: str, redactor: Redactor) -> dict[str, Any]:
    before = original.frame[name]
    after = masked.frame[name] if name in masked.columns else None
    column = encode(original, [name])[0]
    few_values = len(column.values) <= _MOST_CATEGORIES
    same_kind = after is None or is_number(before) == is_number(after)
    numeric = is_number(before) and before.dtype != pl.Boolean
    missing_after = None if after is None else after.null_count()
    if not numeric or (few_values and same_kind):
        rows = _categories(original, masked, name, redactor)
    else:
        spans = None if after is None else released_spans(original, masked, name)
        rows = _bins(before, spans)
        missing_after = None if spans is None else spans.missing
    return {
        "attribute": name,
        "removed": after is None,
        "rows": [
            {
                "label": label,
                "before": count_before,
                "after": None if after is None else count_after,
            }
            for label, count_before, count_after in rows
            if count_before or count_after
        ],
        "missing": {
            "before": before.null_count(),
            "after": missing_after,
        },
    }


def _categories(original: Microdata, masked: Microdata, name: str, redactor: Redactor) -> list[tuple[str, int, int]]:
    """The most frequent values, and one row for all others, which include every value that few records have."""
    before = _counts(original, name)
    after = _counts(masked, name) if name in masked.columns else {}
    min_count = 1 if redactor.internal else MIN_SHOWN_COUNT
    shown = [text for text in {**before, **after} if max(before.get(text, 0), after.get(text, 0)) >= min_count]
    shown.sort(key=lambda text: -max(before.get(text, 0), after.get(text, 0)))
    shown = shown[:_MOST_CATEGORIES]
    # a rare value that became frequent in the release is not named either
    shown = [text for text in shown if redactor.internal or not 0 < before.get(text, 0) < MIN_SHOWN_COUNT]
    rows = [(text if redactor.internal else _label(text, before), before.get(text, 0), after.get(text, 0)) for text in shown]
    rest = [text for text in {**before, **after} if text not in shown]
    if rest:
        label = f"{len(rest):,} other values" if len(rest) > 1 else "another value"
        rows.append((label, sum(before.get(text, 0) for text in rest), sum(after.get(text, 0) for text in rest)))
    return rows


def _label(text: str, before: dict[str, int]) -> str:
    """The label of a released value; a group with a rare value of the original is shown without its members."""
    group = parse_group(text)
    if group is None or not any(0 < before.get(member, 0) < MIN_SHOWN_COUNT for member in group.members):
        return text
    return f"a group of {len(group.members)} values"


def _counts(data: Microdata, name: str) -> dict[str, int]:
    column = encode(data, [name])[0]
    counts = np.bincount(column.codes, minlength=column.cardinality)
    texts = as_text(column.values).to_list()
    return {text: int(count) for text, count in zip(texts, counts[: len(texts)], strict=True)}


def _bins(before: pl.Series, spans: Spans | None) -> list[tuple[str, int, int]]:
    """About ten bins with round ends; the outermost are open, so that no end is the value of a record."""
    old = as_numbers(before)
    known = np.sort(old[~np.isnan(old)])
    if not len(known):
        return []
    trimmed = min(max(MIN_SHOWN_COUNT, len(known) // 100), (len(known) - 1) // 2)
    low, high = float(known[trimmed]), float(known[-1 - trimmed])
    edges = _year_edges(low, high) if _is_date(before.dtype) and high - low > 4 * _YEAR else _round_edges(low, high)
    edges = edges[_edges_to_keep(_count_in_bins(old, edges), _count_spans(spans, edges))]
    labels = _bin_labels(edges, before.dtype)
    counts = zip(labels, _count_in_bins(old, edges), _count_spans(spans, edges), strict=True)
    return [(label, int(count_before), int(count_after)) for label, count_before, count_after in counts]


def _edges_to_keep(before: NDArray[np.int64], after: NDArray[np.int64]) -> list[int]:
    """The edges that remain when bins with few records are merged with the next, so that no small count can be derived."""
    edges: list[int] = []
    open_before = open_after = 0  # counts of the bin that is not closed yet
    for edge, (count_before, count_after) in enumerate(zip(before[:-1], after[:-1], strict=True)):
        open_before, open_after = open_before + int(count_before), open_after + int(count_after)
        if not is_small(open_before) and not is_small(open_after) and (open_before or open_after or not edges):
            edges.append(edge)
            open_before = open_after = 0
    open_before, open_after = open_before + int(before[-1]), open_after + int(after[-1])
    if edges and (is_small(open_before) or is_small(open_after)):
        edges.pop()
    return edges or [0]


def _round_edges(low: float, high: float) -> NDArray[np.float64]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    width = (high - low) / _BINS or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= width * (1 - 1e-9))
    first, last = math.floor(low / step), math.ceil(high / step)
    return np.asarray(np.arange(first, last + 1) * step, dtype=np.float64)


def _year_edges(low: float, high: float) -> NDArray[np.float64]:
    """First days of years, as days since 1970."""
    years = _round_edges(1970 + low / _YEAR, 1970 + high / _YEAR)
    whole = np.unique(np.round(years)).astype(int)
    return np.array([f"{year:04d}-01-01" for year in whole], dtype="datetime64[D]").astype(np.float64)


def _is_date(dtype: pl.DataType) -> bool:
    return dtype == pl.Date or isinstance(dtype, pl.Datetime)


def _count_in_bins(numbers: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.int64]:
    known = numbers[~np.isnan(numbers)]
    return np.bincount(np.searchsorted(edges, known, side="right"), minlength=len(edges) + 1)


def _count_spans(spans: Spans | None, edges: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.zeros(len(edges) + 1, dtype=np.int64) if spans is None else spans.count_in_bins(edges)


def _bin_labels(edges: NDArray[np.float64], dtype: pl.DataType) -> list[str]:
    def format_edge(edge: float) -> str:
        if _is_date(dtype):
            return str(np.datetime64(0, "D") + np.timedelta64(round(edge), "D")).removesuffix("-01-01")
        return f"{edge:.12g}"

    inner = [f"{format_edge(a)} to {format_edge(b)}" for a, b in pairwise(edges)]
    return [f"below {format_edge(edges[0])}", *inner, f"{format_edge(edges[-1])} and more"]
